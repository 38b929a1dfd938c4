//! Moves frames between an interface and its far ends, in one thread that sleeps when idle.

use super::counters::{FarReport, Report};
use super::frames::{Frames, Target};
use super::nodes::{FarEnd, Nodes};
use super::offload::{self, Ends};
use super::path::{self, BUDGET, Path, Terms};
use crate::context::Context;
use crate::error::Failure;
use crate::signal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::json;
use spfe::{Endpoint, Port, PortState, Vc};
use spfe_host::topology::FABRIC_CHANNELS;
use spfe_proto::ethernet::{FRAME_MAX_BYTES, MTU_MAX, OFFLOAD_BYTES};
use spfe_tap::TapOffloads;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Interval between looks at port, device and MTU.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// Where an interface leads.
pub enum Way {
    /// Over a virtual channel of a link to one far end.
    Link(Vc),
    /// From a node of a fabric to all others.
    Fabric(Nodes),
}

/// An interface and its far ends.
pub struct Pump<'a> {
    frames: Frames,
    endpoint: &'a Endpoint,
    port: Port,
    context: &'a Context,
    terms: Terms,
    carrier: Option<bool>,
    /// In the order of [`Frames::far_end_of`].
    paths: Vec<Path>,
    /// A frame whose destination is not known yet.
    buffer: Vec<u8>,
    /// Frames to addresses of no far end.
    unknown: u64,
    sleeps: u64,
}

