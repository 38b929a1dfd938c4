//! Handles an arriving segment: the steps of RFC 9293, 3.10.7, with the checks of RFC 5961.

use super::sequence::{le, lt};
use super::session::{Clock, Session, State, Timer};
use super::{Reference, reason};
use crate::drill::endpoint::Delivery;
use crate::drill::wire::{ACK, FIN, RST, SYN, Segment};

/// Maximum number of challenge ACKs of a session per tick (RFC 5961, 7).
const CHALLENGES: u32 = 4;
/// Maximum number of resets per tick for segments without a session.
const RESETS: u32 = 16;
/// Least MSS of a peer that is used.
pub(super) const LEAST_MSS: u16 = 64;
/// Distance of the initial sequence number of a new connection from the old one in TIME-WAIT.
pub(super) const REOPEN_STEP: u32 = 131_072;

impl Reference {
    pub(super) fn segment(&mut self, seg: &Segment) {
        let Some(id) = self.lookup(seg) else {
            self.in_no_session(seg);
            return;
        };
        match self.sessions[id].state {
            State::SynSent => self.in_syn_sent(id, seg),
            State::TimeWait if self.reopens(id, seg) => self.reopen(id, seg),
            _ => self.in_others(id, seg),
        }
        self.pump(id);
    }

    /// 3.10.7.1 and 3.10.7.2: finds a listening session for a SYN. If the session that listened on
    /// this port is in use, or is about to connect to this peer, the SYN is dropped.
    fn in_no_session(&mut self, seg: &Segment) {
        if seg.flags & RST != 0 {
            return;
        }
        if seg.flags & ACK == 0 {
            if let Some(id) = self.listener(seg) {
                if seg.flags & SYN != 0 {
                    self.in_listen(id, seg);
                    self.pump(id);
                }
                return;
            }
            if self.port_in_use(seg) {
                return;
            }
        }
        if self.resets < RESETS && !self.settings.rst_silent {
            self.resets += 1;
            self.send_reset_for(seg);
        }
    }

    fn port_in_use(&self, seg: &Segment) -> bool {
        self.sessions.iter().any(|s| {
            let same = s.peer == Some(seg.src) && s.peer_port == seg.sport;
            s.port == seg.dport
                && !matches!(s.state, State::Closed | State::Listen)
                && (s.passive || same)
        })
    }

    fn in_listen(&mut self, id: usize, seg: &Segment) {
        let s = self.session(id);
        s.peer = Some(seg.src);
        s.peer_port = seg.sport;
        s.mac = seg.src_mac;
        self.begin(id);
        self.peer_syn(id, seg);
        self.set_state(id, State::SynRcvd);
        self.send_syn(id);
    }

    /// Whether a SYN opens a new connection in TIME-WAIT: the session listened, and the sequence
    /// number is beyond the received data (RFC 9293, 3.6.1; RFC 6191).
    fn reopens(&self, id: usize, seg: &Segment) -> bool {
        let s = &self.sessions[id];
        s.passive && seg.flags & (SYN | ACK | RST) == SYN && le(s.rcv_nxt, seg.seq)
    }

    /// Opens a new connection, which keeps round-trip times and next hop of the old one (RFC 9040).
    fn reopen(&mut self, id: usize, seg: &Segment) {
        let old = self.sessions[id].clone();
        self.close(id, reason::DONE);
        let nxt = old.nxt.wrapping_add(REOPEN_STEP);
        self.hints.insert(id as u16, nxt);
        self.sessions[id] = Session {
            clock: Clock { timed: None, ..old.clock },
            limited: old.limited,
            ..Session::listening(old.port, old.from)
        };
        self.in_listen(id, &Segment { src_mac: old.mac, ..seg.clone() });
    }

    /// Takes sequence number, options and window from the peer's SYN.
    fn peer_syn(&mut self, id: usize, seg: &Segment) {
        let offered = self.settings.wscale;
        let s = self.session(id);
        s.irs = seg.seq;
        let left = s.edge.wrapping_sub(s.rcv_nxt);
        s.rcv_nxt = seg.seq.wrapping_add(1);
        s.edge = s.rcv_nxt.wrapping_add(left);
        s.peer_mss = seg.mss().filter(|m| *m != 0).map_or(536, |m| m.max(LEAST_MSS));
        let ws = seg.wscale();
        s.scaled = ws.is_some() && offered.is_some();
        s.snd_ws = if s.scaled { ws.unwrap_or(0).min(14) } else { 0 };
        // The window of a SYN is never scaled (RFC 7323, 2.2).
        s.snd_wnd = seg.window.into();
        s.max_wnd = s.snd_wnd;
        s.wl1 = seg.seq;
    }

