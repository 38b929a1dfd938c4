//! The data link layer of the core and that of the model with the same inputs: the same rows to the
//! lanes, the same words and broadcast messages to the user, and the same counters.
//!
//! The far end is a model. Rows between the ends are delayed, lost and damaged; lanes fail; links
//! are reset; and parameters of the quality of service change. The core has several cycles for each
//! row here, because its stages work in parallel where the model finishes one row before the next.
//! It decides on a row two rows before it hands it over; the model is asked at the same moment.

use std::collections::VecDeque;

use spfe_link::datalink::{
    Buffers, DataLink, DataLinkConfig, DataLinkParameters, LinkBroadcast, LinkResetState,
};
use spfe_link::qos::QosParameters;
use spfe_link::word::k;
use spfe_link::{ControlWord, ReceivedRow, Row, Word};
use spfe_rtl_sim::{Core, Packer, Unpacker, link, once_in, seeds};

/// Cycles for each row.
const PERIOD: u32 = 12;
/// Cycle of a row in which the user and management act.
const USER: u32 = 6;
/// Words that a channel may have written and the far end not received; far less than a buffer of
/// the core, so that it never waits for room. That is where core and model differ by intention.
const OUTSTANDING: u64 = 900;

const INPUT_WORDS: usize = 512;

type Link<const L: usize, const V: usize> = DataLink<Vec<Word>, L, V>;

fn config(lanes: usize) -> DataLinkConfig {
    DataLinkConfig {
        fct_multiplier: lanes as u8,
        segment_multiplier: lanes as u8,
        link_reset_retry_words: 0,
        ..DataLinkConfig::default()
    }
}

fn new_link<const L: usize, const V: usize>() -> Link<L, V> {
    let buffers = Buffers {
        output: std::array::from_fn(|_| vec![Word::default(); 8192]),
        input: std::array::from_fn(|_| vec![Word::default(); INPUT_WORDS]),
        recovery: vec![Word::default(); 1 << 17],
    };
    DataLink::new(config(L), buffers).expect("is valid")
}

/// Inputs of the core in a cycle.
struct Inputs<const L: usize, const V: usize> {
    rst: bool,
    link_reset: bool,
    interface_reset: bool,
    parameters: DataLinkParameters,
    slot: u8,
    qos: [QosParameters; V],
    tx: [(Vec<Word>, bool); V],
    rx_ready: [bool; V],
    broadcast: Option<LinkBroadcast>,
    broadcast_ready: bool,
    row_ready: bool,
    width: usize,
    row: Option<ReceivedRow<L>>,
    far: Option<u8>,
}

fn bits_of_count(lanes: usize) -> usize {
    (usize::BITS - lanes.leading_zeros()) as usize
}

impl<const L: usize, const V: usize> Inputs<L, V> {
    fn pack(&self, bits: &mut Packer) {
        let count_bits = bits_of_count(L);
        bits.clear();
        // any_active, far, far_valid
        bits.flag(false);
        for _lane in 0..L {
            bits.put(self.far.unwrap_or(0).into(), 8);
        }
        for _lane in 0..L {
            bits.flag(self.far.is_some());
        }
        let mut words = [Word::default(); L];
        let (kind, count, good) = match self.row {
            None => (0, 0, false),
            Some(ReceivedRow::Control { word, crc16_good }) => {
                words[0] = word;
                (1, 1, crc16_good)
            }
            Some(ReceivedRow::Data { words: data, count }) => {
                words = data;
                (4, count, false)
            }
            Some(ReceivedRow::RxErr) => (5, 0, false),
        };
        bits.flag(good).put(count.into(), count_bits);
        for word in words {
            bits.word(word);
        }
        bits.put(kind, 3).put(self.width as u64, count_bits);
        bits.flag(self.row_ready).flag(self.broadcast_ready).flag(self.broadcast.is_some());
        link::put_broadcast(bits, &self.broadcast.unwrap_or_default());
        for ready in self.rx_ready {
            bits.flag(ready);
        }
        for (_, valid) in &self.tx {
            bits.flag(*valid);
        }
        for (words, _) in &self.tx {
            bits.put(words.len() as u64, count_bits);
        }
        for (words, _) in &self.tx {
            for lane in 0..L {
                bits.word(words.get(lane).copied().unwrap_or_default());
            }
        }
        link::put_channels(bits, &self.parameters, &self.qos);
        let Self { link_reset, interface_reset, .. } = *self;
        let commands = link::Commands { link_reset, interface_reset };
        link::put_parameters(bits, &self.parameters, self.slot, commands);
        bits.flag(self.rst);
    }
}

