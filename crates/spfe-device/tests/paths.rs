//! The fast path and the general path of a step do the same.
//!
//! Every operation goes to two flows of the same configuration. The second has an observer, which
//! makes it use the general path for everything. Completions, payload, counters and, for posted
//! buffers, the state after each operation must be equal. A flow whose steps are limited delivers the
//! same, in more steps.

mod pair;

use pair::{CQ, DATA, Got, KEY, Pair, SIZE, area, poll_packed, poll_posted, poll_tx};
use proptest::collection::vec;
use proptest::prelude::*;
use spfe_contract::{
    BurstExt, EndMarker, EntryType, InlineSubmission, QueueKind, submit_flags as sf,
};
use spfe_device::Address;
use spfe_device::flow::SingleEnd;
use spfe_device::step::StepLimits;
use spfe_ring::packed::PackedReader;
use spfe_ring::ring::RingEntry;
use spfe_ring::sync::{FenceMode, set_fence_mode};

/// PROPTEST_RNG_SEED repeats a run.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

/// Bytes of each posted buffer.
const BUFFER: u32 = 64;
/// Bytes of the transmit data that entries name.
const TX_BYTES: u32 = 8192;

#[derive(Clone, Copy, Debug)]
enum Op {
    /// A DATA entry: length, flags.
    Data(u32, u16),
    /// A burst: length, stride, count, whether it asks for a completion.
    Burst(u32, u32, u16, bool),
    /// An INLINE entry with this many bytes.
    Inline(u8),
    /// Any two words.
    Garbage([u64; 2]),
    /// Posts a receive buffer.
    Buffer,
    /// Moves at most this many pieces.
    Step(u32),
    /// Both hosts take their completions.
    Poll,
}

fn end_flags(end: EndMarker) -> u16 {
    u16::from(end.raw()) << sf::END_SHIFT
}

fn op() -> impl Strategy<Value = Op> {
    let end = prop_oneof![
        8 => Just(EndMarker::Eop), 1 => Just(EndMarker::Eep), 1 => Just(EndMarker::None),
    ];
    let flags = (end, any::<bool>(), 0..12u8).prop_map(|(end, signal, chain)| {
        let signal = if signal { sf::SIGNAL } else { 0 };
        end_flags(end) | signal | if chain == 0 { sf::CHAIN } else { 0 }
    });
    let length = prop_oneof![8 => 1..BUFFER + 1, 2 => 0..400u32, 1 => Just(TX_BYTES + 1)];
    prop_oneof![
        12 => (length, flags).prop_map(|(length, flags)| Op::Data(length, flags)),
        2 => (1..100u32, 0..80u32, 1..12u16, any::<bool>())
            .prop_map(|(length, stride, count, signal)| Op::Burst(length, stride, count, signal)),
        1 => (0..14u8).prop_map(Op::Inline),
        1 => any::<[u64; 2]>().prop_map(Op::Garbage),
        12 => Just(Op::Buffer),
        8 => (0..20u32).prop_map(Op::Step),
        5 => Just(Op::Poll),
    ]
}

fn address(offset: u32) -> u64 {
    Address::new(KEY, DATA + u64::from(offset)).0
}

/// The same flow twice. The second uses the general path only.
fn both(kind: QueueKind) -> [Pair; 2] {
    unlike([Pair::new(kind, false), Pair::new(kind, false)])
}

fn unlike(mut pairs: [Pair; 2]) -> [Pair; 2] {
    pairs[1].flow.set_observer(Some(Box::new(|_| {})));
    assert_eq!(pairs[1].flow.bind(), Ok(()));
    let payload: Vec<u8> = (0..TX_BYTES).map(|at| (at % 251) as u8).collect();
    for pair in &mut pairs {
        pair.tx.write(DATA, &payload);
    }
    pairs
}

