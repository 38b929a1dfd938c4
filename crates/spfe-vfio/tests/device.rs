//! Tests of a device on a socket, used by a simulated virtual machine: a client with memory.

#[path = "device/hostile.rs"]
mod hostile;
mod machine;

use machine::{
    BAR0, CONFIG, HIGH, LOW, Machine, PAGE, RAM, Region, buffers, bus, pattern, signalled,
    socket_path, wait,
};
use rustix::fd::OwnedFd;
use spfe_contract::{
    BlockType, CONTRACT_MAGIC, Command, QueueState, SEEN_OFFSET, Status, capability,
    event_block as event, global_block as global, queue_block as queue, region_block as region,
};
use spfe_host::{LinkRate, Mode, Topology};
use spfe_plane::{DeviceThread, Network, Stride, Variant};
use spfe_vfio::VfioDevice;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;

const ENABLED: u32 = QueueState::Enabled as u32;
const ERROR: u32 = QueueState::Error as u32;

/// Two devices on the endpoints of one link.
struct Lab {
    network: Arc<Network>,
    paths: [PathBuf; 2],
    devices: [VfioDevice; 2],
    _thread: DeviceThread,
}

impl Lab {
    fn new(name: &str) -> Self {
        Self::with(name, Stride::Usual)
    }

    fn with(name: &str, variant: impl Into<Variant>) -> Self {
        let variant = variant.into();
        let topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
        let network = Network::new(topology).unwrap();
        let thread = DeviceThread::start(&network).unwrap();
        let paths = [0, 1].map(|number| socket_path(&format!("{name}-{number}")));
        let devices = [0, 1].map(|number: u32| {
            let listener = UnixListener::bind(&paths[number as usize]).unwrap();
            let log: spfe_vfio::Log = Arc::new(|line| eprintln!("{line}"));
            let socket = OwnedFd::from(listener);
            VfioDevice::start(network.clone(), number, variant, socket, log).unwrap()
        });
        Self { network, paths, devices, _thread: thread }
    }

