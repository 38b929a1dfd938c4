//! One far end: a virtual channel in both directions, and what is known about who is there.

use super::counters::Counters;
use super::inbound::Inbound;
use super::nodes::FarEnd;
use super::offload::{self, Ends, Refusal};
use crate::error::Failure;
use rustix::fd::BorrowedFd;
use spfe::{Deadline, Error, PoolOptions, PooledRx, PooledTx, QueueOptions, Status, Threshold, Vc};
use spfe_proto::ethernet::{
    self, EthernetHello, EthernetPacket, EthernetPeer, EthernetPeerState, Heard, HelloFlags,
    OFFLOAD_BYTES, Offload, PACKET_MAX_BYTES, PeerFeatures,
};
use spfe_tap::TapQueue;
use std::io;

/// Size of the buffers of a link in each direction, bytes, and the limits of their number.
const POOL_BYTES: usize = 4 << 20;
const SLOTS_MIN: usize = 64;
const SLOTS_MAX: usize = 256;
/// Buffers for each node of a fabric in each direction.
const NODE_SLOTS: usize = 32;
/// A group is sent when it has this many frames or bytes, or when the interface has no more.
const GROUP_FRAMES: usize = 32;
const GROUP_BYTES: usize = 128 << 10;
/// Frames moved in one direction before others get their turn.
pub const BUDGET: usize = 64;

/// What all far ends of an interface share.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// MTU of the interface.
    pub mtu: u32,
    /// Send and understand version 1 only.
    pub first_only: bool,
    /// What this machine can receive.
    pub features: PeerFeatures,
}

/// Transmit and receive queue of a virtual channel.
struct Channel {
    tx: PooledTx,
    rx: PooledRx,
    /// The receive queue signals its next packet.
    armed: bool,
}

impl Channel {
    fn open(vc: &Vc, terms: &Terms, node: u16) -> Result<Self, Failure> {
        let (bytes, slots, queue) = Self::sizes(terms, node);
        let rx = vc.rx_pooled(PoolOptions::new(slots, bytes).queue(queue))?;
        Ok(Self { tx: Self::open_tx(vc, terms, node)?, rx, armed: false })
    }

    fn open_tx(vc: &Vc, terms: &Terms, node: u16) -> Result<PooledTx, Failure> {
        let (bytes, slots, queue) = Self::sizes(terms, node);
        // One extra byte: a frame that fills its slot completely exceeds the MTU.
        Ok(vc.tx_pooled(PoolOptions::new(slots, bytes + 1).queue(queue))?)
    }

    /// Bytes and number of the buffers in a direction: for packets of version 1 with this MTU, or for
    /// all packets of version 2.
    fn sizes(terms: &Terms, node: u16) -> (u32, u32, QueueOptions) {
        let bytes =
            if terms.first_only { ethernet::packet_bytes(terms.mtu) } else { PACKET_MAX_BYTES };
        let slots = match node {
            0 => (POOL_BYTES / bytes).clamp(SLOTS_MIN, SLOTS_MAX),
            _ => NODE_SLOTS,
        };
        (bytes as u32, slots as u32, QueueOptions::default().event(true))
    }

    /// Fails if the device is gone or has stopped a queue.
    fn check(&mut self) -> Result<(), Failure> {
        let not_yet = |error: Error| if error.is_timeout() { Ok(()) } else { Err(error.into()) };
        self.armed = false;
        self.tx.wait(Deadline::NOW).map(drop).or_else(not_yet)?;
        self.rx.wait(&Threshold::ONE, Deadline::NOW).map(drop).or_else(not_yet)
    }
}

/// A far end.
pub struct Path {
    vc: Vc,
    ends: Ends,
    /// `None` only while it could not be opened again.
    channel: Option<Channel>,
    far: FarEnd,
    inbound: Inbound,
    peer: EthernetPeer,
    /// Something of the far end has arrived.
    heard: bool,
    /// The state of the far end that the user knows, and whether the kernel minds what it can.
    told: (EthernetPeerState, bool),
    /// A hello that is sent before the next frame.
    hello: Option<HelloFlags>,
    /// Frames sent at the last look.
    sent_before: u64,
    /// Frames and bytes of the group that is not sent yet.
    staged: (usize, usize),
    counters: Counters,
}