/// The entries that an operation posts to a transmit ring at this position.
fn entries(op: &Op, position: u32) -> Vec<RingEntry> {
    match *op {
        Op::Data(length, flags) => {
            let flags = u64::from(u16::from(EntryType::Data.raw()) | flags) << 32;
            vec![[address(position % SIZE * 400), u64::from(length) | flags]]
        }
        Op::Burst(length, stride, count, signal) => {
            let signal = if signal { sf::SIGNAL } else { 0 };
            let flags = u16::from(EntryType::Burst.raw()) | end_flags(EndMarker::Eop) | signal;
            let flags_ext = u16::from(EntryType::BurstExt.raw());
            let ext = BurstExt { stride, count, flags: flags_ext, ..BurstExt::default() };
            vec![[address(0), u64::from(length) | u64::from(flags) << 32], ext.to_words()]
        }
        Op::Inline(count) => {
            let flags = u16::from(EntryType::Inline.raw()) | end_flags(EndMarker::Eop);
            let data_lo = 0x0706_0504_0302_0100;
            let inline = InlineSubmission { data_lo, count, flags, ..Default::default() };
            vec![inline.to_words()]
        }
        Op::Garbage(words) => vec![words],
        Op::Buffer | Op::Step(_) | Op::Poll => Vec::new(),
    }
}

/// Posts what an operation posts, if there is room in both rings.
fn post(pairs: &mut [Pair; 2], op: &Op) {
    let entries = entries(op, pairs[0].tx.sq.position);
    if pairs.iter().all(|pair| pair.tx.free() as usize >= entries.len()) {
        for pair in pairs {
            entries.iter().for_each(|entry| pair.tx.sq.push(*entry));
        }
    }
}

/// The rings, payload and counters that the hosts see, and the state that the next runner sees.
fn visible(pair: &Pair) -> impl PartialEq {
    let entry = if pair.rx.cq.ring.is_wide() { 64 } else { 16 };
    let rings = [pair.tx.bytes(CQ, 16 * SIZE), pair.rx.bytes(CQ, entry * SIZE)];
    let counts = [pair.shared.tx_count.values(), pair.shared.rx_count.values()];
    (rings, pair.rx.bytes(DATA, BUFFER * SIZE), counts, pair.states())
}

/// Posted buffers: everything visible is equal after each operation.
fn compare_posted(ops: &[Op]) {
    let mut pairs = both(QueueKind::Rx);
    let mut got = [Got::default(), Got::default()];
    for (number, op) in ops.iter().enumerate() {
        post(&mut pairs, op);
        for (pair, got) in pairs.iter_mut().zip(&mut got) {
            match *op {
                Op::Buffer => pair.post_buffer(),
                Op::Step(budget) => pair.step(budget),
                Op::Poll => {
                    poll_tx(pair);
                    poll_posted(pair, got);
                }
                _ => {}
            }
        }
        let equal = visible(&pairs[0]) == visible(&pairs[1]);
        assert!(equal, "operation {number}, {op:?}: {:#?}", pairs.map(|pair| pair.states()));
    }
}

/// Packets of few lengths, often with a completion each.
fn alike() -> impl Strategy<Value = Op> {
    let length = prop_oneof![Just(8u32), Just(9), Just(24), Just(48), Just(BUFFER)];
    let flags = prop_oneof![3 => Just(0), 2 => Just(sf::SIGNAL | sf::LAST)];
    prop_oneof![
        10 => (length, flags).prop_map(|(length, flags)| Op::Data(length, flags)),
        10 => Just(Op::Buffer),
        6 => (0..20u32).prop_map(Op::Step),
        6 => Just(Op::Poll),
        1 => op(),
    ]
}

/// Every other step is that of the owner after a post, and may take the path of single packets.
fn compare_single(mut pairs: [Pair; 2], ops: &[Op]) {
    // Both ends run in this thread.
    set_fence_mode(FenceMode::Asymmetric);
    let mut got = [Got::default(), Got::default()];
    for (number, op) in ops.iter().enumerate() {
        post(&mut pairs, op);
        match *op {
            Op::Step(budget) if budget % 4 == 0 => {
                pairs.iter_mut().for_each(|pair| pair.step(budget));
            }
            Op::Step(_) => {
                pairs[0].run_posted();
                pairs[1].step(1000);
            }
            _ => {}
        }
        for (pair, got) in pairs.iter_mut().zip(&mut got) {
            match *op {
                Op::Buffer => pair.post_buffer(),
                Op::Poll => {
                    poll_tx(pair);
                    poll_posted(pair, got);
                }
                _ => {}
            }
        }
        let equal = visible(&pairs[0]) == visible(&pairs[1]);
        assert!(equal, "operation {number}, {op:?}: {:#?}", pairs.map(|pair| pair.states()));
    }
}

