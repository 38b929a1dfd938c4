//! Frames between a TAP device and a virtual channel, in one thread that sleeps when there are none.

use super::counters::Counters;
use super::inbound::Inbound;
use crate::context::Context;
use crate::error::Failure;
use crate::signal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use spfe::{Deadline, Error, PoolOptions, PooledRx, PooledTx, Port, PortState, QueueOptions};
use spfe::{Status, Threshold, Vc};
use spfe_proto::ethernet::{self, HEADER_BYTES, MTU_MAX};
use spfe_tap::TapDevice;
use std::io;
use std::time::{Duration, Instant};

/// Bytes of buffers each way, and what limits how many there are.
const POOL_BYTES: usize = 4 << 20;
const SLOTS_MIN: usize = 64;
const SLOTS_MAX: usize = 256;
/// A group is sent when it has so many frames or bytes, or when the interface has no more.
const GROUP_FRAMES: usize = 32;
const GROUP_BYTES: usize = 128 << 10;
/// Frames moved one way before the other way is looked at.
const BUDGET: usize = 64;
/// Time between two looks at the state of the port, the device, the MTU.
const LOOK: Duration = Duration::from_millis(250);

/// Why frames are moved no longer.
enum Stop {
    /// The MTU is another one: other buffers are needed.
    Mtu,
    /// SIGINT or SIGTERM.
    Signal,
    /// Somebody has removed the interface.
    Removed,
}

/// Both ends of the virtual channel, with buffers for an MTU.
struct Channel {
    tx: PooledTx,
    rx: PooledRx,
}

impl Channel {
    fn open(vc: &Vc, mtu: u32) -> Result<Self, Failure> {
        let bytes = ethernet::packet_bytes(mtu);
        let slots = (POOL_BYTES / bytes).clamp(SLOTS_MIN, SLOTS_MAX) as u32;
        let queue = QueueOptions::default().event(true);
        // A frame that fills a slot to the last byte is longer than the MTU.
        let tx = vc.tx_pooled(PoolOptions::new(slots, bytes as u32 + 1).queue(queue))?;
        let rx = vc.rx_pooled(PoolOptions::new(slots, bytes as u32).queue(queue))?;
        Ok(Self { tx, rx })
    }

    /// Fails when the device is gone or has stopped a queue.
    fn check(&mut self) -> Result<(), Failure> {
        let not_yet = |error: Error| if error.is_timeout() { Ok(()) } else { Err(error.into()) };
        self.tx.wait(Deadline::NOW).map(drop).or_else(not_yet)?;
        self.rx.wait(&Threshold::ONE, Deadline::NOW).map(drop).or_else(not_yet)
    }
}

/// Makes a descriptor unreadable again. It does not block.
fn drain(fd: BorrowedFd<'_>) {
    let _ = rustix::io::read(fd, &mut [0; 8]);
}

/// Whether the interface is no more. It is told from one that is down (EIO).
fn is_removed(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EBADFD)
}

/// An interface that is joined to a virtual channel.
pub struct Pump<'a> {
    tap: &'a TapDevice,
    port: Port,
    vc: Vc,
    context: &'a Context,
    mtu: u32,
    carrier: Option<bool>,
    inbound: Inbound,
    counters: Counters,
}

impl<'a> Pump<'a> {
    /// Joins them, with the MTU the interface has.
    pub fn new(
        tap: &'a TapDevice,
        port: Port,
        vc: Vc,
        context: &'a Context,
    ) -> Result<Self, Failure> {
        let mtu = tap.mtu().map_err(|error| Failure::io("MTU", &error))?.min(MTU_MAX);
        let inbound = Inbound::new(ethernet::packet_bytes(mtu));
        let counters = Counters::default();
        Ok(Self { tap, port, vc, context, mtu, carrier: None, inbound, counters })
    }

    /// Moves frames until a signal comes or the interface is removed; `ready` is told when it can.
    ///
    /// # Errors
    /// The device is gone or has stopped, or the virtual channel is somebody else's.
    pub fn run(mut self, ready: impl FnOnce(u32)) -> Result<(), Failure> {
        let mut ready = Some(ready);
        let outcome = loop {
            match self.run_channel(&mut ready) {
                Ok(Stop::Mtu) => {
                    let drops = self.inbound.drops;
                    self.inbound = Inbound::new(ethernet::packet_bytes(self.mtu));
                    self.inbound.drops = drops;
                }
                Ok(Stop::Signal) => break Ok(()),
                Ok(Stop::Removed) => {
                    self.context.say(&format!("interface {} was removed", self.tap.name()));
                    break Ok(());
                }
                Err(mut failure) => {
                    failure.what = format!("interface {}: {}", self.tap.name(), failure.what);
                    break Err(failure);
                }
            }
        };
        self.report();
        outcome
    }