impl Path {
    /// Opens a virtual channel.
    ///
    /// # Errors
    /// The device is gone, or another client has the channel.
    pub fn open(vc: Vc, ends: Ends, terms: &Terms) -> Result<Self, Failure> {
        let channel = Channel::open(&vc, terms, ends.far)?;
        Ok(Self {
            vc,
            ends,
            channel: Some(channel),
            far: FarEnd::default(),
            inbound: Inbound::new(terms.mtu, terms.first_only).with_prefix(ends.inward()),
            peer: EthernetPeer::default(),
            heard: false,
            told: (EthernetPeerState::Asking, false),
            hello: None,
            sent_before: 0,
            staged: (0, 0),
            counters: Counters::default(),
        })
    }

    /// Opens the channel again, for another MTU. The interface gets what has arrived before.
    ///
    /// # Errors
    /// Those of [`Path::open`].
    pub fn renew(&mut self, queue: &TapQueue, terms: &Terms) -> Result<(), Failure> {
        self.receive_all(queue, terms);
        self.channel = None;
        self.inbound.restart();
        self.staged = (0, 0);
        self.channel = Some(Channel::open(&self.vc, terms, self.ends.far)?);
        Ok(())
    }

    /// Discards what waits for a node, so that it does not go to a later life of it. What has arrived
    /// is of its former life. The receive queue stays open: nothing that arrives now is lost.
    fn discard(&mut self, queue: &TapQueue, terms: &Terms) -> Result<(), Failure> {
        self.receive_all(queue, terms);
        self.staged = (0, 0);
        let Some(Channel { tx, rx, armed }) = self.channel.take() else { return Ok(()) };
        drop(tx);
        let tx = Channel::open_tx(&self.vc, terms, self.ends.far)?;
        self.channel = Some(Channel { tx, rx, armed });
        Ok(())
    }

    /// Gives all packets that have arrived to the interface: all buffers at most, since the far end
    /// may go on sending. If the interface was removed, the next read fails.
    fn receive_all(&mut self, queue: &TapQueue, terms: &Terms) {
        for _ in 0..SLOTS_MAX / BUDGET {
            if self.receive(queue, terms).is_ok_and(|packets| packets < BUDGET) {
                break;
            }
        }
    }

    /// Number of the node at the far end; 0 on a link.
    pub fn node(&self) -> u16 {
        self.ends.far
    }

    /// Whether the far end is there, as the device says.
    pub fn is_ready(&self) -> bool {
        self.far.ready
    }

    /// Whether frames have a way. On a link they always have: the interface has no carrier while its
    /// far end is away.
    pub fn is_open(&self) -> bool {
        self.channel.is_some() && (self.far.ready || self.node() == 0)
    }

    /// Whether no buffer to send is free.
    pub fn is_full(&self) -> bool {
        self.channel.as_ref().is_some_and(|channel| channel.tx.free() == 0)
    }

    /// What this far end has said about itself, if anything has arrived from it.
    pub fn far_hello(&self) -> Option<EthernetHello> {
        self.heard.then(|| self.peer.hello())
    }

    pub fn counters(&self) -> Counters {
        Counters { drops: self.inbound.drops, ..self.counters }
    }

    /// The version that the far end understands; 0 while that is unknown.
    pub fn version(&self) -> u8 {
        match self.peer.state() {
            EthernetPeerState::Asking => 0,
            EthernetPeerState::First => 1,
            EthernetPeerState::Second => 2,
        }
    }

    /// Whether something has changed for the user, and for the kernel, since the last call.
    pub fn news(&mut self) -> (bool, bool) {
        let now = (self.peer.state(), self.heard);
        let before = std::mem::replace(&mut self.told, now);
        (before.0 != now.0, before != now)
    }