/// Events that the core reports, in the order of `link_event_t` from its end.
const EVENTS: [&str; 28] = [
    "got idle",
    "got retry",
    "got full",
    "got nack",
    "got ack",
    "got fct",
    "got broadcast",
    "got frame",
    "sent idle",
    "sent retry",
    "sent full",
    "sent nack",
    "sent ack",
    "sent fct",
    "sent broadcast",
    "sent frame",
    "ram failed",
    "ram corrected",
    "broadcast dropped",
    "recovery",
    "far end reset",
    "input overflow",
    "protocol error",
    "sequence error",
    "frame error",
    "crc8 error",
    "crc16 error",
    "rxerr",
];

/// Outputs of the core in a cycle.
#[derive(Default)]
struct Outputs {
    capability: u8,
    link_reset: bool,
    lane_reset: bool,
    row: Option<(u64, Vec<Word>)>,
    /// The message, and whether some before it were dropped.
    broadcast: Option<(LinkBroadcast, bool)>,
    broadcast_ready: bool,
    rx: Vec<Option<Vec<Word>>>,
    tx_ready: Vec<bool>,
    has_credit: u32,
    over_use: u32,
    overflow: u32,
    events: u64,
    empty: bool,
    state: u8,
}

fn unpack(words: &[u32], lanes: usize, channels: usize) -> Outputs {
    let count_bits = bits_of_count(lanes);
    let mut bits = Unpacker::new(words);
    let mut out = Outputs {
        capability: bits.get(8) as u8,
        link_reset: bits.flag(),
        lane_reset: bits.flag(),
        ..Outputs::default()
    };
    let count = bits.get(count_bits) as usize;
    let mut row: Vec<Word> = (0..lanes).map(|_| bits.word()).collect();
    let kind = bits.get(3);
    row.truncate(if kind == 4 { count } else { 1 });
    out.row = (kind != 0).then_some((kind, row));
    let valid = bits.flag();
    let message = link::get_broadcast(&mut bits);
    out.broadcast = valid.then_some(message);
    out.broadcast_ready = bits.flag();
    let valid: Vec<bool> = (0..channels).map(|_| bits.flag()).collect();
    let counts: Vec<usize> = (0..channels).map(|_| bits.get(count_bits) as usize).collect();
    for (valid, count) in valid.into_iter().zip(counts) {
        let mut beat: Vec<Word> = (0..lanes).map(|_| bits.word()).collect();
        beat.truncate(count);
        out.rx.push(valid.then_some(beat));
    }
    out.tx_ready = (0..channels).map(|_| bits.flag()).collect();
    for vc in 0..channels {
        let _input_overflow = bits.flag();
        out.overflow |= (bits.get(1) as u32) << vc;
        out.over_use |= (bits.get(1) as u32) << vc;
        let _under_use = bits.flag();
        out.has_credit |= (bits.get(1) as u32) << vc;
    }
    out.events = bits.get(EVENTS.len());
    let _broadcast_credit = bits.get(9);
    out.empty = bits.flag();
    out.state = bits.get(2) as u8;
    out
}

