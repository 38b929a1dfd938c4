//! A hostile machine or client must not disturb the device or the other machine.

use crate::machine::{BAR0, BAR2, CONFIG, HIGH, LOW, Machine, PAGE, RAM, bus, wait};
use crate::{Lab, move_packet};
use spfe_contract::{
    BlockType, CONTRACT_MAGIC, Command, Status, global_block as global, queue_block as queue,
    region_block as region,
};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

#[test]
fn wrong_accesses_read_all_ones_and_change_nothing() {
    let lab = Lab::new("accesses");
    let mut machine = lab.machine(0, 1);
    let size = machine.client.region(BAR0).unwrap().size;
    machine.write(global::CFG_INDEX, 0x1234_5678);
    let index = u64::from(global::CFG_INDEX);
    let wrong = [
        (index, 1),
        (index, 2),
        (index, 3),
        (index + 1, 4),
        (index + 2, 4),
        (index, 16),
        (index, 8),
        (0, 4096),
        (size, 4),
        (size, 8),
        (1 << 40, 4),
        (u64::MAX - 3, 4),
    ];
    for (count, (offset, bytes)) in (1u64..).zip(wrong) {
        let mut data = vec![0; bytes];
        machine.client.region_read(BAR0, offset, &mut data).unwrap();
        assert!(data.iter().all(|byte| *byte == 0xff), "{bytes} bytes at {offset:#x}");
        machine.client.region_write(BAR0, offset, &vec![0; bytes]).unwrap();
        assert_eq!(lab.devices[0].counts().refused, 2 * count, "{bytes} bytes at {offset:#x}");
    }
    assert_eq!(machine.read(global::CFG_INDEX), 0x1234_5678);
    // BARs that do not exist, the expansion ROM, VGA.
    for other in [1, 3, 4, 5, 6, 8] {
        let mut data = [0; 4];
        machine.client.region_read(other, 0, &mut data).unwrap();
        assert_eq!(data, [0xff; 4]);
        machine.client.region_write(other, 0, &data).unwrap();
    }
    for far in [4096, u64::MAX - 1, u64::MAX] {
        for other in [BAR2, CONFIG] {
            let mut data = [1; 4];
            machine.client.region_read(other, far, &mut data).unwrap();
            assert_eq!(data, [if other == CONFIG { 0xff } else { 0 }; 4]);
            machine.client.region_write(other, far, &data).unwrap();
        }
    }
    // The MSI-X table can be written, the pending bits cannot.
    machine.client.region_write(BAR2, 0x10, &[7; 16]).unwrap();
    machine.client.region_write(BAR2, 0x800, &[7; 8]).unwrap();
    let mut data = [1; 16];
    machine.client.region_read(BAR2, 0x10, &mut data).unwrap();
    assert_eq!(data, [7; 16]);
    machine.client.region_read(BAR2, 0x800, &mut data).unwrap();
    assert_eq!(data, [0; 16]);
}

#[test]
fn wrong_page_lists_get_their_status() {
    let lab = Lab::new("lists");
    let mut machine = lab.machine(0, 1);
    let page = machine.page();
    let good = bus(page);
    let last = bus(RAM - PAGE);
    let too_far = HIGH + RAM / 2;
    let mut list = |addresses: &[u64], pages: u64, log2: u32| {
        let base = machine.list(addresses);
        machine.configure_region(3, base, pages * PAGE, log2);
        let status = machine.command(Command::RegionEnable, 3);
        if status == Status::Ok {
            assert_eq!(machine.command(Command::RegionDisable, 3), Status::Ok);
        }
        assert_eq!(machine.get(BlockType::Region, 3, region::KEY), 0);
        status
    };
    assert_eq!(list(&[good, good, last], 3, 12), Status::Ok, "a page may be in it twice");
    assert_eq!(list(&[good, good + 1], 2, 12), Status::BadField);
    assert_eq!(list(&[good, good + 2048], 2, 12), Status::BadField);
    assert_eq!(list(&[0x1_1000], 1, 16), Status::BadField, "not a multiple of its page size");
    for outside in [too_far, RAM / 2, HIGH - PAGE, u64::MAX - 4095, 1 << 63] {
        assert_eq!(list(&[good, outside], 2, 12), Status::OutOfBounds, "{outside:#x}");
    }
    for log2 in [1, 11, 31, 63, 64, u32::MAX] {
        assert_eq!(list(&[good], 1, log2), Status::BadField, "{log2}");
    }
    assert_eq!(list(&[0], RAM / PAGE, 30), Status::OutOfBounds);
    assert_eq!(list(&[0], RAM / 2 / PAGE, 30), Status::Ok);
    assert_eq!(list(&[good], 0, 12), Status::BadField, "no bytes");
    assert_eq!(list(&[good], u64::MAX / PAGE, 12), Status::NoResources);
    assert_eq!(list(&[good], 1 << 21 | 1, 12), Status::NoResources);
    assert_eq!(list(&[good], u64::MAX / PAGE, 30), Status::NoResources);
    let mut base = |base: u64, bytes: u64, log2: u32| {
        machine.configure_region(3, base, bytes, log2);
        machine.command(Command::RegionEnable, 3)
    };
    // Bad addresses of the list.
    assert_eq!(base(good + 4, PAGE, 12), Status::BadField);
    assert_eq!(base(too_far, PAGE, 12), Status::OutOfBounds);
    assert_eq!(base(too_far - 8, 2 * PAGE, 12), Status::OutOfBounds);
    assert_eq!(base(u64::MAX - 7, 2 * PAGE, 12), Status::OutOfBounds);
    // No list.
    assert_eq!(base(good + 512, PAGE, 0), Status::BadField);
    assert_eq!(base(HIGH, RAM / 2 + 1, 0), Status::OutOfBounds);
    assert_eq!(base(u64::MAX - 4095, 2 * PAGE, 0), Status::OutOfBounds);
    assert_eq!(base(LOW, u64::MAX, 0), Status::OutOfBounds);
    assert_eq!(base(LOW, u64::MAX - 4095, 0), Status::OutOfBounds);
    assert_eq!(base(HIGH, RAM / 2, 0), Status::Ok);
}

