//! The target: executes requests on regions and receive queues.
//!
//! Packets go through the checks of `docs/rdma.md` in their order, and memory is touched only when
//! all have passed. Requests of one initiator and queue pair are executed in sequence, once: a
//! repeated message is acknowledged without execution, a repeated atomic operation is answered from
//! memory, and a gap is reported once.

mod counters;
mod execute;
mod near;
mod notify;
mod peer;
mod receive;
mod respond;

pub use counters::TargetCounts;
pub(crate) use near::NearSender;
pub use notify::Notification;
pub use receive::{ReceiveQueueError, ReceivedMessage};

use crate::direct::{Payload, Taker};
use crate::local::{LocalMemory, NoMemory};
use crate::region::{RegionTable, RemoteKey};
use notify::Notifications;
use peer::{Peers, RemotePeer};
use receive::ReceiveQueue;
use respond::Responses;
use spfe_proto::sfrp::{
    Capabilities, Flags, Info, Opcode, PID, SEGMENT_DEFAULT, SfrpHeader, SfrpHeaderError,
    SfrpStatus, VERSION,
};
use spfe_proto::{DEFAULT_LOGICAL_ADDRESS, PacketEnd};
use std::collections::BTreeMap;

/// Reads that a queue pair may have outstanding, and results of atomic operations that are kept.
pub const READS_MAX: usize = 16;
/// Longest message that a target without receive queues takes as a notification, bytes.
pub const NOTE_BYTES: usize = crate::direct::SMALL;
/// Time that a busy target asks an initiator to wait, µs.
const BUSY_US: u32 = 100;
/// Time that an initiator waits for a receive buffer, µs.
const NOT_READY_US: u32 = 200;

/// Properties of a target.
#[derive(Clone, Copy, Debug)]
pub struct RdmaTargetOptions {
    /// Logical address.
    pub logical_address: u8,
    /// Protocol identifier.
    pub protocol: u8,
    /// Largest payload of a packet.
    pub segment_bytes: u32,
    /// Number of notifications that are kept; 0: none.
    pub notifications: usize,
    /// Tell that RMAP is served on the same port.
    pub rmap: bool,
    /// Vendor, for INFO.
    pub vendor: u32,
    /// Device, for INFO.
    pub device: u32,
    /// Serial number, for INFO.
    pub serial: u32,
}

impl Default for RdmaTargetOptions {
    fn default() -> Self {
        Self {
            logical_address: DEFAULT_LOGICAL_ADDRESS,
            protocol: PID,
            segment_bytes: SEGMENT_DEFAULT,
            notifications: 0,
            rmap: false,
            vendor: 0,
            device: 0,
            serial: 0,
        }
    }
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    /// Executed, as a whole or as a part of a longer message.
    Executed(Opcode),
    /// Executed before; acknowledged again if it asks for it.
    Repeated(Opcode),
    /// Refused with a response.
    Refused(SfrpStatus),
    /// Discarded without a response.
    Dropped(Dropped),
    /// Meant for an initiator: a response or CREDIT.
    ForInitiator,
}

/// Why a packet was discarded without a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// Not SFRP.
    OtherProtocol,
    /// Its header cannot be trusted.
    Header(SfrpHeaderError),
    /// Another logical address.
    NotOurs,
    /// Belongs to a message that was refused, or follows a gap that was reported.
    Drained,
    /// Repeats an atomic operation whose result is no longer kept.
    Forgotten,
}

/// A target with its regions, receive queues and initiators.
pub struct RdmaTarget {
    options: RdmaTargetOptions,
    regions: RegionTable,
    queues: BTreeMap<u16, ReceiveQueue>,
    peers: Peers,
    responses: Responses,
    notifications: Notifications,
    counts: TargetCounts,
    vcs: u8,
}

/// What follows a header.
#[derive(Clone, Copy)]
enum Body<'a> {
    /// The whole packet, which is not verified yet, and its end.
    Packet(&'a [u8], PacketEnd),
    /// A payload that was handed over.
    Direct(Payload<'a>),
}

/// A request on its way through the checks.
#[derive(Clone, Copy)]
struct Request<'a> {
    header: SfrpHeader,
    opcode: Opcode,
    body: Body<'a>,
    /// Virtual channel of the response.
    vc: u8,
    now_ns: u64,
}

impl<'a> Request<'a> {
    /// The payload, complete and intact.
    fn payload(&self) -> Result<Payload<'a>, SfrpStatus> {
        match self.body {
            Body::Packet(packet, end) => self.header.payload(packet, end).map(Payload::Bytes),
            Body::Direct(payload) => Ok(payload),
        }
    }
}

/// A refusal: the status and IMM of the response.
struct Refusal {
    status: SfrpStatus,
    immediate: u32,
}

impl From<SfrpStatus> for Refusal {
    fn from(status: SfrpStatus) -> Self {
        let immediate = if status == SfrpStatus::BUSY { BUSY_US } else { 0 };
        Self { status, immediate }
    }
}