/// The counters of the model in the order of the events of the core.
fn counters<const L: usize, const V: usize>(link: &Link<L, V>) -> [u64; EVENTS.len()] {
    let status = link.status();
    let (sent, got, errors) = (status.sent, status.received, status.errors);
    [
        got.idle_frames,
        got.retries,
        got.fulls,
        got.nacks,
        got.acks,
        got.fcts,
        got.broadcast_frames,
        got.data_frames,
        sent.idle_frames,
        sent.retries,
        sent.fulls,
        sent.nacks,
        sent.acks,
        sent.fcts,
        sent.broadcast_frames,
        sent.data_frames,
        0,
        0,
        status.broadcasts_dropped,
        status.error_recovery_attempts,
        errors.far_end_link_reset,
        errors.input_buffer_overflow,
        errors.protocol,
        errors.sequence,
        errors.frame,
        errors.crc8,
        errors.crc16,
        errors.rxerr,
    ]
}

/// Rows on their way from one end to the other.
struct Line<const L: usize> {
    rows: VecDeque<Option<ReceivedRow<L>>>,
    /// A word of the data frame in progress was changed.
    bad: bool,
}

impl<const L: usize> Line<L> {
    fn new(delay: usize) -> Self {
        Self { rows: VecDeque::from(vec![None; delay]), bad: false }
    }

    /// Lanes were lost: so are all rows, and the receiver notices.
    fn cut(&mut self, delay: usize) {
        self.rows = VecDeque::from(vec![None; delay]);
        self.rows.push_front(Some(ReceivedRow::RxErr));
        self.bad = false;
    }

    fn push(&mut self, row: Option<Row<L>>, errors: u32, rng: &mut fastrand::Rng) {
        let mut damaged = errors != 0 && once_in(rng, errors);
        let flip = 1 << rng.u32(..32);
        let row = row.map(|row| match row {
            _ if damaged && rng.bool() => {
                self.bad = false;
                ReceivedRow::RxErr
            }
            Row::Control(mut word) => {
                let name = (word.k == 1).then(|| ControlWord::decode(word)).flatten();
                if let Some(ControlWord::Sdf { .. }) = name {
                    self.bad = false;
                }
                // Nobody computes the CRC of an EDF here.
                let edf = matches!(name, Some(ControlWord::Edf { .. }));
                let mut crc16_good = !(edf && self.bad);
                if std::mem::take(&mut damaged) {
                    word.bits ^= flip;
                    crc16_good &= !edf;
                    self.bad |= matches!(name, Some(ControlWord::Sdf { .. })) || word.k == 0;
                    if rng.u8(..4) == 0 {
                        word.k ^= 1 << rng.u8(..4);
                        self.bad = true;
                    }
                    if word.k != 0 && word.is_n_chars() && word.symbol(0) != k::COMMA {
                        self.bad = true;
                    }
                }
                ReceivedRow::Control { word, crc16_good }
            }
            Row::Data { mut words, count } => {
                if std::mem::take(&mut damaged) {
                    words[rng.usize(..usize::from(count))].bits ^= flip;
                    self.bad = true;
                }
                ReceivedRow::Data { words, count }
            }
        });
        self.rows.push_back(row);
    }

    fn pop(&mut self) -> Option<ReceivedRow<L>> {
        self.rows.pop_front().flatten()
    }
}

struct Rig<const L: usize, const V: usize> {
    seed: u64,
    rng: fastrand::Rng,
    core: Core,
    packer: Packer,
    inputs: Inputs<L, V>,
    model: Link<L, V>,
    far: Link<L, V>,
    /// From the core to the far end, and back.
    lines: [Line<L>; 2],
    delay: usize,
    errors: u32,
    /// Rows until the lanes are active again.
    down: u32,
    /// Stages of the core behind its decision.
    stages: [Option<Row<L>>; 2],
    /// Channel of the data frame in progress.
    segment: Option<u8>,
    /// Events of the core so far.
    events: [u64; EVENTS.len()],
    /// And before the counters of the model started again.
    total: [u64; EVENTS.len()],
    over_use: u32,
    written: [u64; V],
    /// The user of the core has read the start of a packet and not its end.
    open: [bool; V],
    activity: [u32; 3],
    rows: u64,
    words: u64,
    messages: u64,
    /// LaneReset of the core: whether it is on, and how often it began.
    lane_reset: (bool, u32),
    /// Messages that the model has received, and dropped.
    heard: [u64; 2],
    /// The last one was dropped.
    lost: bool,
    /// Whether some were dropped before each message that waits.
    lost_before: VecDeque<bool>,
}

