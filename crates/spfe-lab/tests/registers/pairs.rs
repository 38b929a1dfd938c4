//! Queue pairs, from registers and slots alone.

use super::driver::{BUFFERS, Driver, Queue};
use super::pair;
use spfe_contract::{
    BlockType, Command, EntryType, Operand, QueueKind, QueuePairState, REMOTE_KEYS_MAX, Status,
    Submission, WorkEntry, WorkOpcode, access, capability, completion_flags as cf, device_line,
    global_block as global, key_options as ko, pair_limits, pair_status, queue_block as queue,
    queue_options, queue_pair, region_block, submit_flags as sf, work_flags as wf,
};
use spfe_host::{LinkRate, Mode, Topology};

const VC: u32 = 2;

/// Writes the registers of a queue pair.
fn write_pair(driver: &Driver, index: u32, own: u64, partner: u64) {
    let value = own << queue_pair::OWN_SHIFT
        | partner << queue_pair::PARTNER_SHIFT
        | 0x50 << queue_pair::ADDRESS_SHIFT
        | 0x50 << queue_pair::TARGET_SHIFT;
    let limits = 2 << pair_limits::RETRIES_SHIFT;
    for (low, value) in [(queue::PAIR_LO, value), (queue::LIMITS_LO, limits)] {
        driver.write(BlockType::Queue, index, low, value as u32);
        driver.write(BlockType::Queue, index, low + 4, (value >> 32) as u32);
    }
}

pub fn enable<'a>(
    driver: &'a Driver,
    index: u32,
    kind: QueueKind,
    region: u16,
    place: u64,
    (own, partner): (u64, u64),
) -> Queue<'a> {
    write_pair(driver, index, own, partner);
    driver.enable_queue(index, kind, region, place)
}

/// The slots of a message with immediate data.
pub fn message(region: u16, offset: u64, length: u32) -> [[u64; 2]; 3] {
    let opcode = u16::from(WorkOpcode::SendImm.raw()) << wf::OPCODE_SHIFT;
    let flags = u16::from(EntryType::Rdma.raw()) | wf::SIGNAL | wf::CHAIN | opcode;
    let work = WorkEntry { flags, ..WorkEntry::default() };
    let flags = u16::from(EntryType::Data.raw()) | sf::CHAIN;
    let data = Submission { offset, region, length, flags, phase: 0 };
    let flags = u16::from(EntryType::Operand.raw());
    let operand = Operand { immediate: 0xcafe_f00d, flags, ..Operand::default() };
    [work.to_words(), data.to_words(), operand.to_words()]
}

/// Publishes the slots of a request, the first one last, and rings.
pub fn post(queue: &mut Queue<'_>, slots: &[[u64; 2]]) {
    let (first, ring) = (queue.submissions.position, queue.submissions.ring);
    for (ahead, slot) in (0u32..).zip(slots).skip(1) {
        ring.write(first.wrapping_add(ahead), *slot);
    }
    queue.push(slots[0]);
    queue.submissions.position = first.wrapping_add(slots.len() as u32);
}

#[test]
fn a_message_with_immediate_data() {
    let driver = Driver::new();
    assert_ne!(driver.registers.read32(global::CAPABILITY) & capability::RDMA, 0);
    let region = driver.enable_region(2);
    let (tx, rx) = pair(&driver, VC);
    let mut buffers = enable(&driver, rx, QueueKind::RdmaRx, region, 1, (7, 5));
    let mut work = enable(&driver, tx, QueueKind::Rdma, region, 0, (5, 7));
    driver.put(BUFFERS, b"from here to there");
    buffers.post(EntryType::Buffer, BUFFERS + 0x1000, 64);
    post(&mut work, &message(region, BUFFERS, 18));
    let done = work.complete();
    assert_eq!((done.status, done.position, done.packets, done.bytes), (0, 2, 1, 18));
    let got = buffers.complete();
    assert_eq!((got.status, got.position, got.packets, got.bytes), (0, 0, 1, 18));
    assert_eq!(got.flags & (cf::IMMEDIATE | cf::WRITE), cf::IMMEDIATE);
    assert_eq!(driver.get(BUFFERS + 0x1000, 18), b"from here to there");
    // The second half of the side array has the immediate data.
    let size = u64::from(buffers.submissions.ring.size());
    let immediate = driver.get(0x4000 + 0x2000 + 8 * size, 8);
    assert_eq!(immediate, 0xcafe_f00du64.to_le_bytes());
    let line = driver.get(0x3040 + device_line::PAIR_OFFSET as u64, 8);
    let shown = u64::from_le_bytes(line.try_into().unwrap()) & pair_status::STATE_MASK;
    assert_eq!(shown as u8, QueuePairState::Ready.raw());
    for index in [tx, rx] {
        assert_eq!(driver.command(Command::QueueDisable, index), Status::Ok);
    }
}