impl RdmaTarget {
    /// A target without regions.
    pub fn new(options: RdmaTargetOptions) -> Self {
        Self {
            options,
            regions: RegionTable::default(),
            queues: BTreeMap::new(),
            peers: Peers::default(),
            responses: Responses::default(),
            notifications: Notifications::new(options.notifications),
            counts: TargetCounts::default(),
            vcs: 32,
        }
    }

    /// Properties.
    pub fn options(&self) -> &RdmaTargetOptions {
        &self.options
    }

    /// The regions.
    pub fn regions(&self) -> &RegionTable {
        &self.regions
    }

    /// The regions, to add, change and revoke them.
    pub fn regions_mut(&mut self) -> &mut RegionTable {
        &mut self.regions
    }

    /// What happened so far.
    pub fn counts(&self) -> &TargetCounts {
        &self.counts
    }

    /// The next notification.
    pub fn notification(&mut self) -> Option<Notification> {
        self.notifications.take()
    }

    /// The oldest notification, which stays, and the number of those that wait.
    pub fn first_notification(&self) -> (Option<&Notification>, usize) {
        self.notifications.first()
    }

    /// Number of notifications so far, without those that were lost.
    pub fn notifications_kept(&self) -> u64 {
        self.notifications.kept
    }

    /// Forgets all initiators, as after a reset. Regions, keys and posted buffers stay.
    pub fn reset(&mut self) {
        for peer in self.peers.drain() {
            self.responses.release(&mut self.regions, &peer);
        }
        self.responses.clear(&mut self.regions);
    }

    /// Whether packets of a virtual channel must wait until responses have gone out.
    pub fn is_full(&self, vc: u8) -> bool {
        self.responses.is_full(vc)
    }

    /// Sets the number of virtual channels of the port, 32 at first.
    pub fn set_vcs(&mut self, vcs: u32) {
        self.vcs = vcs.clamp(1, 32) as u8;
    }

    /// Takes a packet that arrived on a virtual channel.
    pub fn handle(&mut self, packet: &[u8], end: PacketEnd, vc: u8, now_ns: u64) -> Handled {
        self.handle_with(packet, end, vc, now_ns, &mut NoMemory)
    }

    /// The same for a target with regions of the program's memory.
    pub fn handle_with(
        &mut self,
        packet: &[u8],
        end: PacketEnd,
        vc: u8,
        now_ns: u64,
        program: &mut dyn LocalMemory,
    ) -> Handled {
        self.responses.now_ns = now_ns;
        let other = packet.get(1).is_some_and(|protocol| *protocol != self.options.protocol);
        let handled = match SfrpHeader::parse(packet) {
            _ if other => Handled::Dropped(Dropped::OtherProtocol),
            Ok(header) => self.check(header, Body::Packet(packet, end), vc, program),
            Err(error) => Handled::Dropped(Dropped::Header(error)),
        };
        self.counts.count(handled);
        handled
    }

    /// Takes a packet that was handed over ([`crate::direct`]).
    pub fn handle_direct(
        &mut self,
        header: &SfrpHeader,
        payload: Payload<'_>,
        vc: u8,
        now_ns: u64,
        program: &mut dyn LocalMemory,
    ) -> Handled {
        self.responses.now_ns = now_ns;
        let handled = match header.protocol == self.options.protocol {
            true => self.check(*header, Body::Direct(payload), vc, program),
            false => Handled::Dropped(Dropped::OtherProtocol),
        };
        self.counts.count(handled);
        handled
    }

    /// Steps 4 to 7 of the checks.
    fn check(
        &mut self,
        header: SfrpHeader,
        body: Body<'_>,
        vc: u8,
        program: &mut dyn LocalMemory,
    ) -> Handled {
        let now_ns = self.responses.now_ns;
        if header.receiver != self.options.logical_address {
            return Handled::Dropped(Dropped::NotOurs);
        }
        if header.is_response() || header.opcode() == Some(Opcode::Credit) {
            return Handled::ForInitiator;
        }
        // RVC: a virtual channel, or that of arrival. Nobody can block another channel with it.
        let wanted = header.status;
        let usable = wanted < self.vcs && !self.responses.is_full(wanted);
        let vc = if usable { wanted } else { vc };
        let supported = u32::from(VERSION) << 8 | u32::from(VERSION);
        if header.version != VERSION {
            return self.refuse(&header, vc, SfrpStatus::BAD_VERSION, supported);
        }
        let Some(opcode) = header.opcode() else {
            return self.refuse(&header, vc, SfrpStatus::BAD_OPCODE, 0);
        };
        let request = Request { header, opcode, body, vc, now_ns };
        if opcode.is_sequenced() {
            self.in_sequence(&request, program)
        } else {
            self.manage(&request)
        }
    }