impl<const L: usize, const V: usize> Rig<L, V> {
    fn new(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let delay = rng.usize(2..60);
        let qos = |vc: usize| QosParameters {
            priority: 15,
            expected_bandwidth: if vc == 0 { 6554 } else { 256 },
            time_slots: u64::MAX,
        };
        Self {
            seed,
            core: Core::new("spfe_sim_link", &[("Lanes", L), ("Vcs", V)], seed),
            packer: Packer::default(),
            inputs: Inputs {
                rst: true,
                link_reset: false,
                interface_reset: false,
                parameters: DataLinkParameters::default(),
                slot: 0,
                qos: std::array::from_fn(qos),
                tx: std::array::from_fn(|_| (Vec::new(), false)),
                rx_ready: [false; V],
                broadcast: None,
                broadcast_ready: false,
                row_ready: false,
                width: 0,
                row: None,
                far: None,
            },
            model: new_link(),
            far: new_link(),
            lines: [Line::new(delay), Line::new(delay)],
            delay,
            errors: 0,
            down: 10,
            stages: [None, None],
            segment: None,
            events: [0; EVENTS.len()],
            total: [0; EVENTS.len()],
            over_use: 0,
            written: [0; V],
            open: [false; V],
            activity: [50; 3],
            rows: 0,
            words: 0,
            messages: 0,
            lane_reset: (false, 0),
            heard: [0; 2],
            lost: false,
            lost_before: VecDeque::new(),
            rng,
        }
    }

    fn at(&self) -> String {
        format!("seed {} cycle {} row {}", self.seed, self.core.cycles(), self.rows)
    }

    /// A cycle of the core. Its decisions and the rows that it hands over are compared.
    fn cycle(&mut self) -> Outputs {
        self.inputs.pack(&mut self.packer);
        let out = unpack(self.core.step(self.packer.words()), L, V);
        if self.inputs.rst {
            return out;
        }
        for (event, count) in self.events.iter_mut().enumerate() {
            *count += out.events >> event & 1;
        }
        self.lane_reset.1 += u32::from(out.lane_reset && !self.lane_reset.0);
        self.lane_reset.0 = out.lane_reset;
        self.over_use |= out.over_use;
        assert_eq!(out.overflow, 0, "{}: FCT credit overflow", self.at());

        let (row, wide) = self.row_out();
        if !is_late_only(&out.row, &row) {
            assert_eq!(out.row, row, "{}: row to the lanes", self.at());
        }
        let ready = self.inputs.row_ready;
        if wide {
            // Lanes failed after the decision: the row becomes several.
            if ready && let Some(Row::Data { words, count }) = &mut self.stages[1] {
                words.rotate_left(self.inputs.width);
                *count -= self.inputs.width as u8;
            }
        } else if ready || row.is_none() {
            self.stages[1] = self.stages[0].take();
            if out.state == LinkResetState::LinkInitialised as u8 && self.inputs.width != 0 {
                self.stages[0] = self.model.transmit(self.inputs.width);
                self.note_segment();
            }
        }
        if out.link_reset {
            self.stages = [None, None];
        }
        out
    }

    /// Notes the channel of the data frame in progress.
    fn note_segment(&mut self) {
        if let Some(Row::Control(word)) = self.stages[0] {
            match ControlWord::decode(word) {
                Some(ControlWord::Sdf { vc }) => self.segment = Some(vc),
                Some(ControlWord::Edf { .. } | ControlWord::Retry) => self.segment = None,
                _ => {}
            }
        }
    }