impl<'a> Pump<'a> {
    /// Connects an interface to the far ends, with the MTU of the interface.
    ///
    /// # Errors
    /// The device is gone, or another client has a virtual channel.
    pub fn new(
        frames: Frames,
        (endpoint, port): (&'a Endpoint, Port),
        way: &Way,
        first_only: bool,
        context: &'a Context,
    ) -> Result<Self, Failure> {
        let mtu = frames.tap.mtu().map_err(|error| Failure::io("MTU", &error))?.min(MTU_MAX);
        let terms = Terms { mtu, first_only, features: offload::own_features(&frames.tap) };
        let paths = match way {
            Way::Link(vc) => vec![Path::open(vc.clone(), Ends::default(), &terms)?],
            Way::Fabric(nodes) => nodes
                .others()
                .map(|far| {
                    let vc = port.vc(FABRIC_CHANNELS * (u32::from(far) - 1))?;
                    Path::open(vc, Ends { own: nodes.own, far }, &terms)
                })
                .collect::<Result<_, _>>()?,
        };
        Ok(Self {
            frames,
            endpoint,
            port,
            context,
            terms,
            carrier: None,
            paths,
            buffer: vec![0; FRAME_MAX_BYTES],
            unknown: 0,
            sleeps: 0,
        })
    }

    /// Moves frames until a signal arrives or the interface is removed. Calls `ready` once frames can
    /// move.
    ///
    /// # Errors
    /// The device is gone or has stopped.
    pub fn run(mut self, ready: impl FnOnce(&Self)) -> Result<(), Failure> {
        let outcome = self.look().and_then(|()| {
            ready(&self);
            self.move_frames()
        });
        self.report();
        outcome.map_err(|mut failure| {
            failure.what = format!("interface {}: {}", self.name(), failure.what);
            failure
        })
    }

    fn move_frames(&mut self) -> Result<(), Failure> {
        let mut look = Instant::now() + LOOK_INTERVAL;
        while !signal::caught() {
            if signal::report_wanted() {
                self.report();
            }
            if Instant::now() >= look {
                self.look()?;
                look = Instant::now() + LOOK_INTERVAL;
            }
            let removed = match self.step() {
                Ok(0) => self.idle(look)?,
                Ok(_) => false,
                Err(error) if path::is_removed(&error) => true,
                Err(error) => return Err(Failure::io("TAP device", &error)),
            };
            if removed {
                self.context.say(&format!("interface {} was removed", self.name()));
                break;
            }
        }
        Ok(())
    }

    pub fn frames(&self) -> &Frames {
        &self.frames
    }

    pub fn mtu(&self) -> u32 {
        self.terms.mtu
    }

    fn name(&self) -> &str {
        self.frames.tap.name()
    }

    fn report(&self) {
        let far_ends = self.paths.iter().map(|path| FarReport {
            node: path.node(),
            ready: path.is_ready(),
            version: path.version(),
            counters: path.counters(),
        });
        let report = Report {
            name: self.name(),
            far_ends: far_ends.collect(),
            unknown: self.unknown,
            sleeps: self.sleeps,
        };
        report.print(self.context);
    }

    /// Looks at what has no event: port, far ends, MTU.
    fn look(&mut self) -> Result<(), Failure> {
        let nodes = Nodes::at(self.endpoint, &self.port)?;
        let up = match &nodes {
            Some(nodes) => nodes.others().any(|node| nodes.far_end(node).ready),
            None => self.port.info()?.state == PortState::Up,
        };
        if self.carrier != Some(up) {
            // If the interface was removed, the next read fails.
            let _ = self.frames.tap.set_carrier(up);
            self.carrier = Some(up);
        }
        // In another network namespace the MTU is unknown; keep it then.
        let mtu = self.frames.tap.mtu().map_or(self.terms.mtu, |mtu| mtu.min(MTU_MAX));
        let fits = std::mem::replace(&mut self.terms.mtu, mtu) == mtu || !self.terms.first_only;
        for index in 0..self.paths.len() {
            let (path, queue) = (&mut self.paths[index], &self.frames.queues[0]);
            if !fits {
                path.renew(queue, &self.terms)?;
            }
            let far = match &nodes {
                Some(nodes) => nodes.far_end(path.node()),
                None => FarEnd { ready: up, epoch: 0 },
            };
            path.look(far, queue, &self.terms)?;
            self.tell(index);
        }
        Ok(())
    }

    /// Tells kernel and user what a far end understands, if that has changed.
    fn tell(&mut self, index: usize) {
        let (for_user, for_kernel) = self.paths[index].news();
        if for_kernel {
            // The kernel leaves out what all understand who have said anything.
            let known = self.paths.iter().filter_map(Path::far_hello);
            let common = known.map(|far| offload::offloads_for(&far)).reduce(TapOffloads::common);
            self.frames.set_offloads(common.unwrap_or(TapOffloads::NONE));
        }
        if for_user {
            self.announce_version(&self.paths[index]);
        }
    }

    fn announce_version(&self, path: &Path) {
        let (name, node, version) = (self.name(), path.node(), path.version());
        if self.context.json {
            let mut object = json!({ "interface": name, "peer_version": version });
            if node != 0 {
                object["node"] = node.into();
            }
            let mut out = io::stdout().lock();
            let _ = writeln!(out, "{object}").and_then(|()| out.flush());
        } else if version != 0 {
            let who = if node == 0 { "the far end".to_owned() } else { format!("node {node}") };
            let features = path.far_hello().map(|far| offload::names(far.features));
            let with =
                features.filter(|_| version > 1).map_or(String::new(), |all| format!(": {all}"));
            self.context
                .say(&format!("interface {name}: {who} understands version {version}{with}"));
        }
    }

    /// Moves what there is. Returns the number of frames.
    fn step(&mut self) -> io::Result<usize> {
        let mut moved = 0;
        for path in &mut self.paths {
            path.refresh(&self.terms);
        }
        for queue in 0..self.frames.queues.len() {
            moved += match self.direct(queue) {
                Some(path) => {
                    self.paths[path].send_queue(&self.frames.queues[queue], &self.terms)?
                }
                None => self.sort(queue)?,
            };
        }
        for index in 0..self.paths.len() {
            moved += self.paths[index].receive(&self.frames.queues[0], &self.terms)?;
            self.tell(index);
        }
        Ok(moved)
    }

    /// The far end that takes all frames of a queue; `None` if they must be looked at.
    fn direct(&self, queue: usize) -> Option<usize> {
        let path = self.frames.far_end_of(queue)?;
        self.paths.get(path)?.is_open().then_some(path)
    }

    /// Copies the frames of a queue to where each belongs. One for a node that does not read, or that
    /// is not there, is dropped, so it delays no other. Returns the number of frames.
    fn sort(&mut self, queue: usize) -> io::Result<usize> {
        let Self { frames, paths, terms, buffer, unknown, .. } = self;
        let (mut count, mut result) = (0, Ok(()));
        let mut fields = [0; OFFLOAD_BYTES];
        while count < BUDGET {
            let bytes = match frames.queues[queue].read_offloaded(&mut fields, buffer) {
                Ok(bytes) => bytes,
                Err(error) => {
                    result = path::not_now(error);
                    break;
                }
            };
            count += 1;
            let frame = &buffer[..bytes.min(buffer.len())];
            match frames.target(frame) {
                Target::All => {
                    let there = paths.iter_mut().filter(|path| path.is_open());
                    there.for_each(|path| path.send_copy(&fields, frame, terms));
                }
                Target::One(path) => match paths.get_mut(path) {
                    Some(path) => path.send_copy(&fields, frame, terms),
                    None => *unknown += 1,
                },
                Target::Nobody => *unknown += 1,
            }
        }
        paths.iter_mut().for_each(Path::submit);
        result.map(|()| count)
    }

    /// Sleeps until there is work. True if the interface was removed.
    fn idle(&mut self, until: Instant) -> Result<bool, Failure> {
        for path in &mut self.paths {
            if path.arm()? {
                return Ok(false);
            }
        }
        let queues = self.frames.queues.len();
        let mut fds = Vec::with_capacity(queues + 2 * self.paths.len());
        for (index, queue) in self.frames.queues.iter().enumerate() {
            let full = self.direct(index).is_some_and(|path| self.paths[path].is_full());
            let wanted = if full { PollFlags::empty() } else { PollFlags::IN };
            fds.push(PollFd::from_borrowed_fd(queue.fd(), wanted));
        }
        let mut places = Vec::with_capacity(self.paths.len());
        for (index, path) in self.paths.iter().enumerate() {
            if let Some(pair) = path.fds()? {
                places.push(index);
                fds.extend(pair.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
            }
        }
        let left = until.saturating_duration_since(Instant::now());
        // At most LOOK_INTERVAL.
        let nanoseconds = i64::from(left.min(LOOK_INTERVAL).subsec_nanos());
        self.sleeps += 1;
        match poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: nanoseconds })) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(Failure::io("poll", &error.into())),
        }
        let seen: Vec<_> = fds.iter().map(PollFd::revents).collect();
        for (pair, index) in seen[queues..].chunks_exact(2).zip(places) {
            self.paths[index].woken([pair[0], pair[1]].map(|seen| seen.contains(PollFlags::IN)));
        }
        let gone = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
        Ok(seen[..queues].iter().any(|seen| seen.intersects(gone)))
    }
}
