//! The rate of packets from ring to ring, with a memory that answers at once and translations that
//! take as long as those of the endpoint.

use std::collections::VecDeque;

use spfe_rtl_sim::{Core, Packer, Unpacker};

use crate::QUEUES;
use crate::memory::{Axi, BUFFERS, KEY_RX, KEY_TX, Memory};
use crate::pins::{self, Context, Inputs};
use crate::ring::{RX, Ring, TX};
use crate::transmit::{BUFFER, DATA};

const WORDS: usize = 4;
/// Entries of a ring, all posted before the first doorbell.
const SLOTS_LOG2: u32 = 6;
const SLOTS: usize = 1 << SLOTS_LOG2;
/// Cycles of a translation.
const TRANSLATION: usize = 4;
/// Packets before the rate is measured: pipelines fill, and rings are read for the first time.
const FIRST: usize = 8;
const PATIENCE: u64 = 50_000;

/// Cycles for each packet of so many bytes, on the first `queues` channels at once. Every packet
/// has a buffer of its own, which is `room` bytes behind the one before.
fn cycles_per_packet(queues: usize, stamp: bool, length: u32, room: u32) -> f64 {
    let packets = SLOTS * queues;
    let mut rng = fastrand::Rng::with_seed(1);
    let mut core = Core::new("spfe_sim_queues", &[("Words", WORDS)], 1);
    let mut memory = Memory::new(&mut rng, QUEUES as u64);
    let mut rings: Vec<[Ring; 2]> = (0..queues).map(|_| Default::default()).collect();
    let mut starts = VecDeque::new();
    for (queue, pair) in rings.iter_mut().enumerate() {
        for (engine, kind) in [TX, RX].into_iter().enumerate() {
            let context = Context {
                kind,
                stamp,
                sq_log2: SLOTS_LOG2,
                cq_log2: SLOTS_LOG2,
                ..Context::default()
            };
            pair[engine].start(&mut memory, engine, queue, context);
            starts.push_back((engine, queue));
            let (region, flags) = [(KEY_TX, DATA), (KEY_RX, BUFFER)][engine];
            for slot in 0..SLOTS as u64 {
                let offset = queue as u64 * BUFFERS + slot * u64::from(room);
                let bytes: Vec<u8> = (0..length).map(|_| rng.u8(..)).collect();
                memory.put(region, offset, &bytes);
                let first = u64::from(region) << 48 | offset;
                let second = u64::from(flags) << 32 | u64::from(length);
                pair[engine].post(&mut memory, &[[first, second]]);
            }
        }
    }
    let mut axi = [Axi::prompt(), Axi::prompt()];
    let mut doorbells: VecDeque<_> =
        starts.iter().map(|(engine, queue)| (*engine, *queue, 0)).collect();
    let mut translations = [(); 2].map(|()| VecDeque::from(vec![None; TRANSLATION]));
    let (mut inputs, mut packer) =
        (Inputs { event_ready: true, ..Inputs::default() }, Packer::default());
    let mut arrivals = Vec::new();
    while arrivals.len() < packets {
        let cycle = core.cycles();
        assert!(cycle < PATIENCE, "{} of {packets} packets arrived", arrivals.len());
        for axi in &mut axi {
            axi.drive(&mut memory.bytes, &mut rng);
        }
        inputs.rst = cycle < 3;
        inputs.time = 5 * cycle;
        inputs.doorbell = if starts.is_empty() { doorbells.pop_front() } else { None };
        inputs.start = [0, 1].map(|engine| starts.front().is_some_and(|start| start.0 == engine));
        if let Some((engine, queue)) = starts.front() {
            (inputs.start_queue, inputs.context) = (*queue, rings[*queue][*engine].context);
        }
        pins::pack(&mut packer, &inputs, &axi, QUEUES);
        let mut bits = Unpacker::new(core.step(packer.words()));
        let outputs = pins::unpack(&mut bits, &mut axi, QUEUES);
        if inputs.rst {
            axi = [Axi::prompt(), Axi::prompt()];
            continue;
        }
        if outputs.start_ready.iter().zip(inputs.start).any(|(ready, start)| *ready && start) {
            starts.pop_front();
        }
        for (engine, waiting) in translations.iter_mut().enumerate() {
            let asked = outputs.asked[engine].map(|asked| memory.translate(&asked));
            waiting.push_back(asked);
            inputs.translation[engine] = waiting.pop_front().flatten();
        }
        let counts = outputs.counts[1];
        arrivals.extend((0..counts.map_or(0, |counts| counts.packets)).map(|_| cycle));
    }
    let rate = (arrivals[packets - 1] - arrivals[FIRST]) as f64 / (packets - 1 - FIRST) as f64;
    println!("{queues} queues, times {stamp}, {length} bytes: {rate:.2} cycles for a packet");
    rate
}

/// A link of four lanes has the words of a packet of 1 KB and its end in 67.3 cycles: 257 words, of
/// which it carries 95.5 % of four a cycle. Link use of 98 % leaves 68.4 cycles.
#[test]
fn packets_of_1_kb_keep_up_with_four_lanes() {
    let plans = [(1, false), (2, false), (QUEUES, false), (1, true), (QUEUES, true)];
    let all = plans.map(|(queues, stamp)| cycles_per_packet(queues, stamp, 1024, 1024));
    assert!(all.iter().all(|cycles| *cycles <= 68.4), "{all:?} cycles for a packet");
}