    /// The row that the core has to show, and whether it shows only a part of its words.
    fn row_out(&self) -> (Option<(u64, Vec<Word>)>, bool) {
        match self.stages[1] {
            None => (None, false),
            Some(Row::Control(word)) => {
                let kind = match (word.k, word.bits & 0xffff) {
                    (1, 0x50fc) => 2,
                    (1, low) if low as u8 == k::EDF => 3,
                    _ => 1,
                };
                (Some((kind, vec![word])), false)
            }
            Some(Row::Data { words, count }) => {
                let shown = usize::from(count).min(self.inputs.width);
                (Some((4, words[..shown].to_vec())), shown < usize::from(count))
            }
        }
    }

    /// A row in each direction.
    fn period(&mut self) {
        let arrives = self.lines[1].pop();
        self.inputs.row = arrives;
        if let Some(row) = arrives {
            self.model.receive(row);
            self.follow_lost();
        }
        if self.down == 1 {
            // INIT3 of both ends.
            self.inputs.far = Some(self.far.capability());
            let capability = self.model.capability();
            for lane in 0..L as u8 {
                self.model.far_end_capability(lane, self.far.capability(), false);
            }
            for lane in 0..L as u8 {
                self.far.far_end_capability(lane, capability, false);
            }
        }
        // The core is reset before the users act, the model at the end of this row.
        let resets = self.model.reset_state() == LinkResetState::NearEndReset;
        let takes = self.inputs.width != 0 && self.rng.u32(..100) < self.activity[2];
        let mut sent = None;
        for cycle in 0..PERIOD {
            if cycle == USER && !resets {
                self.before_user();
            }
            self.inputs.row_ready = takes && cycle == PERIOD - 1;
            if self.inputs.row_ready {
                sent = self.sent_row();
            }
            let out = self.cycle();
            match cycle {
                USER if !resets => self.user(out),
                _ if cycle == PERIOD - 1 => self.compare(&out),
                _ => {}
            }
            self.inputs.row = None;
            self.inputs.far = None;
        }
        self.rows += u64::from(takes);
        self.lines[0].push(sent, self.errors, &mut self.rng);
        if let Some(row) = self.lines[0].pop() {
            self.far.receive(row);
        }
        self.far_end();
        self.lanes();
    }

    /// The row that the core hands over in this cycle.
    fn sent_row(&self) -> Option<Row<L>> {
        let mut row = self.stages[1];
        if let Some(Row::Data { count, .. }) = &mut row {
            *count = (*count).min(self.inputs.width as u8);
        }
        row
    }

    /// Decides what the users and management do in the next cycle.
    fn before_user(&mut self) {
        let rng = &mut self.rng;
        for vc in 0..V {
            let outstanding = self.written[vc] - self.far.received_words(vc).min(self.written[vc]);
            let writes = outstanding < OUTSTANDING && rng.u32(..100) < self.activity[0];
            let words = (0..rng.usize(1..=L)).map(|_| user_word(rng)).collect();
            self.inputs.tx[vc] = (words, writes);
            self.inputs.rx_ready[vc] = rng.u32(..100) < self.activity[1];
        }
        self.inputs.broadcast = once_in(rng, 30).then(|| LinkBroadcast {
            channel: rng.u8(..),
            kind: rng.u8(..),
            data: rng.u64(..).to_le_bytes(),
            late: rng.bool(),
            delayed: rng.bool(),
        });
        // A slow user loses messages.
        self.inputs.broadcast_ready = self.activity[1] > 10 && rng.u32(..100) < 20;
        self.inputs.link_reset = once_in(rng, 6000);
        // The core adds up the price of a segment row by row, the model at its end.
        let vc = rng.usize(..V);
        if once_in(rng, 300) && self.segment != Some(vc as u8) {
            self.inputs.qos[vc] = QosParameters {
                priority: rng.u8(..16),
                expected_bandwidth: *rng
                    .choice(&[0, 1, 256, 6554, 30000, 65535])
                    .expect("not empty"),
                time_slots: if rng.bool() { u64::MAX } else { rng.u64(..) },
            };
            self.model.set_qos_parameters(vc, self.inputs.qos[vc]);
        }
        if once_in(rng, 200) {
            self.inputs.slot = rng.u8(..64);
            self.model.schedule(self.inputs.slot);
        }
        if once_in(rng, 1000) {
            for activity in &mut self.activity {
                *activity = *rng.choice(&[100, 100, 80, 50, 10]).expect("not empty");
            }
            self.errors = *rng.choice(&[0, 0, 1000, 200, 40]).expect("not empty");
        }
        if once_in(rng, 2000) {
            self.inputs.parameters.continuous_mode = if rng.bool() { 0 } else { rng.u32(..1 << V) };
            self.inputs.parameters.data_scrambled = rng.bool();
            self.model.set_parameters(self.inputs.parameters);
        }
    }

