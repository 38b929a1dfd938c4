//! Moves frames between a TAP device and a virtual channel, in one thread that sleeps when idle.

use super::counters::Counters;
use super::inbound::Inbound;
use super::offload::{self, Nodes, Refusal};
use crate::context::Context;
use crate::error::Failure;
use crate::signal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use serde_json::json;
use spfe::{Deadline, Error, PoolOptions, PooledRx, PooledTx, Port, PortState, QueueOptions};
use spfe::{Status, Threshold, Vc};
use spfe_proto::ethernet::{
    self, EthernetPacket, EthernetPeer, EthernetPeerState, Heard, HelloFlags, MTU_MAX, Offload,
    PACKET_MAX_BYTES, PeerFeatures,
};
use spfe_tap::{TapDevice, TapOffloads};
use std::io::{self, Write};
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
    /// For packets of version 1 with this MTU, or for all packets of version 2.
    fn open(vc: &Vc, mtu: Option<u32>) -> Result<Self, Failure> {
        let bytes = mtu.map_or(PACKET_MAX_BYTES, ethernet::packet_bytes);
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
    nodes: Nodes,
    counters: Counters,
    /// Send and understand version 1 only.
    first_only: bool,
    /// What this machine can receive.
    features: PeerFeatures,
    peer: EthernetPeer,
    /// The state of the far end that the kernel and the user know.
    told: EthernetPeerState,
    /// A hello that is sent before the next frame.
    hello: Option<HelloFlags>,
    /// Frames sent at the last check.
    sent_before: u64,
}

impl<'a> Pump<'a> {
    /// Connects an interface to a virtual channel, with the MTU of the interface.
    pub fn new(
        tap: &'a TapDevice,
        port: Port,
        vc: Vc,
        context: &'a Context,
        first_only: bool,
        nodes: Nodes,
    ) -> Result<Self, Failure> {
        let mtu = tap.mtu().map_err(|error| Failure::io("MTU", &error))?.min(MTU_MAX);
        Ok(Self {
            tap,
            port,
            vc,
            context,
            mtu,
            carrier: None,
            inbound: Inbound::new(mtu, first_only).with_prefix(nodes.inward()),
            nodes,
            counters: Counters::default(),
            first_only,
            features: offload::own_features(tap),
            peer: EthernetPeer::default(),
            told: EthernetPeerState::Asking,
            hello: None,
            sent_before: 0,
        })
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
                Ok(Stop::Mtu) => {}
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
        let mut channel = Channel::open(&self.vc, self.first_only.then_some(self.mtu))?;
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
        self.counters.peer_version = version_of(self.peer.state());
        self.counters.print(self.tap.name(), self.context);
    }

    /// Checks conditions that have no event. True if the buffers do not fit the MTU any more.
    fn check(&mut self, channel: &mut Channel) -> Result<bool, Failure> {
        channel.check()?;
        let up = self.port.info()?.state == PortState::Up;
        if self.carrier != Some(up) {
            // If the interface was removed, the next read fails.
            let _ = self.tap.set_carrier(up);
            self.carrier = Some(up);
            // Another end may be there when the link returns.
            self.peer.forget();
        }
        if up && !self.first_only && self.hello.is_none() && channel.tx.free() != 0 {
            let sent = self.counters.sent.frames;
            self.hello = self.peer.tick(sent != self.sent_before);
            self.sent_before = sent;
        }
        self.tell_peer();
        // In another network namespace the MTU is unknown; keep the buffers then.
        let mtu = self.tap.mtu().map_or(self.mtu, |mtu| mtu.min(MTU_MAX));
        self.inbound.set_mtu(mtu);
        Ok(std::mem::replace(&mut self.mtu, mtu) != mtu && self.first_only)
    }

