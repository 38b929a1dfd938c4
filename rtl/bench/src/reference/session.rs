//! State of a session of the reference model.

use super::kept::Kept;
use super::sequence::lt;
use std::collections::VecDeque;
use std::net::Ipv4Addr;

/// States with the numbers of `state_e`.
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
    /// The address of the next hop is being resolved.
    Resolve = 11,
}

/// Round-trip measurement and time-out (RFC 6298). Times are in ticks.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// SRTT times 8, if it was measured.
    pub srtt8: Option<u32>,
    /// RTTVAR times 4.
    pub rttvar4: u32,
    /// The timed segment: the sequence number to acknowledge, and the tick at which it was sent.
    pub timed: Option<(u32, u64)>,
}

impl Clock {
    /// Adds a measured round trip of `r` ticks.
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

    /// The time-out before backoff and upper limit. It is `first` before the first measurement.
    #[must_use]
    pub fn rto(&self, first: u32, min: u32) -> u32 {
        self.srtt8.map_or(first, |s| s / 8 + self.rttvar4.max(1)).max(min)
    }
}

/// Use of a session's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Retransmission time-out (RFC 6298).
    Rto,
    /// Next probe of a closed window.
    Persist,
    /// End of TIME-WAIT.
    Wait,
}

/// Phase of loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// No loss is known.
    #[default]
    None,
    /// Fast recovery after three duplicates (RFC 6582): retransmits one loss after the other.
    Fast,
    /// After a time-out: retransmits all outstanding data.
    Back,
    /// After a time-out, when all data was retransmitted.
    After,
}

/// A session.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "variables of RFC 9293, 3.3.1, and what stands beside them")]
pub struct Session {
    pub state: State,
    /// Whether it was opened by LISTEN. After a failed opening it listens again.
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
    /// Right edge of the window that was offered.
    pub edge: u32,
    /// Whether the last offer was cut short.
    pub cut: bool,
    /// Payload after a gap (reordering).
    pub kept: Kept,

    pub dups: u8,
    pub recovery: Recovery,
    /// SND.NXT at the start of recovery (RFC 6582), or a number below SND.UNA before the first one.
    pub recover: u32,
    /// Whether a segment must be retransmitted.
    pub lost: bool,
    /// After a time-out: end of the retransmitted data.
    pub again: u32,
    pub cwnd: u32,
    pub ssthresh: u32,
    /// Number of bytes acknowledged in congestion avoidance.
    pub acked: u32,
    pub clock: Clock,
    pub backoff: u32,
    pub tries: u8,
    pub timer: Option<(Timer, u64)>,
    pub delack_at: Option<u64>,
    /// Tick at which the result of its address resolution was known.
    pub resolved_at: Option<u64>,
    /// Tick of the last limited ACK modulo 256, and the number of such ACKs in this tick.
    pub limited: (u8, u32),
}

impl Session {
    /// Makes a session that listens on a port, for one peer or for all.
    #[must_use]
    pub fn listening(port: u16, from: Option<Ipv4Addr>) -> Self {
        Self { state: State::Listen, passive: true, port, from, ..Self::default() }
    }

    /// Sequence number after the last byte from the user.
    #[must_use]
    pub fn written(&self) -> u32 {
        self.base.wrapping_add(self.ring.len() as u32)
    }

    /// Number of bytes that may be outstanding.
    #[must_use]
    pub fn window(&self, congestion: bool) -> u32 {
        if congestion { self.snd_wnd.min(self.cwnd) } else { self.snd_wnd }
    }

    /// Number of bytes that may be sent from a sequence number on.
    #[must_use]
    pub fn room(&self, from: u32, congestion: bool) -> u32 {
        let limit = self.una.wrapping_add(self.window(congestion));
        if lt(from, limit) { limit.wrapping_sub(from) } else { 0 }
    }

    /// Whether there is unacknowledged data.
    #[must_use]
    pub fn outstanding(&self) -> bool {
        self.una != self.nxt
    }

    /// Whether data or FIN has not been sent yet.
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

    /// Whether this state accepts data of the peer. In SYN-RECEIVED the ACK of our SYN has been
    /// checked before.
    #[must_use]
    pub fn receiving(&self) -> bool {
        matches!(self.state, State::Established | State::FinWait1 | State::FinWait2)
    }

    /// Whether the user may send in this state.
    #[must_use]
    pub fn sending(&self) -> bool {
        matches!(self.state, State::Established | State::CloseWait) && !self.fin_wanted
    }

    /// Whether the session has a four-tuple that segments can match.
    #[must_use]
    pub fn matches(&self) -> bool {
        !matches!(self.state, State::Closed | State::Listen | State::Resolve)
    }

    /// Whether an abort in this state must send RST.
    #[must_use]
    pub fn wants_reset(&self) -> bool {
        self.matches() && !matches!(self.state, State::SynSent | State::TimeWait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_out_follows_two_round_trips() {
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
