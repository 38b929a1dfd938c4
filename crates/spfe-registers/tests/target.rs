//! A target of RDMA in an endpoint (capability TARGET): what its registers show, the entries that a
//! host sets, and who reaches them.

mod common;

use common::Face;
use spfe::{Endpoint, LinkRate, Mode, Topology};
use spfe_contract::{
    BlockType, Command, Status, capability, event_block as event, global_block as global,
    key_options as ko, target_block as block, target_note_flags as flags,
    target_note_sender as sender,
};
use spfe_host::SharedMemory;
use spfe_plane::{DeviceThread, Network};
use spfe_registers::{RegisterSpace, Registers};
use spfe_remote::engine::WorkError;
use spfe_remote::{RdmaError, RdmaQueue, RdmaQueueOptions, SfrpStatus};
use std::sync::Arc;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(60);
const FILE: &str = "logical_address = 0x42\nnotifications = 8\n[[region]]\nname = \"own\"\n\
                    size = 65536\ngeneration = 0xabc\nnotify = true\n";
/// Key of the region of the file, and of the entry that the host sets.
const OWN: u32 = 0xabc;
const SET: u32 = 1 << 12 | 0x123;
/// The entry as others see it, its place in a page of the host, and its size.
const ADDRESS: u64 = 1 << 33;
const OFFSET: usize = 264;
const SIZE: usize = 1000;

struct Lab {
    face: Arc<Face>,
    queue: RdmaQueue,
    page: Arc<SharedMemory>,
    base: u64,
    at: u32,
    event_at: u32,
    sequence: u32,
}

/// Offset of the first block of a type.
fn find(face: &Face, kind: BlockType) -> Option<u32> {
    let mut at = 0;
    loop {
        if face.read32(at) & 0xffff == u32::from(kind.raw()) {
            return Some(at);
        }
        at = Some(face.read32(at + 8)).filter(|next| *next != 0)?;
    }
}

impl Lab {
    fn new(name: &str) -> Self {
        let network = Network::new(Topology::pairs(2, LinkRate::Unlimited, Mode::Thread)).unwrap();
        let device = Arc::new(DeviceThread::start(&network).unwrap());
        let name = format!("spfe-target-{name}-{}.toml", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, FILE).unwrap();
        let file = path.display().to_string();
        network.add_target(1, &file).unwrap();
        assert_eq!(network.add_target(1, &file).unwrap_err().status(), Status::Busy);
        std::fs::remove_file(&path).unwrap();
        let near = Face::new(&network, &device, 0, true);
        assert!(find(&near, BlockType::Target).is_none());
        let near = Registers::open(near, "registers:", "registers").unwrap();
        let vc = Endpoint::with_backend(near).port(0).unwrap().vc(0).unwrap();
        let mut options = RdmaQueueOptions::default();
        options.initiator.target = 0x42;
        let mut queue = RdmaQueue::open(&vc, options).unwrap();
        queue.connect(SOON).unwrap();
        let face = Face::new(&network, &device, 1, true);
        let page = Arc::new(SharedMemory::create("page", 4096).unwrap());
        let base = face.map(&page).unwrap();
        let at = find(&face, BlockType::Target).unwrap();
        let event_at = find(&face, BlockType::Event).unwrap();
        let event_at = event_at + face.read32(event_at + 4);
        Self { face, queue, page, base, at, event_at, sequence: 0 }
    }

    fn read(&self, offset: u32) -> u32 {
        self.face.read32(self.at + offset)
    }

    fn write_pair(&self, offset: u32, value: u64) {
        self.face.write32(self.at + offset, value as u32);
        self.face.write32(self.at + offset + 4, (value >> 32) as u32);
    }

    fn command(&mut self, command: Command, index: u32) -> Status {
        self.sequence += 1;
        self.face.write32(global::CFG_COMMAND, command.raw().into());
        self.face.write32(global::CFG_INDEX, index);
        self.face.write32(global::CFG_SEQ, self.sequence);
        assert_eq!(self.face.read32(global::CFG_ACK), self.sequence);
        Status::from_raw(self.face.read32(global::CFG_STATUS) as u8).unwrap()
    }

