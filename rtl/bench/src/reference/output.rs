//! What the reference endpoint sends.

use super::session::{Session, State, le, lt};
use super::{Reference, reason};
use crate::drill::endpoint::{Frame, Op};
use crate::drill::wire::{ACK, FIN, Lies, PSH, RST, SYN, Segment, build};

impl Reference {
    pub(super) fn command(&mut self, id: usize, op: Op) {
        let state = self.sessions[id].state;
        let free = matches!(state, State::Closed | State::Listen);
        match op {
            Op::Listen { port, from } if free => self.listen(id, port, from),
            Op::Connect { ip, port, local_port } if free => {
                self.sessions[id] = Session {
                    peer: Some(ip),
                    peer_port: port,
                    port: local_port,
                    ..Session::default()
                };
                self.resolve(id);
            }
            Op::Close => match state {
                State::Listen | State::SynSent | State::Resolve => self.close(id, reason::ABORT),
                State::SynRcvd => self.session(id).fin_wanted = true,
                State::Established => self.finish(id, State::FinWait1),
                State::CloseWait => self.finish(id, State::LastAck),
                _ => {}
            },
            Op::Abort if state != State::Closed => {
                if self.sessions[id].synchronised() || state == State::SynRcvd {
                    let nxt = self.sessions[id].nxt;
                    self.send_flags(id, nxt, RST | ACK, Vec::new(), Vec::new());
                }
                self.close(id, reason::ABORT);
            }
            _ => {}
        }
    }

    fn finish(&mut self, id: usize, state: State) {
        self.session(id).fin_wanted = true;
        self.set_state(id, state);
        self.pump(id);
    }

    pub(super) fn listen(&mut self, id: usize, port: u16, from: Option<std::net::Ipv4Addr>) {
        self.sessions[id] = Session::listening(port, from);
    }

    /// A connection begins: sequence numbers, empty ring, time-out before any measurement.
    pub(super) fn begin(&mut self, id: usize) {
        let iss = self.new_iss(id);
        let rto = self.settings.rto_init.into();
        let s = self.session(id);
        s.iss = iss;
        s.una = iss;
        s.nxt = iss.wrapping_add(1);
        s.base = s.nxt;
        s.clock.rto = rto;
    }

    pub(super) fn send_syn(&mut self, id: usize) {
        self.begin(id);
        self.session(id).arp_at = None;
        self.set_state(id, State::SynSent);
        self.send_syn_again(id);
        self.time_segment(id);
        self.arm_rto(id);
    }

    pub(super) fn send_syn_again(&mut self, id: usize) {
        let iss = self.sessions[id].iss;
        let options = self.syn_options(self.settings.wscale);
        self.send_flags(id, iss, SYN, options, Vec::new());
    }

    pub(super) fn send_syn_ack(&mut self, id: usize) {
        if self.sessions[id].tries == 0 {
            self.time_segment(id);
        }
        self.send_syn_ack_again(id);
    }

    pub(super) fn send_syn_ack_again(&mut self, id: usize) {
        let s = &self.sessions[id];
        let iss = s.iss;
        let options = self.syn_options(self.settings.wscale.filter(|_| s.scaled));
        self.send_flags(id, iss, SYN | ACK, options, Vec::new());
    }

    fn syn_options(&self, ws: Option<u8>) -> Vec<u8> {
        let [hi, lo] = self.settings.mss.to_be_bytes();
        let mut options = vec![2, 4, hi, lo];
        if let Some(ws) = ws {
            options.extend([1, 3, 3, ws]);
        }
        options
    }

    /// The largest segment to the peer.
    pub(super) fn mss(&self, id: usize) -> u16 {
        self.sessions[id].peer_mss.min(self.settings.mss)
    }

    pub(super) fn send_ack(&mut self, id: usize) {
        let nxt = self.sessions[id].nxt;
        self.send_flags(id, nxt, ACK, Vec::new(), Vec::new());
    }

    /// An ACK now, or with the second segment, or after the delay (RFC 9293, 3.8.6.3).
    pub(super) fn ack_later(&mut self, id: usize) {
        let at = self.now + u64::from(self.settings.delack);
        let instant = self.build.instant_ack;
        let s = self.session(id);
        s.unacked += 1;
        if instant || s.unacked >= 2 {
            self.send_ack(id);
        } else {
            s.delack_at.get_or_insert(at);
        }
    }

    /// Messages of the user that wait, in order, as far as there is room.
    pub(super) fn serve_backlog(&mut self) {
        while let Some((session, bytes)) = self.backlog.front() {
            let id = usize::from(*session);
            let ring = self.build.ring_bytes() as usize;
            let s = &self.sessions[id];
            let too_long = bytes.len() > usize::from(self.settings.mss);
            let room = s.ring.len() + bytes.len() <= ring;
            let refused = too_long
                || !s.sending() && self.build.tx_drop_if_not_established
                || s.sending() && !room && self.settings.ring_refuse;
            if refused {
                self.backlog.pop_front();
                self.event(8, id, 0);
                continue;
            }
            if !s.sending() || !room {
                return;
            }
            if let Some((_, bytes)) = self.backlog.pop_front() {
                self.session(id).ring.extend(bytes);
                self.pump(id);
            }
        }
    }

