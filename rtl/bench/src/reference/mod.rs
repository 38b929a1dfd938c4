//! The reference model: a TCP endpoint in software with the options of the core.
//!
//! It works on whole segments and follows the order of steps of the RFCs, not the structure of the
//! core. Scripts test it first, then it must agree with the core ([`lockstep`]). Where the RFCs
//! leave a choice, it makes the same one as the core:
//!
//! * a due ACK leaves before data that the same segment allows to send, and retransmissions leave
//!   before new data;
//! * after a time-out, and when a closed window opens while data is outstanding, everything from
//!   SND.UNA on is sent again. FIN has a segment of its own and restarts the time-out;
//! * FIN-WAIT-1 and LAST-ACK begin when FIN leaves, not when the user closes;
//! * challenge ACKs, and resets for segments without a session, are limited per tick. ACKs for data
//!   out of order are not;
//! * a SYN for a port whose listening session is in use is dropped, not refused;
//! * a connection that follows TIME-WAIT keeps the round-trip times of the one before it;
//! * with reordering, four pieces of a session are kept;
//! * the receive FIFO is shared as `spfe_tcp_rx_credit` does it;
//! * the last of several equal options counts.

mod arrival;
mod kept;
pub mod lockstep;
mod net;
mod output;
mod receive;
mod recovery;
mod sequence;
pub mod session;
mod timers;
mod window;

use crate::drill::endpoint::{Build, Delivery, Endpoint, Event, Frame, Mode, Op, Settings, View};
use arrival::LEAST_MSS;
use net::Net;
use session::{Session, State};
use std::collections::{HashMap, HashSet, VecDeque};
#[expect(deprecated, reason = "see `new_iss`")]
use std::hash::{Hasher, SipHasher};

/// Reasons of a `closed` event.
mod reason {
    pub const DONE: u64 = 0;
    pub const RESET: u64 = 1;
    pub const TIMEOUT: u64 = 2;
    pub const ABORT: u64 = 3;
    pub const REFUSED: u64 = 4;
    pub const NO_ROUTE: u64 = 5;
}

/// Number of ticks within which all sessions learn the result for an address, one after the other.
const LEARN_TICKS: u64 = 4;

/// The reference model.
#[derive(Debug)]
pub struct Reference {
    build: Build,
    settings: Settings,
    sessions: Vec<Session>,
    net: Net,
    now: u64,
    ip_id: u16,
    ready: bool,
    /// A command was given since the restart, so there may be sessions.
    started: bool,
    /// Store-and-forward: segments that the user has not accepted.
    fifo: VecDeque<Delivery>,
    backlog: VecDeque<(u16, Vec<u8>)>,
    out: Vec<Frame>,
    delivered: Vec<Delivery>,
    events: Vec<Event>,
    /// Initial sequence numbers to use instead of its own, in lock-step.
    hints: HashMap<u16, u32>,
    /// In lock-step: sessions that learn the result of their address resolution in this action.
    learnt: Option<HashSet<u16>>,
    /// Number of resets for segments without a session in this tick.
    resets: u32,
}

impl Reference {
    /// Makes an endpoint with these generics and the default settings.
    #[must_use]
    pub fn new(build: Build) -> Self {
        let mut new = Self {
            build,
            settings: Settings::default(),
            sessions: Vec::new(),
            net: Net::default(),
            now: 0,
            ip_id: 0,
            ready: true,
            started: false,
            fifo: VecDeque::new(),
            backlog: VecDeque::new(),
            out: Vec::new(),
            delivered: Vec::new(),
            events: Vec::new(),
            hints: HashMap::new(),
            learnt: None,
            resets: 0,
        };
        new.restart(&Settings::default());
        new
    }

    /// Sets the initial sequence number of the next connection of a session.
    pub fn hint_iss(&mut self, session: u16, iss: u32) {
        self.hints.insert(session, iss);
    }

    /// Sets the sessions that learn the result of their address resolution in this action. Other
    /// sessions wait, at most [`LEARN_TICKS`] after the result is known.
    pub fn learn_as(&mut self, sessions: HashSet<u16>) {
        self.learnt = Some(sessions);
    }

    /// Whether a session that waits for an address learns the result now.
    fn learns(&mut self, id: usize) -> bool {
        let Some(learnt) = &self.learnt else { return true };
        let now = self.now;
        let since = *self.sessions[id].resolved_at.get_or_insert(now);
        learnt.contains(&(id as u16)) || now > since + LEARN_TICKS
    }

    fn session(&mut self, id: usize) -> &mut Session {
        &mut self.sessions[id]
    }

