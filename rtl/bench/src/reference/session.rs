//! State of one session of the reference endpoint.

use std::collections::{BTreeMap, VecDeque};
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
    /// Time-out without backoff.
    pub rto: u32,
    /// Segment that is timed: the sequence number that must be acknowledged, and since when.
    pub timed: Option<(u32, u64)>,
}

impl Clock {
    /// A measured round trip of `r` ticks.
    pub fn sample(&mut self, r: u32, min: u32, max: u32) {
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
        let srtt = self.srtt8.unwrap_or(0) / 8;
        self.rto = (srtt + self.rttvar4.max(1)).clamp(min, max);
    }
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
    pub wl2: u32,
    pub peer_mss: u16,
    pub snd_ws: u8,
    pub scaled: bool,
    pub fin_wanted: bool,
    pub fin_sent: bool,

    pub irs: u32,
    pub rcv_nxt: u32,
    pub peer_fin: bool,
    /// Segments that came early, and whether FIN ends them (reordering).
    pub early: BTreeMap<u32, (Vec<u8>, bool)>,

    pub dups: u8,
    /// Recovery lasts until this is acknowledged.
    pub recover: Option<u32>,
    pub cwnd: u32,
    pub ssthresh: u32,
    pub clock: Clock,
    pub backoff: u32,
    pub tries: u8,
    pub rto_at: Option<u64>,
    pub persist_at: Option<u64>,
    pub delack_at: Option<u64>,
    /// Segments with data since the last ACK.
    pub unacked: u8,
    pub wait_at: Option<u64>,
    pub arp_at: Option<u64>,
    pub arp_tries: u8,
    /// Tick of the last ACK that is limited, and how many there were in it.
    pub limited: (u64, u32),
}

impl Session {
    /// End of what the user has given.
    #[must_use]
    pub fn written(&self) -> u32 {
        self.base.wrapping_add(self.ring.len() as u32)
    }

    /// Right edge for sending.
    #[must_use]
    pub fn limit(&self, congestion: bool) -> u32 {
        let wnd = if congestion { self.snd_wnd.min(self.cwnd) } else { self.snd_wnd };
        self.una.wrapping_add(wnd)
    }

    /// Something sent is not acknowledged.
    #[must_use]
    pub fn outstanding(&self) -> bool {
        self.una != self.nxt
    }

    /// Bytes of the ring from a sequence number on.
    #[must_use]
    pub fn bytes(&self, seq: u32, len: usize) -> Vec<u8> {
        let skip = seq.wrapping_sub(self.base) as usize;
        self.ring.iter().skip(skip).take(len).copied().collect()
    }

    /// The peer's data is taken in this state.
    #[must_use]
    pub fn receiving(&self) -> bool {
        matches!(self.state, State::Established | State::FinWait1 | State::FinWait2)
    }

    /// The user may send.
    #[must_use]
    pub fn sending(&self) -> bool {
        matches!(self.state, State::Established | State::CloseWait) && !self.fin_wanted
    }

    /// The state is synchronised (RFC 9293, 3.5.2).
    #[must_use]
    pub fn synchronised(&self) -> bool {
        matches!(
            self.state,
            State::Established
                | State::FinWait1
                | State::FinWait2
                | State::CloseWait
                | State::Closing
                | State::LastAck
                | State::TimeWait
        )
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
        c.sample(100, 1, 60000);
        // SRTT = 100, RTTVAR = 50: RTO = 300 (RFC 6298, 2.2).
        assert_eq!(c.rto, 300);
        c.sample(100, 1, 60000);
        // RTTVAR = 37.5, in quarters 150: RTO = 250 (2.3).
        assert_eq!(c.rto, 250);
        c.sample(0, 400, 60000);
        assert_eq!(c.rto, 400);
    }
}
