//! Two ports and a cable for each lane.

use spfe_link::control::ControlWord;
use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig, LinkResetState};
use spfe_link::multilane::{self, Alignment, MultiLane};
use spfe_link::{SpaceFibrePort, Word, lane};
use std::collections::VecDeque;

pub const VCS: usize = 2;
pub type End<const L: usize> = SpaceFibrePort<Vec<Word>, L, VCS>;

pub const EOP: Word = Word { bits: 0xfbfb_fbfd, k: 0xf };

/// Lanes that come up in about 200 words, so that a campaign sees many initialisations. Started is
/// still longer than a round trip; otherwise a gap that each end answers with another could
/// circulate.
pub fn quick_lane() -> lane::LaneConfig {
    lane::LaneConfig {
        word_rate_hz: 5_000_000,
        filler_words: 2,
        init_timeout_words: 800,
        started_words: 150,
        ..lane::LaneConfig::new()
    }
}

pub fn end<const L: usize>(lane: lane::LaneConfig, link: DataLinkConfig) -> End<L> {
    let lanes = multilane::MultiLaneConfig { lane, ..multilane::MultiLaneConfig::new() };
    end_with(&lanes, link)
}

pub fn end_with<const L: usize>(
    lanes: &multilane::MultiLaneConfig,
    link: DataLinkConfig,
) -> End<L> {
    let lanes = MultiLane::<L>::new(lanes);
    let segment = 64 * L.next_power_of_two();
    let memory = |words: usize| vec![Word::default(); words];
    let buffers = Buffers {
        output: std::array::from_fn(|_| memory(2 * segment)),
        input: std::array::from_fn(|_| memory(8 * segment)),
        recovery: memory(8 * segment),
    };
    let link = DataLink::new(
        DataLinkConfig {
            fct_multiplier: L as u8,
            segment_multiplier: L as u8,
            multi_lane_capable: L > 1,
            ..link
        },
        buffers,
    );
    SpaceFibrePort::new(link.unwrap(), lanes)
}

pub struct Bench<const L: usize> {
    pub ends: [End<L>; 2],
    /// `wires[end][lane]`: the wire from this end to the other.
    wires: [Vec<VecDeque<Option<Word>>>; 2],
    /// Mask of lanes that are cut, by sender.
    pub cut: [u16; 2],
    /// Mask of lanes whose next word is damaged, by sender.
    pub damaged: [u16; 2],
    /// Last capability field on each lane, by sender.
    pub init3: [[Option<u8>; L]; 2],
}

impl<const L: usize> Bench<L> {
    pub fn new(lane: lane::LaneConfig, link: DataLinkConfig, delays: &[usize]) -> Self {
        let delay = |lane: usize| vec![None; *delays.get(lane).unwrap_or(&4)].into();
        let wires = || (0..L).map(delay).collect();
        Self {
            ends: [end(lane, link), end(lane, link)],
            wires: [wires(), wires()],
            cut: [0; 2],
            damaged: [0; 2],
            init3: [[None; L]; 2],
        }
    }

    pub fn start_lanes(&mut self) {
        for end in &mut self.ends {
            for lane in end.lanes.lanes_mut() {
                lane.parameters.lane_start = true;
            }
        }
    }

    pub fn step(&mut self) {
        for (from, wires) in self.wires.iter_mut().enumerate() {
            for (lane, word) in self.ends[from].transmit().into_iter().enumerate() {
                if let Some(ControlWord::Init3 { capability }) = word.and_then(ControlWord::decode)
                {
                    self.init3[from][lane] = Some(capability);
                }
                wires[lane].push_back(word);
            }
        }
        for from in 0..2 {
            let mut lines = [None; L];
            for (lane, line) in lines.iter_mut().enumerate() {
                *line = self.wires[from][lane].pop_front().flatten();
                if self.cut[from] >> lane & 1 != 0 {
                    *line = None;
                } else if self.damaged[from] >> lane & 1 != 0 {
                    *line = line.map(|_| Word::RXERR);
                }
            }
            self.damaged[from] = 0;
            self.ends[1 - from].receive(lines);
        }
    }

    pub fn run(&mut self, periods: u32) {
        for _ in 0..periods {
            self.step();
        }
    }

    pub fn states(&self) -> [LinkResetState; 2] {
        [self.ends[0].link.reset_state(), self.ends[1].link.reset_state()]
    }

    pub fn is_up(&self) -> bool {
        self.ends.iter().all(|end| {
            let status = end.lanes.status();
            let aligned = status.alignment == Alignment::BothEndsReady || L == 1;
            end.link.is_initialised() && aligned && status.active.count_ones() as usize == L
        })
    }

    pub fn until_up(&mut self, most: u32) -> u32 {
        for period in 0..most {
            if self.is_up() {
                return period;
            }
            self.step();
        }
        let lanes = |end: usize| {
            self.ends[end].lanes.lanes().each_ref().map(|lane| (lane.state(), *lane.status()))
        };
        panic!(
            "not up after {most} word periods: {:?} {:?} {:?}",
            self.states(),
            (self.ends[0].lanes.status(), lanes(0)),
            (self.ends[1].lanes.status(), lanes(1))
        );
    }

    /// A packet of some words from one end arrives at the other, as the last words to read.
    pub fn packet_passes(&mut self, from: usize, vc: usize, tag: u32) {
        let mut packet: Vec<Word> = (0..200).map(|index| Word::data(tag ^ index)).collect();
        packet.push(EOP);
        let (mut sent, mut got) = (0, Vec::new());
        for _ in 0..5000 {
            sent += self.ends[from].link.write(vc, &packet[sent..]);
            self.step();
            let mut words = [Word::default(); 64];
            let count = self.ends[1 - from].link.read(vc, &mut words);
            got.extend_from_slice(&words[..count]);
            if got.ends_with(&packet) {
                return;
            }
        }
        panic!("a packet from end {from} does not arrive: {sent} words taken, {} came", got.len());
    }
}