/// What is wrong with a request costs its own queue pair, with a status.
#[test]
fn wrong_requests_have_a_status() {
    let driver = Driver::new();
    let region = driver.enable_region(2);
    let (tx, _) = pair(&driver, VC);
    let good = message(region, BUFFERS, 18);
    let flags = |slot: [u64; 2], flags: u16| [slot[0], slot[1] ^ u64::from(flags) << 32];
    let [first, data, operand] = good;
    let element = |region, offset| {
        let flags = u16::from(EntryType::Data.raw()) | sf::CHAIN;
        Submission { offset, region, length: 18, flags, phase: 0 }.to_words()
    };
    let more = flags(data, 0);
    let last = flags(data, sf::CHAIN);
    let long = [first, data, flags(operand, sf::CHAIN), more, more, more, last];
    let cases: [(&[[u64; 2]], Status); 8] = [
        (&[flags(first, wf::MBZ0), data, operand], Status::BadField),
        (&[flags(first, 1 << wf::OPCODE_SHIFT << 2), data, operand], Status::BadOpcode),
        (&[first, data, flags(operand, 1)], Status::BadOpcode),
        (&[first, flags(data, sf::SIGNAL), operand], Status::BadField),
        (&[first, last], Status::BadField),
        (&[first, element(region ^ 0x1000, 0), operand], Status::BadRegion),
        (&[first, element(region, 1 << 40), operand], Status::OutOfBounds),
        (&long, Status::ChainTooLong),
    ];
    for (slots, status) in cases {
        let mut work = enable(&driver, tx, QueueKind::Rdma, region, 0, (5, 7));
        post(&mut work, slots);
        let end = slots.len() as u16 - 1;
        let done = work.complete();
        assert_eq!((Status::from_raw(done.status), done.position), (Some(status), end));
        assert_eq!(done.flags & cf::UNKNOWN, 0);
        // The queue pair has failed.
        post(&mut work, &good);
        let done = work.complete();
        assert_eq!(Status::from_raw(done.status), Some(Status::Flushed));
        assert_eq!(done.position, end + 3);
        assert_eq!(driver.command(Command::QueueDisable, tx), Status::Ok);
    }
}

#[test]
fn a_wrong_set_up_is_refused() {
    let driver = Driver::new();
    let region = driver.enable_region(2);
    let (tx, _) = pair(&driver, VC);
    let enable = |index, kind, place| {
        driver.configure_queue(index, kind, region, place);
        driver.command(Command::QueueEnable, index)
    };
    // An own number of 0, a protocol outside its range, a path that is too long.
    write_pair(&driver, tx, 0, 7);
    assert_eq!(enable(tx, QueueKind::Rdma, 0), Status::BadField);
    write_pair(&driver, tx, 5, 7);
    driver.write(BlockType::Queue, tx, queue::PAIR_HI, 0x0001_0000);
    assert_eq!(enable(tx, QueueKind::Rdma, 0), Status::BadField);
    write_pair(&driver, tx, 5, 7);
    driver.write(BlockType::Queue, tx, queue::LIMITS_LO, 9 << pair_limits::PATH_SHIFT);
    assert_eq!(enable(tx, QueueKind::Rdma, 0), Status::BadField);
    write_pair(&driver, tx, 5, 7);
    // The kind of the other direction.
    assert_eq!(enable(tx, QueueKind::RdmaRx, 0), Status::BadField);
    assert_eq!(enable(tx, QueueKind::Rdma, 0), Status::Ok);
    // It takes both directions, and its receive queue has the same PAIR.
    assert_eq!(enable(tx + 1, QueueKind::Rx, 1), Status::Busy);
    write_pair(&driver, tx + 1, 6, 7);
    assert_eq!(enable(tx + 1, QueueKind::RdmaRx, 1), Status::Busy);
    write_pair(&driver, tx + 1, 5, 7);
    assert_eq!(enable(tx + 1, QueueKind::RdmaRx, 1), Status::Ok);
    for index in [tx, tx + 1] {
        assert_eq!(driver.command(Command::QueueDisable, index), Status::Ok);
    }
    assert_eq!(enable(tx + 1, QueueKind::Rx, 1), Status::Ok);
    assert_eq!(enable(tx, QueueKind::Rdma, 0), Status::Busy);
}