    /// Looks at what has no event: the far end, which the device reports so, and the queues.
    ///
    /// # Errors
    /// The device is gone or has stopped a queue.
    pub fn look(&mut self, far: FarEnd, queue: &TapQueue, terms: &Terms) -> Result<(), Failure> {
        // Both are tried again at the next look, which fails if the device is gone.
        if self.node() != 0 && self.far.ready && self.far != far {
            let _ = self.discard(queue, terms);
        }
        if self.channel.is_none() {
            let _ = self.renew(queue, terms);
        }
        let before = std::mem::replace(&mut self.far, far);
        if before != far {
            // Another end may be there when it returns.
            self.peer.forget();
            (self.heard, self.hello) = (false, None);
        }
        self.inbound.set_mtu(terms.mtu);
        let Some(channel) = &mut self.channel else { return Ok(()) };
        channel.check()?;
        if far.ready && !terms.first_only && self.hello.is_none() && channel.tx.free() != 0 {
            let sent = self.counters.sent.frames;
            self.hello = self.peer.tick(sent != self.sent_before);
            self.sent_before = sent;
        }
        Ok(())
    }

    /// Takes completions, and sends the hello that is due, if there is room.
    pub fn refresh(&mut self, terms: &Terms) {
        let Some(channel) = &mut self.channel else { return };
        while let Some(sent) = channel.tx.poll() {
            self.counters.failed += u64::from(sent.status != Status::Ok);
        }
        let Some(flags) = self.hello else { return };
        let packet = offload::hello(flags, terms.features, self.ends);
        let slot = channel.tx.slot().and_then(|slot| slot.get_mut(..packet.len()));
        if let Some(slot) = slot {
            slot.copy_from_slice(&packet);
            if channel.tx.stage(packet.len()).is_ok() {
                self.hello = None;
                self.staged.0 += 1;
                self.submit();
            }
        }
    }

    /// Sends the frames of a queue of the interface that is for this far end alone. Returns their
    /// number.
    ///
    /// # Errors
    /// Those of the TAP device.
    pub fn send_queue(&mut self, queue: &TapQueue, terms: &Terms) -> io::Result<usize> {
        let (mut frames, mut result) = (0, Ok(()));
        let mut fields = [0; OFFLOAD_BYTES];
        let header = offload::header_bytes(self.peer.state());
        while frames < BUDGET && self.hello.is_none() {
            let Some(channel) = self.channel.as_mut().filter(|channel| channel.tx.free() != 0)
            else {
                break;
            };
            let Some(slot) = channel.tx.slot().and_then(|slot| slot.get_mut(header..)) else {
                break;
            };
            match queue.read_offloaded(&mut fields, slot) {
                Ok(bytes) => self.stage(&fields, bytes, terms),
                Err(error) => {
                    result = not_now(error);
                    break;
                }
            }
            frames += 1;
        }
        self.submit();
        result.map(|()| frames)
    }

    /// Copies a frame for this far end, or drops it. [`Path::submit`] must follow.
    pub fn send_copy(&mut self, fields: &[u8; OFFLOAD_BYTES], frame: &[u8], terms: &Terms) {
        if !self.is_open() {
            self.counters.sent_absent += 1;
            return;
        }
        let header = offload::header_bytes(self.peer.state());
        let free = self.channel.as_mut().filter(|channel| channel.tx.free() != 0);
        let slot = free.filter(|_| self.hello.is_none()).and_then(|channel| channel.tx.slot());
        match slot.and_then(|slot| slot.get_mut(header..header + frame.len())) {
            Some(place) => {
                place.copy_from_slice(frame);
                self.stage(fields, frame.len(), terms);
            }
            None => self.counters.sent_full += 1,
        }
    }

    /// Adds the frame that is in the next slot, behind the place of its header, to the group.
    fn stage(&mut self, fields: &[u8; OFFLOAD_BYTES], frame_bytes: usize, terms: &Terms) {
        let Some(channel) = &mut self.channel else { return };
        let (state, far) = (self.peer.state(), self.peer.hello());
        let packet_bytes = offload::header_bytes(state) + frame_bytes;
        let slot = channel.tx.slot().and_then(|slot| slot.get_mut(..packet_bytes));
        let Some(slot) = slot else { return };
        let packet = offload::pack(slot, fields, terms.mtu, (state, &far), self.ends);
        match packet.refused {
            Some(Refusal::Offload) => self.counters.sent_offload += 1,
            None if channel.tx.stage(packet_bytes).is_ok() => {
                self.counters.sent.add(frame_bytes);
                self.counters.sent_large += u64::from(packet.large);
                self.staged = (self.staged.0 + 1, self.staged.1 + packet_bytes);
            }
            _ => self.counters.sent_long += 1,
        }
        if self.staged.0 == GROUP_FRAMES || self.staged.1 >= GROUP_BYTES {
            self.submit();
        }
    }