    /// Requests outside the sequence of messages.
    fn manage(&mut self, request: &Request<'_>) -> Handled {
        let (header, vc) = (&request.header, request.vc);
        if let Err(status) = request.payload() {
            return self.refuse(header, vc, status, 0);
        }
        match request.opcode {
            Opcode::Info => {
                let info = self.info(request.now_ns).encode();
                self.responses.put(header, vc, &info, 0);
            }
            Opcode::Regions => {
                let entries = self.regions.entries();
                self.responses.put(header, vc, &entries, 0);
            }
            Opcode::Connect => {
                if !self.has_queue(header.receiver_queue) {
                    return self.refuse(header, vc, SfrpStatus::BAD_QUEUE, 0);
                }
                let repeated = self.connect(request);
                let credit = self.credit_of(header);
                self.responses.put(header, vc, &[], credit);
                if repeated {
                    return Handled::Repeated(Opcode::Connect);
                }
            }
            _ => {
                self.disconnect(header);
                self.responses.put(header, vc, &[], 0);
            }
        }
        Handled::Executed(request.opcode)
    }

    fn info(&self, time_ns: u64) -> Info {
        let mut capabilities = Capabilities::ATOMIC;
        for (on, capability) in [
            (self.options.notifications > 0 || !self.queues.is_empty(), Capabilities::SEND),
            (!self.queues.is_empty(), Capabilities::FULL),
            (self.options.rmap, Capabilities::RMAP),
            (self.options.notifications > 0, Capabilities::NOTIFY),
        ] {
            capabilities = if on { capabilities | capability } else { capabilities };
        }
        Info {
            version_min: VERSION,
            version_max: VERSION,
            capabilities,
            segment_log2: self.options.segment_bytes.ilog2() as u8,
            regions: self.regions.count() as u16,
            reads_max: READS_MAX as u16,
            message_max: if self.queues.is_empty() { NOTE_BYTES as u32 } else { u32::MAX },
            vendor: self.options.vendor,
            device: self.options.device,
            serial: self.options.serial,
            time_ns,
        }
    }

    fn has_queue(&self, queue: u16) -> bool {
        queue == 0 || self.queues.contains_key(&queue)
    }

    /// Starts a sequence of messages. True if this request has started it before.
    fn connect(&mut self, request: &Request<'_>) -> bool {
        let header = &request.header;
        let started = Some(header.request);
        if self.peers.find(header).is_some_and(|peer| peer.connection == started) {
            return true;
        }
        let queue = header.receiver_queue;
        // A queue pair has one partner: a new one takes the place of the old one.
        if queue != 0 {
            for peer in self.peers.remove_queue(queue) {
                self.responses.release(&mut self.regions, &peer);
            }
        }
        let peer = RemotePeer::new(header, header.sequence.wrapping_add(1), started, request.vc);
        if let Some(gone) = self.peers.insert(peer) {
            self.responses.release(&mut self.regions, &gone);
        }
        false
    }

    fn disconnect(&mut self, header: &SfrpHeader) {
        if let Some(peer) = self.peers.remove(header) {
            self.responses.release(&mut self.regions, &peer);
        }
    }

    /// Responds with an error, and returns it.
    fn refuse(
        &mut self,
        header: &SfrpHeader,
        vc: u8,
        status: SfrpStatus,
        immediate: u32,
    ) -> Handled {
        self.responses.refuse(header, vc, status, immediate, 0);
        Handled::Refused(status)
    }

    /// Writes the next packet for a virtual channel: reply path and response. `None` if there is
    /// none.
    pub fn respond(&mut self, vc: u8, out: &mut Vec<u8>) -> Option<usize> {
        self.respond_with(vc, &NoMemory, out)
    }

    /// The same for a target with regions of the program's memory.
    pub fn respond_with(
        &mut self,
        vc: u8,
        program: &dyn LocalMemory,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let segment_bytes = self.options.segment_bytes;
        self.responses.next(vc, &mut self.regions, segment_bytes, program, out)
    }

    /// Whether the next response of a virtual channel needs no path bytes, so that it can be handed
    /// over.
    pub fn is_near(&self, vc: u8) -> bool {
        self.responses.is_near(vc)
    }

    /// Hands the next response of a virtual channel over ([`crate::direct`]). Returns the bytes of the
    /// packet that it stands for; `None` if there is none, or if it is not near.
    pub fn hand_response(
        &mut self,
        vc: u8,
        program: &dyn LocalMemory,
        take: Taker<'_>,
    ) -> Option<usize> {
        if !self.responses.is_near(vc) {
            return None;
        }
        let segment_bytes = self.options.segment_bytes;
        self.responses.next_with(
            vc,
            &mut self.regions,
            segment_bytes,
            program,
            |header, _, payload| {
                take(header, payload);
                header.packet_bytes()
            },
        )
    }

    /// Whether a virtual channel has a response to send.
    pub fn has_response(&self, vc: u8) -> bool {
        self.responses.is_waiting(vc)
    }

    /// Time of the request that the next packet of a virtual channel answers.
    pub fn ready_ns(&self, vc: u8) -> Option<u64> {
        self.responses.ready_ns(vc)
    }

    /// The lowest virtual channel that has a response to send.
    pub fn waiting_vc(&self) -> Option<u8> {
        (0..32).find(|vc| self.responses.is_waiting(*vc))
    }
}

/// Key of a request.
fn key(header: &SfrpHeader) -> RemoteKey {
    RemoteKey(header.key)
}

/// Whether a request wants a response.
fn wants_answer(header: &SfrpHeader) -> bool {
    header.has(Flags::ACK) && header.has(Flags::LAST)
}
