//! Detection and recovery of losses: RFC 5681, 6582 and 6298, with the initial window of RFC 6928.
//!
//! After a time-out all outstanding data is sent again, as far as the window allows.

use super::Reference;
use super::sequence::{le, lt};
use super::session::{Recovery, Session, Timer};
use crate::drill::wire::{FIN, SYN, Segment};

impl Reference {
    /// Sets the initial window (RFC 6928, 2), or one segment if a SYN was lost (RFC 5681, 3.1).
    pub(super) fn initial_window(&mut self, id: usize) {
        let mss = u32::from(self.mss(id));
        let s = self.session(id);
        s.cwnd = if s.tries == 0 { (10 * mss).min(14600.max(2 * mss)) } else { mss };
        s.ssthresh = u32::MAX;
        s.acked = 0;
    }

    /// Handles an ACK of new data.
    pub(super) fn progress(&mut self, id: usize, ack: u32) {
        let mss = u32::from(self.mss(id));
        let s = self.session(id);
        let before = s.una;
        let gain = ack.wrapping_sub(before);
        let all = ack == s.nxt;
        s.dups = 0;
        s.lost = false;
        match s.recovery {
            Recovery::None => {
                s.recover = before;
                s.grow(gain, mss);
            }
            _ if all || le(s.recover, ack) => {
                if s.recovery == Recovery::Fast {
                    s.cwnd = s.ssthresh;
                    s.acked = 0;
                } else {
                    s.grow(gain, mss);
                }
                s.recovery = Recovery::None;
            }
            Recovery::Fast => {
                // A partial acknowledgement shows the next loss.
                s.lost = true;
                s.cwnd = match s.cwnd.checked_sub(gain) {
                    Some(left @ 1..) => left + if gain < mss { 0 } else { mss },
                    _ => mss,
                };
            }
            Recovery::Back => {
                s.lost = true;
                if lt(s.again, ack) {
                    s.again = ack;
                }
                s.grow(gain, mss);
            }
            Recovery::After => s.grow(gain, mss),
        }
        self.acked(id, ack);
    }

    /// Advances SND.UNA: frees bytes of the ring, measures the round trip, restarts the time-out.
    pub(super) fn acked(&mut self, id: usize, ack: u32) {
        let now = self.now;
        let s = self.session(id);
        s.una = ack;
        let written = s.written();
        let end = if lt(written, ack) { written } else { ack };
        if lt(s.base, end) {
            let gone = end.wrapping_sub(s.base) as usize;
            s.ring.drain(..gone);
            s.base = end;
        }
        s.tries = 0;
        if let Some((seq, since)) = s.clock.timed
            && le(seq, ack)
        {
            s.clock.timed = None;
            s.clock.sample((now - since) as u32);
            // The longer time-out stays until this point (RFC 6298, 5.7).
            s.backoff = 0;
        }
        if matches!(s.timer, Some((Timer::Persist, _))) {
            return;
        }
        s.timer = None;
        if s.outstanding() {
            self.arm_rto(id);
        }
    }

    /// Handles a duplicate ACK as in RFC 5681, 2. The third one triggers a retransmission.
    pub(super) fn maybe_duplicate(&mut self, id: usize, seg: &Segment) {
        let mss = u32::from(self.mss(id));
        let s = self.session(id);
        let same = seg.payload.is_empty()
            && seg.flags & (SYN | FIN) == 0
            && seg.window != 0
            && u32::from(seg.window) << s.snd_ws == s.snd_wnd;
        if !same || !s.outstanding() {
            return;
        }
        let before = s.dups;
        s.dups = (before + 1).min(3);
        match (before, s.recovery) {
            // RFC 6582, 3.2: not for data that an earlier recovery has sent.
            (2, Recovery::None) if s.una != s.recover => {
                s.halve(mss);
                s.cwnd = s.ssthresh + 3 * mss;
                s.recovery = Recovery::Fast;
                s.recover = s.nxt;
                s.lost = true;
                s.clock.timed = None;
            }
            // Data that was retransmitted after a time-out was lost again.
            (2, Recovery::After) => s.lost = true,
            (3, Recovery::Fast) => s.cwnd += mss,
            _ => {}
        }
    }

    /// Marks all outstanding data for retransmission.
    pub(super) fn go_back(&mut self, id: usize) {
        let s = self.session(id);
        s.recovery = Recovery::Back;
        s.recover = s.nxt;
        s.again = s.una;
        s.lost = true;
    }

    /// Handles a retransmission time-out (RFC 5681, 3.1).
    pub(super) fn lost_all(&mut self, id: usize) {
        let mss = u32::from(self.mss(id));
        let s = self.session(id);
        if s.tries == 1 {
            s.halve(mss);
        }
        s.cwnd = mss;
        s.acked = 0;
        self.go_back(id);
    }

    /// Retransmits the next segment.
    pub(super) fn send_again(&mut self, id: usize) {
        let congestion = self.build.tx_congestion_control;
        let mss = u32::from(self.mss(id));
        let s = self.session(id);
        s.lost = false;
        if !s.outstanding() {
            s.recovery = Recovery::None;
            return;
        }
        if s.snd_wnd == 0 {
            // The window is closed, so the peer would accept nothing. Probe it instead.
            self.persist(id);
            return;
        }
        let back = s.recovery == Recovery::Back;
        let restarts = s.recovery == Recovery::Fast;
        let from = if back { s.again } else { s.una };
        let end = s.nxt.wrapping_sub(u32::from(s.fin_sent));
        let left = end.wrapping_sub(from);
        if left == 0 {
            if back {
                s.recovery = Recovery::After;
            }
            if s.fin_sent {
                s.clock.timed = None;
                self.send_fin_at(id, from, restarts);
            }
            return;
        }
        let room = s.room(from, congestion);
        let mut len = left.min(mss);
        if room < len {
            // Send less than a segment only at SND.UNA.
            if back && from != s.una {
                return;
            }
            len = room;
        }
        s.again = from.wrapping_add(len);
        s.lost = back;
        s.clock.timed = None;
        let bytes = s.bytes(from, len);
        self.send_data(id, from, bytes, restarts);
    }
}

impl Session {
    /// Grows the congestion window, at most to the largest window of the peer.
    fn grow(&mut self, gain: u32, mss: u32) {
        if self.cwnd >= self.max_wnd {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.cwnd += gain.min(mss);
            self.acked = 0;
        } else {
            self.acked += gain;
            if self.acked >= self.cwnd {
                self.cwnd += mss;
                self.acked = 0;
            }
        }
    }

    fn halve(&mut self, mss: u32) {
        let flight = self.nxt.wrapping_sub(self.una);
        self.ssthresh = (flight / 2).max(2 * mss);
        self.acked = 0;
    }
}
