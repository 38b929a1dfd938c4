//! The users of the endpoint: joins each session to a plain socket, so that any program can use it.
//!
//! In one role sessions listen, and an opened session is joined to a new connection to a local
//! program. In the other role a local program connects to a port here, and a free session opens
//! actively.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream};

use rustix::event::{PollFd, PollFlags};
use rustix::fd::AsFd;
use rustix::net::sockopt;

use crate::drill::endpoint::{Delivery, Endpoint, Event, Mode, Op};
use crate::event::Kind;

/// Size of a message in bytes: one segment.
const MESSAGE: u32 = 1460;
/// Maximum number of messages of all sessions that wait for the endpoint.
const WAITING: usize = 16;
/// Maximum number of bytes that wait for a program. The endpoint is stalled beyond it.
const PENDING: usize = 4 << 20;
/// Reason of a graceful end in the data of [`Kind::Closed`].
const DONE: u64 = 0;

/// A port of the endpoint that local programs serve.
#[derive(Clone, Copy, Debug)]
pub struct Serve {
    /// Port of the endpoint.
    pub port: u16,
    /// Address at which the program listens.
    pub to: SocketAddr,
    /// Number of sessions that listen.
    pub sessions: u16,
}

/// A local port. For each connection to it the endpoint opens a connection.
#[derive(Clone, Copy, Debug)]
pub struct Connect {
    /// Port on the loopback interface.
    pub local: u16,
    /// Address to which the endpoint connects.
    pub to: SocketAddrV4,
}

/// A session and its socket.
#[derive(Debug, Default)]
struct Joint {
    /// Index of the port on which it listens, or `None` if it opens actively.
    serve: Option<usize>,
    /// Whether the session is in use.
    busy: bool,
    stream: Option<TcpStream>,
    opened: bool,
    pending: VecDeque<u8>,
    peer_fin: bool,
    /// Whether the peer's FIN was passed on.
    shut: bool,
    /// Whether the program has ended its stream. The session closes after the last message.
    eof: bool,
    closed: bool,
    aborted: bool,
    /// Reason of the session's end, once it has ended.
    ended: Option<u64>,
    /// Last known number of free bytes in the ring.
    credit: u32,
    /// Whether there may be more free bytes.
    stale: bool,
}

/// All sessions with their sockets.
#[derive(Debug)]
pub struct Proxy {
    serve: Vec<Serve>,
    connect: Vec<(TcpListener, SocketAddrV4)>,
    joints: Vec<Joint>,
    local_port: u16,
    messages: u64,
    ready: bool,
    /// Whether the endpoint reports free room in a ring. Otherwise it is read after each output.
    tells: bool,
    /// Whether the users accept nothing.
    pub stalled: bool,
    /// Number of sessions that did not end by a close on both sides.
    pub broken: u64,
}

