//! The loop over all connections: one request of each in turn, so that none starves the others.

use crate::connection::{Connection, End, Shared};
use crate::listen::Listener;
use crate::populate::Unmapped;
use crate::server::{Control, ServerConfig};
use crate::{CLIENTS_MAX, say};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use spfe_net::{Attachment, Network};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Connections at a time, those that have not attached yet included.
const CONNECTIONS_MAX: usize = CLIENTS_MAX + 32;
/// Longest time a connection may stay without attaching.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// How often to look at what cannot be waited for.
const BEAT: Duration = Duration::from_millis(250);

/// How long to leave a client's flows alone before trying again to stop them.
const RETRY: Duration = Duration::from_secs(5);

/// The state of the serving thread.
pub(crate) struct Serve {
    shared: Shared,
    listener: Option<Listener>,
    control: Arc<Control>,
    connections: Vec<Connection>,
    /// Clients whose flows could not be stopped yet, because somebody holds them (modes inline and
    /// coop), and when to try again.
    leaving: Vec<(Attachment, Instant)>,
    /// Out of descriptors: no accepting before.
    pause: Option<Instant>,
    once: bool,
}

impl Serve {
    pub fn new(
        config: ServerConfig,
        network: Arc<Network>,
        listener: Option<Listener>,
        control: Arc<Control>,
    ) -> Self {
        let once = config.once;
        let shared =
            Shared { network, config, clients: 0, served: false, unmapped: Unmapped::default() };
        let (connections, leaving) = (Vec::new(), Vec::new());
        Self { shared, listener, control, connections, leaving, pause: None, once }
    }

    /// Serves until stopped.
    pub fn run(&mut self) {
        while !self.control.is_stopped() && !self.is_done() {
            if let Err(error) = self.turn() {
                say(format_args!("poll: {}", std::io::Error::from(error)));
                break;
            }
        }
        // First the name, then the connections: nobody new finds what is going.
        self.listener = None;
        self.control.close();
        self.connections.clear();
    }

    fn is_done(&self) -> bool {
        self.once && self.shared.served && self.shared.clients == 0 && self.leaving.is_empty()
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
            if let Err(end) = connection.serve(flags, &mut self.shared) {
                ended.push((index, end));
            }
        }
        // From the back, so that the indices in front stay.
        for (index, end) in ended.into_iter().rev() {
            let connection = self.connections.swap_remove(index);
            self.end(connection, end);
        }
        if incoming {
            self.accept();
        }
        self.expire();
        self.retry();
        self.shared.unmapped.step();
        Ok(())
    }

    /// Waits for the bell, for new connections, for requests.
    #[allow(clippy::type_complexity)]
    fn wait(&self) -> Result<(bool, bool, Vec<(usize, PollFlags)>), Errno> {
        let mut fds = vec![PollFd::new(self.control.bell(), PollFlags::IN)];
        let listener = self.listener.as_ref().filter(|_| self.accepts());
        let first = 1 + usize::from(listener.is_some());
        fds.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
        let waits = self.connections.iter();
        fds.extend(waits.map(|connection| PollFd::new(connection.socket(), PollFlags::IN)));
        let beat = Timespec { tv_sec: 0, tv_nsec: BEAT.as_nanos() as _ };
        let restless = !self.leaving.is_empty()
            || self.pause.is_some()
            || self.connections.iter().any(|connection| connection.attachment().is_none());
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let timeout = if self.shared.unmapped.is_empty() {
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
                    // Out of descriptors or memory: it stays readable, so look away for a while.
                    say(format_args!("accept: {error}"));
                    self.pause = Some(Instant::now() + BEAT);
                    return;
                }
            }
        }
    }

    fn expire(&mut self) {
        let now = Instant::now();
        self.pause = self.pause.filter(|until| *until > now);
        let fresh = |connection: &Connection| {
            connection.attachment().is_some()
                || connection.captures()
                || now - connection.since() < HELLO_TIMEOUT
        };
        self.connections.retain(fresh);
    }

    fn end(&mut self, connection: Connection, end: End) {
        let Some(at) = connection.attachment() else {
            return;
        };
        self.shared.clients -= 1;
        if self.shared.config.verbose {
            say(format_args!("{} left: {end}", connection.label()));
        }
        // The socket stays open until the client's share is free again.
        if self.shared.network.detach(at, end == End::Died).is_err() {
            self.leaving.push((at, Instant::now() + RETRY));
        }
    }

    /// What could not be stopped in time is taken away: one client a turn, each try can take long.
    fn retry(&mut self) {
        let now = Instant::now();
        let due = self.leaving.iter().position(|(_, when)| *when <= now);
        let Some(index) = due else { return };
        let (at, _) = self.leaving.swap_remove(index);
        if self.shared.network.detach(at, true).is_err() {
            self.leaving.push((at, Instant::now() + RETRY));
        }
    }
}