#[test]
fn single_packets_take_their_own_path_and_leave_the_rest() {
    single_packets(both(QueueKind::Rx));
    single_packets(unlike([Pair::wide(), Pair::wide()]));
}

fn single_packets(mut pairs: [Pair; 2]) {
    set_fence_mode(FenceMode::Asymmetric);
    let mut moved = 0;
    for number in 0..20 * SIZE {
        let flags = if number % 50 == 49 { sf::SIGNAL } else { sf::SIGNAL | sf::LAST };
        post(&mut pairs, &Op::Data(8 + number % 3, flags));
        pairs.iter_mut().for_each(Pair::post_buffer);
        moved += u32::from(pairs[0].run_posted() == SingleEnd::Moved);
        pairs[1].step(1);
        assert!(visible(&pairs[0]) == visible(&pairs[1]), "packet {number}");
        for pair in &mut pairs {
            assert_eq!(poll_tx(pair).len(), 1);
            poll_posted(pair, &mut Got::default());
        }
    }
    // All but a few in each lap.
    assert!(moved > 20 * SIZE * 2 / 3, "{moved} of {}", 20 * SIZE);
    // A new configuration is read first.
    pairs[0].shared.bump_epoch();
    post(&mut pairs, &Op::Data(8, sf::SIGNAL | sf::LAST));
    pairs[0].post_buffer();
    assert_ne!(pairs[0].run_posted(), SingleEnd::Moved);
}

/// Bytes of each step of a limited flow.
const LIMIT: u64 = 137;

/// The same flow twice. Steps of the second are limited.
fn limited(kind: QueueKind) -> [Pair; 2] {
    let mut pairs = both(kind);
    for (pair, limits) in
        pairs.iter_mut().zip([StepLimits::NONE, StepLimits { bytes: LIMIT, fast_packet: 40 }])
    {
        pair.flow.set_observer(None);
        pair.flow.set_limits(limits);
        assert_eq!(pair.flow.bind(), Ok(()));
    }
    pairs
}

fn compare_limited(kind: QueueKind, ops: &[Op]) {
    let mut pairs = limited(kind);
    let mut hosts = [(); 2].map(|()| (Got::default(), PackedReader::new(area(false)), Vec::new()));
    for op in ops.iter().chain(&[Op::Step(1), Op::Poll].repeat(2)) {
        post(&mut pairs, op);
        for (pair, (got, reader, sent)) in pairs.iter_mut().zip(&mut hosts) {
            match *op {
                Op::Buffer if kind == QueueKind::Rx => pair.post_buffer(),
                Op::Step(_) if kind == QueueKind::Rx => drop(pair.drain()),
                Op::Poll if kind == QueueKind::Rx => {
                    sent.extend(poll_tx(pair));
                    poll_posted(pair, got);
                }
                // Short records fill the area sooner, so the host makes room until all is there.
                Op::Step(_) | Op::Poll => {
                    while !pair.drain() {
                        poll_packed(pair, reader, got);
                    }
                    sent.extend(poll_tx(pair));
                    poll_packed(pair, reader, got);
                }
                _ => {}
            }
        }
        if kind == QueueKind::Rx {
            assert!(
                visible(&pairs[0]) == visible(&pairs[1]),
                "{op:?}: {:#?}",
                pairs.map(|p| p.states())
            );
        }
    }
    let [(whole, _, whole_sent), (parts, _, parts_sent)] = hosts;
    assert!(whole.packets == parts.packets && whole.open == parts.open, "other packets");
    assert_eq!(whole_sent, parts_sent);
}