    fn run_channel(&mut self, ready: &mut Option<impl FnOnce(u32)>) -> Result<Stop, Failure> {
        let mut channel = Channel::open(&self.vc, self.mtu)?;
        let mut look = Instant::now();
        loop {
            if signal::caught() {
                return Ok(Stop::Signal);
            }
            if signal::report_wanted() {
                self.report();
            }
            if Instant::now() >= look {
                if self.look(&mut channel)? {
                    return Ok(Stop::Mtu);
                }
                look = Instant::now() + LOOK;
                if let Some(ready) = ready.take() {
                    ready(self.mtu);
                }
            }
            let moved = self.send(&mut channel.tx).and_then(|sent| {
                let received = self.receive(&mut channel.rx)?;
                Ok(sent + received)
            });
            match moved {
                Ok(0) if self.idle(&mut channel, look)? => return Ok(Stop::Removed),
                Ok(_) => {}
                Err(error) if is_removed(&error) => return Ok(Stop::Removed),
                Err(error) => return Err(Failure::io("TAP device", &error)),
            }
        }
    }

    fn report(&mut self) {
        self.counters.drops = self.inbound.drops;
        self.counters.print(self.tap.name(), self.context);
    }

    /// Looks at what nobody tells. True if the MTU has changed.
    fn look(&mut self, channel: &mut Channel) -> Result<bool, Failure> {
        channel.check()?;
        let up = self.port.info()?.state == PortState::Up;
        if self.carrier != Some(up) {
            // Taken away meanwhile: the next read says so.
            let _ = self.tap.set_carrier(up);
            self.carrier = Some(up);
        }
        // In another namespace it cannot be asked; buffers then stay as they are.
        let mtu = self.tap.mtu().map_or(self.mtu, |mtu| mtu.min(MTU_MAX));
        Ok(std::mem::replace(&mut self.mtu, mtu) != mtu)
    }

    /// From the interface to the network: groups of what is there. Returns how many frames.
    fn send(&mut self, tx: &mut PooledTx) -> io::Result<usize> {
        while let Some(sent) = tx.poll() {
            self.counters.failed += u64::from(sent.status != Status::Ok);
        }
        let (mut frames, mut staged, mut staged_bytes) = (0, 0, 0);
        let mut result = Ok(());
        while frames < BUDGET && tx.free() != 0 {
            // Free, and longer than the shortest frame.
            let Some(frame) = tx.slot().and_then(|slot| ethernet::begin(slot).ok()) else { break };
            let room = frame.len();
            let bytes = match self.tap.read(frame) {
                Ok(bytes) => bytes,
                Err(error) => {
                    result = not_now(error);
                    break;
                }
            };
            frames += 1;
            if bytes == room || tx.stage(HEADER_BYTES + bytes).is_err() {
                self.counters.sent_long += 1;
                continue;
            }
            self.counters.sent.add(bytes);
            (staged, staged_bytes) = (staged + 1, staged_bytes + bytes);
            if staged == GROUP_FRAMES || staged_bytes >= GROUP_BYTES {
                tx.submit();
                self.counters.groups += 1;
                (staged, staged_bytes) = (0, 0);
            }
        }
        tx.submit();
        self.counters.groups += u64::from(staged != 0);
        result.map(|()| frames)
    }

    /// From the network to the interface. Returns how many packets.
    fn receive(&mut self, rx: &mut PooledRx) -> io::Result<usize> {
        let mut packets = 0;
        while packets < BUDGET {
            let taken = rx.take(|packet| {
                let frame = self.inbound.take(packet)?;
                Some(self.tap.write(frame).map(|()| frame.len()))
            });
            match taken {
                None => break,
                // Dropped, and counted.
                Some(None) => {}
                Some(Some(Ok(bytes))) => self.counters.received.add(bytes),
                Some(Some(Err(error))) if is_removed(&error) => return Err(error),
                Some(Some(Err(_))) => self.counters.refused += 1,
            }
            packets += 1;
        }
        Ok(packets)
    }

    /// Sleeps until there is something to do. True if the interface is no more.
    fn idle(&mut self, channel: &mut Channel, until: Instant) -> Result<bool, Failure> {
        let Channel { tx, rx } = channel;
        let full = tx.free() == 0;
        if rx.request_event(&Threshold::ONE)? || full && tx.request_event(&Threshold::ONE)? {
            return Ok(false);
        }
        let wanted = if full { PollFlags::empty() } else { PollFlags::IN };
        let tap = self.tap.fd();
        let mut fds = [
            PollFd::from_borrowed_fd(tap, wanted),
            PollFd::from_borrowed_fd(rx.fd()?, PollFlags::IN),
            PollFd::from_borrowed_fd(tx.fd()?, PollFlags::IN),
        ];
        let left = until.saturating_duration_since(Instant::now());
        // At most LOOK.
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left.min(LOOK).subsec_nanos()) };
        self.counters.sleeps += 1;
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(Failure::io("poll", &error.into())),
        }
        let [interface, received, sent] = fds.map(|fd| fd.revents());
        if received.contains(PollFlags::IN) {
            drain(rx.fd()?);
        }
        if sent.contains(PollFlags::IN) {
            drain(tx.fd()?);
        }
        Ok(interface.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL))
    }
}

/// Nothing to read, or a signal came first: no error.
fn not_now(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(()),
        _ => Err(error),
    }
}
