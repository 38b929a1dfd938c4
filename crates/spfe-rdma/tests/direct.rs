//! Packets that are handed over have the same effects as packets that are sent: the same packets in
//! the same order, completions, counters, messages and memory.

use fastrand::Rng;
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::SfrpHeader;
use spfe_rdma::initiator::{LocalFault, NoMemory};
use spfe_rdma::target::{ReceivedMessage, TargetCounts};
use spfe_rdma::{
    InlineBytes, Local, LocalMemory, Notification, RdmaInitiator, RdmaInitiatorOptions, RdmaTarget,
    RdmaTargetOptions, RegionRights, RemoteKey, TargetRegion, WorkCompletion, WorkFlags, WorkKind,
    WorkRequest,
};
use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};

const MEMORY: usize = 256 << 10;
const QUEUE: u16 = 9;

/// Memory that others may change, as that of a device.
struct Shared(Vec<AtomicU8>);

impl Shared {
    fn new(seed: u64, bytes: usize) -> Self {
        let mut rng = Rng::with_seed(seed);
        Self(std::iter::repeat_with(|| AtomicU8::new(rng.u8(..))).take(bytes).collect())
    }

    fn place(&self, piece: Local) -> Result<&[AtomicU8], LocalFault> {
        let start = piece.offset as usize;
        let place = self.0.get(start..start + piece.length as usize);
        place.filter(|_| piece.memory == 0).ok_or(LocalFault(piece))
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.iter().map(|byte| byte.load(Ordering::Relaxed)).collect()
    }
}

impl LocalMemory for Shared {
    fn check(&self, piece: Local) -> bool {
        piece.memory == 0
    }

    fn can_read(&self, piece: Local) -> bool {
        self.place(piece).is_ok()
    }

    fn shared(&self, piece: Local) -> Option<&[AtomicU8]> {
        self.place(piece).ok()
    }

    fn read(&self, piece: Local, out: &mut [u8]) -> Result<(), LocalFault> {
        for (to, from) in out.iter_mut().zip(self.place(piece)?) {
            *to = from.load(Ordering::Relaxed);
        }
        Ok(())
    }