    /// Tells kernel and user what the far end understands, if that has changed.
    fn tell_peer(&mut self) {
        let state = self.peer.state();
        if std::mem::replace(&mut self.told, state) == state {
            return;
        }
        let far = self.peer.hello();
        // If the kernel refuses them, it leaves out nothing.
        if self.tap.set_offloads(offload::offloads_for(&far)).is_err() {
            let _ = self.tap.set_offloads(TapOffloads::NONE);
        }
        let (name, version) = (self.tap.name(), version_of(state));
        if self.context.json {
            let object = json!({ "interface": name, "peer_version": version });
            let mut out = io::stdout().lock();
            let _ = writeln!(out, "{object}").and_then(|()| out.flush());
        } else if state == EthernetPeerState::Second {
            let features = offload::names(far.features);
            let what = format!("the far end understands version 2: {features}");
            self.context.say(&format!("interface {name}: {what}"));
        } else if state == EthernetPeerState::First {
            self.context.say(&format!("interface {name}: the far end understands version 1"));
        }
    }

    /// Adds the hello that is due to the next group. True if there is one.
    fn say_hello(&mut self, tx: &mut PooledTx) -> bool {
        let Some(flags) = self.hello else { return false };
        let packet = offload::hello(flags, self.features, self.nodes);
        let Some(place) = tx.slot().and_then(|slot| slot.get_mut(..packet.len())) else {
            return false;
        };
        place.copy_from_slice(&packet);
        let staged = tx.stage(packet.len()).is_ok();
        if staged {
            self.hello = None;
        }
        staged
    }

    /// Sends the frames that the interface has, in groups. Returns their number.
    fn send(&mut self, tx: &mut PooledTx) -> io::Result<usize> {
        while let Some(sent) = tx.poll() {
            self.counters.failed += u64::from(sent.status != Status::Ok);
        }
        let (mut frames, mut staged, mut staged_bytes) = (0, 0, 0);
        staged += usize::from(self.say_hello(tx));
        let mut result = Ok(());
        let (state, far) = (self.peer.state(), self.peer.hello());
        while frames < BUDGET && tx.free() != 0 && self.hello.is_none() {
            let Some(slot) = tx.slot() else { break };
            let packet = match offload::read(self.tap, slot, self.mtu, state, &far, self.nodes) {
                Ok(packet) => packet,
                Err(error) => {
                    result = not_now(error);
                    break;
                }
            };
            frames += 1;
            match packet.refused {
                Some(Refusal::Offload) => self.counters.sent_offload += 1,
                None if tx.stage(packet.packet_bytes).is_ok() => {
                    self.counters.sent.add(packet.frame_bytes);
                    self.counters.sent_large += u64::from(packet.large);
                    (staged, staged_bytes) = (staged + 1, staged_bytes + packet.packet_bytes);
                }
                _ => self.counters.sent_long += 1,
            }
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

    /// Handles a packet. Returns the result of the TAP device if there was a frame for it.
    fn accept(&mut self, packet: EthernetPacket<'_>) -> Option<io::Result<usize>> {
        let (heard, frame) = match packet {
            EthernetPacket::Plain(frame) => (Heard::First, Some((Offload::default(), frame))),
            EthernetPacket::Offloaded(offload, frame) => (Heard::Second, Some((offload, frame))),
            EthernetPacket::Hello(hello) => (Heard::Hello(hello), None),
        };
        if !self.first_only
            && let Some(flags) = self.peer.hear(heard)
        {
            self.hello = Some(flags);
        }
        self.tell_peer();
        let (offload, frame) = frame?;
        self.counters.received_large += u64::from(offload.is_segmented());
        Some(self.tap.write_offloaded(&offload.encode(), frame).map(|()| frame.len()))
    }

    /// Gives received packets to the interface. Returns their number.
    fn receive(&mut self, rx: &mut PooledRx) -> io::Result<usize> {
        let mut packets = 0;
        while packets < BUDGET {
            let taken = rx.take(|packet| {
                let packet = self.inbound.take(packet)?;
                self.accept(packet)
            });
            match taken {
                None => break,
                // A hello, or dropped and counted.
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

/// The version that a far end in this state understands; 0 while that is unknown.
fn version_of(state: EthernetPeerState) -> u8 {
    match state {
        EthernetPeerState::Asking => 0,
        EthernetPeerState::First => 1,
        EthernetPeerState::Second => 2,
    }
}

/// Treats "would block" and "interrupted" as success.
fn not_now(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(()),
        _ => Err(error),
    }
}
