//! Counters of queue pairs, from registers alone.

use super::driver::{BUFFERS, Driver};
use super::pair;
use super::pairs::{enable, message, post};
use spfe_contract::{
    BlockType, Command, EntryType, PAIR_VALUE_BYTES, PairCounter, QueueKind, Status, capability,
    global_block as global, pair_block,
};
use spfe_host::{LinkRate, Mode, Topology};

const VC: u32 = 2;

fn value(driver: &Driver, port: u32, vc: u32, counter: PairCounter) -> u64 {
    driver.pair_counter(port, vc, u32::from(counter.raw()) * PAIR_VALUE_BYTES as u32)
}

fn present(driver: &Driver, port: u32, vc: u32) -> u64 {
    driver.pair_counter(port, vc, pair_block::PRESENT_LO)
}

/// The counters of a queue pair that are not zero, in all of its element.
fn counted(driver: &Driver, port: u32, vc: u32) -> Vec<(PairCounter, u64)> {
    let offsets = (0..pair_block::PRESENT_LO).step_by(8);
    let values = offsets.map(|offset| (offset / 8, driver.pair_counter(port, vc, offset)));
    let values = values.filter(|(_, count)| *count != 0);
    values.map(|(number, count)| (PairCounter::from_raw(number as u8).unwrap(), count)).collect()
}

#[test]
fn a_message_is_counted_at_both_ends() {
    let driver = Driver::new();
    assert_ne!(driver.registers.read32(global::CAPABILITY) & capability::PAIR_COUNTERS, 0);
    assert_eq!((present(&driver, 0, VC), counted(&driver, 0, VC)), (0, vec![]));
    let region = driver.enable_region(2);
    let (tx, rx) = pair(&driver, VC);
    let mut buffers = enable(&driver, rx, QueueKind::RdmaRx, region, 1, (7, 5));
    let mut work = enable(&driver, tx, QueueKind::Rdma, region, 0, (5, 7));
    let all = PairCounter::ALL.iter().fold(0, |mask, counter| mask | 1u64 << counter.raw());
    assert!(all >> 32 != 0 && all as u32 == u32::MAX, "both halves are read");
    for port in 0..2 {
        assert_eq!(present(&driver, port, VC), all);
        assert_eq!((present(&driver, port, VC - 1), present(&driver, port, VC + 1)), (0, 0));
    }
    assert_eq!((counted(&driver, 0, VC), counted(&driver, 1, VC)), (vec![], vec![]));
    buffers.post(EntryType::Buffer, BUFFERS + 0x1000, 64);
    post(&mut work, &message(region, BUFFERS, 18));
    assert_eq!((work.complete().status, buffers.complete().status), (0, 0));
    assert_eq!(value(&driver, 0, VC, PairCounter::Completed), 1);
    assert_eq!(value(&driver, 0, VC, PairCounter::Bytes), 18);
    assert_eq!(value(&driver, 1, VC, PairCounter::TargetSends), 1);
    for port in 0..2 {
        let mut known = driver.network.pair_counters(0, port, VC).unwrap();
        known.retain(|(_, count)| *count != 0);
        assert_eq!(counted(&driver, port, VC), known, "port {port}");
        assert_eq!(counted(&driver, port, VC - 1), []);
    }
    // They go with the queue pair.
    for index in [tx, rx] {
        assert_eq!(driver.command(Command::QueueDisable, index), Status::Ok);
    }
    for port in 0..2 {
        assert_eq!((present(&driver, port, VC), counted(&driver, port, VC)), (0, vec![]));
    }
    enable(&driver, tx, QueueKind::Rdma, region, 0, (5, 7));
    assert_eq!((present(&driver, 0, VC), counted(&driver, 0, VC)), (all, vec![]));
}

/// A device one minor version older has no counters, and behaves as before.
#[test]
fn a_device_of_version_1_7_has_no_counters() {
    let topology = Topology::looped(LinkRate::Unlimited, Mode::Thread);
    let driver = Driver::with_older(topology, 7);
    let can = driver.registers.read32(global::CAPABILITY);
    assert_eq!(can & capability::PAIR_COUNTERS, 0);
    assert_ne!(can & capability::BESIDE, 0);
    let blocks = super::driver::walk(&driver.registers);
    assert!(blocks.iter().all(|block| block.kind != BlockType::Pair));
    let region = driver.enable_region(2);
    let (tx, rx) = pair(&driver, VC);
    let mut buffers = enable(&driver, rx, QueueKind::RdmaRx, region, 1, (7, 5));
    let mut work = enable(&driver, tx, QueueKind::Rdma, region, 0, (5, 7));
    buffers.post(EntryType::Buffer, BUFFERS + 0x1000, 64);
    post(&mut work, &message(region, BUFFERS, 18));
    assert_eq!((work.complete().status, buffers.complete().status), (0, 0));
}
