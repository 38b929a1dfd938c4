//! The serving thread: takes one request from each connection in turn, so that none starves.

use crate::client::ServerState;
use crate::config::{CLIENTS_MAX, ServerConfig};
use crate::connection::{Connection, Disconnect};
use crate::control::Control;
use crate::listen::Listener;
use crate::populate::Unmapped;
use crate::say;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use spfe_host::Attachment;
use spfe_lab::Lab;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Largest number of connections, including those that have not attached yet.
const CONNECTIONS_MAX: usize = CLIENTS_MAX + 32;
/// A connection that has not attached after this time is closed.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// Poll interval for conditions that have no descriptor.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Time between attempts to detach a client whose flows are still held.
const RETRY: Duration = Duration::from_secs(5);

/// The state of the serving thread.
pub(crate) struct Serve {
    server: ServerState,
    listener: Option<Listener>,
    control: Arc<Control>,
    connections: Vec<Connection>,
    /// Clients that have gone but whose flows another process still holds (modes inline and coop),
    /// with the time of the next attempt to detach them.
    leaving: Vec<(Attachment, Instant)>,
    /// After an error of accept: no connection is accepted before this time.
    pause: Option<Instant>,
    once: bool,
}

impl Serve {
    pub fn new(
        config: ServerConfig,
        lab: Arc<Lab>,
        listener: Option<Listener>,
        control: Arc<Control>,
    ) -> Self {
        let once = config.once;
        let server = ServerState {
            network: lab.network().clone(),
            lab,
            config,
            clients: 0,
            served: false,
            unmapped: Unmapped::default(),
        };
        let (connections, leaving) = (Vec::new(), Vec::new());
        Self { server, listener, control, connections, leaving, pause: None, once }
    }

    /// Serves until it is stopped.
    pub fn run(&mut self) {
        while !self.control.is_stopped() && !self.is_done() {
            if let Err(error) = self.turn() {
                say(format_args!("poll: {}", std::io::Error::from(error)));
                break;
            }
        }
        // Remove the socket first, so that no new client connects to a stopping server.
        self.listener = None;
        self.control.close();
        self.connections.clear();
    }

    fn is_done(&self) -> bool {
        self.once && self.server.served && self.server.clients == 0 && self.leaving.is_empty()
    }

    fn accepts(&self) -> bool {
        self.pause.is_none() && self.connections.len() < CONNECTIONS_MAX
    }

    fn turn(&mut self) -> Result<(), Errno> {
        let (rung, incoming, ready) = self.wait()?;
        if rung {
            self.control.take().into_iter().for_each(|socket| self.add(socket));
        }
        let mut ended = Vec::new();
        for (index, flags) in ready {
            let connection = &mut self.connections[index];
            if let Err(reason) = connection.serve(flags, &mut self.server) {
                ended.push((index, reason));
            }
        }
        // In reverse order: swap_remove keeps the smaller indices valid.
        for (index, reason) in ended.into_iter().rev() {
            let connection = self.connections.swap_remove(index);
            self.end(connection, reason);
        }
        if incoming {
            self.accept();
        }
        self.expire();
        self.retry();
        self.server.unmapped.step();
        Ok(())
    }

    /// Waits for the bell, a new connection or a request. Returns whether the bell rang, whether a
    /// connection is incoming, and the connections that are ready.
    #[allow(clippy::type_complexity)]
    fn wait(&self) -> Result<(bool, bool, Vec<(usize, PollFlags)>), Errno> {
        let mut fds = vec![PollFd::new(self.control.bell(), PollFlags::IN)];
        let listener = self.listener.as_ref().filter(|_| self.accepts());
        let first = 1 + usize::from(listener.is_some());
        fds.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
        let waits = self.connections.iter();
        fds.extend(waits.map(|connection| PollFd::new(connection.socket(), PollFlags::IN)));
        let beat = Timespec { tv_sec: 0, tv_nsec: CHECK_INTERVAL.as_nanos() as _ };
        let restless = !self.leaving.is_empty()
            || self.pause.is_some()
            || self.connections.iter().any(|connection| connection.client.attachment.is_none());
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let timeout = if self.server.unmapped.is_empty() {
            restless.then_some(&beat)
        } else {
            Some(&at_once)
        };
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        let ready = fds[first..].iter().map(PollFd::revents).enumerate();
        let ready = ready.filter(|(_, flags)| !flags.is_empty()).collect();
        let incoming = first == 2 && !fds[1].revents().is_empty();
        Ok((!fds[0].revents().is_empty(), incoming, ready))
    }

    fn add(&mut self, socket: OwnedFd) {
        if self.connections.len() < CONNECTIONS_MAX {
            self.connections.push(Connection::new(socket));
        }
    }

    fn accept(&mut self) {
        while self.accepts() {
            let Some(listener) = &self.listener else {
                return;
            };
            match listener.accept() {
                Ok(socket) => self.add(socket),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(error) => {
                    // Out of descriptors or memory. The listener stays readable, so pause.
                    say(format_args!("accept: {error}"));
                    self.pause = Some(Instant::now() + CHECK_INTERVAL);
                    return;
                }
            }
        }
    }

    fn expire(&mut self) {
        let now = Instant::now();
        self.pause = self.pause.filter(|until| *until > now);
        let fresh = |connection: &Connection| {
            connection.client.attachment.is_some()
                || connection.client.capture.is_some()
                || now - connection.since() < HELLO_TIMEOUT
        };
        self.connections.retain(fresh);
    }

    fn end(&mut self, connection: Connection, reason: Disconnect) {
        let Some(at) = connection.client.attachment else {
            return;
        };
        self.server.clients -= 1;
        if self.server.config.verbose {
            say(format_args!("{} detached: {reason}", connection.client.label()));
        }
        // The socket stays open until the client's resources are free.
        if self.server.network.detach(at, reason == Disconnect::Died).is_err() {
            self.leaving.push((at, Instant::now() + RETRY));
        }
    }

    /// Tries again to detach one client that has gone. Each attempt can take long.
    fn retry(&mut self) {
        let now = Instant::now();
        let due = self.leaving.iter().position(|(_, when)| *when <= now);
        let Some(index) = due else { return };
        let (at, _) = self.leaving.swap_remove(index);
        if self.server.network.detach(at, true).is_err() {
            self.leaving.push((at, Instant::now() + RETRY));
        }
    }
}