/// A device one minor version older has no queue pairs, and behaves as before.
#[test]
fn a_device_of_version_1_2_has_no_queue_pairs() {
    let topology = Topology::looped(LinkRate::Unlimited, Mode::Thread);
    let driver = Driver::with_older(topology, 2);
    assert_eq!(driver.registers.read32(global::CAPABILITY) & capability::RDMA, 0);
    let region = driver.enable_region(2);
    let (tx, rx) = pair(&driver, VC);
    write_pair(&driver, tx, 5, 7);
    assert_eq!(driver.read(BlockType::Queue, tx, queue::PAIR_LO), 0);
    for (index, kind) in [(tx, QueueKind::Rdma), (rx, QueueKind::RdmaRx)] {
        driver.configure_queue(index, kind, region, 0);
        assert_eq!(driver.command(Command::QueueEnable, index), Status::BadField);
    }
    let mut to = driver.enable_queue(rx, QueueKind::Rx, region, 1);
    let mut from = driver.enable_queue(tx, QueueKind::Tx, region, 0);
    to.post(EntryType::Buffer, BUFFERS + 0x1000, 64);
    driver.put(BUFFERS, b"as before");
    from.post(EntryType::Data, BUFFERS, 9);
    assert_eq!((from.complete().status, to.complete().bytes), (0, 9));
}

/// The first slot of a request without a completion flag of its own.
fn work(opcode: WorkOpcode, key: u32, address: u64) -> [u64; 2] {
    let opcode = u16::from(opcode.raw()) << wf::OPCODE_SHIFT;
    let flags = u16::from(EntryType::Rdma.raw()) | wf::SIGNAL | wf::CHAIN | opcode;
    WorkEntry { address, key, flags, phase: 0 }.to_words()
}

fn data(region: u16, offset: u64, length: u32, chain: bool) -> [u64; 2] {
    let flags = u16::from(EntryType::Data.raw()) | if chain { sf::CHAIN } else { 0 };
    Submission { offset, region, length, flags, phase: 0 }.to_words()
}

fn bind(region: u16, key: u32, offset: u64, options: u32) -> [[u64; 2]; 3] {
    let flags = u16::from(EntryType::Operand.raw());
    let operand = Operand { immediate: options, flags, ..Operand::default() };
    let first = work(WorkOpcode::Bind, key, 0x1_0000_0000 + offset);
    [first, data(region, offset, 64, true), operand.to_words()]
}

fn unbind(key: u32) -> [[u64; 2]; 2] {
    [work(WorkOpcode::Unbind, key, 0), data(0, 0, 0, false)]
}

/// Enables a region that peers may read.
fn readable(driver: &Driver) -> u16 {
    let both = access::LOCAL_READ | access::LOCAL_WRITE;
    driver.configure_region(2, 0);
    driver.write(BlockType::Region, 2, region_block::ACCESS, both | access::REMOTE_READ);
    assert_eq!(driver.command(Command::RegionEnable, 2), Status::Ok);
    super::driver::region_field(driver.read(BlockType::Region, 2, region_block::KEY))
}

/// The queue pair at the far end of the link, which takes remote keys, or not.
fn far_end(driver: &Driver, index: u32, region: u16, options: u32) -> Queue<'_> {
    write_pair(driver, index, 7, 0);
    driver.write(BlockType::Queue, index, queue::OPTIONS, options);
    driver.enable_queue(index, QueueKind::Rdma, region, 1)
}

const KEY: u32 = 3 << 12 | 0xabc;