    /// Sends what may be sent: data within the window, then FIN.
    pub(super) fn pump(&mut self, id: usize) {
        let congestion = self.build.tx_congestion_control;
        let mss = u32::from(self.mss(id));
        let s = &self.sessions[id];
        let active = matches!(
            s.state,
            State::Established
                | State::CloseWait
                | State::FinWait1
                | State::Closing
                | State::LastAck
        );
        if !active {
            return;
        }
        loop {
            let s = &self.sessions[id];
            if s.fin_sent || !lt(s.nxt, s.written()) {
                break;
            }
            let left = s.written().wrapping_sub(s.nxt);
            let limit = s.limit(congestion);
            let room = if lt(s.nxt, limit) { limit.wrapping_sub(s.nxt) } else { 0 };
            let len = left.min(mss).min(room);
            // A small piece because of the window only if nothing else moves, or the window is no
            // larger (RFC 9293, 3.8.6.2.1).
            let half = room >= s.max_wnd / 2;
            if len == 0 || len < mss && len < left && s.outstanding() && !half {
                break;
            }
            let (seq, bytes) = (s.nxt, s.bytes(s.nxt, len as usize));
            self.session(id).nxt = seq.wrapping_add(len);
            self.time_segment(id);
            self.send_data(id, seq, bytes, false);
            self.arm_rto_if_idle(id);
        }
        let s = &self.sessions[id];
        let room = lt(s.nxt, s.limit(congestion));
        if s.fin_wanted && !s.fin_sent && s.nxt == s.written() && room {
            let seq = s.nxt;
            let s = self.session(id);
            s.fin_sent = true;
            s.nxt = seq.wrapping_add(1);
            self.send_flags(id, seq, FIN | ACK, Vec::new(), Vec::new());
            self.arm_rto_if_idle(id);
        }
        self.arm_persist(id);
    }

    /// The first segment that is not acknowledged, again.
    pub(super) fn retransmit(&mut self, id: usize) {
        let mss = u32::from(self.mss(id));
        let s = self.session(id);
        s.clock.timed = None;
        let (seq, end) = (s.una, s.written());
        let sent = if lt(end, s.nxt) { end } else { s.nxt };
        let len = sent.wrapping_sub(seq).min(mss).min(s.snd_wnd);
        if le(end, seq) {
            if s.fin_sent {
                self.send_flags(id, seq, FIN | ACK, Vec::new(), Vec::new());
            }
            return;
        }
        let fin = s.fin_sent && seq.wrapping_add(len) == end;
        let bytes = s.bytes(seq, len as usize);
        self.send_data(id, seq, bytes, fin);
    }

    fn send_data(&mut self, id: usize, seq: u32, bytes: Vec<u8>, fin: bool) {
        let push = if self.build.tx_push { PSH } else { 0 };
        let flags = ACK | push | if fin { FIN } else { 0 };
        self.send_flags(id, seq, flags, Vec::new(), bytes);
    }

    pub(super) fn send_flags(
        &mut self,
        id: usize,
        seq: u32,
        flags: u8,
        options: Vec<u8>,
        payload: Vec<u8>,
    ) {
        let s = &mut self.sessions[id];
        s.delack_at = None;
        s.unacked = 0;
        let Some(dst) = s.peer else { return };
        let wnd = self.settings.rcv_wnd;
        let shift =
            if s.scaled && flags & SYN == 0 { self.settings.wscale.unwrap_or(0) } else { 0 };
        let seg = Segment {
            src_mac: self.settings.mac,
            dst_mac: s.mac,
            vlan: self.settings.vlan,
            src: self.settings.ip,
            dst,
            ttl: 64,
            id: self.ip_id,
            sport: s.port,
            dport: s.peer_port,
            seq,
            ack: if flags & ACK == 0 { 0 } else { s.rcv_nxt },
            flags,
            window: (wnd >> shift).min(65535) as u16,
            urgent: 0,
            options,
            payload,
        };
        self.emit(&seg);
    }

    fn emit(&mut self, seg: &Segment) {
        self.ip_id = self.ip_id.wrapping_add(1);
        self.out.push(Frame { bytes: build(seg, &Lies::default()), poisoned: false });
    }

    /// RST for a segment of no connection (RFC 9293, 3.10.7.1).
    pub(super) fn send_reset_for(&mut self, seg: &Segment) {
        let (seq, ack, flags) = if seg.flags & ACK != 0 {
            (seg.ack, 0, RST)
        } else {
            (0, seg.seq.wrapping_add(seg.seq_len()), RST | ACK)
        };
        let reset = Segment {
            src_mac: self.settings.mac,
            dst_mac: seg.src_mac,
            vlan: self.settings.vlan,
            src: self.settings.ip,
            dst: seg.src,
            ttl: 64,
            id: self.ip_id,
            sport: seg.dport,
            dport: seg.sport,
            seq,
            ack,
            flags,
            window: 0,
            urgent: 0,
            options: Vec::new(),
            payload: Vec::new(),
        };
        self.emit(&reset);
    }
}
