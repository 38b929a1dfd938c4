//! Timers of the reference endpoint; all times in ticks.

use super::session::{State, lt};
use super::{Reference, reason};
use crate::drill::wire::{ACK, RST};

impl Reference {
    /// The segment that ends at SND.NXT is timed, if none is (RFC 6298, 3).
    pub(super) fn time_segment(&mut self, id: usize) {
        let now = self.now;
        let s = self.session(id);
        if s.clock.timed.is_none() && s.recover.is_none() {
            s.clock.timed = Some((s.nxt, now));
        }
    }

    pub(super) fn arm_rto(&mut self, id: usize) {
        let (now, max) = (self.now, u64::from(self.settings.rto_max));
        let s = self.session(id);
        let wait = (u64::from(s.clock.rto) << s.backoff.min(16)).min(max);
        s.rto_at = Some(now + wait);
    }

    pub(super) fn arm_rto_if_idle(&mut self, id: usize) {
        if self.sessions[id].rto_at.is_none() {
            self.arm_rto(id);
        }
    }

    /// Probes are due while data waits for a closed window and nothing is under way.
    pub(super) fn arm_persist(&mut self, id: usize) {
        let now = self.now;
        let max = u32::from(self.settings.persist_max);
        let s = self.session(id);
        let waits = s.snd_wnd == 0 && lt(s.nxt, s.written()) && !s.outstanding();
        if waits && s.persist_at.is_none() {
            s.persist_wait = s.clock.rto.min(max);
            s.persist_at = Some(now + u64::from(s.persist_wait));
        }
    }

    pub(super) fn arm_wait(&mut self, id: usize) {
        let at = self.now + u64::from(self.settings.time_wait);
        let s = self.session(id);
        s.rto_at = None;
        s.wait_at = Some(at);
    }

    /// One tick of a session.
    pub(super) fn tick(&mut self, id: usize) {
        let now = self.now;
        let due = |at: Option<u64>| at.is_some_and(|t| now >= t);
        let s = &self.sessions[id];
        if s.state == State::Closed {
            return;
        }
        if due(s.arp_at) {
            self.ask(id);
        } else if due(s.wait_at) {
            self.close(id, reason::DONE);
        } else if due(s.rto_at) {
            self.timed_out(id);
        } else if due(s.persist_at) {
            self.probe(id);
        }
        if due(self.sessions[id].delack_at) {
            self.send_ack(id);
        }
    }

    fn timed_out(&mut self, id: usize) {
        let s = self.session(id);
        s.tries += 1;
        s.backoff += 1;
        let tries = s.tries;
        s.clock.timed = None;
        match s.state {
            State::SynSent | State::SynRcvd => {
                if tries >= self.settings.syn_tries {
                    self.opening_failed(id);
                    return;
                }
                if self.sessions[id].state == State::SynSent {
                    self.send_syn_again(id);
                } else {
                    self.send_syn_ack(id);
                }
            }
            _ => {
                if tries >= self.settings.data_tries {
                    let nxt = self.sessions[id].nxt;
                    self.send_flags(id, nxt, RST | ACK, Vec::new(), Vec::new());
                    self.close(id, reason::TIMEOUT);
                    return;
                }
                let mss = u32::from(self.mss(id));
                let s = self.session(id);
                s.ssthresh = (s.nxt.wrapping_sub(s.una) / 2).max(2 * mss);
                s.cwnd = mss;
                s.recover = Some(s.nxt);
                self.retransmit(id);
            }
        }
        self.arm_rto(id);
    }

    fn opening_failed(&mut self, id: usize) {
        if self.sessions[id].passive {
            self.back_to_listen(id);
        } else {
            self.close(id, reason::TIMEOUT);
        }
    }

    /// An empty segment before the window calls for an ACK (RFC 9293, 3.8.6.1).
    fn probe(&mut self, id: usize) {
        let (now, max) = (self.now, u32::from(self.settings.persist_max));
        let s = self.session(id);
        s.persist_wait = s.persist_wait.saturating_mul(2).min(max);
        s.persist_at = Some(now + u64::from(s.persist_wait));
        let seq = s.una.wrapping_sub(1);
        self.send_flags(id, seq, ACK, Vec::new(), Vec::new());
    }
}
