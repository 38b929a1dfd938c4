use super::*;

fn run(text: &str) -> (Vec<u8>, HostileCounts) {
    let mut stream = HostileStream::new(text.parse().unwrap());
    let mut got = Vec::new();
    for number in 0..200u8 {
        let at = u64::from(number) * 1000;
        stream.put(HostilePacket { bytes: vec![number; 4], eep: false }, at);
        got.extend(std::iter::from_fn(|| stream.take(at)));
    }
    got.extend(std::iter::from_fn(|| stream.take(u64::MAX)));
    assert!(stream.is_empty() && stream.next_ns().is_none());
    (got.iter().map(|packet| packet.bytes[0]).collect(), stream.counts())
}

#[test]
fn each_kind_does_what_its_name_says() {
    let (all, counts) = run("seed=3");
    assert_eq!(all, (0..200).collect::<Vec<u8>>());
    assert_eq!(counts, HostileCounts { packets: 200, ..HostileCounts::default() });
    let (got, counts) = run("drop=0.1");
    assert_eq!(got.len() as u64, 200 - counts.dropped);
    assert!(counts.dropped > 5 && got.is_sorted());
    let (got, counts) = run("duplicate=0.1");
    assert_eq!(got.len() as u64, 200 + counts.duplicated);
    assert!(counts.duplicated > 5 && got.is_sorted());
    let (mut got, counts) = run("reorder=0.1,time=5us");
    assert!(counts.reordered > 5 && !got.is_sorted());
    got.sort_unstable();
    assert_eq!(got, all);
    let (got, counts) = run("delay=0.1,time=1ms");
    assert!(counts.delayed > 5);
    assert_eq!(got, all);
    assert!(run("damage=0.1").1.damaged > 5);
    assert!(run("cut=0.1").1.cut > 5);
    // The same seed gives the same run.
    assert_eq!(run("drop=0.3,reorder=0.2,seed=9"), run("drop=0.3,reorder=0.2,seed=9"));
    assert_ne!(run("drop=0.3,reorder=0.2,seed=9"), run("drop=0.3,reorder=0.2,seed=8"));
}

#[test]
fn texts_are_read_and_written() {
    let text = "drop=0.01,reorder=0.5,cut=1,time=70000ns,seed=7";
    let hostile: Hostile = text.parse().unwrap();
    assert_eq!((hostile.drop, hostile.cut, hostile.late_ns), (10_000, WHOLE, 70_000));
    assert_eq!(hostile.to_string(), text);
    assert_eq!(Hostile::NONE.to_string().parse(), Ok(Hostile::NONE));
    for (text, part) in [
        ("", "no value"),
        ("drop", "no value"),
        ("drop=x", "not a number"),
        ("drop=1.5", "1.5 is not in 0 to 1"),
        ("cut=NaN", "is not in 0 to 1"),
        ("time=soon", "not a time"),
        ("seed=-1", "seed is not a number"),
        ("lose=1", "unknown option 'lose'"),
    ] {
        let error = text.parse::<Hostile>().unwrap_err();
        assert!(error.contains(part) && error.contains("drop=0.01,reorder"), "{error}");
    }
}
