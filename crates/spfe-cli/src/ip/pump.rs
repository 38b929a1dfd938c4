//! Moves frames between a TAP device and a virtual channel, in one thread that sleeps when idle.

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

/// Size of the buffers in each direction, bytes.
const POOL_BYTES: usize = 4 << 20;
const SLOTS_MIN: usize = 64;
const SLOTS_MAX: usize = 256;
/// A group is sent when it has this many frames or bytes, or when the interface has no more.
const GROUP_FRAMES: usize = 32;
const GROUP_BYTES: usize = 128 << 10;
/// Frames moved in one direction before the other direction gets its turn.
const BUDGET: usize = 64;
/// Interval between checks of port, device and MTU.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Reason to stop moving frames.
enum Stop {
    /// The MTU has changed, so the buffers must be replaced.
    Mtu,
    /// SIGINT or SIGTERM has arrived.
    Signal,
    /// The interface was removed.
    Removed,
}

/// Transmit and receive queue of the virtual channel, with buffers for an MTU.
struct Channel {
    tx: PooledTx,
    rx: PooledRx,
}

impl Channel {
    fn open(vc: &Vc, mtu: u32) -> Result<Self, Failure> {
        let bytes = ethernet::packet_bytes(mtu);
        let slots = (POOL_BYTES / bytes).clamp(SLOTS_MIN, SLOTS_MAX) as u32;
        let queue = QueueOptions::default().event(true);
        // One extra byte: a frame that fills its slot completely exceeds the MTU.
        let tx = vc.tx_pooled(PoolOptions::new(slots, bytes as u32 + 1).queue(queue))?;
        let rx = vc.rx_pooled(PoolOptions::new(slots, bytes as u32).queue(queue))?;
        Ok(Self { tx, rx })
    }

    /// Fails if the device is gone or has stopped a queue.
    fn check(&mut self) -> Result<(), Failure> {
        let not_yet = |error: Error| if error.is_timeout() { Ok(()) } else { Err(error.into()) };
        self.tx.wait(Deadline::NOW).map(drop).or_else(not_yet)?;
        self.rx.wait(&Threshold::ONE, Deadline::NOW).map(drop).or_else(not_yet)
    }
}

/// Clears the readable state of a non-blocking event descriptor.
fn drain(fd: BorrowedFd<'_>) {
    let _ = rustix::io::read(fd, &mut [0; 8]);
}

/// Whether the error means that the interface was removed; EIO means that it is down.
fn is_removed(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EBADFD)
}

/// An interface connected to a virtual channel.
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
    /// Connects an interface to a virtual channel, with the MTU of the interface.
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

    /// Moves frames until a signal arrives or the interface is removed. Calls `ready` with the MTU
    /// once frames can move.
    ///
    /// # Errors
    /// The device is gone or has stopped, or another client has the virtual channel.
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
                if self.check(&mut channel)? {
                    return Ok(Stop::Mtu);
                }
                look = Instant::now() + CHECK_INTERVAL;
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

    /// Checks conditions that have no event. True if the MTU has changed.
    fn check(&mut self, channel: &mut Channel) -> Result<bool, Failure> {
        channel.check()?;
        let up = self.port.info()?.state == PortState::Up;
        if self.carrier != Some(up) {
            // If the interface was removed, the next read fails.
            let _ = self.tap.set_carrier(up);
            self.carrier = Some(up);
        }
        // In another network namespace the MTU is unknown; keep the buffers then.
        let mtu = self.tap.mtu().map_or(self.mtu, |mtu| mtu.min(MTU_MAX));
        Ok(std::mem::replace(&mut self.mtu, mtu) != mtu)
    }

    /// Sends the frames that the interface has, in groups. Returns their number.
    fn send(&mut self, tx: &mut PooledTx) -> io::Result<usize> {
        while let Some(sent) = tx.poll() {
            self.counters.failed += u64::from(sent.status != Status::Ok);
        }
        let (mut frames, mut staged, mut staged_bytes) = (0, 0, 0);
        let mut result = Ok(());
        while frames < BUDGET && tx.free() != 0 {
            // The slot is free and longer than the shortest frame.
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

    /// Gives received packets to the interface. Returns their number.
    fn receive(&mut self, rx: &mut PooledRx) -> io::Result<usize> {
        let mut packets = 0;
        while packets < BUDGET {
            let taken = rx.take(|packet| {
                let frame = self.inbound.take(packet)?;
                Some(self.tap.write(frame).map(|()| frame.len()))
            });
            match taken {
                None => break,
                // Dropped and counted.
                Some(None) => {}
                Some(Some(Ok(bytes))) => self.counters.received.add(bytes),
                Some(Some(Err(error))) if is_removed(&error) => return Err(error),
                Some(Some(Err(_))) => self.counters.refused += 1,
            }
            packets += 1;
        }
        Ok(packets)
    }

    /// Sleeps until there is work. True if the interface was removed.
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
        // At most CHECK_INTERVAL.
        let timeout =
            Timespec { tv_sec: 0, tv_nsec: i64::from(left.min(CHECK_INTERVAL).subsec_nanos()) };
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

/// Treats "would block" and "interrupted" as success.
fn not_now(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(()),
        _ => Err(error),
    }
}
