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
        let s = &self.sessions[id];
        let more = lt(s.nxt, s.written()) || s.fin_wanted && !s.fin_sent;
        let waits = s.snd_wnd == 0 && more && !s.outstanding();
        if waits && s.persist_at.is_none() {
            self.persist(id);
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
                    self.give_up(id);
                    return;
                }
                let mss = u32::from(self.mss(id));
                let s = self.session(id);
                s.ssthresh = (s.nxt.wrapping_sub(s.una) / 2).max(2 * mss);
                s.cwnd = mss;
                s.recover = Some(s.nxt);
                if s.snd_wnd == 0 {
                    // Nothing would be taken: probes ask for the window.
                    s.rto_at = None;
                    self.persist(id);
                    return;
                }
                self.retransmit(id);
            }
        }
        self.arm_rto(id);
    }

    /// The peer does not answer any more.
    fn give_up(&mut self, id: usize) {
        let nxt = self.sessions[id].nxt;
        self.send_flags(id, nxt, RST | ACK, Vec::new(), Vec::new());
        self.close(id, reason::TIMEOUT);
    }

    fn opening_failed(&mut self, id: usize) {
        if self.sessions[id].passive {
            self.back_to_listen(id);
        } else {
            self.close(id, reason::TIMEOUT);
        }
    }

    fn persist(&mut self, id: usize) {
        let (now, max) = (self.now, u32::from(self.settings.persist_max));
        let s = self.session(id);
        let wait = s.clock.rto.checked_shl(s.backoff).unwrap_or(max).min(max);
        s.persist_at = Some(now + u64::from(wait));
    }

    /// An empty segment before the window calls for an ACK (RFC 9293, 3.8.6.1).
    fn probe(&mut self, id: usize) {
        let most = self.settings.data_tries;
        let s = self.session(id);
        s.tries += 1;
        if s.tries >= most {
            self.give_up(id);
            return;
        }
        s.backoff += 1;
        let seq = s.una.wrapping_sub(1);
        self.persist(id);
        self.send_flags(id, seq, ACK, Vec::new(), Vec::new());
    }
}