#[test]
fn a_limited_step_ends_inside_a_packet_and_the_next_goes_on() {
    for chained in [false, true] {
        let [_, mut pair] = limited(QueueKind::Rx);
        let (length, flags) = (400u32, u64::from(EntryType::Data.raw()) << 32);
        if chained {
            let chain = u64::from(sf::CHAIN) << 32;
            pair.tx.sq.push([address(0), u64::from(length / 2) | flags | chain]);
            pair.tx.sq.push([address(length / 2), u64::from(length / 2) | flags]);
        } else {
            pair.tx.sq.push([address(0), u64::from(length) | flags]);
        }
        (0..length.div_ceil(BUFFER)).for_each(|_| pair.post_buffer());
        let delivered =
            |pair: &Pair| pair.shared.rx_count.values().bytes + u64::from(pair.states().1.fill);
        for step in 1.. {
            let before = delivered(&pair);
            pair.step(1000);
            assert!(delivered(&pair) - before <= LIMIT);
            if delivered(&pair) == u64::from(length) {
                assert_eq!(step, u64::from(length).div_ceil(LIMIT));
                break;
            }
        }
        let mut got = Got::default();
        poll_posted(&mut pair, &mut got);
        assert!(got.packets == [((0..length).map(|at| (at % 251) as u8).collect(), false)]);
    }
}

/// A packed area: both paths deliver the same packets and complete the same submissions. The runs
/// may differ, because the fast path ends a run before the record that would exceed its limit, and
/// the general path after it.
fn compare_packed(ops: &[Op]) {
    let mut pairs = both(QueueKind::RxPacked);
    let mut hosts = [(); 2].map(|()| (Got::default(), PackedReader::new(area(false)), Vec::new()));
    let end = [Op::Step(1000), Op::Poll].repeat(20);
    for op in ops.iter().chain(&end) {
        post(&mut pairs, op);
        for (pair, (got, reader, sent)) in pairs.iter_mut().zip(&mut hosts) {
            match *op {
                Op::Step(budget) => pair.step(budget),
                Op::Poll => {
                    sent.extend(poll_tx(pair));
                    poll_packed(pair, reader, got);
                }
                _ => {}
            }
        }
    }
    let [(fast, _, fast_sent), (general, _, general_sent)] = hosts;
    assert!(fast.packets == general.packets && fast.open == general.open, "other packets");
    assert_eq!(fast_sent, general_sent);
    let counts = |pair: &Pair| {
        let [tx, rx] = [pair.shared.tx_count.values(), pair.shared.rx_count.values()];
        (tx.packets, tx.bytes, tx.errors, rx.packets, rx.bytes, rx.errors)
    };
    assert_eq!(counts(&pairs[0]), counts(&pairs[1]));
    assert_eq!(pairs[0].tx.sq.position, pairs[1].tx.sq.position);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn paths_agree_on_posted_buffers(ops in vec(op(), 1..150)) {
        compare_posted(&ops);
    }

    #[test]
    fn paths_agree_on_packets_alike(ops in vec(alike(), 1..300)) {
        compare_posted(&ops);
    }

    #[test]
    fn paths_agree_on_single_packets(ops in vec(alike(), 1..300)) {
        compare_single(both(QueueKind::Rx), &ops);
    }

    #[test]
    fn paths_agree_on_wide_completions(ops in vec(alike(), 1..300)) {
        compare_single(unlike([Pair::wide(), Pair::wide()]), &ops);
    }

    #[test]
    fn paths_agree_on_a_packed_area(ops in vec(op(), 1..150)) {
        compare_packed(&ops);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..config() })]

    #[test]
    fn limited_steps_deliver_the_same_in_posted_buffers(ops in vec(op(), 1..150)) {
        compare_limited(QueueKind::Rx, &ops);
    }

    #[test]
    fn limited_steps_deliver_the_same_in_a_packed_area(ops in vec(op(), 1..150)) {
        compare_limited(QueueKind::RxPacked, &ops);
    }
}