    /// RFC 9293, 3.10.7.3.
    fn in_syn_sent(&mut self, id: usize, seg: &Segment) {
        let s = &self.sessions[id];
        let ack = seg.flags & ACK != 0;
        if ack && (le(seg.ack, s.iss) || lt(s.nxt, seg.ack)) {
            if seg.flags & RST == 0 {
                self.send_reset(id, seg.ack);
            }
            return;
        }
        if seg.flags & RST != 0 {
            if ack {
                self.close(id, reason::REFUSED);
            }
            return;
        }
        if seg.flags & SYN == 0 {
            return;
        }
        self.peer_syn(id, seg);
        if ack {
            let s = self.session(id);
            s.recover = s.una;
            self.established(id);
            self.acked(id, seg.ack);
            self.send_ack(id);
        } else {
            let s = self.session(id);
            s.tries = 0;
            s.clock.timed = None;
            self.set_state(id, State::SynRcvd);
            self.send_syn_again(id);
        }
    }

    fn established(&mut self, id: usize) {
        self.set_state(id, State::Established);
        self.initial_window(id);
        let s = &self.sessions[id];
        let (peer_port, port) = (u64::from(s.peer_port), u64::from(s.port));
        self.event(1, id, peer_port << 16 | port);
    }

    /// RFC 9293, 3.10.7.4.
    fn in_others(&mut self, id: usize, seg: &Segment) {
        let s = &self.sessions[id];
        // The peer repeats its SYN: our answer was lost, or both sides opened and it acknowledges
        // ours.
        if s.state == State::SynRcvd && seg.flags & SYN != 0 && seg.seq == s.irs {
            let new = seg.flags & ACK != 0 && lt(s.una, seg.ack) && le(seg.ack, s.nxt);
            match (seg.flags & RST, new) {
                (0, true) => {
                    self.check_ack(id, seg);
                }
                (0, false) => {
                    self.session(id).clock.timed = None;
                    self.send_syn_again(id);
                }
                _ => {}
            }
            return;
        }
        if !self.acceptable(id, seg) {
            if seg.flags & RST == 0 {
                self.not_acceptable(id, seg);
            }
            return;
        }
        if seg.flags & RST != 0 {
            if seg.seq == s.rcv_nxt {
                self.reset_seen(id);
            } else {
                self.challenge(id);
            }
            return;
        }
        if seg.flags & SYN != 0 {
            if s.state == State::SynRcvd && s.passive {
                self.back_to_listen(id);
            } else {
                self.challenge(id);
            }
            return;
        }
        if seg.flags & ACK != 0 && self.check_ack(id, seg) {
            self.take(id, seg);
        }
    }

    /// Answers an unacceptable segment with an ACK, which is limited if it has no data and no FIN.
    fn not_acceptable(&mut self, id: usize, seg: &Segment) {
        let fin = seg.flags & FIN != 0;
        if self.sessions[id].state == State::TimeWait && fin {
            self.arm_wait(id);
        }
        if seg.payload.is_empty() && !fin {
            self.challenge(id);
        } else {
            self.send_ack(id);
        }
    }

    /// First step: the four cases of RFC 9293, table 6, with the announced window.
    fn acceptable(&self, id: usize, seg: &Segment) -> bool {
        let s = &self.sessions[id];
        let (wnd, len) = (self.announced(id), seg.seq_len());
        let inside = |q: u32| q.wrapping_sub(s.rcv_nxt) < wnd;
        match (len, wnd) {
            (0, 0) => seg.seq == s.rcv_nxt,
            (0, _) => inside(seg.seq),
            (_, 0) => false,
            _ => inside(seg.seq) || inside(seg.seq.wrapping_add(len - 1)),
        }
    }

    fn reset_seen(&mut self, id: usize) {
        let s = &self.sessions[id];
        match s.state {
            State::SynRcvd if s.passive => self.back_to_listen(id),
            State::SynRcvd => self.close(id, reason::REFUSED),
            State::TimeWait => self.close(id, reason::DONE),
            _ => self.close(id, reason::RESET),
        }
    }

    pub(super) fn back_to_listen(&mut self, id: usize) {
        let (port, from) = (self.sessions[id].port, self.sessions[id].from);
        self.listen(id, port, from);
    }

    /// Sends a challenge ACK (RFC 5961, 3 to 5), unless there were too many.
    fn challenge(&mut self, id: usize) {
        let tick = self.now as u8;
        let (last, count) = self.sessions[id].limited;
        let count = if last == tick { count } else { 0 };
        if count < CHALLENGES {
            self.session(id).limited = (tick, count + 1);
            self.send_ack(id);
        }
    }

    /// Fifth step. Returns false if the segment needs no further processing.
    fn check_ack(&mut self, id: usize, seg: &Segment) -> bool {
        let s = &self.sessions[id];
        if s.state == State::SynRcvd {
            if !lt(s.una, seg.ack) || lt(s.nxt, seg.ack) {
                self.send_reset(id, seg.ack);
                return false;
            }
            self.established(id);
            let s = self.session(id);
            s.recover = s.una;
            // Always take the first window.
            s.wl1 = seg.seq;
            self.acked(id, seg.ack);
            self.window(id, seg);
            return true;
        }
        let low = s.una.wrapping_sub(s.max_wnd);
        if lt(s.nxt, seg.ack) || lt(seg.ack, low) {
            self.challenge(id);
            return false;
        }
        let probing = matches!(s.timer, Some((Timer::Persist, _)));
        if lt(s.una, seg.ack) {
            self.progress(id, seg.ack);
        } else if seg.ack == s.una {
            self.maybe_duplicate(id, seg);
        }
        if probing {
            // The peer has answered, which is all that a probe needs.
            self.session(id).tries = 0;
        }
        if le(self.sessions[id].una, seg.ack) {
            self.window(id, seg);
            self.fin_acked(id);
        }
        self.sessions[id].matches()
    }

