//! A segment arrives: the steps of RFC 9293, 3.10.7, with the checks of RFC 5961.

use super::session::{Session, State, le, lt};
use super::{Reference, reason};
use crate::drill::endpoint::Delivery;
use crate::drill::wire::{ACK, FIN, RST, SYN, Segment};

/// Challenge ACKs of a session in a tick.
const CHALLENGES: u32 = 4;
/// The same of ACKs for data out of order.
const DUPLICATES: u32 = 15;

impl Reference {
    pub(super) fn segment(&mut self, seg: &Segment) {
        let Some(id) = self.lookup(seg) else {
            match self.listener(seg) {
                Some(id) => self.in_listen(id, seg),
                None => self.refuse(seg),
            }
            return;
        };
        match self.sessions[id].state {
            State::SynSent => self.in_syn_sent(id, seg),
            State::TimeWait if self.reopens(id, seg) => {
                self.close(id, reason::DONE);
                self.in_listen(id, seg);
            }
            _ => self.in_others(id, seg),
        }
    }

    /// A SYN above the old connection begins a new one (RFC 9293, 3.6.1).
    fn reopens(&self, id: usize, seg: &Segment) -> bool {
        let s = &self.sessions[id];
        s.passive && seg.flags & (SYN | ACK | RST) == SYN && lt(s.rcv_nxt, seg.seq)
    }

    /// 3.10.7.1: a segment for no session.
    fn refuse(&mut self, seg: &Segment) {
        if seg.flags & RST == 0 && !self.settings.rst_silent {
            self.send_reset_for(seg);
        }
    }

    /// 3.10.7.2.
    fn in_listen(&mut self, id: usize, seg: &Segment) {
        if seg.flags & RST != 0 {
            return;
        }
        if seg.flags & ACK != 0 {
            self.refuse(seg);
            return;
        }
        if seg.flags & SYN == 0 || seg.flags & FIN != 0 {
            return;
        }
        let s = self.session(id);
        s.peer = Some(seg.src);
        s.peer_port = seg.sport;
        s.mac = seg.src_mac;
        self.begin(id);
        self.peer_syn(id, seg);
        self.set_state(id, State::SynRcvd);
        self.send_syn_ack(id);
        self.arm_rto(id);
    }

    /// Sequence number, options and window of the peer's SYN.
    fn peer_syn(&mut self, id: usize, seg: &Segment) {
        let offered = self.settings.wscale;
        let s = self.session(id);
        s.irs = seg.seq;
        s.rcv_nxt = seg.seq.wrapping_add(1);
        s.peer_mss = seg.mss().filter(|m| *m != 0).unwrap_or(536);
        let ws = seg.wscale();
        s.scaled = ws.is_some() && offered.is_some();
        s.snd_ws = if s.scaled { ws.unwrap_or(0).min(14) } else { 0 };
        // The window of a SYN is never scaled (RFC 7323, 2.2).
        s.snd_wnd = seg.window.into();
        s.max_wnd = s.snd_wnd;
        s.wl1 = seg.seq;
        s.wl2 = seg.ack;
    }

    /// 3.10.7.3.
    fn in_syn_sent(&mut self, id: usize, seg: &Segment) {
        let s = &self.sessions[id];
        let ack = seg.flags & ACK != 0;
        if ack && (le(seg.ack, s.iss) || lt(s.nxt, seg.ack)) {
            self.refuse(seg);
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
            self.acked(id, seg.ack);
            self.established(id);
            self.send_ack(id);
        } else {
            self.set_state(id, State::SynRcvd);
            self.send_syn_ack(id);
            self.arm_rto(id);
        }
    }

    fn established(&mut self, id: usize) {
        self.set_state(id, State::Established);
        let mss = u32::from(self.mss(id));
        let s = self.session(id);
        let (peer_port, port) = (u64::from(s.peer_port), u64::from(s.port));
        // Initial window of RFC 5681, 3.1.
        s.cwnd = match mss {
            2191.. => 2,
            1096.. => 3,
            _ => 4,
        } * mss;
        s.ssthresh = u32::MAX;
        self.event(1, id, peer_port << 16 | port);
        if self.sessions[id].fin_wanted {
            self.set_state(id, State::FinWait1);
        }
    }