    fn write(&mut self, piece: Local, data: &[u8]) -> Result<(), LocalFault> {
        for (to, from) in self.place(piece)?.iter().zip(data) {
            to.store(*from, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Everything that can be seen of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    headers: Vec<SfrpHeader>,
    bytes: Vec<usize>,
    completions: Vec<WorkCompletion>,
    notes: Vec<Notification>,
    messages: Vec<ReceivedMessage>,
    counts: (spfe_rdma::initiator::InitiatorCounts, TargetCounts),
    local: Vec<u8>,
    program: Vec<u8>,
    region: Vec<u8>,
}

struct World {
    initiator: RdmaInitiator,
    target: RdmaTarget,
    memory: Shared,
    program: Shared,
    seen: Seen,
    direct: bool,
    now_ns: u64,
}

impl World {
    fn new(seed: u64, direct: bool) -> Self {
        fastrand::seed(seed);
        let mut target = RdmaTarget::new(RdmaTargetOptions {
            notifications: 64,
            ..RdmaTargetOptions::default()
        });
        let regions = target.regions_mut();
        regions.add(TargetRegion::new("sparse", MEMORY as u64), Some(1)).unwrap();
        let window = Local { memory: 0, offset: 64, length: MEMORY as u32 - 128 };
        let window = TargetRegion { notify: true, ..TargetRegion::of_program("window", window) };
        regions.add(window, Some(1)).unwrap();
        let rights = RegionRights { write: false, ..RegionRights::ALL };
        let region = TargetRegion { rights, ..TargetRegion::new("read", 8192) };
        regions.add(region, Some(1)).unwrap();
        target.open_queue(QUEUE).unwrap();
        let target_queue = if seed.is_multiple_of(2) { QUEUE } else { 0 };
        let segment_bytes = 1 << (8 + seed % 5);
        let options =
            RdmaInitiatorOptions { target_queue, segment_bytes, ..RdmaInitiatorOptions::default() };
        let seen = Seen {
            headers: Vec::new(),
            bytes: Vec::new(),
            completions: Vec::new(),
            notes: Vec::new(),
            messages: Vec::new(),
            counts: Default::default(),
            local: Vec::new(),
            program: Vec::new(),
            region: Vec::new(),
        };
        Self {
            initiator: RdmaInitiator::new(options),
            target,
            memory: Shared::new(seed, MEMORY),
            program: Shared::new(seed + 1, MEMORY),
            seen,
            direct,
            now_ns: 1,
        }
    }

    fn request(&mut self) -> bool {
        let Self { initiator, target, memory, program, seen, now_ns, .. } = self;
        if self.direct {
            let taken = Cell::new(None);
            let sent = initiator.hand(*now_ns, memory, &mut |header, payload| {
                target.handle_direct(header, payload, 0, *now_ns, program);
                taken.set(Some(*header));
            });
            return note(seen, taken.get(), sent);
        }
        let mut packet = vec![0; initiator.packet_bytes_max()];
        let sent = initiator.transmit(*now_ns, memory, &mut packet);
        let Some(bytes) = sent else { return false };
        target.handle_with(&packet[..bytes], PacketEnd::Eop, 0, *now_ns, program);
        note(seen, Some(SfrpHeader::parse(&packet).unwrap()), sent)
    }

    fn response(&mut self) -> bool {
        let Self { initiator, target, memory, program, seen, now_ns, .. } = self;
        if self.direct {
            let taken = Cell::new(None);
            let sent = target.hand_response(0, program, &mut |header, payload| {
                initiator.handle_direct(header, payload, *now_ns, memory);
                taken.set(Some(*header));
            });
            return note(seen, taken.get(), sent);
        }
        let mut packet = Vec::new();
        let sent = target.respond_with(0, program, &mut packet);
        if sent.is_none() {
            return false;
        }
        initiator.handle(&packet, PacketEnd::Eop, *now_ns, memory);
        note(seen, Some(SfrpHeader::parse(&packet).unwrap()), sent)
    }

    /// Runs until nothing more happens at this time, then lets the next timer expire.
    fn exchange(&mut self) {
        for _ in 0..100_000 {
            self.now_ns += 10;
            let moved = self.request() | self.response();
            while let Some(done) = self.initiator.poll() {
                self.seen.completions.push(done);
            }
            while let Some(note) = self.target.notification() {
                self.seen.notes.push(note);
            }
            while let Ok(Some(message)) = self.target.received(QUEUE) {
                self.seen.messages.push(message);
            }
            let timer = self.initiator.wake_ns(self.now_ns);
            match (moved, self.initiator.outstanding()) {
                (true, _) => {}
                (false, 0) => return,
                (false, _) if timer == u64::MAX => return,
                (false, _) => self.now_ns = self.now_ns.max(timer),
            }
        }
        panic!("the exchange does not end");
    }

    fn finish(mut self) -> Seen {
        let key = RemoteKey::new(0, 1).unwrap();
        let mut region = vec![0; MEMORY];
        self.target.regions().get(key).unwrap().memory.read(0, &mut region).unwrap();
        self.seen.counts = (*self.initiator.counts(), *self.target.counts());
        (self.seen.local, self.seen.program) = (self.memory.bytes(), self.program.bytes());
        self.seen.region = region;
        self.seen
    }
}

fn note(seen: &mut Seen, header: Option<SfrpHeader>, bytes: Option<usize>) -> bool {
    seen.headers.extend(header);
    seen.bytes.extend(bytes);
    header.is_some()
}

fn work(rng: &mut Rng, id: u64) -> WorkRequest {
    let kind = match rng.u32(..12) {
        0..4 => WorkKind::Write,
        4..7 => WorkKind::Read,
        7..9 => WorkKind::Send,
        9 => WorkKind::FetchAdd { add: rng.u64(..) },
        10 => WorkKind::CompareSwap { compare: rng.u64(..), swap: rng.u64(..) },
        _ => WorkKind::Flush,
    };
    let mut request = WorkRequest::new(id, kind);
    let length = match rng.u32(..4) {
        0 => rng.u32(..40),
        _ => rng.u32(..12_000),
    };
    let at = |rng: &mut Rng| rng.u64(..MEMORY as u64 - 20_000);
    match kind {
        WorkKind::Flush => {}
        WorkKind::FetchAdd { .. } | WorkKind::CompareSwap { .. } => {
            request.local = [Local { memory: 0, offset: at(rng), length: 8 }].into();
        }
        // Overlapping pieces of a read would depend on the order of packets.
        _ if rng.bool() => {
            request.local = [Local { memory: 0, offset: at(rng), length }].into();
        }
        WorkKind::Send | WorkKind::Write if length <= 44 => {
            request.inline = InlineBytes::new(&[7; 44][..length as usize]);
        }
        _ => {
            let start = at(rng);
            let piece = |n: u32| Local {
                memory: 0,
                offset: start + u64::from(n) * 5000,
                length: (length / 4).min(5000),
            };
            request.local = [0, 1, 2, 3].map(piece).into();
        }
    }
    if matches!(kind, WorkKind::Write | WorkKind::Send) && rng.u32(..4) == 0 {
        request.immediate = Some(rng.u32(..));
    }
    // Rarely a piece that is not there, a wrong key, or bounds.
    if rng.u32(..100) == 0
        && let Some(piece) = request.local.first()
    {
        request.local = [Local { offset: MEMORY as u64, ..*piece }].into();
    }
    let regions = if rng.u32(..40) == 0 { 4 } else { 2 };
    let index = rng.u32(..regions);
    request.key = RemoteKey::new(index, 1).unwrap().0;
    request.address = rng.u64(..MEMORY as u64 / 8 - 2000) * 8 + u64::from(rng.u32(..20) == 0);
    request.flags =
        WorkFlags { signaled: rng.bool(), fence: rng.u32(..8) == 0, solicited: rng.u32(..8) == 0 };
    request
}

fn run(seed: u64, direct: bool) -> Seen {
    let mut world = World::new(seed, direct);
    let mut rng = Rng::with_seed(seed);
    world.initiator.connect();
    for round in 0..30 {
        for _ in 0..rng.u32(..4) {
            let length = rng.u32(..16_000);
            // Some places are beyond the end of the program's memory.
            let offset = rng.u64(..MEMORY as u64 * 5 / 4);
            let posted = match rng.bool() {
                true => world.target.post_receive(QUEUE, round, vec![0; length as usize]),
                false => world.target.post_place(QUEUE, round, Local { memory: 0, offset, length }),
            };
            posted.unwrap();
        }
        for id in 0..rng.u64(1..6) {
            let _ = world.initiator.post(work(&mut rng, 100 * round + id), &world.memory);
        }
        world.initiator.ring();
        if rng.u32(..20) == 0 {
            // In the middle of an exchange a key ends.
            world.request();
            world.target.regions_mut().revoke(RemoteKey::new(rng.u32(..3), 1).unwrap());
        }
        world.exchange();
        if world.initiator.state() == spfe_rdma::PairState::Error {
            world.initiator.connect();
        }
        let key = RemoteKey::new(0, 1).unwrap();
        if world.target.regions().get(key).is_none() {
            let region = TargetRegion::new("again", MEMORY as u64);
            world.target.regions_mut().add(region, Some(1)).unwrap();
        }
    }
    world.finish()
}

#[test]
fn handed_packets_do_what_sent_packets_do() {
    let (mut done, mut failed, mut messages, mut lost) = (0, 0, 0, 0);
    for seed in 0..16 {
        let (sent, handed) = (run(seed, false), run(seed, true));
        done += sent.completions.iter().filter(|done| done.result.is_ok()).count();
        failed += sent.completions.iter().filter(|done| done.result.is_err()).count();
        messages += sent.messages.len() + sent.notes.len();
        lost += sent.messages.iter().filter(|message| message.fault).count();
        assert!(sent.headers == handed.headers && sent.bytes == handed.bytes, "seed {seed}");
        assert_eq!(sent.completions, handed.completions, "seed {seed}");
        assert_eq!(sent.counts, handed.counts, "seed {seed}");
        assert!(sent == handed, "seed {seed}");
    }
    assert!(done > 300 && failed > 30 && messages > 30, "{done} {failed} {messages}");
    assert!(lost > 0 && lost < messages / 2, "{lost} of {messages} met no memory");
}

#[test]
fn who_needs_path_bytes_gets_packets() {
    let path = RdmaInitiatorOptions { path: vec![3], ..RdmaInitiatorOptions::default() };
    let reply = spfe_proto::sfrp::ReplyPath::new(&[4]).unwrap();
    let reply = RdmaInitiatorOptions { reply_path: reply, ..RdmaInitiatorOptions::default() };
    for options in [path, reply] {
        let mut initiator = RdmaInitiator::new(options);
        initiator.connect();
        assert!(!initiator.is_near());
        let none = initiator.hand(1, &NoMemory, &mut |_, _| panic!("handed over"));
        assert_eq!(none, None);
        let mut packet = vec![0; initiator.packet_bytes_max()];
        assert!(initiator.transmit(1, &NoMemory, &mut packet).is_some());
    }
}
