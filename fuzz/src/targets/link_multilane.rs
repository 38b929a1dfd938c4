//! Several lanes: any words in place of those of the far end, any rows, any management. In the end
//! both ends are ready with all lanes.

use arbitrary::Arbitrary;
use crate::link::{AnyWord, quick_lane};
use spfe_link::multilane::{Alignment, MultiLane, MultiLaneConfig};
use spfe_link::{ControlWord, ReceivedRow, Row, Word};

const LANES: usize = 3;

#[derive(Arbitrary, Debug)]
enum Step {
    /// A word on its way to an end is another one.
    Hit(bool, u8, AnyWord),
    Cut(bool, u8),
    Run(u8),
    /// Rows of an end's user from now on.
    Row(bool, AnyWord, bool, u8),
    Lane(bool, u8, [bool; 4]),
    MaxDataSending(u8),
    LinkReset(bool),
}

struct Pair {
    ends: [MultiLane<LANES>; 2],
    cut: [u8; 2],
    hits: Vec<(usize, usize, Word)>,
    rows: [Row<LANES>; 2],
    periods: u32,
}

impl Pair {
    fn step(&mut self) {
        self.periods += 1;
        let mut sent = [[None; LANES]; 2];
        for (end, sent) in sent.iter_mut().enumerate() {
            // An idle frame now and then, as the data link layer has it.
            let sif = Row::Control(ControlWord::Sif { seq: 0, crc: 0 }.sealed());
            let row = if self.periods.is_multiple_of(8) { sif } else { self.rows[end] };
            let (wants, width) = (self.ends[end].wants(), self.ends[end].width());
            assert!(wants == 0 || wants == width && usize::from(width) <= LANES);
            let fits = match row {
                Row::Control(_) => true,
                Row::Data { count, .. } => (1..=wants).contains(&count),
            };
            let (words, taken) = self.ends[end].transmit(Some(&row));
            assert_eq!(taken, wants != 0 && fits);
            *sent = words;
        }
        for end in 0..2 {
            let mut lines = sent[1 - end];
            for (at, lane, word) in &self.hits {
                if *at == end {
                    lines[*lane] = Some(*word);
                }
            }
            for (lane, line) in lines.iter_mut().enumerate() {
                if self.cut[end] >> lane & 1 != 0 {
                    *line = None;
                }
            }
            let up = self.ends[end].receive(lines);
            if let Some(ReceivedRow::Data { count, .. }) = up {
                assert!((1..=LANES).contains(&usize::from(count)));
            }
            let status = self.ends[end].status();
            assert_eq!(status.data_receiving & !status.active, 0);
            assert_eq!(status.data_sending & status.hot_redundant, 0);
            while self.ends[end].take_far_end_capability().is_some() {}
        }
        self.hits.clear();
    }
}

crate::target!(|steps: Vec<Step>| {
    let config = MultiLaneConfig { lane: quick_lane(), ..MultiLaneConfig::new() };
    let idle = Row::Control(Word::data(0));
    let mut pair = Pair {
        ends: [MultiLane::new(&config), MultiLane::new(&config)],
        cut: [0; 2],
        hits: Vec::new(),
        rows: [idle; 2],
        periods: 0,
    };
    for end in &mut pair.ends {
        end.lanes_mut().iter_mut().for_each(|lane| lane.parameters.lane_start = true);
    }
    for _ in 0..200 {
        pair.step();
    }
    for step in steps {
        match step {
            Step::Hit(end, lane, word) => {
                pair.hits.push((usize::from(end), usize::from(lane) % LANES, word.0));
            }
            Step::Cut(end, lane) => pair.cut[usize::from(end)] ^= 1 << (lane % LANES as u8),
            Step::Run(periods) => (0..periods).for_each(|_| pair.step()),
            Step::Row(end, word, data, count) => {
                let words = [word.0; LANES];
                let row = if data { Row::Data { words, count } } else { Row::Control(word.0) };
                pair.rows[usize::from(end)] = row;
            }
            Step::Lane(end, lane, flags) => {
                let lane = usize::from(lane) % LANES;
                if let Some(lane) = pair.ends[usize::from(end)].lane_mut(lane) {
                    let p = &mut lane.parameters;
                    [p.lane_start, p.auto_start, p.tx_en, p.rx_en] = flags;
                }
            }
            Step::MaxDataSending(lanes) => {
                for end in &mut pair.ends {
                    end.parameters.max_data_sending = lanes;
                }
            }
            Step::LinkReset(end) => {
                pair.ends[usize::from(end)].link_reset();
                pair.ends[usize::from(end)].lane_reset();
            }
        }
        pair.step();
    }
    // From wherever they are: as after an Interface Reset of both, but for the lanes' state.
    pair.cut = [0; 2];
    pair.rows = [idle; 2];
    for end in &mut pair.ends {
        end.parameters.max_data_sending = LANES as u8;
        for lane in end.lanes_mut() {
            lane.parameters = spfe_link::lane::LaneParameters::new();
            lane.parameters.lane_start = true;
        }
    }
    for _ in 0..4000 {
        pair.step();
    }
    for end in &pair.ends {
        assert_eq!(end.status().alignment, Alignment::BothEndsReady, "{:?}", end.status());
        assert_eq!(end.status().active, 7);
    }
});
