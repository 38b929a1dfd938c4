//! Connections with data in both directions, and cycles of opening and closing.

use super::bed::{OUR_IP, PEER_IP, PeerBench};
use super::stack::Handle;
use super::watch::Key;
use crate::drill::endpoint::{Mode, Op};
use crate::drill::pattern;
use crate::random::Random;
use std::net::Ipv4Addr;

/// The job of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// Whether the endpoint opens it.
    pub active: bool,
    /// Number of bytes from the endpoint.
    pub up: u32,
    /// Number of bytes to the endpoint.
    pub down: u32,
    /// Size of the stack's buffers in bytes.
    pub buffer: usize,
    /// Number of ticks for which the user of the stack does not read after each read.
    pub lazy: u64,
    /// Whether the endpoint closes first, once it has sent all data.
    pub endpoint_first: bool,
}

/// A connection in progress.
#[derive(Debug)]
pub(super) struct Connection {
    session: u16,
    salt: u32,
    job: Job,
    socket: Handle,
    opened: bool,
    sent_up: u32,
    got_up: u32,
    sent_down: u32,
    got_down: u32,
    peer_fin: bool,
    closed_ep: bool,
    ended: bool,
    closed_stack: bool,
    read_at: u64,
}

impl Connection {
    /// Opens connection number `n` in a closed session.
    pub fn open(bed: &mut PeerBench<'_>, session: u16, n: u32, job: Job) -> Result<Self, String> {
        let (ours, theirs) = (ours(session), theirs(n));
        let socket = if job.active {
            let socket = bed.stack.listen(theirs, job.buffer)?;
            let ip = Ipv4Addr::from(PEER_IP);
            bed.ep.op(session, Op::Connect { ip, port: theirs, local_port: ours });
            socket
        } else {
            bed.ep.op(session, Op::Listen { port: ours, from: None });
            bed.stack.connect(OUR_IP, ours, theirs, job.buffer)?
        };
        Ok(Self {
            session,
            salt: n,
            job,
            socket,
            opened: false,
            sent_up: 0,
            got_up: 0,
            sent_down: 0,
            got_down: 0,
            peer_fin: false,
            closed_ep: false,
            ended: false,
            closed_stack: false,
            read_at: 0,
        })
    }

    /// Handles an event of the endpoint for this session.
    pub fn event(&mut self, kind: u8, data: u64) -> Result<(), String> {
        match kind {
            1 => self.opened = true,
            // `done` checks the data that is still in the stack, or waits for a stalled user.
            2 if self.may_end() && matches!(data, 0 | 1) => self.ended = true,
            2 => return Err(format!("closed with reason {data}: {self:?}")),
            3 => self.peer_fin = true,
            _ => {}
        }
        Ok(())
    }

    /// Whether the endpoint has all data of its user, and has received all data of the peer. With
    /// the peer's FIN it has, even if a stalled user has not read everything.
    fn may_end(&self) -> bool {
        self.sent_up == self.job.up && (self.peer_fin || self.got_down == self.job.down)
    }

    fn all_moved(&self) -> bool {
        self.got_up == self.job.up && self.got_down == self.job.down
    }

    /// The ports of the connection.
    fn key(&self) -> Key {
        (ours(self.session), theirs(self.salt))
    }

    /// Checks payload that the endpoint delivered to its user.
    pub fn delivered(&mut self, bed: &mut PeerBench<'_>, bytes: &[u8]) -> Result<(), String> {
        bed.watch.delivered(self.key(), bytes)?;
        self.got_down = check(self.salt, true, self.got_down, bytes)?;
        if self.got_down > self.sent_down {
            return Err(format!("session {}: more delivered than sent", self.session));
        }
        Ok(())
    }

    /// Lets the users of both ends send, receive and close.
    pub fn work(&mut self, bed: &mut PeerBench<'_>, random: &mut Random) -> Result<(), String> {
        self.endpoint_user(bed, random);
        self.stack_user(bed)
    }

    fn endpoint_user(&mut self, bed: &mut PeerBench<'_>, random: &mut Random) {
        if !self.opened || self.ended {
            return;
        }
        for _ in 0..64 {
            let left = self.job.up - self.sent_up;
            let len = left.min(1 + random.below(1460) as u32);
            if len == 0 || bed.ep.backlog() != 0 || bed.ep.view(self.session).credit < 2 * 1460 {
                break;
            }
            let bytes = data(self.salt, false, self.sent_up, len);
            let mode = [Mode::Nothing, Mode::Length, Mode::LengthAndSum];
            bed.watch.given(self.key(), &bytes);
            bed.ep.send(self.session, &bytes, mode[random.below(3) as usize]);
            self.sent_up += len;
        }
        let may = self.job.endpoint_first || self.peer_fin;
        if !self.closed_ep && self.sent_up == self.job.up && may && bed.ep.backlog() == 0 {
            self.closed_ep = true;
            bed.ep.op(self.session, Op::Close);
        }
    }

    fn stack_user(&mut self, bed: &mut PeerBench<'_>) -> Result<(), String> {
        let (h, stack) = (self.socket, &mut bed.stack);
        if !stack.is_open(h) {
            return Ok(());
        }
        let room = stack.room(h) as u32;
        let len = room.min(self.job.down - self.sent_down).min(16_384);
        let taken = stack.send(h, &data(self.salt, true, self.sent_down, len));
        self.sent_down += taken as u32;
        if bed.now >= self.read_at {
            let got = stack.receive(h);
            if !got.is_empty() {
                self.read_at = bed.now + self.job.lazy;
            }
            self.got_up = check(self.salt, false, self.got_up, &got)?;
        }
        let may = !self.job.endpoint_first || stack.at_end(h);
        if !self.closed_stack && self.sent_down == self.job.down && may {
            self.closed_stack = true;
            stack.close(h);
        }
        Ok(())
    }

    /// Whether both ends have ended the connection.
    pub fn done(&self, bed: &PeerBench<'_>) -> bool {
        self.ended && self.all_moved() && bed.stack.is_done(self.socket)
    }

    /// Checks the end of the connection and removes the socket from the stack.
    pub fn remove(self, bed: &mut PeerBench<'_>) -> Result<(), String> {
        bed.stack.remove(self.socket);
        bed.watch.ended(self.key())
    }

    /// Describes the connection for messages.
    pub fn text(&self, bed: &mut PeerBench<'_>) -> String {
        let view = bed.ep.view(self.session);
        format!("{self:?}; stack {}; endpoint {view:?}", bed.stack.state(self.socket))
    }
}

/// The endpoint's port of a session.
fn ours(session: u16) -> u16 {
    1000 + session
}

/// The peer's port of connection number `n`.
fn theirs(n: u32) -> u16 {
    20_000 + (n % 40_000) as u16
}

fn data(salt: u32, down: bool, at: u32, len: u32) -> Vec<u8> {
    (0..len).map(|i| pattern(salt, down, at.wrapping_add(i))).collect()
}

fn check(salt: u32, down: bool, at: u32, bytes: &[u8]) -> Result<u32, String> {
    let wrong = (at..).zip(bytes).find(|(i, b)| **b != pattern(salt, down, *i));
    match wrong {
        Some((i, _)) => Err(format!("byte {i} {} is wrong", if down { "down" } else { "up" })),
        None => Ok(at + bytes.len() as u32),
    }
}
