//! Simulates both ends of a one-lane link and captures every word that they receive.
//!
//! The run starts at power-on, damages the frame of a packet once, and ends when everything is
//! acknowledged.

use crate::packets::words_of;
use spfe_capture::{
    CaptureError, CaptureWriter, InterfaceId, LineWord, RecordBatch, RecordDirection, WordsRecord,
};
use spfe_link::datalink::{self, Buffers, DataLink, LinkBroadcast};
use spfe_link::lane::capability;
use spfe_link::multilane::{self, MultiLane};
use spfe_link::{ControlWord, Word};
use std::collections::BTreeMap;
use std::io::Write;

const PERIOD_PS: u32 = 6400;
const START_PS: u64 = 100_000_000;
const PERIODS: u64 = 3000;
const BATCH: usize = 500;

struct LaneEnd {
    link: DataLink<Vec<Word>, 1, 4>,
    lanes: MultiLane<1>,
}

impl LaneEnd {
    fn new() -> Self {
        let memory = |words| vec![Word::default(); words];
        let buffers = Buffers {
            output: std::array::from_fn(|_| memory(256)),
            input: std::array::from_fn(|_| memory(256)),
            recovery: memory(256),
        };
        let mut lanes = MultiLane::new(&multilane::MultiLaneConfig::new());
        lanes.lane_mut(0).expect("one lane").parameters.lane_start = true;
        let link =
            DataLink::new(datalink::DataLinkConfig::default(), buffers).expect("sizes are right");
        Self { link, lanes }
    }

    fn transmit(&mut self) -> Option<Word> {
        let row = match self.lanes.wants() {
            0 if self.lanes.any_lane_active() => None,
            lanes => self.link.transmit(lanes.into()),
        };
        if self.link.take_lane_reset() {
            self.lanes.lane_reset();
            self.lanes.link_reset();
        }
        self.lanes.set_link_reset_flag(self.link.capability() & capability::LINK_RESET != 0);
        self.lanes.transmit(row.as_ref()).0[0]
    }

    fn receive(&mut self, word: Option<Word>) {
        if let Some(received) = self.lanes.receive([word]) {
            self.link.receive(received);
        }
        if let Some(event) = self.lanes.take_far_end_capability() {
            self.link.far_end_capability(0, event.capability, event.lane_active);
        }
    }
}

/// The name of a control word, or `None` for any other word.
pub fn name(word: Word) -> Option<&'static str> {
    Some(match ControlWord::decode(word)? {
        ControlWord::Skip => "SKIP",
        ControlWord::Idle => "IDLE",
        ControlWord::Init1 => "INIT1",
        ControlWord::Init1Inverted => "iINIT1",
        ControlWord::Init2 => "INIT2",
        ControlWord::Init2Inverted => "iINIT2",
        ControlWord::Init3 { .. } => "INIT3",
        ControlWord::Standby { .. } => "STANDBY",
        ControlWord::LostSignal { .. } => "LOST_SIGNAL",
        ControlWord::Active { .. } => "ACTIVE",
        ControlWord::Align { .. } => "ALIGN",
        ControlWord::Pad => "PAD",
        ControlWord::Sdf { .. } => "SDF",
        ControlWord::Edf { .. } => "EDF",
        ControlWord::Sbf { .. } => "SBF",
        ControlWord::Ebf { .. } => "EBF",
        ControlWord::Sif { .. } => "SIF",
        ControlWord::Fct { .. } => "FCT",
        ControlWord::Ack { .. } => "ACK",
        ControlWord::Nack { .. } => "NACK",
        ControlWord::Full { .. } => "FULL",
        ControlWord::Retry => "RETRY",
        ControlWord::RxErr => "RXERR",
    })
}

/// Runs the link. Returns the number of captured control words by name.
pub fn run<W: Write>(
    capture: &mut CaptureWriter<W>,
    forward: InterfaceId,
    back: InterfaceId,
) -> Result<BTreeMap<&'static str, u32>, CaptureError> {
    let run = WordsRecord {
        words: &[],
        period_ps: PERIOD_PS,
        first: 0,
        lane: 0,
        lanes: 1,
        direction: RecordDirection::Received,
        flags: 0,
    };
    let mut ends = [LaneEnd::new(), LaneEnd::new()];
    let mut batches = [forward, back].map(|id| RecordBatch::new(id, BATCH));
    let mut counts = BTreeMap::new();
    let (mut data_words, mut damaged) = (0, false);
    for period in 0..PERIODS {
        if period == 2200 {
            ends[0].link.write(1, &words_of(b"\xfe\xf0a packet that is sent twice"));
            ends[1].link.send_broadcast(LinkBroadcast {
                channel: 9,
                kind: 2,
                ..LinkBroadcast::default()
            });
        }
        let mut words = [ends[0].transmit(), ends[1].transmit()];
        // Damage the third word of the data frame. The 8B/10B code does not detect this error.
        let in_frame = data_words > 0 || words[0].and_then(name) == Some("SDF");
        data_words += u32::from(in_frame);
        if data_words == 4 && !damaged {
            damaged = true;
            words[0] = words[0].map(|word| Word { bits: word.bits ^ 0x0001_0000, k: word.k });
        }
        let time_ps = START_PS + period * u64::from(PERIOD_PS);
        for ((batch, word), end) in batches.iter_mut().zip(words).zip([1, 0]) {
            batch.push(capture, time_ps, run, LineWord::from(word))?;
            ends[end].receive(word);
            if let Some(name) = word.and_then(name) {
                *counts.entry(name).or_default() += 1;
            }
        }
    }
    for batch in &mut batches {
        batch.flush(capture, run)?;
    }
    let mut out = [Word::default(); 16];
    let count = ends[1].link.read(1, &mut out);
    assert_eq!(&out[..count], words_of(b"\xfe\xf0a packet that is sent twice"), "arrived once");
    Ok(counts)
}