    /// The users of the model do what those of the core have just done.
    fn user(&mut self, out: Outputs) {
        let at = self.at();
        for (vc, beat) in out.rx.iter().enumerate() {
            let there = self.model.readable(vc);
            assert_eq!(beat.is_some(), there != 0, "{at}: channel {vc} has {there} words");
            if let (Some(beat), true) = (beat, self.inputs.rx_ready[vc]) {
                let mut words = vec![Word::default(); beat.len()];
                assert_eq!(self.model.read(vc, &mut words), words.len(), "{at}: channel {vc}");
                assert_eq!(*beat, words, "{at}: words of channel {vc}");
                self.words += words.len() as u64;
                self.open[vc] = !is_end(*words.last().expect("is not empty"));
            }
            let (words, valid) = std::mem::take(&mut self.inputs.tx[vc]);
            if valid {
                assert!(out.tx_ready[vc], "{at}: channel {vc} takes no words");
                assert_eq!(self.model.write(vc, &words), words.len(), "{at}: channel {vc}");
                // Less arrives if words are dropped.
                self.written[vc] += words.len() as u64;
            }
        }
        self.inputs.rx_ready = [false; V];
        if let (Some((message, lost)), true) = (out.broadcast, self.inputs.broadcast_ready) {
            assert_eq!(Some(message), self.model.receive_broadcast(), "{at}: broadcast message");
            assert_eq!(Some(lost), self.lost_before.pop_front(), "{at}: dropped before a message");
            self.messages += 1;
        } else if out.broadcast.is_none() {
            assert_eq!(None, self.model.receive_broadcast(), "{at}: broadcast message");
        }
        self.inputs.broadcast_ready = false;
        if let Some(message) = self.inputs.broadcast.take() {
            let taken = self.model.send_broadcast(message);
            assert_eq!(out.broadcast_ready, taken, "{at}: a broadcast message is taken");
        }
        if std::mem::take(&mut self.inputs.link_reset) {
            self.model.link_reset();
        }
    }

    /// Notes of each message that the model has received whether it dropped some before it.
    fn follow_lost(&mut self) {
        let status = self.model.status();
        let counts = [status.received.broadcast_frames, status.broadcasts_dropped];
        if counts[0] != self.heard[0] {
            let dropped = counts[1] != self.heard[1];
            if !dropped {
                self.lost_before.push_back(self.lost);
            }
            self.lost = dropped;
            self.heard = counts;
        }
    }

    /// Compares what has settled at the end of a row.
    fn compare(&mut self, out: &Outputs) {
        let at = self.at();
        if self.model.is_initialised() {
            assert_eq!(out.state, self.model.reset_state() as u8, "{at}: state");
            assert_eq!(out.capability, self.model.capability(), "{at}: capability");
        }
        // A row that is decided on in this cycle takes credit behind it.
        if self.model.is_initialised() && !self.inputs.row_ready {
            assert_eq!(
                out.has_credit,
                self.model.status().has_credit,
                "{at}: channels with credit"
            );
        }
        for (event, model) in counters(&self.model).into_iter().enumerate() {
            // The row of this cycle is not counted yet.
            let (count, name) = (self.events[event], EVENTS[event]);
            assert_eq!(count, model, "{at}: number of events {name:?}");
        }
        let over_use = self.model.qos().status().bandwidth_over_use;
        assert_eq!(self.over_use & !over_use, 0, "{at}: bandwidth over-use");
    }

