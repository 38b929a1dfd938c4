//! Names of devices, rates of links, topologies.

use arbitrary::{Arbitrary, Unstructured};
use crate::uri;
use spfe::{Error, Result};
use spfe_host::topology::hostile::Hostile;
use spfe_host::topology::{LinkModel, PortConfig};
use spfe_host::{LinkRate, Mode, Peer, Topology};

const WORDS: [&str; 48] = [
    "virtual:",
    "unix:",
    "spfed:",
    "lab",
    "/",
    "?",
    "&",
    "=",
    ":",
    "0",
    "1",
    "7",
    "link=",
    "mode=",
    "peer=",
    "endpoints=",
    "seed=",
    "time=",
    "real",
    "virtual",
    "inline",
    "coop",
    "thread",
    "loop",
    "pair",
    "sink",
    "check",
    "echo",
    "generator",
    "4x7.5G",
    "16x100G",
    "spw:200M",
    "unlimited",
    "4294967298",
    "18446744073709551616",
    "-1",
    "1e3",
    "nan",
    "inf",
    "16777216",
    "hostile=",
    "drop=",
    "reorder=",
    "cut=",
    ",",
    "0.01",
    "1",
    "50us",
];

fn text(u: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    let mut text = String::new();
    while !u.is_empty() && text.len() < 200 {
        let number = usize::from(u.arbitrary::<u8>()?);
        match WORDS.get(number) {
            Some(word) => text += word,
            None => text.push(u.arbitrary()?),
        }
    }
    Ok(text)
}

#[derive(Debug)]
enum Input {
    Words(String),
    Text(String),
    Network(Topology),
}

fn number(u: &mut Unstructured<'_>) -> arbitrary::Result<u32> {
    Ok(if u.ratio(7, 8)? { u.int_in_range(0..=3)? } else { u.arbitrary()? })
}

fn port(u: &mut Unstructured<'_>) -> arbitrary::Result<PortConfig> {
    let rate = match u.int_in_range(0..=3u8)? {
        0 => LinkRate::SpaceFibre { lanes: u.arbitrary()?, mbps: u.arbitrary()? },
        1 => LinkRate::SpaceWire { mbps: u.arbitrary()? },
        _ => LinkRate::Unlimited,
    };
    let peer = match u.int_in_range(0..=7u8)? {
        0 => Peer::None,
        1 => Peer::Sink { check: u.arbitrary()? },
        2 => Peer::Echo,
        3 => {
            let (min_bytes, max_bytes) = (u.arbitrary()?, u.arbitrary()?);
            Peer::Generator { min_bytes, max_bytes, seed: u.arbitrary()? }
        }
        _ => Peer::Port { endpoint: number(u)?, port: number(u)? },
    };
    let model = if u.ratio(1, 4)? { LinkModel::Exact } else { LinkModel::Packet };
    Ok(PortConfig { space_wire: u.arbitrary()?, vcs: number(u)?, rate, model, peer })
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(match u.int_in_range(0..=3u8)? {
            0 | 1 => Self::Words(text(u)?),
            2 => Self::Text(u.arbitrary()?),
            _ => {
                let endpoint = |u: &mut Unstructured<'_>| -> arbitrary::Result<Vec<PortConfig>> {
                    (0..u.int_in_range(0..=4u8)?).map(|_| port(u)).collect()
                };
                let endpoints = (0..u.int_in_range(0..=3u8)?).map(|_| endpoint(u));
                let endpoints = endpoints.collect::<arbitrary::Result<_>>()?;
                Self::Network(Topology { endpoints, mode: Mode::Inline, virtual_time: false, foreign: Vec::new(), targets: Vec::new(), hostile: None })
            }
        })
    }
}

/// A rate that can be read is written so that it is read the same again.
fn check_rate(text: &str) {
    if let Ok(rate) = text.parse::<LinkRate>() {
        assert_eq!(rate.to_string().parse::<LinkRate>(), Ok(rate), "{text} is {rate}");
        assert!(rate.timing().is_some() == (rate != LinkRate::Unlimited));
        assert!(rate.user_gbps().is_none_or(|gbps| gbps.is_finite() && gbps > 0.0));
    }
}

/// So is a hostile network.
fn check_hostile(text: &str) {
    if let Ok(hostile) = text.parse::<Hostile>() {
        assert_eq!(hostile.to_string().parse(), Ok(hostile), "{text} is {hostile}");
    }
}

fn check_name(text: &str) {
    check_rate(text);
    check_hostile(text);
    let parsed: Result<uri::Uri> = uri::Uri::parse(text);
    match parsed {
        Ok(uri::Uri::Virtual { topology, .. }) => {
            topology.check().expect("a name stands for a sound network");
        }
        Ok(uri::Uri::Daemon { .. } | uri::Uri::Kernel { .. } | uri::Uri::Rtl) => {}
        Err(Error::Name { name, what }) => assert!(name == text && !what.is_empty(), "{text}"),
        Err(error) => panic!("{error}"),
    }
}

crate::target!(|input: Input| {
    match input {
        Input::Words(text) | Input::Text(text) => check_name(&text),
        Input::Network(topology) => {
            if topology.check().is_ok() {
                for port in topology.endpoints.iter().flatten() {
                    let [one_way, both] = [false, true]
                        .map(|both| port.rate.timing().map(|timing| timing.user_bps(both)));
                    assert!(both <= one_way, "{both:?} bit/s beside traffic, {one_way:?} alone");
                }
            }
        }
    }
});