    /// Sends the staged frames as one group.
    pub fn submit(&mut self) {
        if let Some(channel) = &mut self.channel
            && std::mem::take(&mut self.staged) != (0, 0)
        {
            channel.tx.submit();
            self.counters.groups += 1;
        }
    }

    /// Gives received packets to the interface. Returns their number.
    ///
    /// # Errors
    /// The interface was removed.
    pub fn receive(&mut self, queue: &TapQueue, terms: &Terms) -> io::Result<usize> {
        let Self { channel, inbound, peer, heard, hello, counters, .. } = self;
        let Some(channel) = channel else { return Ok(0) };
        let mut packets = 0;
        while packets < BUDGET {
            let taken = channel.rx.take(|packet| {
                let (news, frame) = unpack(inbound.take(packet)?);
                *heard = true;
                if !terms.first_only
                    && let Some(flags) = peer.hear(news)
                {
                    *hello = Some(flags);
                }
                let (offload, frame) = frame?;
                counters.received_large += u64::from(offload.is_segmented());
                Some(queue.write_offloaded(&offload.encode(), frame).map(|()| frame.len()))
            });
            match taken {
                None => break,
                // A hello, or dropped and counted.
                Some(None) => {}
                Some(Some(Ok(bytes))) => counters.received.add(bytes),
                Some(Some(Err(error))) if is_removed(&error) => return Err(error),
                Some(Some(Err(_))) => counters.refused += 1,
            }
            packets += 1;
        }
        Ok(packets)
    }

    /// Lets the queues signal that there is something to do. True if there is already.
    ///
    /// # Errors
    /// The device is gone.
    pub fn arm(&mut self) -> Result<bool, Failure> {
        let Some(channel) = &mut self.channel else { return Ok(false) };
        if !channel.armed {
            if channel.rx.request_event(&Threshold::ONE)? {
                return Ok(true);
            }
            channel.armed = true;
        }
        Ok(channel.tx.free() == 0 && channel.tx.request_event(&Threshold::ONE)?)
    }

    /// Descriptors of the receive and the transmit queue for poll.
    ///
    /// # Errors
    /// None: the queues were opened with events.
    pub fn fds(&self) -> Result<Option<[BorrowedFd<'_>; 2]>, Failure> {
        let Some(channel) = &self.channel else { return Ok(None) };
        Ok(Some([channel.rx.fd()?, channel.tx.fd()?]))
    }

    /// Notes which of the two descriptors were readable.
    pub fn woken(&mut self, [received, sent]: [bool; 2]) {
        let Some(channel) = &mut self.channel else { return };
        if received {
            channel.rx.fd().into_iter().for_each(drain);
            channel.armed = false;
        }
        if sent {
            channel.tx.fd().into_iter().for_each(drain);
        }
    }
}

/// What a packet says about the far end, and the frame in it.
fn unpack(packet: EthernetPacket<'_>) -> (Heard, Option<(Offload, &[u8])>) {
    match packet {
        EthernetPacket::Plain(frame) => (Heard::First, Some((Offload::default(), frame))),
        EthernetPacket::Offloaded(offload, frame) => (Heard::Second, Some((offload, frame))),
        EthernetPacket::Hello(hello) => (Heard::Hello(hello), None),
    }
}

/// Clears the readable state of a non-blocking event descriptor.
fn drain(fd: BorrowedFd<'_>) {
    let _ = rustix::io::read(fd, &mut [0; 8]);
}

/// Whether the error means that the interface was removed; EIO means that it is down.
pub fn is_removed(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EBADFD)
}

/// Treats "would block" and "interrupted" as success.
pub fn not_now(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(()),
        _ => Err(error),
    }
}