    /// Describes the entry, with one register changed.
    fn set(&mut self, index: u32, changed: Option<(u32, u32)>) -> Status {
        self.face.write32(self.at + block::KEY, SET);
        self.face.write32(self.at + block::OPTIONS, ko::READ | ko::WRITE);
        self.write_pair(block::ADDRESS_LO, ADDRESS);
        self.write_pair(block::SIZE_LO, SIZE as u64);
        self.write_pair(block::MEMORY_LO, self.base + OFFSET as u64);
        self.face.write32(self.at + block::INITIATORS, 0);
        self.face.write32(self.at + block::NOTE_VECTOR, 4);
        if let Some((offset, value)) = changed {
            self.face.write32(self.at + offset, value);
        }
        self.command(Command::TargetSet, index)
    }

    fn signals(&self) -> u32 {
        self.face.read32(self.event_at + 3 * event::STRIDE + event::COUNT)
    }

    fn content(&self) -> Vec<u8> {
        let mut content = vec![0; 4096];
        assert_eq!(rustix::io::pread(self.page.fd(), &mut content, 0).unwrap(), 4096);
        content
    }

    #[track_caller]
    fn refused(&mut self, key: u32, address: u64, wanted: SfrpStatus) {
        match self.queue.read(key, address, 8, SOON).unwrap_err() {
            RdmaError::Work { error: WorkError::Refused(status, _), .. } if status == wanted => {}
            error => panic!("{error}"),
        }
        self.queue.connect(SOON).unwrap();
    }
}

#[test]
fn a_host_reads_the_notifications() {
    let mut lab = Lab::new("notes");
    assert_ne!(lab.face.read32(global::CAPABILITY) & capability::TARGET, 0);
    let place = [block::PORT, block::VC, block::ENTRIES, block::FIXED, block::LOGICAL_ADDRESS];
    assert_eq!(place.map(|offset| lab.read(offset)), [0, 0, 32, 1, 0x42]);
    assert_eq!((lab.read(block::PROTOCOL), lab.read(block::SEGMENT)), (0xf0, 4096));
    assert_eq!(lab.command(Command::TargetTake, 0), Status::NotFound);
    lab.queue.write(OWN, 64, vec![7; 5000], SOON).unwrap();
    assert_eq!(lab.queue.read(OWN, 64, 5000, SOON).unwrap(), [7; 5000]);
    assert_eq!((lab.read(block::NOTES), lab.read(block::NOTES_LOST)), (2, 0));
    let note = lab.read(block::NOTE_SENDER);
    let opcode = (note & sender::OPCODE_MASK) >> sender::OPCODE_SHIFT;
    assert_eq!((opcode, lab.read(block::NOTE_LENGTH)), (1, 5000));
    assert_eq!(lab.read(block::NOTE_FLAGS), flags::ENTRY);
    assert_eq!(lab.command(Command::TargetTake, 0), Status::Ok);
    let note = lab.read(block::NOTE_SENDER);
    assert_eq!((note & sender::OPCODE_MASK) >> sender::OPCODE_SHIFT, 2);
    assert_eq!((lab.read(block::NOTES), lab.read(block::NOTE_ADDRESS_LO)), (1, 64));
    assert_eq!(lab.command(Command::TargetTake, 0), Status::Ok);
    // The command latches the vector, also where it is refused.
    lab.face.write32(lab.at + block::NOTE_VECTOR, 4);
    assert_eq!(lab.command(Command::TargetTake, 0), Status::NotFound);
    let before = lab.signals();
    for _ in 0..10 {
        lab.queue.write(OWN, 0, vec![1], SOON).unwrap();
    }
    assert_eq!((lab.read(block::NOTES), lab.read(block::NOTES_LOST)), (8, 2));
    assert_eq!(lab.signals() - before, 8);
    let executed = lab.read(block::EXECUTED);
    lab.refused(OWN ^ 1, 0, SfrpStatus::BAD_KEY);
    assert_eq!((lab.read(block::REFUSED), lab.read(block::DISCARDED)), (1, 0));
    lab.queue.write(OWN, 0, vec![1], SOON).unwrap();
    assert!(lab.read(block::EXECUTED) > executed);
}