    fn machine(&self, number: usize, seed: u64) -> Machine {
        Machine::new(&self.paths[number], seed)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for path in &self.paths {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Sends a packet from one machine to the other and compares its content.
fn move_packet(
    (a, tx, from): (&mut Machine, &mut machine::Queue, &Region),
    (b, rx, to): (&mut Machine, &mut machine::Queue, &Region),
    length: u64,
    seed: u64,
) {
    let (source, sink) = (buffers(1) + seed % 64, buffers(1) + seed % 128);
    let packet = pattern(length, seed);
    a.store_in(from, source, &packet);
    b.post(rx, true, sink, length as u32);
    a.post(tx, false, source, length as u32);
    assert_eq!(tx.complete().status, Status::Ok.raw());
    let done = rx.complete();
    assert_eq!((done.status, u64::from(done.bytes)), (Status::Ok.raw(), length));
    assert!(b.load_from(to, sink, length) == packet, "packet {seed} of {length} bytes");
}

#[test]
fn a_machine_finds_its_device() {
    let lab = Lab::new("find");
    let mut machine = lab.machine(0, 1);
    let mut ids = [0; 4];
    machine.client.region_read(CONFIG, 0, &mut ids).unwrap();
    assert_eq!(u32::from_le_bytes(ids), 0x10f5_1af4);
    assert_eq!(machine.read(global::MAGIC), CONTRACT_MAGIC);
    assert_eq!(machine.read(global::EVENTS), 64);
    let bits = machine.read(global::CAPABILITY);
    assert_eq!(bits & (capability::IOVA | capability::DOORBELL_64K), capability::IOVA);
    let info = machine.client.get_irq_info(2).unwrap();
    assert_eq!((info.count, machine.client.get_irq_info(0).unwrap().count), (64, 1));
    let size = machine.client.region(BAR0).unwrap().size;
    assert!(size.is_power_of_two() && size > machine.read(global::DOORBELL_OFFSET).into());
    // Read both halves of a time at once, and one by one.
    let (mut both, low) = ([0; 8], u64::from(global::PACKET_MAX));
    machine.client.region_read(BAR0, low, &mut both).unwrap();
    let pages = machine.read(global::DOORBELL_PAGES);
    assert_eq!(both[4..], pages.to_le_bytes());
}

#[test]
fn doorbell_pages_may_be_64_kib_apart() {
    let lab = Lab::with("wide", Stride::Wide);
    let mut machine = lab.machine(0, 1);
    assert_ne!(machine.read(global::CAPABILITY) & capability::DOORBELL_64K, 0);
    let (first, pages) =
        (machine.read(global::DOORBELL_OFFSET), machine.read(global::DOORBELL_PAGES));
    assert!(first.is_multiple_of(0x10000) && pages >= 2);
    let size = machine.client.region(BAR0).unwrap().size;
    assert_eq!(u64::from(first) + u64::from(pages) * 0x10000, size);
    // Stores of 64 and 32 bits ring on every page, but not between two pages.
    let rung = || lab.network.bells().own().rings();
    rung();
    let last = first + (pages - 1) * 0x10000;
    for (at, rings) in [(first, 1), (last, 1), (last - 4096, 0), (last + 4, 0), (last + 8, 0)] {
        for bytes in [4, 8] {
            if at.is_multiple_of(bytes) {
                machine.client.region_write(BAR0, at.into(), &vec![0; bytes as usize]).unwrap();
                assert_eq!(rung(), rings, "{bytes} bytes at {at:#x}");
            }
        }
    }
}

#[test]
fn packets_go_from_machine_to_machine_through_scattered_pages() {
    let lab = Lab::new("packets");
    let (mut a, mut b) = (lab.machine(0, 3), lab.machine(1, 5));
    let (from, to) = (a.region(7, 16), b.region(0, 16));
    let mut tx = a.queue(&from, 2, false, 0, 1);
    let mut rx = b.queue(&to, 2, true, 0, 63);
    let mut random = fastrand::Rng::with_seed(77);
    for seed in 1..40 {
        let length = 1 + random.u64(..10 * PAGE);
        move_packet((&mut a, &mut tx, &from), (&mut b, &mut rx, &to), length, seed);
    }
    // The opposite direction, over the same region.
    let mut tx = b.queue(&to, 5, false, 4, 0);
    let mut rx = a.queue(&from, 5, true, 4, 0);
    b.store_in(&to, 9 * PAGE, b"there and back");
    a.post(&mut rx, true, 10 * PAGE, 100);
    b.post(&mut tx, false, 9 * PAGE, 14);
    assert_eq!((tx.complete().status, rx.complete().bytes), (0, 14));
    assert_eq!(a.load_from(&from, 10 * PAGE, 14), b"there and back");
}

#[test]
fn contiguous_memory_and_large_pages_are_regions_too() {
    let lab = Lab::new("large");
    let (mut a, mut b) = (lab.machine(0, 3), lab.machine(1, 5));
    // One machine uses the whole upper half, the other pages of 64 KiB with a partial last page.
    a.configure_region(1, HIGH, RAM / 2, 0);
    assert_eq!(a.command(Command::RegionEnable, 1), Status::Ok);
    let key = a.get(BlockType::Region, 1, region::KEY) as u16;
    let pages = (0..RAM / 2 / PAGE).map(|page| RAM / 2 + page * PAGE).collect();
    let from = Region { index: 1, key, pages };
    let large = [0x70000, 0x20000, 0x50000];
    b.configure_region(1, 0, 0x23000, 16);
    let list = 0x10_0000;
    b.store(list, &large.map(u64::to_le_bytes).concat());
    b.put(BlockType::Region, 1, region::BASE_LO, list as u32);
    assert_eq!(b.command(Command::RegionEnable, 1), Status::Ok);
    let key = b.get(BlockType::Region, 1, region::KEY) as u16;
    let pages = large.iter().flat_map(|first| (0..16).map(move |page| first + page * PAGE));
    let to = Region { index: 1, key, pages: pages.take(0x23).collect() };
    let mut tx = a.queue(&from, 0, false, 0, 0);
    let mut rx = b.queue(&to, 0, true, 0, 0);
    move_packet((&mut a, &mut tx, &from), (&mut b, &mut rx, &to), 0x1e000, 4);
    // The last byte of this buffer is outside of the region.
    b.post(&mut rx, true, 0x22fff, 2);
    a.post(&mut tx, false, 0x8000, 2);
    assert_eq!(rx.complete().status, Status::OutOfBounds.raw());
}

#[test]
fn interrupts_come_when_armed_enabled_and_bus_master() {
    let lab = Lab::new("msix");
    let (mut a, mut b) = (lab.machine(0, 3), lab.machine(1, 5));
    let (from, to) = (a.region(0, 8), b.region(0, 8));
    let mut tx = a.queue(&from, 0, false, 0, 0);
    let mut rx = b.queue(&to, 0, true, 0, 9);
    let interrupt = b.interrupt(9);
    for sequence in [1, 3, 5] {
        b.post(&mut rx, true, buffers(1), 64);
        b.arm(&rx, sequence);
        assert!(!signalled(&interrupt, 0), "nothing was received");
        a.post(&mut tx, false, buffers(1), 64);
        assert!(signalled(&interrupt, 30), "an interrupt");
        assert_eq!((rx.complete().bytes, tx.complete().status), (64, 0));
    }
    assert!(lab.devices[1].counts().interrupts >= 3);
    for command in [Command::TargetSet, Command::TargetClear, Command::TargetTake] {
        assert_eq!(b.command(command, 0), Status::BadOpcode, "no capability TARGET");
    }
    // A disabled vector counts the event.
    b.put(BlockType::Event, 9, event::ENABLE, 0);
    assert_eq!(b.command(Command::Nop, 0), Status::Ok);
    let before = b.get(BlockType::Event, 9, event::COUNT);
    b.post(&mut rx, true, buffers(1), 64);
    b.arm(&rx, 7);
    a.post(&mut tx, false, buffers(1), 64);
    rx.complete();
    wait("the event", || b.get(BlockType::Event, 9, event::COUNT) > before);
    assert!(!signalled(&interrupt, 0));
}

#[test]
fn the_line_is_high_until_the_host_has_seen_the_count() {
    let lab = Lab::new("line");
    let (mut a, mut b) = (lab.machine(0, 3), lab.machine(1, 5));
    let (from, to) = (a.region(0, 8), b.region(0, 8));
    let mut tx = a.queue(&from, 0, false, 0, 0);
    let mut rx = b.queue(&to, 0, true, 0, 9);
    let line = b.line();
    b.put(BlockType::Event, 9, event::ENABLE, 1);
    assert_eq!(b.command(Command::Nop, 0), Status::Ok);
    let mut receive = |b: &mut Machine, sequence| {
        let before = b.get(BlockType::Event, 9, event::COUNT);
        b.post(&mut rx, true, buffers(1), 64);
        b.arm(&rx, sequence);
        a.post(&mut tx, false, buffers(1), 64);
        assert_eq!((rx.complete().bytes, tx.complete().status), (64, 0));
        wait("the event", || b.get(BlockType::Event, 9, event::COUNT) != before);
        before + 1
    };
    let high = |b: &mut Machine| {
        let mut status = [0; 2];
        b.client.region_read(CONFIG, 6, &mut status).unwrap();
        status[0] & 8 != 0
    };
    assert!(!signalled(&line, 0) && !high(&mut b), "nothing was received");
    receive(&mut b, 1);
    assert!(signalled(&line, 30), "an interrupt");
    let count = receive(&mut b, 3);
    assert!(!signalled(&line, 0), "the interrupt has masked the line");
    assert!(high(&mut b));
    b.unmask_line();
    assert!(signalled(&line, 30), "nobody has seen the count");
    let page = b.read(global::DOORBELL_OFFSET);
    let seen = page + SEEN_OFFSET as u32 + 4 * 9;
    b.write(seen + 4096, count);
    assert!(high(&mut b), "page 1 takes no counts");
    b.write(seen, count);
    assert!(!high(&mut b));
    b.unmask_line();
    assert!(!signalled(&line, 0), "the line is low");
    b.write(seen, count - 1);
    assert!(signalled(&line, 30), "a count that differs is not the one seen");
    b.write(seen, count);
    b.unmask_line();
    // What the client has not seen when the line is low again is taken back.
    let count = receive(&mut b, 5);
    wait("the line", || high(&mut b));
    b.write(seen, count);
    assert!(!signalled(&line, 0), "the line is low again");
    let count = receive(&mut b, 7);
    assert!(signalled(&line, 30), "nothing masks the line");
    b.write(seen, count);
    b.unmask_line();
    // Disabled in the configuration, the line shows in STATUS only.
    b.client.region_write(CONFIG, 4, &0x0406u16.to_le_bytes()).unwrap();
    receive(&mut b, 9);
    wait("the line", || high(&mut b));
    assert!(!signalled(&line, 0));
    b.set_master(true);
    assert!(signalled(&line, 30), "the interrupt that was pending");
}

#[test]
fn a_device_of_version_1_1_has_no_line() {
    let lab = Lab::with("older", Variant { minor: 1, ..Variant::default() });
    let mut machine = lab.machine(0, 1);
    assert_eq!(machine.client.get_irq_info(0).unwrap().count, 0);
    let mut pin = [0xff];
    machine.client.region_read(CONFIG, 0x3d, &mut pin).unwrap();
    assert_eq!((machine.read(global::CONTRACT_VERSION), pin[0]), (0x1_0001, 0));
}

#[test]
fn without_bus_mastering_there_is_no_memory() {
    let lab = Lab::new("master");
    let (mut a, mut b) = (lab.machine(0, 3), lab.machine(1, 5));
    let (from, to) = (a.region(0, 8), b.region(0, 8));
    let mut tx = a.queue(&from, 0, false, 0, 0);
    let mut rx = b.queue(&to, 0, true, 0, 0);
    move_packet((&mut a, &mut tx, &from), (&mut b, &mut rx, &to), 64, 1);
    b.post(&mut rx, true, buffers(1), 64);
    b.set_master(false);
    b.store_in(&to, buffers(1), &[0xaa; 64]);
    let context = rx.index;
    assert_eq!(b.get(BlockType::Queue, context, queue::STATE), ERROR);
    assert_eq!(b.get(BlockType::Queue, context, queue::ERROR), u32::from(Status::BadRegion.raw()));
    assert_eq!(b.get(BlockType::Region, 0, region::KEY), 0);
    assert_eq!(lab.devices[1].counts().withdrawn, 1);
    a.post(&mut tx, false, buffers(1), 64);
    b.configure_region(1, LOW, PAGE, 0);
    assert_eq!(b.command(Command::RegionEnable, 1), Status::AccessDenied);
    assert_eq!(b.load_from(&to, buffers(1), 64), [0xaa; 64]);
    // After bus mastering is on again, everything can be set up again. The packet has waited.
    b.set_master(true);
    assert_eq!(b.command(Command::QueueDisable, context), Status::Ok);
    let to = b.region_of(0, to.pages);
    let mut rx = b.queue(&to, 0, true, 0, 0);
    b.post(&mut rx, true, buffers(1), 64);
    assert_eq!((rx.complete().bytes, tx.complete().status), (64, 0));
}

#[test]
fn the_device_does_not_touch_unmapped_memory() {
    let lab = Lab::new("unmap");
    let (mut a, mut b) = (lab.machine(0, 3), lab.machine(1, 5));
    let from = a.region(0, 8);
    let mut tx = a.queue(&from, 0, false, 0, 0);
    for turn in 0..20u64 {
        // Use only memory above 4 GiB, which is unmapped as a whole.
        let pages: Vec<u64> = (0..16).map(|page| RAM / 2 + (turn * 16 + page) * PAGE).collect();
        let to = b.region_of(0, pages);
        let mut rx = b.queue(&to, 0, true, 0, 0);
        for _ in 0..40 {
            rx.post(true, buffers(1), 64);
            tx.post(false, buffers(1), 64);
        }
        a.ring(0);
        b.unmap(HIGH);
        let mark = vec![0x55; 16 * PAGE as usize];
        b.store(to.pages[0], &mark);
        assert_eq!(b.get(BlockType::Queue, rx.index, queue::STATE), ERROR);
        assert_eq!(b.get(BlockType::Region, 0, region::KEY), 0);
        b.configure_region(0, bus(to.pages[0]), PAGE, 0);
        assert_eq!(b.command(Command::RegionEnable, 0), Status::OutOfBounds);
        assert!(b.load(to.pages[0], mark.len()) == mark, "turn {turn}: written after the unmap");
        assert_eq!(b.command(Command::QueueDisable, rx.index), Status::Ok);
        assert_eq!(b.command(Command::QueueDisable, rx.index), Status::NotFound);
        b.map(HIGH);
        assert_eq!(lab.devices[1].counts().withdrawn, turn + 1);
        // The next receiver gets the sender's pending packets and must take all of them.
        let to = b.region(1, 8);
        let mut rx = b.queue(&to, 0, true, 0, 0);
        for _ in 0..40 {
            rx.post(true, buffers(1), 64);
        }
        b.ring(0);
        let mut left = 40;
        wait("completions", || {
            while tx.completions.pop().is_some() {
                left -= 1;
            }
            left <= 0
        });
        assert_eq!(b.command(Command::QueueDisable, rx.index), Status::Ok);
        assert_eq!(b.command(Command::RegionDisable, 1), Status::Ok);
    }
}

#[test]
fn resets_restore_the_state_after_power_up() {
    let lab = Lab::new("reset");
    let (mut a, mut b) = (lab.machine(0, 3), lab.machine(1, 5));
    let from = a.region(0, 8);
    let mut tx = a.queue(&from, 0, false, 0, 0);
    for turn in 1..=4 {
        let to = b.region(0, 8);
        let mut rx = b.queue(&to, 0, true, 0, 0);
        move_packet((&mut a, &mut tx, &from), (&mut b, &mut rx, &to), 100, turn);
        if turn % 2 == 0 {
            b.client.reset().unwrap();
        } else {
            // Function level reset through the device control register.
            b.client.region_write(CONFIG, 0x48, &0x8000u16.to_le_bytes()).unwrap();
        }
        assert_eq!(u64::from(b.read(global::RESETS)), turn);
        assert_eq!((b.read(global::CFG_ACK), b.read(global::CFG_SEQ)), (0, 0));
        assert_eq!(b.get(BlockType::Queue, rx.index, queue::STATE), 0);
        assert_eq!(b.get(BlockType::Queue, rx.index, queue::KIND), 0);
        b.configure_region(0, LOW, PAGE, 0);
        assert_eq!(b.command(Command::RegionEnable, 0), Status::AccessDenied, "no bus master");
        b.set_master(true);
    }
    assert_eq!(lab.devices[1].counts().resets, 4);
    assert_eq!(lab.devices[1].counts().withdrawn, 0, "a reset is in good order");
}

#[test]
fn a_new_client_can_follow_one_that_left_under_traffic() {
    let lab = Lab::new("next");
    let mut a = lab.machine(0, 3);
    let from = a.region(0, 8);
    let mut tx = a.queue(&from, 0, false, 0, 0);
    for turn in 0..8u64 {
        let mut b = lab.machine(1, turn + 9);
        assert_eq!(b.read(global::RESETS), 0, "power-up");
        assert_eq!(b.read(global::CFG_ACK), 0);
        let to = b.region(0, 8);
        let mut rx = b.queue(&to, 0, true, 0, 0);
        for _ in 0..20 {
            rx.post(true, buffers(1), 64);
            tx.post(false, buffers(1), 64);
        }
        a.ring(0);
        rx.complete();
        b.client.shutdown().unwrap();
        wait("the end", || lab.devices[1].counts().connections == turn + 1);
        // The sender's packets complete with any status, or wait for the next receiver.
        while tx.completions.pop().is_some() {}
        assert_eq!(a.command(Command::QueueDisable, tx.index), Status::Ok);
        tx = a.queue(&from, 0, false, 0, 0);
    }
    wait("the next device", || lab.network.clients().len() == 2);
}

#[test]
fn a_removed_device_reads_all_ones_until_plugged_in_again() {
    let lab = Lab::new("remove");
    let mut machine = lab.machine(0, 3);
    let region = machine.region(0, 8);
    let queue = machine.queue(&region, 0, false, 0, 0);
    assert_eq!(machine.get(BlockType::Queue, queue.index, queue::STATE), ENABLED);
    lab.devices[0].unplug();
    let mut id = [0; 4];
    machine.client.region_read(CONFIG, 0, &mut id).unwrap();
    assert_eq!((machine.read(global::MAGIC), u32::from_le_bytes(id)), (u32::MAX, u32::MAX));
    machine.write(global::CFG_SEQ, 1);
    machine.client.reset().unwrap();
    machine.unmap(LOW);
    machine.map(LOW);
    lab.devices[0].plug().unwrap();
    assert_eq!(machine.read(global::MAGIC), CONTRACT_MAGIC);
    let mut command = [0; 2];
    machine.client.region_read(CONFIG, 4, &mut command).unwrap();
    assert_eq!(command, [0, 0], "after power-up");
    machine.set_master(true);
    let region = machine.region_of(0, region.pages);
    machine.queue(&region, 0, false, 0, 0);
}