impl Proxy {
    /// Assigns the sessions of `ep`: first those that listen, then those that connect.
    ///
    /// # Errors
    /// There are too few sessions, or a local port is in use.
    pub fn new(
        ep: &mut dyn Endpoint,
        serve: &[Serve],
        connect: &[Connect],
    ) -> Result<Self, String> {
        let count = usize::from(ep.build().session_count);
        let mut joints: Vec<Joint> = Vec::new();
        for (index, port) in serve.iter().enumerate() {
            let joint = || Joint { serve: Some(index), ..Joint::default() };
            joints.extend((0..port.sessions).map(|_| joint()));
        }
        if joints.len() + usize::from(!connect.is_empty()) > count {
            return Err(format!(
                "{} sessions should listen, but there are only {count}: request fewer",
                joints.len()
            ));
        }
        joints.resize_with(count, Joint::default);
        let listener = |c: &Connect| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, c.local));
            listener
                .and_then(|l| l.set_nonblocking(true).map(|()| (l, c.to)))
                .map_err(|e| format!("127.0.0.1:{}: {e}", c.local))
        };
        let connect = connect.iter().map(listener).collect::<Result<_, _>>()?;
        let mut proxy = Self {
            serve: serve.to_vec(),
            connect,
            joints,
            local_port: 0,
            messages: 0,
            ready: true,
            tells: ep.build().credit_events,
            stalled: false,
            broken: 0,
        };
        for sid in 0..count {
            proxy.listen(ep, sid);
        }
        Ok(proxy)
    }

    /// The sessions in use.
    #[must_use]
    pub fn busy(&self) -> Vec<u16> {
        let all = (0..).zip(&self.joints);
        all.filter(|(_, joint)| joint.busy).map(|(sid, _)| sid).collect()
    }

    fn listen(&mut self, ep: &mut dyn Endpoint, sid: usize) {
        let Some(serve) = self.joints[sid].serve else { return };
        ep.op(sid as u16, Op::Listen { port: self.serve[serve].port, from: None });
    }

    /// Handles an event of the endpoint.
    pub fn event(&mut self, ep: &mut dyn Endpoint, event: &Event) {
        let sid = usize::from(event.session);
        let Some(joint) = self.joints.get_mut(sid) else { return };
        match Kind::from(event.kind) {
            Kind::Opened => {
                joint.opened = true;
                joint.stale = true;
                joint.busy = true;
                if let Some(serve) = joint.serve {
                    let stream = TcpStream::connect(self.serve[serve].to);
                    joint.stream = stream.and_then(|s| s.set_nonblocking(true).map(|()| s)).ok();
                    if joint.stream.is_none() {
                        abort(ep, sid, joint);
                    }
                }
            }
            Kind::PeerFin => joint.peer_fin = true,
            Kind::Credit => joint.stale = true,
            Kind::Closed => joint.ended = Some(event.data),
            _ => {}
        }
    }

    /// Takes payload from the endpoint.
    pub fn delivered(&mut self, delivery: &Delivery) {
        if delivery.err || delivery.ahead.is_some() {
            return;
        }
        if let Some(joint) = self.joints.get_mut(usize::from(delivery.session)) {
            joint.pending.extend(&delivery.bytes);
        }
    }

    /// Tells that the endpoint had output.
    pub fn moved(&mut self) {
        if !self.tells {
            self.joints.iter_mut().for_each(|joint| joint.stale = true);
        }
    }

    /// Moves data in both directions. Returns whether there was any.
    pub fn work(&mut self, ep: &mut dyn Endpoint) -> bool {
        let mut moved = self.accept(ep);
        for sid in 0..self.joints.len() {
            moved |= self.serve_joint(ep, sid);
        }
        let most = self.joints.iter().map(|j| j.pending.len()).max().unwrap_or(0);
        let ready = !self.stalled && most < PENDING;
        if ready != self.ready {
            self.ready = ready;
            ep.user_ready(ready);
            moved = true;
        }
        moved
    }

    fn accept(&mut self, ep: &mut dyn Endpoint) -> bool {
        let mut moved = false;
        for (listener, to) in &self.connect {
            while let Some(sid) = self.joints.iter().position(|j| j.serve.is_none() && !j.busy) {
                let Ok((stream, _)) = listener.accept() else { break };
                if stream.set_nonblocking(true).is_err() {
                    continue;
                }
                self.local_port = (self.local_port + 1) % 40_000;
                self.joints[sid] = Joint { busy: true, stream: Some(stream), ..Joint::default() };
                let local_port = 20_000 + self.local_port;
                ep.op(sid as u16, Op::Connect { ip: *to.ip(), port: to.port(), local_port });
                moved = true;
            }
        }
        moved
    }

    fn serve_joint(&mut self, ep: &mut dyn Endpoint, sid: usize) -> bool {
        let joint = &mut self.joints[sid];
        if !joint.busy && joint.ended.is_none() {
            return false;
        }
        let mut moved = to_program(ep, sid, joint);
        let done = joint.pending.is_empty() || joint.stream.is_none();
        if let Some(reason) = joint.ended.filter(|_| done) {
            self.end(ep, sid, reason);
            return true;
        }
        while from_program(ep, sid, joint, &mut self.messages) {
            moved = true;
        }
        if joint.eof && !joint.closed && joint.ended.is_none() && ep.backlog() == 0 {
            joint.closed = true;
            ep.op(sid as u16, Op::Close);
            moved = true;
        }
        moved
    }

    /// Ends a session and its socket, by a reset if the session was reset.
    fn end(&mut self, ep: &mut dyn Endpoint, sid: usize, reason: u64) {
        let joint = &mut self.joints[sid];
        if reason != DONE {
            self.broken += u64::from(joint.opened || joint.stream.is_some());
            if let Some(stream) = &joint.stream {
                reset_at_close(stream);
            }
        }
        *joint = Joint { serve: joint.serve, ..Joint::default() };
        self.listen(ep, sid);
    }

    /// Adds the descriptors to wait for.
    pub fn wants<'a>(&'a self, wants: &mut Vec<PollFd<'a>>) {
        if self.joints.iter().any(|j| j.serve.is_none() && !j.busy) {
            let listeners = self.connect.iter();
            wants
                .extend(listeners.map(|(l, _)| PollFd::from_borrowed_fd(l.as_fd(), PollFlags::IN)));
        }
        for joint in &self.joints {
            let Some(stream) = &joint.stream else { continue };
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, joint.reads() && joint.credit >= MESSAGE);
            flags.set(PollFlags::OUT, !joint.pending.is_empty());
            if !flags.is_empty() {
                wants.push(PollFd::from_borrowed_fd(stream.as_fd(), flags));
            }
        }
    }
}