#[test]
fn a_host_sets_entries_and_takes_them_back() {
    let mut lab = Lab::new("entries");
    for (index, changed, status) in [
        (0, None, Status::AccessDenied),
        (32, None, Status::NotFound),
        (2, None, Status::BadField),
        (1, Some((block::KEY, 1 << 12)), Status::BadField),
        (1, Some((block::SIZE_LO, 0)), Status::BadField),
        (1, Some((block::OPTIONS, 1 << 9)), Status::BadField),
        (1, Some((block::NOTE_VECTOR, 65)), Status::BadField),
        (1, Some((block::SIZE_LO, 4096)), Status::OutOfBounds),
        (1, Some((block::SIZE_HI, 1)), Status::OutOfBounds),
        (1, Some((block::MEMORY_HI, 0)), Status::OutOfBounds),
    ] {
        assert_eq!(lab.set(index, changed), status, "entry {index}, {changed:x?}");
    }
    lab.refused(SET, ADDRESS, SfrpStatus::BAD_KEY);
    assert_eq!(lab.set(1, None), Status::Ok);
    assert_eq!(lab.set(1, None), Status::Busy);
    lab.queue.write(SET, ADDRESS, vec![9; SIZE], SOON).unwrap();
    let mut wanted = vec![0; 4096];
    wanted[OFFSET..OFFSET + SIZE].fill(9);
    assert!(lab.content() == wanted, "the page of the host");
    assert_eq!(lab.queue.read(SET, ADDRESS + 1, SIZE - 1, SOON).unwrap(), vec![9; SIZE - 1]);
    lab.refused(SET, ADDRESS + SIZE as u64 - 7, SfrpStatus::BOUNDS);
    lab.refused(SET, ADDRESS - 1, SfrpStatus::BOUNDS);
    // It does not notify, and the region of the file is still there.
    assert_eq!(lab.read(block::NOTES), 0);
    lab.queue.write(OWN, 0, vec![1], SOON).unwrap();
    assert_eq!(lab.command(Command::TargetClear, 1), Status::Ok);
    assert_eq!(lab.command(Command::TargetClear, 1), Status::NotFound);
    assert_eq!(lab.command(Command::TargetClear, 0), Status::AccessDenied);
    lab.refused(SET, ADDRESS, SfrpStatus::BAD_KEY);
    // Only the initiator with this address, and only reading, with notifications.
    assert_eq!(lab.set(1, Some((block::INITIATORS, 0x6800))), Status::Ok);
    lab.refused(SET, ADDRESS, SfrpStatus::ACCESS);
    assert_eq!(lab.command(Command::TargetClear, 1), Status::Ok);
    assert_eq!(lab.set(1, Some((block::OPTIONS, ko::READ | ko::NOTIFY))), Status::Ok);
    let (notes, signals) = (lab.read(block::NOTES), lab.signals());
    assert_eq!(lab.queue.read(SET, ADDRESS, 8, SOON).unwrap(), [9; 8]);
    assert_eq!((lab.read(block::NOTES), lab.signals()), (notes + 1, signals + 1));
    assert!(lab.queue.write(SET, ADDRESS, vec![1], SOON).is_err());
    lab.queue.connect(SOON).unwrap();
    // A reset takes back what the host has set.
    assert_eq!(lab.command(Command::Reset, 0), Status::Ok);
    lab.refused(SET, ADDRESS, SfrpStatus::BAD_KEY);
    lab.queue.write(OWN, 0, vec![1], SOON).unwrap();
    assert!(lab.content() == wanted, "the page of the host at the end");
    // Memory that the bus takes away ends its entry.
    assert_eq!(lab.set(1, None), Status::Ok);
    assert_eq!(lab.face.take_away(lab.base), (0, 1));
    lab.refused(SET, ADDRESS, SfrpStatus::BAD_KEY);
    assert_eq!(lab.command(Command::TargetClear, 1), Status::NotFound);
}