    fn event(&mut self, kind: u8, id: usize, data: u64) {
        self.events.push(Event { kind, session: id as u16, data });
    }

    fn set_state(&mut self, id: usize, state: State) {
        let s = &mut self.sessions[id];
        if s.state != state {
            s.state = state;
            if self.build.status_events {
                self.event(11, id, state as u64);
            }
        }
    }

    /// Ends a connection. A passively opened session listens again, unless software aborted it.
    fn close(&mut self, id: usize, why: u64) {
        let old = std::mem::take(&mut self.sessions[id]);
        if old.passive && why != reason::ABORT {
            self.sessions[id] = Session::listening(old.port, old.from);
        }
        if self.build.status_events {
            let state = self.sessions[id].state as u64;
            self.event(11, id, state);
        }
        self.event(2, id, why);
    }

    /// Makes an initial sequence number (RFC 6528) from a clock and SipHash-2-4 of the connection. It
    /// is the same as the core's, so that scripts can choose it.
    #[expect(deprecated, reason = "SipHasher is SipHash-2-4; its successor hides the algorithm")]
    fn new_iss(&mut self, id: usize) -> u32 {
        if let Some(iss) = self.hints.remove(&(id as u16)) {
            return iss;
        }
        let (s, key) = (&self.sessions[id], self.settings.iss_key);
        let ports = u32::from(s.peer_port) << 16 | u32::from(s.port);
        let mut hash = SipHasher::new_with_keys(key as u64, (key >> 64) as u64);
        let peer = s.peer.map_or(0, u32::from);
        hash.write(&(u64::from(peer) << 32 | u64::from(ports)).to_le_bytes());
        hash.write(&[0]); // the virtual interface
        (hash.finish() as u32).wrapping_add((self.now as u32).wrapping_mul(256))
    }

    fn drain_fifo(&mut self) {
        if self.ready {
            self.delivered.extend(self.fifo.drain(..));
        }
    }
}

impl Endpoint for Reference {
    fn build(&self) -> &Build {
        &self.build
    }

    fn restart(&mut self, settings: &Settings) {
        self.settings = settings.clone();
        self.sessions = vec![Session::default(); usize::from(self.build.session_count)];
        self.net = Net::default();
        self.now = 0;
        self.ip_id = 0;
        self.ready = true;
        self.started = false;
        self.fifo.clear();
        self.backlog.clear();
        self.out.clear();
        self.delivered.clear();
        self.events.clear();
        self.hints.clear();
        self.resets = 0;
    }

    fn inject(&mut self, frame: &[u8], bad_fcs: bool) {
        self.receive(frame, bad_fcs);
        self.serve_backlog();
    }

    fn advance_ticks(&mut self, n: u64) {
        for _ in 0..n {
            self.now += 1;
            self.resets = 0;
            for id in 0..self.sessions.len() {
                self.tick(id);
            }
            self.net_tick();
            self.serve_backlog();
        }
    }

    fn run_idle(&mut self) {}

    fn frames(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.out)
    }

    fn send(&mut self, session: u16, bytes: &[u8], _mode: Mode) {
        if usize::from(session) < self.sessions.len() && !bytes.is_empty() {
            self.backlog.push_back((session, bytes.to_vec()));
            self.serve_backlog();
        }
    }

    fn backlog(&self) -> usize {
        self.backlog.len()
    }

    fn delivered(&mut self) -> Vec<Delivery> {
        self.drain_fifo();
        std::mem::take(&mut self.delivered)
    }

    fn user_ready(&mut self, ready: bool) {
        self.ready = ready;
        self.drain_fifo();
        self.tell_windows();
    }

    fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn op(&mut self, session: u16, op: Op) {
        if usize::from(session) < self.sessions.len() {
            self.started = true;
            self.command(usize::from(session), op);
            self.serve_backlog();
        }
    }

    fn set_mss(&mut self, mss: u16) -> bool {
        let taken = !self.started && (LEAST_MSS..=self.build.mtu - 40).contains(&mss);
        if taken {
            self.settings.mss = mss;
        }
        taken
    }

    fn view(&mut self, session: u16) -> View {
        let ring = self.build.ring_bytes();
        let id = usize::from(session);
        let Some(s) = self.sessions.get(id) else { return View::default() };
        let end = if s.fin_sent { s.nxt } else { s.written() };
        View {
            state: s.state as u8,
            snd_una: s.una,
            snd_nxt: s.nxt,
            rcv_nxt: s.rcv_nxt,
            snd_wnd: s.snd_wnd,
            rto: self.rto(id),
            credit: ring.wrapping_sub(end.wrapping_sub(s.una)),
        }
    }
}