    /// The users of the far end, and its row.
    fn far_end(&mut self) {
        let rng = &mut self.rng;
        for vc in 0..V {
            let mut words = [Word::default(); 64];
            if rng.u32(..100) < self.activity[1] {
                self.far.read(vc, &mut words[..rng.usize(1..64)]);
            }
            if rng.u32(..100) < self.activity[0] {
                self.far.write(vc, &[user_word(rng)]);
            }
        }
        if once_in(rng, 40) {
            self.far.send_broadcast(LinkBroadcast {
                data: rng.u64(..).to_le_bytes(),
                ..LinkBroadcast::default()
            });
        }
        while self.far.receive_broadcast().is_some() {}
        if once_in(rng, 6000) {
            self.far.link_reset();
        }
        let row = self.far.transmit(self.inputs.width);
        self.lines[1].push(row, self.errors, rng);
    }

    /// Performs a link reset of the model; returns whether it resets the lanes. What takes it several
    /// word periods without a row is done in one here.
    fn reset_model(&mut self) -> bool {
        let mut reset = false;
        while !self.model.is_initialised() {
            let before = self.model.reset_state();
            self.model.transmit(self.inputs.width);
            let lanes = self.model.take_lane_reset();
            reset |= lanes;
            if self.model.reset_state() == before && !lanes {
                break;
            }
        }
        reset
    }

    /// The core has sent LaneReset once since the last comparison if the model has, which says so
    /// word period by word period. How many cycles it lasts does not matter to a lane.
    fn compare_lane_reset(&mut self, model: bool) {
        let count = std::mem::take(&mut self.lane_reset.1);
        assert_eq!(count, u32::from(model), "{}: LaneReset", self.at());
    }

    /// Lanes fail, and come up again.
    fn lanes(&mut self) {
        let mut reset = self.reset_model();
        self.compare_lane_reset(reset);
        reset |= self.far.take_lane_reset();
        let rng = &mut self.rng;
        if reset || self.inputs.width != 0 && once_in(rng, 3000) {
            self.inputs.width = 0;
            self.down = rng.u32(10..60);
            self.delay = rng.usize(2..60);
            self.lines.iter_mut().for_each(|line| line.cut(self.delay));
        }
        if reset {
            self.settle();
        }
        if self.inputs.width == 0 {
            if self.model.is_initialised() {
                self.model.transmit(0);
            }
            self.down = self.down.saturating_sub(1);
            if self.down == 0 {
                self.inputs.width = self.rng.usize(1..=L);
            }
        }
    }

    /// Sets the bandwidth credits to 0. The core adds the rows of an update with the last of them, so
    /// when a link reset comes just then, it has counted up to 66 rows that the model forgets.
    fn interface_reset(&mut self) {
        self.inputs.interface_reset = true;
        self.cycle();
        self.inputs.interface_reset = false;
        self.model.interface_reset();
        self.heard = [0; 2];
        self.model.set_parameters(self.inputs.parameters);
        for (vc, qos) in self.inputs.qos.iter().enumerate() {
            self.model.set_qos_parameters(vc, *qos);
        }
        self.model.schedule(self.inputs.slot);
        let reset = self.reset_model();
        for _cycle in 0..PERIOD {
            self.cycle();
        }
        self.compare_lane_reset(reset);
        // The counters of the model start again.
        self.forget_events();
        self.over_use = 0;
    }

    fn forget_events(&mut self) {
        for (total, count) in self.total.iter_mut().zip(&mut self.events) {
            *total += std::mem::take(count);
        }
    }

