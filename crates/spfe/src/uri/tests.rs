use super::*;

#[test]
fn the_number_of_endpoints_is_limited() {
    for count in ["0", "65", "4294967295", "4294967296", "18446744073709551615"] {
        let error = Uri::parse(&format!("virtual:lab?endpoints={count}")).unwrap_err();
        assert!(error.to_string().contains("1 to 64 allowed"), "{error}");
    }
    assert!(Uri::parse("virtual:lab?endpoints=64").is_ok());
}

#[test]
fn each_scheme_is_parsed() {
    let kernel = Uri::Kernel { path: "/dev/spfe0".to_owned() };
    assert_eq!(Uri::parse("/dev/spfe0").unwrap(), kernel);
    assert!(matches!(Uri::parse("virtual:").unwrap(), Uri::Virtual { name: None, .. }));
    let Uri::Virtual { name, endpoint, topology } =
        Uri::parse("virtual:lab/1?link=4x7.5G&mode=coop").unwrap()
    else {
        panic!()
    };
    assert_eq!((name.as_deref(), endpoint), (Some("lab"), 1));
    assert_eq!(topology.mode, Mode::Coop);
    let Uri::Virtual { topology, .. } =
        Uri::parse("virtual:?link=exact:2x6.25G&time=virtual").unwrap()
    else {
        panic!()
    };
    assert!(topology.endpoints[0][1].is_exact() && topology.virtual_time);
    assert_eq!(topology.endpoints[0][2].link().to_string(), "exact:spw:200M");
    let Uri::Virtual { topology, .. } = Uri::parse("virtual:?link=exact:2x6.25G&spw=100M").unwrap()
    else {
        panic!()
    };
    assert_eq!(topology.endpoints[0][2].link().to_string(), "spw:100M");
    let Uri::Virtual { topology, .. } =
        Uri::parse("virtual:lab/1?ports=3&spwports=2&vcs=16").unwrap()
    else {
        panic!()
    };
    let ports = topology.endpoints[1].iter().map(|port| (port.space_wire, port.vcs));
    assert!(ports.eq([(false, 16), (false, 16), (false, 16), (true, 1), (true, 1)]));
    let daemon = Uri::Daemon { path: "/run/spfe.sock".into(), endpoint: Some(3) };
    assert_eq!(Uri::parse("unix:/run/spfe.sock/3").unwrap(), daemon);
    let daemon = Uri::Daemon { path: "/run/spfe.sock".into(), endpoint: None };
    assert_eq!(Uri::parse("unix:/run/spfe.sock").unwrap(), daemon);
}

#[test]
fn an_rmap_unit_has_options() {
    for (peer, base) in [("rmap", 0), ("rmap:64K:base=0x40000000:key=0x20", 0x4000_0000)] {
        let Uri::Virtual { topology, .. } =
            Uri::parse(&format!("virtual:?peer={peer}&mode=coop")).unwrap()
        else {
            panic!()
        };
        let Peer::Rmap(unit) = topology.endpoints[0][0].peer else { panic!() };
        assert_eq!((unit.base, unit.key.is_some()), (base, base != 0));
        assert_eq!(topology.mode, Mode::Coop);
    }
}

#[test]
fn errors_say_what_is_possible() {
    for (text, part) in [
        ("", "it has no scheme: a device is virtual:"),
        ("./c.sock", "did you mean unix:./c.sock?"),
        ("pci:0", "unknown scheme 'pci': a device is virtual:"),
        ("virtual:a/b", "'b' is not a number"),
        ("virtual:?peer=foo", "peer 'foo' is not one of loop, pair, sink"),
        ("virtual:?peer=generators", "peer 'generators' is not one of"),
        ("virtual:?color=red", "unknown option 'color': there are link, spw"),
        ("virtual:?time=soon", "time=soon is not real or virtual"),
        ("virtual:?seed=x", "seed=x is not a number"),
    ] {
        let error = Uri::parse(text).unwrap_err().to_string();
        assert!(error.contains(part) && error.len() < 180, "{text}: {error}");
    }
    for text in [
        "",
        "x",
        "pci:0",
        "virtual:a/b",
        "virtual:/1",
        "unix:",
        "virtual:?peer=pair&endpoints=4294967298",
        "virtual:?link",
        "virtual:?link=5",
        "virtual:?link=exact:unlimited",
        "virtual:?ports=9",
        "virtual:?ports=x",
        "virtual:?vcs=33",
        "virtual:?vcs=0",
        "virtual:?peer=echo&spwports=1",
        "virtual:?spw=exact:1x5G",
        "virtual:?link=exact:1x5G&peer=echo",
        "virtual:?peer=x",
        "virtual:?peer=generator:0",
        "virtual:?peer=rmap:0",
        "virtual:?peer=rmapx",
        "virtual:?peer=rmap:1M:key=x",
        "virtual:?color=red",
        "virtual:?peer=pair&endpoints=1000",
        "virtual:?hostile=drop=2",
        "virtual:?hostile=x",
    ] {
        let error = Uri::parse(text).unwrap_err();
        assert!(matches!(&error, Error::Name { name, .. } if name == text), "{text}: {error:?}");
        assert_eq!(error.class(), spfe_contract::StatusClass::Usage);
    }
}
