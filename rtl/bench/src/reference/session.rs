//! State of one session of the reference endpoint.

use super::kept::Kept;
use std::collections::VecDeque;
use std::net::Ipv4Addr;

/// States, numbered as `state_e`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "states of RFC 9293, 3.3.2")]
pub enum State {
    #[default]
    Closed = 0,
    Listen = 1,
    SynSent = 2,
    SynRcvd = 3,
    Established = 4,
    FinWait1 = 5,
    FinWait2 = 6,
    CloseWait = 7,
    Closing = 8,
    LastAck = 9,
    TimeWait = 10,
    /// The next hop is asked for.
    Resolve = 11,
}

/// a < b on the circle (RFC 9293, 3.4).
#[must_use]
pub fn lt(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// a <= b on the circle.
#[must_use]
pub fn le(a: u32, b: u32) -> bool {
    !lt(b, a)
}

/// Round trips and the time-out (RFC 6298), times in ticks.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// SRTT times 8, once measured.
    pub srtt8: Option<u32>,
    /// RTTVAR times 4.
    pub rttvar4: u32,
    /// Segment that is timed: the sequence number that must be acknowledged, and since when.
    pub timed: Option<(u32, u64)>,
}

impl Clock {
    /// A measured round trip of `r` ticks.
    pub fn sample(&mut self, r: u32) {
        match self.srtt8 {
            None => {
                self.srtt8 = Some(r * 8);
                self.rttvar4 = r * 2;
            }
            Some(s) => {
                let err = (s / 8).abs_diff(r);
                self.rttvar4 = self.rttvar4 - self.rttvar4 / 4 + err;
                self.srtt8 = Some(s - s / 8 + r);
            }
        }
    }

    /// Time-out before backoff and the upper limit; `first` before anything is measured.
    #[must_use]
    pub fn rto(&self, first: u32, min: u32) -> u32 {
        self.srtt8.map_or(first, |s| s / 8 + self.rttvar4.max(1)).max(min)
    }
}

/// What the timer of a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// An ACK (RFC 6298).
    Rto,
    /// The next probe of a closed window.
    Persist,
    /// The end of TIME-WAIT.
    Wait,
}

/// Recovery of what was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing is missing.
    #[default]
    None,
    /// Three duplicates have come (RFC 6582): holes one by one.
    Fast,
    /// After a time-out: all that was sent, again.
    Back,
    /// All of it has left again.
    After,
}

/// A session.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "variables of RFC 9293, 3.3.1, and what stands beside them")]
pub struct Session {
    pub state: State,
    /// Opened by LISTEN; a failed opening returns there.
    pub passive: bool,
    pub from: Option<Ipv4Addr>,
    pub peer: Option<Ipv4Addr>,
    pub peer_port: u16,
    pub port: u16,
    pub mac: [u8; 6],

    pub iss: u32,
    pub una: u32,
    pub nxt: u32,
    /// Sequence number of `ring[0]`.
    pub base: u32,
    pub ring: VecDeque<u8>,
    pub snd_wnd: u32,
    pub max_wnd: u32,
    pub wl1: u32,
    pub peer_mss: u16,
    pub snd_ws: u8,
    pub scaled: bool,
    pub fin_wanted: bool,
    pub fin_sent: bool,

    pub irs: u32,
    pub rcv_nxt: u32,
    /// Payload behind a hole (reordering).
    pub kept: Kept,

    pub dups: u8,
    pub recovery: Recovery,
    /// End of what was sent when recovery began (RFC 6582); before one, a number below SND.UNA.
    pub recover: u32,
    /// Something has to be sent again.
    pub lost: bool,
    /// After a time-out: what is before this has left again.
    pub again: u32,
    pub cwnd: u32,
    pub ssthresh: u32,
    /// Bytes acknowledged in congestion avoidance.
    pub acked: u32,
    pub clock: Clock,
    pub backoff: u32,
    pub tries: u8,
    pub timer: Option<(Timer, u64)>,
    pub delack_at: Option<u64>,
    /// Tick since which it can know what became of the address it asked for.
    pub resolved_at: Option<u64>,
    /// Tick of the last ACK that is limited, modulo 256, and how many there were in it.
    pub limited: (u8, u32),
}

impl Session {
    /// Listens on a port, for one peer or all.
    #[must_use]
    pub fn listening(port: u16, from: Option<Ipv4Addr>) -> Self {
        Self { state: State::Listen, passive: true, port, from, ..Self::default() }
    }

    /// End of what the user has given.
    #[must_use]
    pub fn written(&self) -> u32 {
        self.base.wrapping_add(self.ring.len() as u32)
    }

    /// Bytes that may be on their way.
    #[must_use]
    pub fn window(&self, congestion: bool) -> u32 {
        if congestion { self.snd_wnd.min(self.cwnd) } else { self.snd_wnd }
    }

    /// Bytes that may be sent from a sequence number on.
    #[must_use]
    pub fn room(&self, from: u32, congestion: bool) -> u32 {
        let limit = self.una.wrapping_add(self.window(congestion));
        if lt(from, limit) { limit.wrapping_sub(from) } else { 0 }
    }

    /// Something sent is not acknowledged.
    #[must_use]
    pub fn outstanding(&self) -> bool {
        self.una != self.nxt
    }

    /// Data or FIN has not been sent yet.
    #[must_use]
    pub fn waits(&self) -> bool {
        lt(self.nxt, self.written()) || self.fin_wanted && !self.fin_sent
    }

    /// Bytes of the ring from a sequence number on.
    #[must_use]
    pub fn bytes(&self, seq: u32, len: u32) -> Vec<u8> {
        let skip = seq.wrapping_sub(self.base) as usize;
        self.ring.iter().skip(skip).take(len as usize).copied().collect()
    }

    /// The peer's data is taken in this state. In SYN-RECEIVED with the ACK of our SYN only, which
    /// is checked before.
    #[must_use]
    pub fn receiving(&self) -> bool {
        matches!(self.state, State::Established | State::FinWait1 | State::FinWait2)
    }

    /// The user may send.
    #[must_use]
    pub fn sending(&self) -> bool {
        matches!(self.state, State::Established | State::CloseWait) && !self.fin_wanted
    }

    /// There is a four-tuple that segments can hit.
    #[must_use]
    pub fn matches(&self) -> bool {
        !matches!(self.state, State::Closed | State::Listen | State::Resolve)
    }

    /// The peer has to be told if the connection ends here.
    #[must_use]
    pub fn wants_reset(&self) -> bool {
        self.matches() && !matches!(self.state, State::SynSent | State::TimeWait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circle() {
        assert!(lt(0xffff_fff0, 5));
        assert!(!lt(5, 0xffff_fff0));
        assert!(le(7, 7) && !lt(7, 7));
    }

    #[test]
    fn first_and_second_round_trip() {
        let mut c = Clock::default();
        assert_eq!(c.rto(1000, 1), 1000);
        c.sample(100);
        // SRTT = 100, RTTVAR = 50: RTO = 300 (RFC 6298, 2.2).
        assert_eq!(c.rto(1000, 1), 300);
        c.sample(100);
        // RTTVAR = 37.5, in quarters 150: RTO = 250 (2.3).
        assert_eq!(c.rto(1000, 1), 250);
        assert_eq!(c.rto(1000, 400), 400);
    }
}