    /// After a link reset: a beat that the user of the core has not taken yet stays, and an EEP
    /// follows if the packet is not complete. The model drops such words.
    fn settle(&mut self) {
        if self.model.is_initialised() {
            return;
        }
        for vc in 0..V {
            self.written[vc] = self.far.received_words(vc);
        }
        self.inputs.rx_ready = [true; V];
        for _cycle in 0..PERIOD {
            let out = self.cycle();
            for (vc, beat) in out.rx.iter().enumerate() {
                if let Some(last) = beat.as_ref().and_then(|beat| beat.last()) {
                    self.open[vc] = !is_end(*last);
                }
            }
        }
        self.inputs.rx_ready = [false; V];
        assert_eq!(self.open, [false; V], "{}: an open packet has no EEP", self.at());
        for vc in 0..V {
            let mut word = [Word::default(); 2];
            assert!(self.model.read(vc, &mut word) <= 1);
        }
        self.interface_reset();
    }
}

/// Whether the rows are EBFs that differ in LATE, and so in their CRC, and the core sets it. A message
/// that comes while the link recovers also makes those LATE that wait before it.
fn is_late_only(core: &Option<(u64, Vec<Word>)>, model: &Option<(u64, Vec<Word>)>) -> bool {
    const LATE: u32 = 1 << 8;
    let ebf = |row: &Option<(u64, Vec<Word>)>| match row.as_ref()?.1[..] {
        [word] if word.k == 1 && word.symbol(0) == k::EBF => Some(word.bits),
        _ => None,
    };
    ebf(core).zip(ebf(model)).is_some_and(|(core, model)| {
        core & LATE != 0 && model & LATE == 0 && (core ^ model) & 0x00ff_ffff == LATE
    })
}

fn is_end(word: Word) -> bool {
    (0..4).any(|symbol| word.is_k(symbol) && matches!(word.symbol(symbol), k::EOP | k::EEP))
}

/// A word from a user: mostly data, sometimes an end marker, rarely nonsense.
fn user_word(rng: &mut fastrand::Rng) -> Word {
    let data = rng.u32(..);
    match rng.u8(..60) {
        0 | 1 => Word::from_symbols([data as u8, k::EOP, k::FILL, k::FILL], 0b1110),
        2 => Word::from_symbols([k::EOP, k::FILL, k::FILL, k::FILL], 0b1111),
        3 if rng.u8(..8) == 0 => Word { bits: data, k: rng.u8(..16) },
        _ => Word::data(data),
    }
}

/// Returns the number of events.
fn run<const L: usize, const V: usize>(seed: u64, rows: u64) -> [u64; EVENTS.len()] {
    let mut rig = Rig::<L, V>::new(seed);
    for _cycle in 0..4 {
        rig.cycle();
    }
    rig.inputs.rst = false;
    let reset = rig.reset_model();
    for _cycle in 0..PERIOD {
        rig.cycle();
    }
    rig.compare_lane_reset(reset);
    while rig.rows < rows {
        rig.period();
    }
    rig.forget_events();
    assert!(
        rig.words > rows / 20 && rig.messages > 50,
        "seed {seed}: {} words, {} messages",
        rig.words,
        rig.messages
    );
    rig.total
}

/// Runs several seeds, in which everything has to happen that may happen.
fn run_all<const L: usize, const V: usize>() {
    let mut total = [0; EVENTS.len()];
    for seed in seeds(2) {
        for (total, count) in total.iter_mut().zip(run::<L, V>(seed, 30_000)) {
            *total += count;
        }
    }
    let never = ["ram failed", "ram corrected", "input overflow", "protocol error"];
    for (name, count) in EVENTS.iter().zip(total) {
        let is_ok = count != 0 || never.contains(name) || std::env::var_os("RTL_SEED").is_some();
        assert!(is_ok, "the event {name:?} never happened");
    }
}

#[test]
fn link_of_one_lane_in_lock_step() {
    run_all::<1, 4>();
}

#[test]
fn link_of_three_lanes_in_lock_step() {
    run_all::<3, 2>();
}
