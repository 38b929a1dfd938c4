//! The sender of the reference model.

use super::sequence::lt;
use super::session::{Recovery, Session, State};
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
                self.set_state(id, State::Resolve);
                self.resolve(id);
            }
            Op::Close | Op::Abort if state == State::Listen => {
                self.sessions[id] = Session::default();
            }
            Op::Close => match state {
                State::SynSent | State::Resolve => self.close(id, reason::DONE),
                State::SynRcvd | State::Established | State::CloseWait => {
                    self.session(id).fin_wanted = true;
                    self.pump(id);
                }
                _ => {}
            },
            Op::Abort if state != State::Closed => {
                if self.sessions[id].wants_reset() {
                    let nxt = self.sessions[id].nxt;
                    self.send_flags(id, nxt, RST | ACK, Vec::new(), Vec::new());
                }
                self.close(id, reason::ABORT);
            }
            _ => {}
        }
    }

    pub(super) fn listen(&mut self, id: usize, port: u16, from: Option<std::net::Ipv4Addr>) {
        self.sessions[id] = Session::listening(port, from);
    }

    /// Starts a connection: sets sequence numbers and empties the ring.
    pub(super) fn begin(&mut self, id: usize) {
        let iss = self.new_iss(id);
        let s = self.session(id);
        s.iss = iss;
        s.una = iss;
        s.nxt = iss.wrapping_add(1);
        s.base = s.nxt;
        self.first_offer(id);
    }

    /// Sends the first SYN or SYN-ACK, whose round trip is measured.
    pub(super) fn send_syn(&mut self, id: usize) {
        self.time_segment(id);
        self.send_syn_again(id);
    }

    pub(super) fn send_syn_again(&mut self, id: usize) {
        let s = &self.sessions[id];
        let (iss, answer) = (s.iss, s.state == State::SynRcvd);
        let offer = self.settings.wscale.filter(|_| !answer || s.scaled);
        let options = self.syn_options(offer);
        let flags = if answer { SYN | ACK } else { SYN };
        self.send_flags(id, iss, flags, options, Vec::new());
        self.arm_rto(id);
    }

    fn syn_options(&self, ws: Option<u8>) -> Vec<u8> {
        let [hi, lo] = self.settings.mss.to_be_bytes();
        let mut options = vec![2, 4, hi, lo];
        if let Some(ws) = ws {
            options.extend([1, 3, 3, ws]);
        }
        options
    }

    /// Maximum payload of a segment to the peer.
    pub(super) fn mss(&self, id: usize) -> u16 {
        self.sessions[id].peer_mss.min(self.settings.mss)
    }

    pub(super) fn send_ack(&mut self, id: usize) {
        let nxt = self.sessions[id].nxt;
        self.send_flags(id, nxt, ACK, Vec::new(), Vec::new());
    }

    /// Sends an ACK now, with the second segment, or after the delay (RFC 9293, 3.8.6.3).
    pub(super) fn ack_later(&mut self, id: usize) {
        let at = self.now + u64::from(self.settings.delack);
        let instant = self.build.instant_ack;
        let s = self.session(id);
        if instant || s.delack_at.is_some() {
            self.send_ack(id);
        } else {
            s.delack_at = Some(at);
        }
    }

    /// Accepts waiting messages of the user in order, while there is room for one of any length.
    pub(super) fn serve_backlog(&mut self) {
        while let Some((session, bytes)) = self.backlog.front() {
            let id = usize::from(*session);
            let ring = self.build.ring_bytes();
            let mss = u32::from(self.settings.mss);
            let s = &self.sessions[id];
            let too_long = bytes.len() > mss as usize;
            let room = s.written().wrapping_sub(s.una) + mss <= ring;
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

    /// Sends everything that may be sent: lost data, then new data within the window, then FIN.
    pub(super) fn pump(&mut self, id: usize) {
        while self.sessions[id].lost {
            self.send_again(id);
        }
        while self.send_new(id) {}
        self.send_fin(id);
    }

    /// Sends one segment of new data. Returns false if there is none or no room for it.
    fn send_new(&mut self, id: usize) -> bool {
        let congestion = self.build.tx_congestion_control;
        let mss = u32::from(self.mss(id));
        let s = &self.sessions[id];
        if !s.matches() || s.fin_sent || !lt(s.nxt, s.written()) {
            return false;
        }
        let left = s.written().wrapping_sub(s.nxt);
        let room = s.room(s.nxt, congestion);
        let len = left.min(mss).min(room);
        // The window allows less than a segment: send it only if nothing is outstanding, or if it
        // is at least half of the largest window (RFC 9293, 3.8.6.2.1).
        let half = room >= s.max_wnd / 2;
        if len == 0 || len < mss && len < left && s.outstanding() && !half {
            return false;
        }
        let (seq, bytes) = (s.nxt, s.bytes(s.nxt, len));
        let s = self.session(id);
        s.nxt = seq.wrapping_add(len);
        if s.recovery == Recovery::None {
            self.time_segment(id);
        }
        self.send_data(id, seq, bytes, false);
        true
    }

    /// Sends FIN if the user has closed and all data has left. FIN-WAIT-1 and LAST-ACK begin here.
    fn send_fin(&mut self, id: usize) {
        let congestion = self.build.tx_congestion_control;
        let s = &self.sessions[id];
        let state = match s.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            _ => return,
        };
        let due = s.fin_wanted && !s.fin_sent && s.nxt == s.written();
        if !due || s.room(s.nxt, congestion) == 0 {
            self.arm_persist(id);
            return;
        }
        let seq = s.nxt;
        let s = self.session(id);
        s.fin_sent = true;
        s.nxt = seq.wrapping_add(1);
        self.set_state(id, state);
        self.send_fin_at(id, seq, true);
    }

    /// Sends a FIN, new or again. With `restart` the time-out starts anew.
    pub(super) fn send_fin_at(&mut self, id: usize, seq: u32, restart: bool) {
        self.send_flags(id, seq, FIN | ACK, Vec::new(), Vec::new());
        self.left(id, restart);
    }

    /// Sends data, new or again. With `restart` the time-out starts anew.
    pub(super) fn send_data(&mut self, id: usize, seq: u32, bytes: Vec<u8>, restart: bool) {
        let push = if self.build.tx_push { PSH } else { 0 };
        self.send_flags(id, seq, ACK | push, Vec::new(), bytes);
        self.left(id, restart);
    }

    fn left(&mut self, id: usize, restart: bool) {
        if restart {
            self.arm_rto(id);
        } else {
            self.arm_rto_if_idle(id);
        }
    }

    /// The announced window in bytes.
    pub(super) fn announced(&self, id: usize) -> u32 {
        let wnd = self.settings.rcv_wnd;
        if self.sessions[id].scaled { wnd } else { wnd.min(65535) }
    }

    /// Sends RST for a segment with a wrong ACK before the connection is open.
    pub(super) fn send_reset(&mut self, id: usize, seq: u32) {
        let delack = self.sessions[id].delack_at;
        self.send_flags(id, seq, RST, Vec::new(), Vec::new());
        self.session(id).delack_at = delack;
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
        let Some(dst) = s.peer else { return };
        let scaled = s.scaled && flags & SYN == 0;
        let shift = if scaled { self.settings.wscale.unwrap_or(0) } else { 0 };
        let wnd = if flags & RST == 0 { self.offer(id, scaled) } else { 0 };
        let s = &self.sessions[id];
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
            df: !self.settings.fragment,
            options,
            payload,
        };
        self.emit(&seg);
    }

    fn emit(&mut self, seg: &Segment) {
        self.ip_id = self.ip_id.wrapping_add(1);
        self.out.push(Frame { bytes: build(seg, &Lies::default()), poisoned: false });
    }

    /// Sends RST for a segment without a connection (RFC 9293, 3.10.7.1).
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
            df: !self.settings.fragment,
            options: Vec::new(),
            payload: Vec::new(),
        };
        self.emit(&reset);
    }
}
