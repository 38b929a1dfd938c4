//! Frames between the interface and the rings.
//!
//! If the kernel chooses the queue of a frame by its destination, a frame is read straight into the
//! ring of its peer, and a peer whose ring is full holds up its own queue only. Frames to groups,
//! and all frames where the kernel lets us load no program, are read into a buffer and sorted.

use super::{NodeEvent, NodeRunner};
use crate::ether::{self, FrameTarget, MAC_START};
use crate::memory::{NodePage, PeerCounter};
use crate::peer::PeerLink;
use crate::ring::{RECORD_MAX, RingFault};
use crate::topology::NODES_MAX;
use crate::wire::FabricError;
use spfe_host::os::now_ns;
use spfe_tap::{OFFLOAD_HEADER, TapDevice, TapError, TapOffloads, TapQueue};
use std::io;
use std::sync::atomic::Ordering;

/// Frames moved in one go.
const BATCH: usize = 16;

/// The interface of a node.
pub struct FrameTap {
    device: TapDevice,
    queues: Vec<TapQueue>,
    carrier: Option<bool>,
    buffer: Vec<u8>,
}

impl FrameTap {
    /// Opens or creates the interface, with a queue for each node up to `nodes` if the kernel
    /// accepts the program that chooses among them.
    ///
    /// # Errors
    /// The kernel refuses the interface.
    pub fn open(name: &str, nodes: u8) -> Result<Self, TapError> {
        let wanted = nodes.min(NODES_MAX as u8).saturating_add(1);
        let (device, mut queues) = TapDevice::open_queues(name, usize::from(wanted))?;
        device
            .set_offloads(TapOffloads::ALL)
            .or_else(|_| device.set_offloads(TapOffloads::BASIC))
            .map_err(|error| TapError::interface(device.name(), "offloads", error))?;
        if device.steer_by_destination(MAC_START, wanted).is_err() {
            queues.truncate(1);
        }
        let buffer = vec![0; RECORD_MAX];
        Ok(Self { device, queues, carrier: None, buffer })
    }

    /// The device, to configure it.
    pub fn device(&self) -> &TapDevice {
        &self.device
    }

    /// Name of the interface.
    pub fn name(&self) -> &str {
        self.device.name()
    }

    /// Whether each peer has a queue of its own.
    pub fn is_steered(&self) -> bool {
        self.queues.len() > 1
    }

    pub(super) fn queues(&self) -> &[TapQueue] {
        &self.queues
    }

    pub(super) fn show_carrier(&mut self, on: bool) {
        if self.carrier != Some(on) {
            // If the interface was removed, the next read fails.
            let _ = self.device.set_carrier(on);
            self.carrier = Some(on);
        }
    }
}

/// Whether a queue should be read.
pub(super) enum Readiness {
    /// Its frames have a place.
    Now,
    /// The port is busy until this time, ns.
    At(u64),
    /// The ring of its peer is full.
    Full,
}

/// Whether a queue of the interface should be read. Frames for peers that are not READY are read and
/// dropped, so that none goes to a later life of the peer.
pub(super) fn readiness(
    queue: usize,
    peers: &[Option<PeerLink>],
    page: &NodePage,
    now: u64,
) -> Readiness {
    let Some(index) = queue.checked_sub(1) else { return Readiness::Now };
    let Some(peer) = peers.get(index).and_then(Option::as_ref) else { return Readiness::Now };
    if !peer.is_ready() {
        return Readiness::Now;
    }
    if peer.is_starved() {
        return Readiness::Full;
    }
    let port = peer.pace_out.port.map_or(0, |port| usize::from(port.port));
    let due = peer.pace_out.due_ns(page.pacer(port, false), now);
    if due > now { Readiness::At(due) } else { Readiness::Now }
}

impl NodeRunner {
    pub(super) fn count(&self, index: usize, counter: PeerCounter, by: u64) {
        // Only this thread and raw clients of the node write the page.
        self.page.counter(index, counter).fetch_add(by, Ordering::Relaxed);
    }