impl Joint {
    /// Whether to read from the program.
    fn reads(&self) -> bool {
        self.opened && !self.eof && !self.aborted && self.ended.is_none()
    }
}

/// Makes the socket send RST when it is closed.
pub fn reset_at_close(stream: &TcpStream) {
    // It does not matter if the socket has already ended.
    let _ = sockopt::set_socket_linger(stream, Some(std::time::Duration::ZERO));
}

fn abort(ep: &mut dyn Endpoint, sid: usize, joint: &mut Joint) {
    joint.stream = None;
    joint.pending.clear();
    if !joint.aborted && joint.ended.is_none() {
        joint.aborted = true;
        ep.op(sid as u16, Op::Abort);
    }
}

/// Passes payload and FIN to the program.
fn to_program(ep: &mut dyn Endpoint, sid: usize, joint: &mut Joint) -> bool {
    let Some(stream) = &mut joint.stream else {
        joint.pending.clear();
        return false;
    };
    let mut moved = false;
    while !joint.pending.is_empty() {
        match stream.write(joint.pending.as_slices().0) {
            Ok(count) => {
                joint.pending.drain(..count);
                moved = true;
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => return moved,
            Err(_) => {
                abort(ep, sid, joint);
                return true;
            }
        }
    }
    if joint.peer_fin && !joint.shut {
        joint.shut = true;
        moved = true;
        // If the program has ended, the next read reports it.
        let _ = stream.shutdown(Shutdown::Write);
    }
    moved
}

/// Passes a message from the program to the endpoint, if there is one and the ring has room.
fn from_program(ep: &mut dyn Endpoint, sid: usize, joint: &mut Joint, messages: &mut u64) -> bool {
    if !joint.reads() || ep.backlog() >= WAITING {
        return false;
    }
    if joint.credit < MESSAGE {
        if !joint.stale {
            return false;
        }
        // Waiting messages of all sessions are not in the ring yet.
        let waiting = MESSAGE * ep.backlog() as u32;
        joint.stale = waiting != 0;
        joint.credit = ep.view(sid as u16).credit.saturating_sub(waiting);
        if joint.credit < MESSAGE {
            return false;
        }
    }
    let Some(stream) = &mut joint.stream else { return false };
    let mut message = [0; MESSAGE as usize];
    match stream.read(&mut message) {
        Ok(0) => {
            joint.eof = true;
            false
        }
        Ok(count) => {
            let mode = [Mode::Nothing, Mode::Length, Mode::LengthAndSum];
            *messages += 1;
            ep.send(sid as u16, &message[..count], mode[(*messages % 3) as usize]);
            joint.credit -= count as u32;
            true
        }
        Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => false,
        Err(_) => {
            abort(ep, sid, joint);
            true
        }
    }
}
