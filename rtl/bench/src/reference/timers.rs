//! Timers of the reference endpoint; all times in ticks. Beside the delay of an ACK a session has
//! one: a time-out, the next probe and the end of TIME-WAIT exclude each other.

use super::session::{State, Timer};
use super::{Reference, reason};
use crate::drill::wire::{ACK, RST};

/// Maximum number of doublings of the time-out.
const DOUBLINGS: u32 = 15;

impl Reference {
    /// Times the segment that ends at SND.NXT, unless another one is timed (RFC 6298, 3).
    pub(super) fn time_segment(&mut self, id: usize) {
        let now = self.now;
        let s = self.session(id);
        if s.clock.timed.is_none() {
            s.clock.timed = Some((s.nxt, now));
        }
    }

    /// The time-out with backoff, at most `limit`.
    fn wait(&self, id: usize, limit: u16) -> u64 {
        let (c, s) = (&self.settings, &self.sessions[id]);
        let rto = u64::from(s.clock.rto(c.rto_init.into(), c.rto_min.into()));
        (rto << s.backoff).min(limit.into())
    }

    /// The time-out in the registers.
    pub(super) fn rto(&self, id: usize) -> u16 {
        self.wait(id, self.settings.rto_max) as u16
    }

    pub(super) fn arm_rto(&mut self, id: usize) {
        let at = self.now + self.wait(id, self.settings.rto_max);
        self.session(id).timer = Some((Timer::Rto, at));
    }

    /// Starts the time-out after sending data that needs an ACK, unless it runs.
    pub(super) fn arm_rto_if_idle(&mut self, id: usize) {
        if matches!(self.sessions[id].timer, None | Some((Timer::Persist, _))) {
            self.arm_rto(id);
        }
    }

    /// Starts probing if data waits for a closed window and nothing is outstanding.
    pub(super) fn arm_persist(&mut self, id: usize) {
        let s = &self.sessions[id];
        if s.snd_wnd == 0 && s.waits() && !s.outstanding() && s.timer.is_none() {
            self.persist(id);
        }
    }

    pub(super) fn persist(&mut self, id: usize) {
        let at = self.now + self.wait(id, self.settings.persist_max);
        self.session(id).timer = Some((Timer::Persist, at));
    }

    pub(super) fn arm_wait(&mut self, id: usize) {
        let at = self.now + u64::from(self.settings.time_wait);
        self.session(id).timer = Some((Timer::Wait, at));
    }

    /// Handles a tick of a session.
    pub(super) fn tick(&mut self, id: usize) {
        let now = self.now;
        let s = self.session(id);
        if let Some((timer, at)) = s.timer
            && now >= at
        {
            s.timer = None;
            match timer {
                Timer::Wait => self.close(id, reason::DONE),
                Timer::Rto => self.timed_out(id),
                Timer::Persist => self.probe(id),
            }
        }
        if self.sessions[id].delack_at.is_some_and(|at| now >= at) {
            self.send_ack(id);
        }
    }

    fn timed_out(&mut self, id: usize) {
        let s = self.session(id);
        let opening = matches!(s.state, State::SynSent | State::SynRcvd);
        if !opening && !s.outstanding() {
            s.tries = 0;
            return;
        }
        s.tries += 1;
        s.backoff = (s.backoff + 1).min(DOUBLINGS);
        s.clock.timed = None;
        let tries = s.tries;
        if opening {
            if tries >= self.settings.syn_tries {
                self.opening_failed(id);
            } else {
                self.send_syn_again(id);
            }
        } else if tries >= self.settings.data_tries {
            self.give_up(id);
        } else {
            self.lost_all(id);
            self.pump(id);
        }
    }

    /// Ends a connection whose peer does not answer.
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

    /// Sends an empty segment before the window, which requires an ACK (RFC 9293, 3.8.6.1), if data
    /// waits for the window.
    fn probe(&mut self, id: usize) {
        let most = self.settings.data_tries;
        let s = self.session(id);
        if !s.outstanding() && !s.waits() {
            return;
        }
        s.tries += 1;
        if s.tries >= most {
            self.give_up(id);
            return;
        }
        s.backoff = (s.backoff + 1).min(DOUBLINGS);
        let seq = s.una.wrapping_sub(1);
        self.persist(id);
        self.send_flags(id, seq, ACK, Vec::new(), Vec::new());
    }
}