    /// Gives frames from a peer to the kernel. True if there were some.
    pub(super) fn receive_from(&mut self, index: usize) -> Result<bool, RingFault> {
        let Some(peer) = &mut self.peers[index] else { return Ok(false) };
        if !peer.is_ready() {
            return Ok(false);
        }
        let mut port_free = None;
        if let Some(port) = peer.pace_in.port {
            let free = self.page.pacer(usize::from(port.port), true);
            let now = now_ns();
            if peer.pace_in.due_ns(free, now) > now {
                return Ok(false);
            }
            port_free = Some(free);
        }
        let (mut frames, mut bytes, mut refused) = (0u64, 0u64, 0u64);
        for _ in 0..BATCH {
            let (reader, ring) = peer.inbound();
            let Some(record) = reader.next(ring)? else { break };
            let Some(length) = record.bytes.checked_sub(OFFLOAD_HEADER).filter(|bytes| *bytes > 0)
            else {
                return Err(RingFault::Length { bytes: record.bytes as u32 });
            };
            let accepted = self.tap.as_ref().and_then(|tap| tap.queues.first()).map(|queue| {
                // SAFETY: the reader checked that the record is inside the mapped ring.
                unsafe { queue.write_from(record.at, record.bytes) }
            });
            reader.release();
            frames += 1;
            bytes += length as u64;
            refused += u64::from(!matches!(accepted, Some(Ok(()))));
            peer.give_back();
            if let Some(free) = port_free {
                let now = now_ns();
                peer.pace_in.book(free, now, length as u64);
                if peer.pace_in.due_ns(free, now) > now {
                    break;
                }
            }
        }
        if frames == 0 {
            return Ok(false);
        }
        if peer.wake_writer() {
            self.count(index, PeerCounter::Wakes, 1);
        }
        self.count(index, PeerCounter::ReceivedFrames, frames);
        self.count(index, PeerCounter::ReceivedBytes, bytes);
        if refused > 0 {
            self.count(index, PeerCounter::ReceivedDropped, refused);
        }
        Ok(true)
    }

    /// When the first port takes frames that have arrived, ns.
    pub(super) fn inbound_due(&self, now: u64) -> u64 {
        let news = self.peers.iter().flatten().filter(|peer| peer.has_news());
        let due = news.map(|peer| {
            let port = peer.pace_in.port.map_or(0, |port| usize::from(port.port));
            peer.pace_in.due_ns(self.page.pacer(port, true), now)
        });
        due.min().unwrap_or(now)
    }

    /// Sends frames that waited for room in a ring, and looks whether a full ring has room again.
    pub(super) fn send_backlog(&mut self, index: usize) -> Result<bool, RingFault> {
        let Some(peer) = &mut self.peers[index] else { return Ok(false) };
        if !peer.is_ready() {
            return Ok(false);
        }
        let mut moved = false;
        if peer.is_starved() && peer.has_room(RECORD_MAX)? {
            peer.starve(false);
            moved = true;
        }
        if peer.has_backlog() && !peer.is_starved() {
            let (frames, bytes) = peer.flush_backlog()?;
            if peer.has_backlog() {
                peer.starve(true);
            }
            if frames > 0 {
                let woken = peer.wake_reader();
                self.count(index, PeerCounter::SentFrames, frames);
                self.count(index, PeerCounter::SentBytes, bytes);
                self.count(index, PeerCounter::Wakes, u64::from(woken));
                moved = true;
            }
        }
        Ok(moved)
    }

    /// Moves frames of a queue to the peers.
    pub(super) fn read_queue(
        &mut self,
        queue: usize,
        tell: &mut impl FnMut(NodeEvent),
    ) -> Result<(), FabricError> {
        let index = queue.checked_sub(1).filter(|index| {
            self.peers.get(*index).is_some_and(|peer| {
                peer.as_ref().is_some_and(|peer| peer.is_ready() && !peer.has_backlog())
            })
        });
        let result = match index {
            Some(index) => match self.send_to(index, queue) {
                Ok(result) => result,
                Err(fault) => {
                    self.fail(index, tell, &fault);
                    Ok(())
                }
            },
            None => self.sort_queue(queue, tell),
        };
        result.map_err(|error| {
            let name = self.tap.as_ref().map_or("", |tap| tap.name());
            FabricError::io(format_args!("interface {name}"), &error)
        })
    }