/// A header of the protocol, with the number 7.
fn header(command: u16, bytes: u32, flags: u32) -> Vec<u8> {
    let mut all = [7u16.to_le_bytes(), command.to_le_bytes()].concat();
    all.extend([bytes, flags, 0].into_iter().flat_map(u32::to_le_bytes));
    all
}

/// Body of a read or write of the configuration space.
fn access(count: u32) -> Vec<u8> {
    [vec![0; 8], CONFIG.to_le_bytes().to_vec(), count.to_le_bytes().to_vec()].concat()
}

#[test]
fn a_length_of_4_gib_takes_no_memory() {
    const EINVAL: u32 = 22;
    let lab = Lab::new("lengths");
    let mut stream = UnixStream::connect(&lab.paths[0]).unwrap();
    let mut ask = |message: Vec<u8>| {
        stream.write_all(&message).unwrap();
        let mut reply = [0; 16];
        stream.read_exact(&mut reply).unwrap();
        let word = |at: usize| u32::from_le_bytes(*reply[at..].first_chunk().unwrap());
        assert_eq!(reply[..4], message[..4]);
        let mut rest = vec![0; word(4) as usize - 16];
        stream.read_exact(&mut rest).unwrap();
        (word(8), word(12), rest.len())
    };
    // Reads and writes longer than the configuration space are refused, and the next message is
    // understood.
    for count in [4097, 1 << 20, u32::MAX] {
        for command in [9, 10] {
            let message = [header(command, 32, 0), access(count)].concat();
            assert_eq!(ask(message), (0x21, EINVAL, 0), "command {command}, {count} bytes");
        }
    }
    // A write with fewer bytes than it claims, a body that is too short, a reply, no region.
    assert_eq!(ask([header(10, 32, 0), access(4)].concat()), (0x21, EINVAL, 0));
    assert_eq!(ask([header(9, 24, 0), vec![0; 8]].concat()), (0x21, EINVAL, 0));
    assert_eq!(ask([header(9, 32, 1), access(4)].concat()), (0x21, EINVAL, 0));
    assert_eq!(ask([header(9, 32, 0), vec![0xff; 16]].concat()), (0x21, EINVAL, 0));
    assert_eq!(ask([header(9, 32, 0), access(4096)].concat()), (1, 0, 16 + 4096));
    assert_eq!(lab.devices[0].counts().connections, 0);
    // A message that claims 4 GiB ends the connection at once.
    stream.write_all(&header(10, u32::MAX, 0)).unwrap();
    assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0);
    wait("the end", || lab.devices[0].counts().connections == 1);
    let mut machine = lab.machine(0, 1);
    assert_eq!(machine.read(global::MAGIC), CONTRACT_MAGIC);
}

