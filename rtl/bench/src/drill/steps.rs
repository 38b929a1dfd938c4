//! The steps of scripts. `scripts/README.md` describes the language.

use super::args::{NumberRange, Seq};
use super::endpoint::{CLOSE_NAMES, EVENT_NAMES, Mode, STATE_NAMES};
use super::wire::Lies;
use std::net::Ipv4Addr;

/// Maximum number of ticks of a step.
pub const MAX_TICKS: u64 = 10_000_000;

/// A connection: its four-tuple and its peer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "described in scripts/README.md")]
pub struct PeerConnection {
    pub name: String,
    pub peer: Ipv4Addr,
    pub mac: [u8; 6],
    pub port: u16,
    pub local: u16,
    pub iss: u32,
}

impl Default for PeerConnection {
    fn default() -> Self {
        Self {
            name: "main".into(),
            peer: Ipv4Addr::new(10, 0, 0, 2),
            mac: [2, 0, 0, 0, 0, 2],
            port: 5000,
            local: 80,
            iss: 1000,
        }
    }
}

/// A segment to inject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "described in scripts/README.md")]
pub struct Inject {
    pub flags: u8,
    pub seq: Option<Seq>,
    pub ack: Option<Seq>,
    pub win: Option<u16>,
    pub len: u16,
    pub fill: Option<u8>,
    pub options: Vec<u8>,
    pub urgent: u16,
    pub ttl: Option<u8>,
    pub src: Option<Ipv4Addr>,
    pub dst: Option<Ipv4Addr>,
    pub smac: Option<[u8; 6]>,
    pub dmac: Option<[u8; 6]>,
    pub vlan: Option<u16>,
    pub untagged: bool,
    pub bad_fcs: bool,
    pub lies: Lies,
}

/// A segment that the endpoint must send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "described in scripts/README.md")]
pub struct Expect {
    pub flags: u8,
    pub optional: bool,
    pub seq: Option<Seq>,
    pub ack: Option<Seq>,
    pub win: Option<NumberRange>,
    pub len: Option<NumberRange>,
    pub mss: Option<NumberRange>,
    pub ws: Option<NumberRange>,
    pub no_ws: bool,
    pub psh: Option<bool>,
    pub within: u64,
    pub after: u64,
}

/// An ARP packet to or from the endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of RFC 826")]
pub struct ArpLine {
    pub request: bool,
    pub sha: Option<[u8; 6]>,
    pub spa: Option<Ipv4Addr>,
    pub tha: Option<[u8; 6]>,
    pub tpa: Option<Ipv4Addr>,
    pub dmac: Option<[u8; 6]>,
    pub within: u64,
    pub after: u64,
}

/// An ICMP echo message to or from the endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of RFC 792")]
pub struct EchoLine {
    pub ident: u16,
    pub seq: u16,
    pub len: u16,
    pub dst: Option<Ipv4Addr>,
    pub bad_fcs: bool,
    pub lies: Lies,
}

/// A step of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "described in scripts/README.md")]
pub enum Step {
    Flow(PeerConnection),
    Use(String),
    Listen {
        session: u16,
        port: Option<u16>,
        from: Option<Ipv4Addr>,
    },
    Connect {
        session: u16,
    },
    Close {
        session: u16,
    },
    Mss {
        mss: u16,
        refused: bool,
    },
    Abort {
        session: u16,
    },
    Send {
        session: u16,
        len: u16,
        mode: Mode,
    },
    Read {
        session: u16,
        len: u64,
        any: bool,
    },
    ReadAll {
        session: u16,
    },
    Fill {
        len: u16,
        most: u32,
    },
    Ahead {
        session: u16,
        ahead: u32,
        len: u16,
    },
    UserReady(bool),
    ArpAuto(bool),
    Move([u8; 6]),
    Inject(Box<Inject>),
    Expect(Box<Expect>),
    InjectArp(ArpLine),
    ExpectArp(ArpLine),
    InjectEcho(EchoLine),
    ExpectEcho(EchoLine),
    InjectFrame(Vec<u8>),
    None {
        ticks: u64,
    },
    Advance(u64),
    Event {
        session: u16,
        kind: u8,
        reason: Option<u8>,
        within: u64,
    },
    /// No such event has come yet, except those that [`Step::Event`] took.
    Absent {
        session: u16,
        kind: u8,
    },
    State {
        session: u16,
        state: u8,
    },
    Remember(String),
    Differ(String, String),
    /// Makes the endpoint's sequence numbers wrap after this many bytes.
    Wraps(u32),
}

/// Finds the number of a state by its name.
#[must_use]
pub fn state(name: &str) -> Option<u8> {
    STATE_NAMES.iter().position(|n| *n == name).map(|i| i as u8)
}

/// Finds the number of a kind of event by its name.
#[must_use]
pub fn event(name: &str) -> Option<u8> {
    EVENT_NAMES.iter().find(|(n, _)| *n == name).map(|(_, k)| *k)
}

/// Finds the number of a close reason by its name.
#[must_use]
pub fn close_reason(name: &str) -> Option<u8> {
    CLOSE_NAMES.iter().position(|n| *n == name).map(|i| i as u8)
}
