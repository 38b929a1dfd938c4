//! The data link layer, two ends: calls of users in any order, rows lost, damaged and, if the input
//! says so, forged. Without forged rows every word arrives once and in order.

use arbitrary::Arbitrary;
use crate::link::AnyWord;
use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig, DataLinkParameters, LinkBroadcast};
use spfe_link::{ReceivedRow, Row, Word, qos};
use std::collections::VecDeque;

const LANES: usize = 2;
const MADE_FOR: usize = 4;
const IN_USE: u8 = 3;

type End = DataLink<Vec<Word>, LANES, MADE_FOR>;

#[derive(Arbitrary, Debug)]
enum Step {
    Write(bool, u8, u8, bool),
    WriteAny(bool, u8, AnyWord),
    Read(bool, u8, u8),
    Broadcast(bool, u8),
    Run(u8),
    /// The next row to an end is lost.
    Lose(bool),
    Damage(bool),
    LanesDown(bool, u8),
    Lanes(u8),
    Qos(bool, u8, u8, u16, u64),
    Parameters(bool, bool, u16, u8),
    Schedule(bool, u8),
    /// In place of the next row to an end.
    Forge(bool, AnyWord, u8, bool),
    LinkReset(bool),
    InterfaceReset(bool),
    Capability(bool, u8, u8, bool),
}

struct Pair {
    ends: [End; 2],
    /// What each end's user sent, by virtual channel.
    expected: [[VecDeque<Word>; IN_USE as usize]; 2],
    /// Both ends run with no rule broken.
    honest: bool,
    faults: [Option<Option<ReceivedRow<LANES>>>; 2],
    down: u32,
    lanes: usize,
}

impl Pair {
    fn step(&mut self) {
        self.down = self.down.saturating_sub(1);
        let lanes = if self.down == 0 { self.lanes } else { 0 };
        let mut sent = [None; 2];
        for (end, sent) in self.ends.iter_mut().zip(&mut sent) {
            *sent = end.transmit(lanes);
            if let Some(Row::Data { count, .. }) = sent {
                assert!((1..=lanes).contains(&usize::from(*count)));
            }
            if end.take_lane_reset() {
                self.down = self.down.max(3);
            }
        }
        if self.down == 1 {
            let fields = [self.ends[1].capability(), self.ends[0].capability()];
            for (end, field) in self.ends.iter_mut().zip(fields) {
                end.far_end_capability(0, field, false);
            }
        }
        for (end, row) in [(0, sent[1]), (1, sent[0])] {
            let row = row.map(|row| match row {
                Row::Control(word) => ReceivedRow::Control { word, crc16_good: true },
                Row::Data { words, count } => ReceivedRow::Data { words, count },
            });
            // A lost row is seen as RXERR; a fault needs a row to hit.
            let row = match self.faults[end].take() {
                Some(fault) if row.is_some() => fault,
                _ => row,
            };
            if let Some(row) = row {
                self.ends[end].receive(row);
            }
        }
        for end in &self.ends {
            assert!(!self.honest || !end.status().protocol_error);
        }
    }

    fn read(&mut self, end: usize, vc: usize, most: usize) {
        let mut words = vec![Word::default(); most];
        let count = self.ends[end].read(vc, &mut words);
        assert!(count <= most);
        for word in &words[..count] {
            if self.honest {
                assert_eq!(self.expected[1 - end][vc].pop_front(), Some(*word));
            }
        }
    }
}

fn end() -> End {
    let memory = |words: usize| vec![Word::default(); words];
    let used = |vc: usize, words| memory(if vc < usize::from(IN_USE) { words } else { 0 });
    let config = DataLinkConfig {
        virtual_channels: IN_USE,
        fct_multiplier: 2,
        segment_multiplier: LANES as u8,
        ..DataLinkConfig::default()
    };
    let buffers = Buffers {
        output: std::array::from_fn(|vc| used(vc, 128)),
        input: std::array::from_fn(|vc| used(vc, 512)),
        recovery: memory(512),
    };
    DataLink::new(config, buffers).expect("sizes are right")
}