    /// Updates the send window by the rule with WL1. WL2 is never above SND.UNA, so the ACK has
    /// passed that test.
    fn window(&mut self, id: usize, seg: &Segment) {
        let s = self.session(id);
        if lt(seg.seq, s.wl1) {
            return;
        }
        // The window of a SYN is never scaled (RFC 7323, 2.2).
        let shift = if seg.flags & SYN == 0 { s.snd_ws } else { 0 };
        s.snd_wnd = u32::from(seg.window) << shift;
        s.max_wnd = s.max_wnd.max(s.snd_wnd);
        s.wl1 = seg.seq;
        if s.snd_wnd != 0 && matches!(s.timer, Some((Timer::Persist, _))) {
            s.timer = None;
            s.backoff = 0;
            if s.outstanding() {
                // The peer discarded the data that was sent when the window closed.
                self.go_back(id);
            }
        }
    }

    fn fin_acked(&mut self, id: usize) {
        let s = &self.sessions[id];
        if !s.fin_sent || s.outstanding() {
            return;
        }
        match s.state {
            State::FinWait1 => self.set_state(id, State::FinWait2),
            State::Closing => self.time_wait(id),
            State::LastAck => self.close(id, reason::DONE),
            _ => {}
        }
    }

    fn time_wait(&mut self, id: usize) {
        self.set_state(id, State::TimeWait);
        self.arm_wait(id);
    }

    /// Seventh and eighth step: payload and FIN, if they are next in sequence.
    fn take(&mut self, id: usize, seg: &Segment) {
        let fin = seg.flags & FIN != 0;
        if seg.payload.is_empty() && !fin {
            return;
        }
        let s = &self.sessions[id];
        let ahead = seg.seq.wrapping_sub(s.rcv_nxt);
        // A segment that ends beyond the window is not kept, not even in part.
        let fits = u64::from(ahead) + u64::from(seg.seq_len()) <= u64::from(self.offered(id));
        if !s.receiving() || !fits || ahead != 0 {
            if s.receiving() && fits {
                self.out_of_order(id, ahead, seg);
            }
            self.send_ack(id);
            return;
        }
        if !self.room_for(&seg.payload) {
            self.send_ack(id);
            return;
        }
        self.deliver(id, &seg.payload);
        let gap = !self.sessions[id].kept.is_empty();
        let s = self.session(id);
        let (follow, fin) = s.kept.advance(s.rcv_nxt, fin);
        self.deliver(id, &follow);
        if fin {
            self.peer_finished(id);
        } else if gap {
            // RFC 5681, 4.2: data that fills a gap, or a part of it, is acknowledged at once.
            self.send_ack(id);
        } else {
            self.ack_later(id);
        }
    }

    fn out_of_order(&mut self, id: usize, ahead: u32, seg: &Segment) {
        if self.build.rx_reordering {
            let fin = seg.flags & FIN != 0;
            self.session(id).kept.keep(seg.seq, &seg.payload, fin);
        } else if self.build.rx_out_of_sequence && !seg.payload.is_empty() {
            let (session, bytes) = (id as u16, seg.payload.clone());
            self.delivered.push(Delivery { session, bytes, err: false, ahead: Some(ahead) });
        }
    }

    /// Whether the FIFO to the user has room for this payload (store-and-forward).
    fn room_for(&self, payload: &[u8]) -> bool {
        let beats = (payload.len() as u32).next_multiple_of(self.build.beat_bytes());
        !self.build.rx_checksum || self.fifo_used() + beats <= self.build.fifo_bytes()
    }

    /// Delivers payload to the user.
    fn deliver(&mut self, id: usize, payload: &[u8]) {
        if !payload.is_empty() {
            let bytes = payload.to_vec();
            self.fifo.push_back(Delivery { session: id as u16, bytes, err: false, ahead: None });
            self.drain_fifo();
        }
        let s = self.session(id);
        s.rcv_nxt = s.rcv_nxt.wrapping_add(payload.len() as u32);
    }

    fn peer_finished(&mut self, id: usize) {
        let s = self.session(id);
        s.rcv_nxt = s.rcv_nxt.wrapping_add(1);
        self.event(3, id, 0);
        match self.sessions[id].state {
            State::Established => self.set_state(id, State::CloseWait),
            State::FinWait1 => self.set_state(id, State::Closing),
            State::FinWait2 => self.time_wait(id),
            _ => {}
        }
        self.send_ack(id);
    }
}
