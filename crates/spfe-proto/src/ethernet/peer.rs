//! Which version the far end understands.
//!
//! An end asks with a hello when it starts, and sends version 1, which everybody understands, until
//! it hears one. An end that hears a hello answers with one that says so (`seen`), and sends
//! version 2 behind it. Packets of a virtual channel keep their order, so version 1 frames behind a
//! hello with `seen` can only be those of another program that took the place of the far end.

use super::hello::{EthernetHello, HelloFlags};

/// Interval of [`EthernetPeer::tick`], ns.
pub const ASK_INTERVAL_NS: u64 = 250_000_000;
/// Hellos without an answer after which the far end counts as version 1: two seconds.
pub const ASK_TRIES: u32 = 8;

/// What is known about the far end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EthernetPeerState {
    /// Nothing yet: frames are sent as version 1.
    #[default]
    Asking,
    /// It does not answer: version 1.
    First,
    /// It has said hello: version 2.
    Second,
}

/// A packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A frame of version 1.
    First,
    /// A frame of version 2.
    Second,
    /// A hello.
    Hello(EthernetHello),
}

/// The far end of a link, as this end knows it. The driver's `netdev_peer.c`
/// does the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct EthernetPeer {
    state: EthernetPeerState,
    /// Hellos since the last answer.
    tries: u32,
    /// The far end has announced that it sends version 2.
    confirmed: bool,
    /// Something of version 2 has arrived since the last tick.
    heard: bool,
    /// Ticks with frames sent and nothing heard.
    silent: u32,
    hello: EthernetHello,
}

impl EthernetPeer {
    /// What is known about the far end.
    pub fn state(&self) -> EthernetPeerState {
        self.state
    }

    /// What the far end has said about itself; nothing unless the state is [`EthernetPeerState::Second`].
    pub fn hello(&self) -> EthernetHello {
        if self.state == EthernetPeerState::Second { self.hello } else { EthernetHello::default() }
    }

    /// Forgets the far end, because another one may have taken its place.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// To be called every [`ASK_INTERVAL_NS`] while a packet can be sent; `sent` says whether frames
    /// were sent since the last call. Returns the flags of a hello that is to be sent.
    pub fn tick(&mut self, sent: bool) -> Option<HelloFlags> {
        match self.state {
            EthernetPeerState::First => return None,
            EthernetPeerState::Asking => {}
            EthernetPeerState::Second => {
                if core::mem::take(&mut self.heard) {
                    self.silent = 0;
                    self.tries = 0;
                    return None;
                }
                self.silent = (self.silent + u32::from(sent)).min(ASK_TRIES);
                if self.silent < ASK_TRIES {
                    return None;
                }
            }
        }
        if self.tries >= ASK_TRIES {
            *self = Self { state: EthernetPeerState::First, ..Self::default() };
            return None;
        }
        self.tries += 1;
        Some(HelloFlags { ask: true, seen: self.state == EthernetPeerState::Second })
    }

    /// To be called for each packet. Returns the flags of a hello that is to be sent before any
    /// other frame.
    pub fn hear(&mut self, heard: Heard) -> Option<HelloFlags> {
        match heard {
            Heard::Hello(hello) => {
                let fresh = self.state != EthernetPeerState::Second;
                *self = Self {
                    state: EthernetPeerState::Second,
                    confirmed: hello.flags.seen,
                    heard: true,
                    hello,
                    ..Self::default()
                };
                let answer = HelloFlags { ask: false, seen: true };
                (hello.flags.ask || fresh).then_some(answer)
            }
            // The hello before it went to a program that was here earlier.
            Heard::Second if self.state == EthernetPeerState::First => {
                *self = Self { tries: 1, ..Self::default() };
                Some(HelloFlags { ask: true, seen: false })
            }
            Heard::Second => {
                self.heard = true;
                None
            }
            Heard::First if self.state == EthernetPeerState::Second && self.confirmed => {
                *self = Self { tries: 1, ..Self::default() };
                Some(HelloFlags { ask: true, seen: false })
            }
            Heard::First => None,
        }
    }
}
