use super::*;

#[test]
fn streams_are_read_and_written() {
    for text in [
        "unix:/tmp/a.sock",
        "unix-listen:a.sock,words=16",
        "tcp:127.0.0.1:4000,kind=groups",
        "tcp-listen:[::1]:0,words=1,kind=groups",
        "pipes:/tmp/in:/tmp/out",
    ] {
        assert_eq!(text.parse::<ForeignStream>().unwrap().to_string(), text);
    }
    for (text, part) in [
        ("", "no such kind"),
        ("unix:", "not complete"),
        ("tcp:4000", "not complete"),
        ("pipes:/tmp/in", "not complete"),
        ("unix:a,words=0", "1 to 1024"),
        ("unix:a,words=1025", "1 to 1024"),
        ("unix:a,kind=bits", "unknown option 'kind=bits'"),
    ] {
        let error = text.parse::<ForeignStream>().unwrap_err();
        assert!(error.contains(part) && error.contains("tcp-listen"), "{error}");
    }
    let long: ForeignStream = "unix:a,words=1024".parse().unwrap();
    long.check(4).unwrap();
    assert!(long.check(5).unwrap_err().contains("words=1024 is not in 1 to 819 for 5 lanes"));
}
