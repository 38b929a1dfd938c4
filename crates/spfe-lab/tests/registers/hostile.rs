//! No sequence of register accesses harms the device.

use crate::driver::{BUFFERS, Driver, region_field, walk};
use proptest::prelude::*;
use spfe_contract::{
    BlockType, CONTRACT_MAGIC, Command, QueueKind, Status, doorbell, global_block as global,
    queue_block as queue, region_block as region,
};

/// One action of a hostile host. Offsets and values are random, but often those of real registers.
#[derive(Clone, Debug)]
enum Step {
    Read(u32),
    Write(u32, u32),
    Doorbell(u32, u64),
    Region(u32, u32),
    Queue(u32, u32),
    Command(u32, u32),
    Register(u32, u32, u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let offset = prop_oneof![any::<u32>(), 0u32..0x20000, Just(global::CFG_SEQ)];
    let value = prop_oneof![any::<u32>(), 0u32..8];
    let small = prop_oneof![4 => 0u32..70, 1 => any::<u32>()];
    let step = prop_oneof![
        offset.clone().prop_map(Step::Read),
        (offset, value.clone()).prop_map(|(offset, value)| Step::Write(offset, value)),
        (any::<u32>(), any::<u64>()).prop_map(|(page, value)| Step::Doorbell(page, value)),
        (0u32..3, 0u32..8).prop_map(|(page, kind)| {
            Step::Doorbell(page, u64::from(kind) << doorbell::KIND_SHIFT)
        }),
        (0u32..4, 0u32..2).prop_map(|(index, domain)| Step::Region(index, domain)),
        (0u32..68, 0u32..4).prop_map(|(index, region)| Step::Queue(index, region)),
        (0u32..9, small).prop_map(|(command, index)| Step::Command(command, index)),
        (0u32..68, 0u32..18, value).prop_map(|(i, word, value)| Step::Register(i, word, value)),
    ];
    proptest::collection::vec(step, 1..100)
}

fn take(driver: &Driver, step: Step) {
    match step {
        Step::Read(offset) => drop(driver.registers.read32(offset)),
        Step::Write(offset, value) => driver.registers.write32(offset, value),
        Step::Doorbell(page, value) => driver.registers.doorbell(page, value),
        Step::Region(index, domain) => {
            driver.configure_region(index, domain);
            driver.command(Command::RegionEnable, index);
        }
        Step::Queue(index, region) => {
            let kind = match (driver.read(BlockType::Queue, index, queue::VC), index % 2) {
                (255, 0) => QueueKind::MessageTx,
                (255, _) => QueueKind::MessageRx,
                (_, 0) => QueueKind::Tx,
                (..) => QueueKind::RxPacked,
            };
            let field = region_field(driver.read(BlockType::Region, region, region::KEY));
            driver.configure_queue(index, kind, field, u64::from(index % 64));
            let area = u64::from(field) << 48 | BUFFERS;
            driver.write(BlockType::Queue, index, queue::AREA_LO, area as u32);
            driver.write(BlockType::Queue, index, queue::AREA_HI, (area >> 32) as u32);
            driver.write(BlockType::Queue, index, queue::AREA_BYTES, 65_536);
            driver.command(Command::QueueEnable, index);
        }
        Step::Command(command, index) => drop(driver.command_raw(command, index)),
        Step::Register(index, word, value) => {
            driver.write(BlockType::Queue, index, queue::KIND + 4 * word, value);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_sequence_of_accesses_harms_the_device(steps in steps()) {
        let driver = Driver::new();
        let blocks = walk(&driver.registers).len();
        for step in steps {
            take(&driver, step);
        }
        prop_assert_eq!(driver.registers.read32(global::MAGIC), CONTRACT_MAGIC);
        prop_assert_eq!(walk(&driver.registers).len(), blocks);
        prop_assert_eq!(driver.command(Command::Reset, 0), Status::Ok);
        prop_assert_eq!(driver.registers.reset(), Ok(()));
        let field = driver.enable_region(0);
        driver.enable_queue(0, QueueKind::Tx, field, 0);
    }
}
