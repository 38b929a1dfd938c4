//! Links: text forms, limits and user rates.

use spfe_topology::*;

#[test]
fn rates_are_read_and_written() {
    for text in ["unlimited", "4x7.5G", "1x6.25G", "4x31.25G", "2x100M", "spw:200M"] {
        assert_eq!(text.parse::<LinkRate>().unwrap().to_string(), text);
    }
    assert_eq!("4x7.5Gbit/s".parse::<LinkRate>().unwrap().to_string(), "4x7.5G");
    for text in ["4x7.5", "spw:200"] {
        let error = text.parse::<LinkRate>().unwrap_err();
        assert!(error.contains("has no unit"), "{error}");
    }
    for text in [
        "", "4x", "x7G", "0x7G", "17x1G", "4x101G", "spw:0M", "spw:2.5M", "4y5G", "4x-1G", "4xnanG",
    ] {
        let error = text.parse::<LinkRate>().unwrap_err();
        assert!(error.contains("4x7.5G"), "{error}");
    }
}

#[test]
fn user_rates_follow_from_the_overhead_of_the_protocols() {
    for (text, gbps) in [
        ("4x7.5G", 22.921),
        ("4x6.25G", 19.101),
        ("1x6.25G", 4.775),
        ("4x31.25G", 95.504),
        ("spw:200M", 0.160),
    ] {
        let rate = text.parse::<LinkRate>().unwrap();
        assert!((rate.user_gbps().unwrap() - gbps).abs() < 0.01, "{text}");
    }
    assert_eq!(LinkRate::Unlimited.timing(), None);
}

#[test]
fn links_are_read_and_written() {
    for text in [
        "unlimited",
        "4x7.5G",
        "exact:1x6.25G",
        "exact:16x25G",
        "spw:200M",
        "exact:spw:100M",
        "exact-lenient:2x5G",
    ] {
        assert_eq!(text.parse::<Link>().unwrap().to_string(), text);
    }
    for (text, link) in
        [("unlimited", "unlimited"), ("10M", "spw:10M"), ("exact:400M", "exact:spw:400M")]
    {
        assert_eq!(Link::spacewire(text).unwrap().to_string(), link);
    }
    for text in ["", "exact:", "exact:1M", "exact:401M", "spw:200M", "1x5G", "exact:unlimited"] {
        let error = Link::spacewire(text).unwrap_err();
        assert!(error.contains("exact:RATE"), "{text}: {error}");
    }
    for (text, part) in [
        ("exact:spw:1M", "rate 1 is not in 2 to 400 Mbit/s"),
        ("exact:unlimited", "has a rate"),
        ("exact:1x50M", "rate 50 is not in 100 to 100000 Mbit/s"),
        ("exact:", "4x7.5G"),
        ("exact", "4x7.5G"),
        ("exact-lenient:spw:100M", "only SpaceFibre"),
        ("exact-lenient:1x50M", "rate 50"),
    ] {
        let error = text.parse::<Link>().unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn every_property_out_of_its_limits_is_named() {
    let fields = |rate: LinkRate| rate.problems().iter().map(|p| p.field).collect::<Vec<_>>();
    let wrong = LinkRate::SpaceFibre { lanes: 17, mbps: 99 };
    assert_eq!(fields(wrong), [LinkField::Lanes, LinkField::Rate]);
    assert_eq!(fields(LinkRate::SpaceFibre { lanes: 16, mbps: 100 }), []);
    assert_eq!(fields(LinkRate::SpaceWire { mbps: 401 }), [LinkField::Rate]);
    assert_eq!(fields(LinkRate::Unlimited), [LinkField::Rate]);
    let problem = |rate| {
        let mut topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
        for port in topology.endpoints.iter_mut().flatten() {
            port.rate = rate;
        }
        topology.check().unwrap_err()
    };
    for (lanes, mbps, part) in [(1, 0, "rate 0"), (0, 5, "lanes 0"), (1, 100_001, "rate 100001")] {
        let error = problem(LinkRate::SpaceFibre { lanes, mbps });
        assert!(error.contains(part), "{error}");
    }
    let error = problem(LinkRate::SpaceWire { mbps: 0 });
    assert!(error.contains("rate 0 is not in 1 to 400 Mbit/s"), "{error}");
    check_channels(false, 32).unwrap();
    let error = check_channels(true, 2).unwrap_err();
    assert_eq!((error.field, &*error.text), (LinkField::Channels, "channels 2 is not in 1 to 1"));
}