    /// Reads frames of a peer's own queue straight into the ring to it.
    fn send_to(&mut self, index: usize, queue: usize) -> Result<io::Result<()>, RingFault> {
        let (Some(peer), Some(tap)) = (&mut self.peers[index], &self.tap) else {
            return Ok(Ok(()));
        };
        let Some(queue) = tap.queues.get(queue) else { return Ok(Ok(())) };
        let (mut frames, mut bytes, mut outcome) = (0u64, 0u64, Ok(()));
        let mut woken = 0;
        let mut full = false;
        for _ in 0..BATCH {
            let port = peer.pace_out.port;
            let free = self.page.pacer(port.map_or(0, |port| usize::from(port.port)), false);
            if port.is_some() {
                let now = now_ns();
                if peer.pace_out.due_ns(free, now) > now {
                    break;
                }
            }
            if !peer.has_room(RECORD_MAX)? {
                peer.starve(true);
                // The peer may have made room before it could see this.
                if peer.has_room(RECORD_MAX)? {
                    peer.starve(false);
                } else {
                    full = true;
                    break;
                }
            }
            let (writer, out, back) = peer.outbound();
            let Some(room) = writer.room(out, back, RECORD_MAX)? else { break };
            // SAFETY: the room is inside the mapping of the ring. The kernel's program put only
            // frames for this peer into the queue, so it may see them early.
            match unsafe { queue.read_to(room.at, room.bytes) } {
                Ok(read) if read > OFFLOAD_HEADER => {
                    writer.push(out, read);
                    peer.publish();
                    let length = (read - OFFLOAD_HEADER) as u64;
                    frames += 1;
                    bytes += length;
                    if port.is_some() {
                        peer.pace_out.book(free, now_ns(), length);
                    }
                    // The first frame starts the peer, so that both work at the same time.
                    if frames == 1 {
                        woken += u64::from(peer.wake_reader());
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    outcome = frame_error(error);
                    break;
                }
            }
        }
        if frames > 1 {
            woken += u64::from(peer.wake_reader());
        }
        self.count(index, PeerCounter::SentFrames, frames);
        self.count(index, PeerCounter::SentBytes, bytes);
        self.count(index, PeerCounter::Wakes, woken);
        self.count(index, PeerCounter::RingFull, u64::from(full));
        Ok(outcome)
    }

    /// Reads frames into a buffer and sends each where it belongs.
    fn sort_queue(&mut self, queue: usize, tell: &mut impl FnMut(NodeEvent)) -> io::Result<()> {
        for _ in 0..BATCH {
            let Some(tap) = &mut self.tap else { return Ok(()) };
            let mut buffer = std::mem::take(&mut tap.buffer);
            let read = match tap.queues.get(queue) {
                // SAFETY: the buffer is ours and has so many bytes.
                Some(queue) => unsafe { queue.read_to(buffer.as_mut_ptr(), buffer.len()) },
                None => Err(io::ErrorKind::WouldBlock.into()),
            };
            let result = match read {
                Ok(read) => {
                    if let Some(frame) = buffer.get(..read).filter(|_| read > OFFLOAD_HEADER) {
                        self.sort(frame, tell);
                    }
                    Ok(())
                }
                Err(error) => Err(error),
            };
            if let Some(tap) = &mut self.tap {
                tap.buffer = buffer;
            }
            if let Err(error) = result {
                return frame_error(error);
            }
        }
        Ok(())
    }

    /// Sends a frame with its offload header where it belongs.
    fn sort(&mut self, record: &[u8], tell: &mut impl FnMut(NodeEvent)) {
        let frame = &record[OFFLOAD_HEADER..];
        match ether::target(frame) {
            FrameTarget::Node(number) => {
                if let Some(index) = usize::from(number).checked_sub(1) {
                    self.send_record(index, record, tell);
                }
            }
            FrameTarget::Group => {
                let owner = ether::question(frame).and_then(|address| self.owner_of(address));
                let reply = owner.and_then(|index| ether::answer(frame, self.mac_of(index)));
                match reply {
                    Some(reply) => self.answer_kernel(&reply),
                    None => {
                        for index in 0..self.peers.len() {
                            self.send_record(index, record, tell);
                        }
                    }
                }
            }
            FrameTarget::Unknown => {}
        }
    }

    fn answer_kernel(&self, frame: &[u8]) {
        let mut record = vec![0; OFFLOAD_HEADER];
        record.extend_from_slice(frame);
        if let Some(queue) = self.tap.as_ref().and_then(|tap| tap.queues.first()) {
            // SAFETY: the record is ours. If the kernel refuses it, the question is repeated.
            let _ = unsafe { queue.write_from(record.as_ptr(), record.len()) };
        }
    }

    /// Sends one frame to one peer, keeps it while the ring is full, or drops it.
    fn send_record(&mut self, index: usize, record: &[u8], tell: &mut impl FnMut(NodeEvent)) {
        let Some(peer) = self.peers.get_mut(index).and_then(Option::as_mut) else { return };
        if !peer.is_ready() {
            return self.count(index, PeerCounter::SentDropped, 1);
        }
        let port = peer.pace_out.port;
        let free = self.page.pacer(port.map_or(0, |port| usize::from(port.port)), false);
        if port.is_some() {
            // Sorted frames are not held back here: the receiver's port does that.
            peer.pace_out.book(free, now_ns(), (record.len() - OFFLOAD_HEADER) as u64);
        }
        let sent = if peer.has_backlog() { Ok(false) } else { peer.put(record) };
        match sent {
            Ok(true) => {
                let woken = peer.wake_reader();
                self.count(index, PeerCounter::SentFrames, 1);
                self.count(index, PeerCounter::SentBytes, (record.len() - OFFLOAD_HEADER) as u64);
                self.count(index, PeerCounter::Wakes, u64::from(woken));
            }
            Ok(false) => {
                peer.starve(true);
                let kept = peer.keep(record);
                self.count(index, PeerCounter::RingFull, 1);
                self.count(index, PeerCounter::SentDropped, u64::from(!kept));
            }
            Err(fault) => self.fail(index, tell, &fault),
        }
    }
}

/// Treats "no frame", "interrupted" and "interface is down" as success.
fn frame_error(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(()),
        _ if error.raw_os_error() == Some(libc::EIO) => Ok(()),
        _ => Err(error),
    }
}
