use super::*;

#[test]
fn every_name_is_understood_and_written_again() {
    for info in &MIB_ITEMS {
        let number = if info.scope == MibScope::Link { "" } else { "[7]" };
        for name in [info.title, info.item.name()] {
            let parsed: MibName = format!("{name}{number}").parse().unwrap();
            assert_eq!(parsed.item, info.item, "{name}");
            assert_eq!(parsed.to_string(), format!("{}{number}", info.title));
            assert_eq!(parsed.to_string().parse::<MibName>().unwrap(), parsed);
        }
    }
}

#[test]
fn names_that_say_too_little_or_too_much() {
    let status = |text: &str| text.parse::<MibName>().unwrap_err();
    for (text, wanted, part) in [
        ("", Status::NotFound, "no parameter"),
        ("Lane", Status::NotFound, "no parameter"),
        ("LaneStart", Status::BadField, "say which lane, by number: 'LaneStart[0]'"),
        ("LaneStart[x]", Status::BadField, "say which lane"),
        ("LaneStart[-1]", Status::BadField, "say which lane"),
        ("priority", Status::BadField, "say which virtual channel"),
        ("Link Reset[0]", Status::BadField, "takes no number"),
    ] {
        let error = status(text);
        assert_eq!(error.status(), Some(wanted), "{text}");
        assert!(error.to_string().contains(part), "{error}");
    }
}