#[test]
fn a_remote_key_is_bound_used_and_taken_back() {
    let driver = Driver::new();
    assert_ne!(driver.registers.read32(global::CAPABILITY) & capability::REMOTE_KEYS, 0);
    let region = readable(&driver);
    let (tx, rx) = pair(&driver, VC);
    let mut far = far_end(&driver, rx - 1, region, queue_options::REMOTE_KEYS);
    let near = || enable(&driver, tx, QueueKind::Rdma, region, 0, (5, 0));
    let mut queue = near();
    driver.put(BUFFERS, &[0x5a; 64]);
    post(&mut far, &bind(region, KEY, BUFFERS, ko::READ));
    let done = far.complete();
    assert_eq!((done.status, done.position, done.packets, done.bytes), (0, 2, 1, 0));
    let read = |key| {
        let first = work(WorkOpcode::Read, key, 0x1_0000_0000 + BUFFERS + 8);
        [first, data(region, BUFFERS + 0x1000, 32, false)]
    };
    post(&mut queue, &read(KEY));
    assert_eq!(queue.complete().status, 0);
    assert_eq!(driver.get(BUFFERS + 0x1000, 33)[30..], [0x5a, 0x5a, 0]);
    post(&mut far, &unbind(KEY));
    assert_eq!(far.complete().status, 0);
    post(&mut queue, &read(KEY));
    assert_eq!(Status::from_raw(queue.complete().status), Some(Status::RemoteAccess));
    // A new start has no keys.
    post(&mut far, &bind(region, KEY, BUFFERS, ko::READ));
    assert_eq!(far.complete().status, 0);
    for index in [rx - 1, tx] {
        assert_eq!(driver.command(Command::QueueDisable, index), Status::Ok);
    }
    far_end(&driver, rx - 1, region, queue_options::REMOTE_KEYS);
    let mut queue = near();
    post(&mut queue, &read(KEY));
    assert_eq!(Status::from_raw(queue.complete().status), Some(Status::RemoteAccess));
}

#[test]
fn wrong_remote_keys_have_a_status() {
    let driver = Driver::new();
    let region = readable(&driver);
    let (tx, _) = pair(&driver, VC);
    let good = bind(region, KEY, BUFFERS, ko::READ);
    let inline = u64::from(u16::from(EntryType::Inline.raw()) | sf::CHAIN) << 32 | 1 << 40;
    let cases: [(&[[u64; 2]], Status); 9] = [
        (&bind(region, 0, BUFFERS, ko::READ), Status::BadField),
        (&bind(region, (REMOTE_KEYS_MAX as u32) << 12 | 1, BUFFERS, ko::READ), Status::BadField),
        (&bind(region, KEY, BUFFERS, 1 << 5), Status::BadField),
        (&bind(region, KEY, BUFFERS, ko::WRITE), Status::AccessDenied),
        (&bind(region, KEY, BUFFERS, ko::ATOMIC), Status::AccessDenied),
        (&bind(region, KEY, 1 << 40, ko::READ), Status::OutOfBounds),
        (&bind(region ^ 0x1000, KEY, BUFFERS, ko::READ), Status::BadRegion),
        (&[good[0], [0, inline], good[2]], Status::BadField),
        (&unbind(KEY), Status::NotFound),
    ];
    for (slots, status) in cases {
        let mut queue = far_end(&driver, tx, region, queue_options::REMOTE_KEYS);
        post(&mut queue, slots);
        assert_eq!(Status::from_raw(queue.complete().status), Some(status));
        assert_eq!(driver.command(Command::QueueDisable, tx), Status::Ok);
    }
    // An index can be used once.
    let mut queue = far_end(&driver, tx, region, queue_options::REMOTE_KEYS);
    post(&mut queue, &good);
    assert_eq!(queue.complete().status, 0);
    post(&mut queue, &bind(region, KEY ^ 1, BUFFERS, ko::READ));
    assert_eq!(Status::from_raw(queue.complete().status), Some(Status::Busy));
}

/// Without the option, and on a device one minor version older, there are no remote keys.
#[test]
fn a_device_of_version_1_3_has_no_remote_keys() {
    let topology = Topology::looped(LinkRate::Unlimited, Mode::Thread);
    let older = Driver::with_older(topology, 3);
    assert_eq!(older.registers.read32(global::CAPABILITY) & capability::REMOTE_KEYS, 0);
    assert_ne!(older.registers.read32(global::CAPABILITY) & capability::RDMA, 0);
    for (driver, option) in [(older, queue_options::REMOTE_KEYS), (Driver::new(), 0)] {
        let region = readable(&driver);
        let (tx, rx) = pair(&driver, VC);
        let mut queue = far_end(&driver, tx, region, option);
        post(&mut queue, &bind(region, KEY, BUFFERS, ko::READ));
        assert_eq!(Status::from_raw(queue.complete().status), Some(Status::BadOpcode));
        assert_eq!(driver.command(Command::QueueDisable, tx), Status::Ok);
        // Messages go on as before.
        let mut buffers = enable(&driver, rx, QueueKind::RdmaRx, region, 1, (7, 5));
        let mut queue = enable(&driver, tx, QueueKind::Rdma, region, 0, (5, 7));
        buffers.post(EntryType::Buffer, BUFFERS + 0x1000, 64);
        post(&mut queue, &message(region, BUFFERS, 18));
        assert_eq!((queue.complete().status, buffers.complete().status), (0, 0));
    }
}