    /// 3.10.7.4.
    fn in_others(&mut self, id: usize, seg: &Segment) {
        if !self.acceptable(id, seg) {
            if seg.flags & RST == 0 {
                self.not_acceptable(id, seg);
            }
            return;
        }
        let s = &self.sessions[id];
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
        let half_open = s.state == State::SynRcvd;
        if seg.flags & ACK == 0 || !self.check_ack(id, seg) {
            return;
        }
        if half_open {
            // Delivery opens with this segment: what is in it has to come again.
            if seg.seq_len() != 0 {
                self.count_limited(id);
                self.send_ack(id);
            }
        } else {
            self.take(id, seg);
        }
        self.pump(id);
    }

    /// An ACK tells where we are; a SYN that comes again is answered again, and the SYN-ACK of a
    /// simultaneous open acknowledges ours.
    fn not_acceptable(&mut self, id: usize, seg: &Segment) {
        let s = &self.sessions[id];
        if s.state == State::SynRcvd && seg.flags & SYN != 0 && seg.seq == s.irs {
            let new = seg.flags & ACK != 0 && lt(s.una, seg.ack) && le(seg.ack, s.nxt);
            if new {
                self.check_ack(id, seg);
            } else {
                self.session(id).clock.timed = None;
                self.send_syn_ack_again(id);
            }
            return;
        }
        if s.state == State::TimeWait && seg.flags & FIN != 0 {
            self.arm_wait(id);
        }
        if seg.payload.is_empty() && seg.flags & FIN == 0 {
            self.challenge(id);
        } else {
            self.send_limited(id, DUPLICATES);
        }
    }

