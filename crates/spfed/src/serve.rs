//! The serving thread: accepts connections and gives each a thread of its own.
//!
//! It never receives, uses or closes what a client has sent, so no client can block it.

use crate::answer::no_descriptor;
use crate::client::ServerState;
use crate::connection::Connection;
use crate::control::{Control, Incoming};
use crate::listen::Listener;
use crate::roster::{Phase, Place, Roster};
use crate::{peer, say};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use spfe_contract::Status;
use spfe_session::Error;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Interval of looking at connections that close descriptors.
const TEND_INTERVAL: Duration = Duration::from_millis(5);
/// Time without accepting, after an error.
const PAUSE: Duration = Duration::from_millis(50);
/// Longest wait for connections to end when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);
/// Stack of a connection's thread.
const STACK_BYTES: usize = 512 << 10;

/// The state of the serving thread.
pub(crate) struct Serve {
    server: Arc<ServerState>,
    listener: Option<Listener>,
    control: Arc<Control>,
    roster: Arc<Roster>,
    /// After an error: nothing is accepted before this time.
    pause: Option<Instant>,
    /// A descriptor to give up when there is no other left, so that a newcomer can be told.
    spare: Option<OwnedFd>,
    /// Connections for which no thread could be started. Closing them here could block.
    orphans: Vec<(Incoming, Place)>,
}

impl Serve {
    pub fn new(server: ServerState, listener: Option<Listener>, control: Arc<Control>) -> Self {
        let roster = Roster::new(&server.config, control.clone());
        let server = Arc::new(server);
        Self { server, listener, control, roster, pause: None, spare: None, orphans: Vec::new() }
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
        self.control.stop();
        self.control.close();
        self.roster.stop();
        let deadline = Instant::now() + STOP_TIMEOUT;
        while !self.roster.is_empty() && Instant::now() < deadline {
            self.roster.tend();
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn is_done(&self) -> bool {
        self.server.config.once && self.roster.is_served()
    }

    fn turn(&mut self) -> Result<(), Errno> {
        let closing = self.roster.tend();
        self.pause = self.pause.filter(|until| *until > Instant::now());
        if self.spare.is_none() {
            self.spare = self.control.bell().try_clone().ok();
        }
        if self.pause.is_none()
            && let Some((incoming, place)) = self.orphans.pop()
        {
            let reason = Error::new(Status::NoResources, "the daemon can start no more threads");
            self.start_refusal(incoming, place, reason);
        }
        // Refusing takes a place too; without one, newcomers wait in the backlog.
        let accepts = self.pause.is_none() && self.orphans.is_empty() && self.roster.can_refuse();
        let mut fds = vec![PollFd::new(&**self.control.bell(), PollFlags::IN)];
        let listener = self.listener.as_ref().filter(|_| accepts);
        fds.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
        let wait = match (closing || !accepts, self.pause) {
            (true, _) => Some(TEND_INTERVAL),
            (false, Some(_)) => Some(PAUSE),
            (false, None) => None,
        };
        let wait = wait.map(|wait| Timespec { tv_sec: 0, tv_nsec: wait.as_nanos() as _ });
        match poll(&mut fds, wait.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        let incoming = fds.get(1).is_some_and(|fd| !fd.revents().is_empty());
        if !fds[0].revents().is_empty() {
            self.control.take().into_iter().for_each(|incoming| self.add(incoming));
        }
        if incoming {
            self.accept();
        }
        Ok(())
    }

    /// Accepts one connection.
    fn accept(&mut self) {
        let Some(listener) = &self.listener else { return };
        let mut accepted = listener.accept();
        let out = |error: &std::io::Error| {
            matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
        };
        let exhausted = accepted.as_ref().is_err_and(out);
        if exhausted && self.spare.take().is_some() {
            accepted = listener.accept();
        }
        match accepted {
            Ok(socket) => {
                let user = peer::user(&socket);
                let incoming = Incoming { socket, user };
                if exhausted {
                    return self.refuse(incoming, no_descriptor());
                }
                self.add(incoming);
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => {
                // The listener stays readable, so pause.
                say(format_args!("accept: {error}"));
                self.pause = Some(Instant::now() + PAUSE);
            }
        }
    }

    fn add(&mut self, incoming: Incoming) {
        match self.roster.admit(incoming.user) {
            Ok(place) => {
                let server = self.server.clone();
                let control = self.control.clone();
                self.start(incoming, place, move |socket, place| {
                    Connection::new(socket, place, server, control).run();
                });
            }
            Err(error) => self.refuse(incoming, error),
        }
    }

    /// Tells a newcomer why it is refused, and closes its connection.
    fn refuse(&mut self, incoming: Incoming, reason: Error) {
        if let Some(place) = self.roster.admit_refused(incoming.user) {
            self.start_refusal(incoming, place, reason);
        }
    }

    fn start_refusal(&mut self, incoming: Incoming, place: Place, reason: Error) {
        self.start(incoming, place, move |socket, place| {
            Connection::refuse(&socket, reason);
            drop(socket);
            drop(place);
        });
    }

    /// Starts the thread of a connection.
    fn start(
        &mut self,
        incoming: Incoming,
        place: Place,
        run: impl FnOnce(OwnedFd, Place) + Send + 'static,
    ) {
        let id = place.id();
        let (give, take) = channel();
        let thread = Builder::new().name("spfed-client".into()).stack_size(STACK_BYTES);
        let thread = thread.spawn(move || {
            if let Ok((socket, place)) = take.recv() {
                run(socket, place);
            }
        });
        match thread {
            Ok(thread) => {
                self.roster.started(id, thread);
                // The thread waits for it.
                let _ = give.send((incoming.socket, place));
            }
            Err(error) => {
                say(format_args!("thread of a connection: {error}"));
                place.set(Phase::Leaving);
                self.orphans.push((incoming, place));
                self.pause = Some(Instant::now() + PAUSE);
            }
        }
    }
}