crate::target!(|input: (bool, Vec<Step>)| {
    let (honest, steps) = input;
    let mut pair = Pair {
        ends: [end(), end()],
        expected: Default::default(),
        honest,
        faults: [None, None],
        down: 10,
        lanes: LANES,
    };
    for _ in 0..30 {
        pair.step();
    }
    for step in steps {
        match step {
            Step::Write(end, vc, count, ends) => {
                let (end, vc) = (usize::from(end), usize::from(vc % IN_USE));
                for index in 0..=count {
                    let last = ends && index == count;
                    let eop = Word { bits: 0xfbfb_fbfd, k: 0xf };
                    let word = if last { eop } else { Word::data(u32::from(index)) };
                    if pair.ends[end].write(vc, &[word]) == 1 {
                        pair.expected[end][vc].push_back(word);
                    }
                }
            }
            Step::WriteAny(end, vc, word) if !honest => {
                let taken = pair.ends[usize::from(end)].write(usize::from(vc), &[word.0; 3]);
                assert!(taken <= 3 && (taken == 0 || vc < IN_USE));
            }
            Step::Read(end, vc, most) => {
                pair.read(usize::from(end), usize::from(vc % IN_USE), usize::from(most));
            }
            Step::Broadcast(end, channel) => {
                let message = LinkBroadcast { channel, ..LinkBroadcast::default() };
                pair.ends[usize::from(end)].send_broadcast(message);
            }
            Step::Run(periods) => (0..periods).for_each(|_| pair.step()),
            Step::Lose(end) | Step::Damage(end) => {
                pair.faults[usize::from(end)] = Some(Some(ReceivedRow::RxErr));
            }
            Step::LanesDown(end, periods) => {
                pair.down = u32::from(periods) + 2;
                pair.ends[usize::from(end)].receive(ReceivedRow::RxErr);
            }
            Step::Lanes(lanes) => pair.lanes = 1 + usize::from(lanes) % LANES,
            Step::Qos(end, vc, priority, expected_bandwidth, time_slots) => {
                let parameters = qos::QosParameters { priority, expected_bandwidth, time_slots };
                let set = pair.ends[usize::from(end)].set_qos_parameters(vc.into(), parameters);
                assert_eq!(set, vc < IN_USE);
            }
            Step::Parameters(end, data_scrambled, expected_broadcast_bandwidth, mode) => {
                let continuous_mode = if honest { 0 } else { mode.into() };
                let parameters = DataLinkParameters {
                    data_scrambled,
                    expected_broadcast_bandwidth,
                    continuous_mode,
                };
                pair.ends[usize::from(end)].set_parameters(parameters);
            }
            Step::Schedule(end, slot) => pair.ends[usize::from(end)].schedule(slot),
            Step::Forge(end, word, count, crc16_good) if !honest => {
                let row = match count {
                    0 => ReceivedRow::RxErr,
                    1..=9 => ReceivedRow::Data { words: [word.0; LANES], count },
                    _ => ReceivedRow::Control { word: word.0, crc16_good },
                };
                pair.faults[usize::from(end)] = Some(Some(row));
            }
            Step::LinkReset(end) if !honest => pair.ends[usize::from(end)].link_reset(),
            Step::InterfaceReset(end) if !honest => pair.ends[usize::from(end)].interface_reset(),
            Step::Capability(end, lane, field, active) if !honest => {
                pair.ends[usize::from(end)].far_end_capability(lane, field, active);
            }
            _ => {}
        }
        pair.step();
        while let Some(message) = pair.ends[0].receive_broadcast() {
            assert!(!honest || message.data == [0; 8]);
        }
    }
    if !honest {
        return;
    }
    // Packets are ended, channels may send: all arrives.
    for end in 0..2 {
        for vc in 0..usize::from(IN_USE) {
            let all = qos::QosParameters {
                priority: 0,
                expected_bandwidth: u16::MAX,
                time_slots: u64::MAX,
            };
            pair.ends[end].set_qos_parameters(vc, all);
            let eop = Word { bits: 0xfbfb_fbfd, k: 0xf };
            if pair.ends[end].write(vc, &[eop]) == 1 {
                pair.expected[end][vc].push_back(eop);
            }
        }
    }
    for _ in 0..6000 {
        pair.step();
        for end in 0..2 {
            for vc in 0..usize::from(IN_USE) {
                pair.read(end, vc, 64);
            }
        }
    }
    assert!(pair.expected.iter().flatten().all(VecDeque::is_empty), "all words have arrived");
});