    /// First step: the four cases of RFC 9293, table 6.
    fn acceptable(&self, id: usize, seg: &Segment) -> bool {
        let s = &self.sessions[id];
        let (wnd, len) = (self.settings.rcv_wnd, seg.seq_len());
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
            State::Closing | State::LastAck | State::TimeWait => self.close(id, reason::DONE),
            _ => self.close(id, reason::RESET),
        }
    }

    pub(super) fn back_to_listen(&mut self, id: usize) {
        let (port, from) = (self.sessions[id].port, self.sessions[id].from);
        self.listen(id, port, from);
    }

    /// An ACK that tells a peer what is right (RFC 5961, 3 to 5).
    fn challenge(&mut self, id: usize) {
        self.send_limited(id, CHALLENGES);
    }

    /// An ACK that nobody needs for progress, if there were fewer than `limit` of them in this tick.
    fn send_limited(&mut self, id: usize, limit: u32) {
        let (tick, count) = self.sessions[id].limited;
        let count = if tick == self.now { count } else { 0 };
        if count < limit {
            self.count_limited(id);
            self.send_ack(id);
        }
    }

    fn count_limited(&mut self, id: usize) {
        let (tick, count) = self.sessions[id].limited;
        let count = if tick == self.now { count } else { 0 };
        self.sessions[id].limited = (self.now, count + 1);
    }

    /// Fifth step. False: the segment is of no further use.
    fn check_ack(&mut self, id: usize, seg: &Segment) -> bool {
        let s = &self.sessions[id];
        if s.state == State::SynRcvd {
            if !lt(s.una, seg.ack) || lt(s.nxt, seg.ack) {
                self.refuse(seg);
                return false;
            }
            self.acked(id, seg.ack);
            self.established(id);
            let s = self.session(id);
            s.wl1 = seg.seq.wrapping_sub(1);
            self.window(id, seg);
            return true;
        }
        let low = s.una.wrapping_sub(s.max_wnd);
        if lt(s.nxt, seg.ack) || lt(seg.ack, low) {
            self.challenge(id);
            return false;
        }
        if lt(s.una, seg.ack) {
            self.progress(id, seg);
        } else if seg.ack == s.una {
            self.maybe_duplicate(id, seg);
        }
        if self.sessions[id].persist_at.is_some() {
            // The peer lives: that is all a probe asks.
            self.session(id).tries = 0;
        }
        if le(self.sessions[id].una, seg.ack) {
            self.window(id, seg);
        }
        self.fin_acked(id);
        true
    }

    /// New data is acknowledged.
    fn progress(&mut self, id: usize, seg: &Segment) {
        let mss = u32::from(self.mss(id));
        let s = self.session(id);
        let gain = seg.ack.wrapping_sub(s.una);
        s.dups = 0;
        if s.recover.is_none() {
            s.cwnd = if s.cwnd < s.ssthresh {
                s.cwnd.saturating_add(gain.min(mss))
            } else {
                s.cwnd.saturating_add((mss * mss / s.cwnd.max(1)).max(1))
            };
        }
        self.acked(id, seg.ack);
        let s = self.session(id);
        match s.recover {
            Some(end) if lt(s.una, end) => self.retransmit(id),
            Some(_) => {
                s.recover = None;
                s.cwnd = s.cwnd.min(s.ssthresh.max(2 * mss));
            }
            None => {}
        }
    }

    /// A duplicate in the sense of RFC 5681, 2; the third one calls for the lost segment.
    fn maybe_duplicate(&mut self, id: usize, seg: &Segment) {
        let mss = u32::from(self.mss(id));
        let s = self.session(id);
        let same = seg.payload.is_empty()
            && seg.flags & (SYN | FIN) == 0
            && seg.window != 0
            && u32::from(seg.window) << s.snd_ws == s.snd_wnd;
        if !same || !s.outstanding() {
            return;
        }
        s.dups = s.dups.saturating_add(1);
        if s.dups == 3 && s.recover.is_none() {
            let flight = s.nxt.wrapping_sub(s.una);
            s.ssthresh = (flight / 2).max(2 * mss);
            s.cwnd = s.ssthresh + 3 * mss;
            s.recover = Some(s.nxt);
            self.retransmit(id);
            self.arm_rto(id);
        } else if s.dups > 3 && s.recover.is_some() {
            s.cwnd = s.cwnd.saturating_add(mss);
        }
    }

    /// SND.UNA moves: bytes leave the ring, the clock is read, the time-out starts again.
    fn acked(&mut self, id: usize, ack: u32) {
        let now = self.now;
        let (min, max) = (self.settings.rto_min.into(), self.settings.rto_max.into());
        let s = self.session(id);
        s.una = ack;
        let written = s.written();
        let end = if lt(written, ack) { written } else { ack };
        if lt(s.base, end) {
            let gone = end.wrapping_sub(s.base) as usize;
            s.ring.drain(..gone);
            s.base = end;
        }
        if let Some((seq, since)) = s.clock.timed
            && le(seq, ack)
        {
            s.clock.timed = None;
            s.clock.sample((now - since) as u32, min, max);
            // Until then the longer time-out stays (RFC 6298, 5.7).
            s.backoff = 0;
        }
        s.tries = 0;
        s.rto_at = None;
        if s.outstanding() {
            self.arm_rto(id);
        }
    }

    /// The window rule with WL1 and WL2.
    fn window(&mut self, id: usize, seg: &Segment) {
        let s = self.session(id);
        if lt(s.wl1, seg.seq) || s.wl1 == seg.seq && le(s.wl2, seg.ack) {
            s.snd_wnd = u32::from(seg.window) << s.snd_ws;
            s.max_wnd = s.max_wnd.max(s.snd_wnd);
            s.wl1 = seg.seq;
            s.wl2 = seg.ack;
            if s.snd_wnd != 0 && s.persist_at.take().is_some() {
                s.backoff = 0;
                if s.outstanding() {
                    self.retransmit(id);
                    self.arm_rto(id);
                }
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

    pub(super) fn time_wait(&mut self, id: usize) {
        self.set_state(id, State::TimeWait);
        self.arm_wait(id);
    }

    /// Seventh and eighth step: payload and FIN, if they are what is expected next.
    fn take(&mut self, id: usize, seg: &Segment) {
        let fin = seg.flags & FIN != 0;
        if seg.payload.is_empty() && !fin {
            return;
        }
        if !self.sessions[id].receiving() {
            self.send_limited(id, DUPLICATES);
            return;
        }
        if seg.seq != self.sessions[id].rcv_nxt {
            self.out_of_order(id, seg);
            return;
        }
        if !self.deliver(id, &seg.payload) {
            return;
        }
        let gap = !self.sessions[id].early.is_empty();
        if !fin {
            self.drain_early(id);
        }
        if fin {
            self.peer_finished(id);
        } else if !self.sessions[id].receiving() {
            // FIN came with what was early, and was acknowledged.
        } else if gap {
            self.send_ack(id); // RFC 5681, 4.2: all or part of a gap is filled
        } else {
            self.ack_later(id);
        }
    }

    fn out_of_order(&mut self, id: usize, seg: &Segment) {
        let ahead = seg.seq.wrapping_sub(self.sessions[id].rcv_nxt);
        let later = lt(self.sessions[id].rcv_nxt, seg.seq);
        if later && self.build.rx_reordering {
            let fin = seg.flags & FIN != 0;
            let new = (seg.payload.clone(), fin);
            let early = &mut self.sessions[id].early;
            let old = early.get(&seg.seq).map_or(0, |(data, fin)| data.len() + usize::from(*fin));
            if old < new.0.len() + usize::from(fin) {
                early.insert(seg.seq, new);
            }
        } else if later && self.build.rx_out_of_sequence && !seg.payload.is_empty() {
            let (session, bytes) = (id as u16, seg.payload.clone());
            self.delivered.push(Delivery { session, bytes, err: false, ahead: Some(ahead) });
        }
        self.send_limited(id, DUPLICATES);
    }

    /// Gives payload to the user; false if there is no room.
    fn deliver(&mut self, id: usize, payload: &[u8]) -> bool {
        if !payload.is_empty() {
            let room = usize::from(self.build.rx_fifo_packets) * usize::from(self.build.mtu);
            if self.build.rx_checksum && self.fifo_bytes() + payload.len() > room {
                return false;
            }
            let bytes = payload.to_vec();
            self.fifo.push_back(Delivery { session: id as u16, bytes, err: false, ahead: None });
            self.drain_fifo();
        }
        let s = self.session(id);
        s.rcv_nxt = s.rcv_nxt.wrapping_add(payload.len() as u32);
        true
    }

    /// Early segments that have become due.
    fn drain_early(&mut self, id: usize) {
        loop {
            let s = self.session(id);
            let next = s.rcv_nxt;
            s.early.retain(|seq, (data, fin)| {
                lt(next, seq.wrapping_add(data.len() as u32 + u32::from(*fin)))
            });
            let due = s.early.iter().find(|(seq, _)| le(**seq, next)).map(|(seq, _)| *seq);
            let Some((seq, (data, fin))) = due.and_then(|seq| s.early.remove_entry(&seq)) else {
                return;
            };
            let skip = next.wrapping_sub(seq) as usize;
            if !self.deliver(id, &data[skip..]) {
                return;
            }
            if fin {
                self.peer_finished(id);
                return;
            }
        }
    }

    fn peer_finished(&mut self, id: usize) {
        let s = self.session(id);
        s.rcv_nxt = s.rcv_nxt.wrapping_add(1);
        s.peer_fin = true;
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

impl Session {
    /// Forgets all but who listens.
    pub(super) fn listening(port: u16, from: Option<std::net::Ipv4Addr>) -> Self {
        Self { state: State::Listen, passive: true, port, from, ..Self::default() }
    }
}