#[test]
fn an_invalid_message_ends_only_its_connection() {
    let lab = Lab::new("messages");
    let mut version = header(1, 23, 0);
    version.extend([0, 0, 1, 0, b'{', b'}', b'x']);
    let hostile = [
        vec![0; 16],
        vec![0xff; 64],
        header(1, 0, 0),
        header(1, 20, 0),
        version,
        header(9, 48, 0)[..9].to_vec(),
        // A read of 4 GiB.
        [header(9, 32, 0), [0; 8].into(), [0; 4].into(), [0xff; 4].into()].concat(),
        header(2, 40, 0),
    ];
    for (turn, bytes) in (1..).zip(hostile) {
        let mut stream = UnixStream::connect(&lab.paths[0]).unwrap();
        stream.write_all(&bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        // The device may answer anything, but must end the connection.
        let _ = stream.read_to_end(&mut Vec::new());
        wait("the end", || lab.devices[0].counts().connections == turn);
    }
    let (mut a, mut b) = (lab.machine(0, 3), lab.machine(1, 5));
    let (from, to) = (a.region(0, 8), b.region(0, 8));
    let mut tx = a.queue(&from, 0, false, 0, 0);
    let mut rx = b.queue(&to, 0, true, 0, 0);
    move_packet((&mut a, &mut tx, &from), (&mut b, &mut rx, &to), 100, 1);
}

/// A random action of a machine.
fn step(machine: &mut Machine, random: &mut fastrand::Rng) {
    let mut data = vec![0; random.u64(..9) as usize];
    data.fill_with(|| random.u64(..256) as u8);
    let anywhere = random.u64(..0x2_0000);
    let index = random.u64(..4) as u32;
    match random.u64(..12) {
        0 => machine.client.region_read(BAR0, anywhere, &mut data).unwrap(),
        1 => machine.client.region_write(BAR0, anywhere, &data).unwrap(),
        2 => machine.client.region_write(CONFIG, random.u64(..4200), &data).unwrap(),
        3 => machine.client.region_write(BAR2, random.u64(..4200), &data).unwrap(),
        4 => machine.set_master(random.u64(..8) != 0),
        5 => machine.unmap(if random.u64(..2) == 0 { LOW } else { HIGH }),
        // The device refuses a half that is already mapped.
        6 | 7 => machine.map(if random.u64(..2) == 0 { LOW } else { HIGH }),
        8 => {
            let addresses: Vec<u64> = (0..16).map(|_| bus(random.u64(..RAM) & !0xfff)).collect();
            let list = random.u64(..RAM / PAGE) * PAGE;
            machine
                .store(list, &addresses.iter().flat_map(|at| at.to_le_bytes()).collect::<Vec<_>>());
            machine.configure_region(index, bus(list), random.u64(..16 * PAGE), 12);
            machine.command(Command::RegionEnable, index);
        }
        9 => {
            // A queue with its rings anywhere in a region.
            let key = machine.get(BlockType::Region, index, region::KEY);
            let context = random.u64(..16) as u32;
            for register in (queue::KIND..=queue::FILTER).step_by(4) {
                machine.put(BlockType::Queue, context, register, random.u64(..8) as u32);
            }
            machine.put(BlockType::Queue, context, queue::KIND, 1 + context % 2);
            for high in [queue::SQ_HI, queue::CQ_HI, queue::STAMP_HI, queue::LINES_HI] {
                machine.put(BlockType::Queue, context, high, key << 16);
                let place = random.u64(..16) * PAGE;
                machine.put(BlockType::Queue, context, high - 4, place as u32);
            }
            machine.command(Command::QueueEnable, context);
        }
        10 => {
            let commands = [
                Command::QueueDisable,
                Command::RegionDisable,
                Command::Reset,
                Command::QueueEnable,
            ];
            machine.command(commands[random.u64(..4) as usize], random.u64(..16) as u32);
        }
        // Random bytes anywhere in memory, including rings.
        _ => {
            let at = random.u64(..RAM - PAGE);
            let noise: Vec<u8> = (0..512).map(|_| random.u64(..6) as u8).collect();
            machine.store(at, &noise);
            machine.ring(0);
        }
    }
}

#[test]
fn random_actions_do_not_disturb_the_other_machine() {
    let lab = Lab::new("random");
    let mut b = lab.machine(1, 5);
    for seed in 1..7u64 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut machine = lab.machine(0, seed);
        for _ in 0..150 {
            step(&mut machine, &mut random);
        }
        // After a reset, a machine that starts anew can use the device.
        machine.client.reset().unwrap();
        assert_eq!(machine.read(global::MAGIC), CONTRACT_MAGIC);
        assert_eq!(b.read(global::MAGIC), CONTRACT_MAGIC);
        let end = lab.devices[0].counts().connections + 1;
        machine.client.shutdown().unwrap();
        wait("the end", || lab.devices[0].counts().connections == end);
        let mut a = lab.machine(0, seed);
        let (from, to) = (a.region(0, 8), b.region(0, 8));
        let mut tx = a.queue(&from, 0, false, 0, 0);
        let mut rx = b.queue(&to, 0, true, 0, 0);
        move_packet((&mut a, &mut tx, &from), (&mut b, &mut rx, &to), 100, seed);
        assert_eq!(b.command(Command::Reset, 0), Status::Ok);
        a.client.shutdown().unwrap();
        wait("the end", || lab.devices[0].counts().connections == end + 1);
    }
}
