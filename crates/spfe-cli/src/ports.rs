//! Ports as text and as JSON.

use crate::output;
use serde_json::{Value, json};
use spfe::{LinkRate, Peer, PortInfo, PortKind, PortState};

/// Name of the kind of a port.
pub fn kind(info: &PortInfo) -> &'static str {
    match info.kind {
        PortKind::Spacefibre => "SpaceFibre",
        PortKind::Spacewire => "SpaceWire",
        kind => kind.name(),
    }
}

/// Name of the state of a port.
pub fn state(info: &PortInfo) -> &'static str {
    match info.state {
        PortState::Up => "up",
        PortState::Starting => "starting",
        PortState::Down => "down",
    }
}

/// Description of the other end of the link.
pub fn peer(info: &PortInfo) -> String {
    match info.peer {
        Peer::None => "nothing".to_owned(),
        Peer::Port { endpoint, port } => format!("endpoint {endpoint} port {port}"),
        Peer::Sink { check: false } => "sink".to_owned(),
        Peer::Sink { check: true } => "sink that checks".to_owned(),
        Peer::Generator { min_bytes, max_bytes, .. } => {
            format!("generator of {min_bytes} to {max_bytes} bytes")
        }
        Peer::Echo => "echo".to_owned(),
        Peer::Rmap(unit) => unit.to_string(),
        Peer::Target { .. } => "RDMA target".to_owned(),
        Peer::Network => "network".to_owned(),
        Peer::Foreign { stream } => format!("foreign end {stream}"),
        Peer::Fabric { nodes } => format!("fabric of {nodes} nodes"),
    }
}

fn user_rate(rate: &LinkRate) -> String {
    rate.user_bits_per_second().map_or("unlimited".to_owned(), output::rate)
}

/// Signalling rate of a lane in bit/s; `None` without limit.
fn rate_bps(rate: &LinkRate) -> Option<u64> {
    match *rate {
        LinkRate::Unlimited => None,
        LinkRate::SpaceFibre { mbps, .. } | LinkRate::SpaceWire { mbps } => {
            Some(u64::from(mbps) * 1_000_000)
        }
    }
}

/// Headings of the columns of [`row`].
pub const COLUMNS: [&str; 7] = ["PORT", "KIND", "STATE", "RATE", "USER RATE", "VCS", "PEER"];

/// A port as a row of a table.
pub fn row(number: u32, info: &PortInfo) -> Vec<String> {
    vec![
        number.to_string(),
        kind(info).to_owned(),
        state(info).to_owned(),
        info.link().to_string(),
        user_rate(&info.rate),
        info.vcs.to_string(),
        peer(info),
    ]
}

/// A port as an object.
pub fn json(number: u32, info: &PortInfo) -> Value {
    json!({
        "port": number,
        "kind": kind(info),
        "state": state(info),
        "rate": info.link().to_string(),
        "lanes": info.rate.lanes(),
        "rate_bps": rate_bps(&info.rate),
        "user_gbps": info.rate.user_gbps().map(output::rounded),
        "vcs": info.vcs,
        "peer": peer(info),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use spfe::Endpoint;

    #[test]
    fn every_peer_has_words() {
        for (device, words) in [
            ("virtual:", "endpoint 0 port 1"),
            ("virtual:?peer=sink", "sink"),
            ("virtual:?peer=check", "sink that checks"),
            ("virtual:?peer=echo", "echo"),
            (
                "virtual:?peer=rmap:64K:key=0x20",
                "RMAP target 0xfe with 65536 bytes at 0x0, rwm, key 0x20",
            ),
            ("virtual:?peer=generator:64:256", "generator of 64 to 256 bytes"),
        ] {
            let info = Endpoint::open(device).unwrap().port(0).unwrap().info().unwrap();
            assert_eq!(peer(&info), words);
            assert_eq!((kind(&info), state(&info)), ("SpaceFibre", "up"));
        }
    }

    #[test]
    fn paced_links_have_a_user_rate() {
        let endpoint = Endpoint::open("virtual:?link=4x7.5G").unwrap();
        let info = endpoint.port(0).unwrap().info().unwrap();
        let row = row(0, &info);
        assert_eq!((row[3].as_str(), row.len()), ("4x7.5G", COLUMNS.len()));
        assert!(row[4].starts_with("22.9"), "{}", row[4]);
        assert!(json(0, &info)["user_gbps"].as_f64().unwrap() > 22.0);
    }
}
