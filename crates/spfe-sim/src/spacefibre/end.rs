//! One end of a SpaceFibre link: data link layer, multi-lane layer, lanes and 8b/10b code.

use super::config::{SpaceFibreConfig, SpaceFibreConfigError, SpaceFibreEndConfig};
use crate::fault::EndCommand;
use crate::link::{self, EndCounters};
use crate::wire::SILENCE;
use spfe_link::code::bits_of;
use spfe_link::datalink::{self, Buffers, DataLink, LinkBroadcast, Store, capability};
use spfe_link::lane::{ElasticBuffer, LaneCoder, LaneState};
use spfe_link::mib::{self, LinkMib};
use spfe_link::multilane::{self, MultiLane};
use spfe_link::row::ReceivedRow;
use spfe_link::spacewire::BroadcastCode;
use spfe_link::word::Word;
use spfe_link::{lane, qos};

/// Virtual channels that the data link layer has room for.
const CHANNELS: usize = super::config::CHANNELS_MAX as usize;

/// One end of a link with capacity for `L` lanes: what our side of a link is, and what a program
/// that acts as a foreign end may use. Call [`SpaceFibreEnd::transmit`], then
/// [`SpaceFibreEnd::receive`] in each word period; packets go through
/// [`SimulatedEnd`](link::SimulatedEnd).
pub struct SpaceFibreEnd<const L: usize> {
    /// The data link layer.
    pub data_link: DataLink<GrowingWords, L, CHANNELS>,
    /// The multi-lane layer with its lanes.
    pub lanes: MultiLane<L>,
    /// Number of lanes in use; the others stay in reset.
    pub(super) count: usize,
    pub(super) coded: [LaneCoder; L],
    pub(super) elastic: Option<Box<[LaneLine; L]>>,
    /// INIT3 announces that this end is being reset.
    pub(super) says_reset: bool,
    /// Commands that [`super::watch`] has not reported yet.
    pub(super) commands: Vec<EndCommand>,
    /// A parameter was changed. The link has to run one more period to apply it.
    pub(super) touched: bool,
    node: mib::NodeRegisters<CHANNELS>,
}

/// A lane's elastic buffer, and whether there is a signal.
#[derive(Clone, Default)]
pub(super) struct LaneLine {
    pub elastic: ElasticBuffer,
    pub signal: bool,
}

/// Memory of a buffer, which grows as far as traffic needs it: most buffers of a network hold few
/// words or none.
pub struct GrowingWords {
    words: Vec<Word>,
    capacity: usize,
}

impl Store for GrowingWords {
    #[inline(always)]
    fn words(&self) -> &[Word] {
        &self.words
    }

    #[inline(always)]
    fn words_mut(&mut self) -> &mut [Word] {
        &mut self.words
    }

    #[inline(always)]
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn grow(&mut self, words: usize) {
        self.words.resize(words.max(self.words.len()), Word::default());
    }
}

impl<const L: usize> SpaceFibreEnd<L> {
    /// One end of a configured link. `round_trip` is in word periods and sizes the buffers;
    /// `locked`: the far end has the same clock.
    ///
    /// # Errors
    /// A value of the data link layer is out of range.
    pub fn new(
        config: &SpaceFibreConfig,
        end: &SpaceFibreEndConfig,
        round_trip: usize,
        locked: bool,
    ) -> Result<Self, SpaceFibreConfigError> {
        let sizes = config.words(round_trip);
        let channels = usize::from(config.channels);
        let buffer = |size: usize, channel: usize| GrowingWords {
            words: vec![],
            capacity: if channel < channels { size } else { 0 },
        };
        let buffers = Buffers {
            output: core::array::from_fn(|channel| buffer(sizes.output, channel)),
            input: core::array::from_fn(|channel| buffer(sizes.input, channel)),
            recovery: GrowingWords { words: vec![], capacity: sizes.recovery },
        };
        let mut data_link = DataLink::new(config.data_link(end), buffers)
            .map_err(SpaceFibreConfigError::DataLink)?;
        data_link.set_parameters(datalink::DataLinkParameters {
            data_scrambled: config.scrambled,
            expected_broadcast_bandwidth: end.broadcast_bandwidth,
            continuous_mode: end.continuous_mode,
        });
        let lane = lane::LaneConfig {
            word_rate_hz: u64::from(config.mbps) * 25_000,
            inverts_words: false,
            ..lane::LaneConfig::new()
        };
        let settings = multilane::MultiLaneConfig {
            lane,
            data_scrambled: config.scrambled,
            routing_switch: end.routing_switch,
            ..multilane::MultiLaneConfig::new()
        };
        let mut lanes = MultiLane::new(&settings.with_interop(config.interop));
        lanes.parameters.max_data_sending = config.max_data_sending;
        for (index, lane) in lanes.lanes_mut().iter_mut().enumerate() {
            let there = index < usize::from(config.lanes);
            lane.parameters.lane_reset = !there;
            lane.parameters.lane_start = end.lane_start;
            lane.parameters.auto_start = end.auto_start;
            lane.parameters.tx_en = there && end.tx_en >> index & 1 != 0;
            lane.parameters.rx_en = there && end.rx_en >> index & 1 != 0;
        }
        lanes.set_link_reset_flag(true);
        let elastic = (!locked).then(|| Box::new(core::array::from_fn(|_| LaneLine::default())));
        Ok(Self {
            data_link,
            lanes,
            count: usize::from(config.lanes),
            coded: [LaneCoder::new(); L],
            elastic,
            says_reset: true,
            commands: vec![],
            touched: false,
            node: mib::NodeRegisters::new(),
        })
    }

    /// Runs the transmitter for one word period. Returns the 40 bits for each wire.
    pub fn transmit(&mut self) -> [u64; L] {
        self.transmit_groups().map(bits_of)
    }

    /// Does the same, and returns line groups.
    #[inline(always)]
    pub(super) fn transmit_groups(&mut self) -> [u64; L] {
        let words = self.send();
        let mut groups = [SILENCE; L];
        for ((coded, word), group) in self.coded.iter_mut().zip(words).zip(&mut groups) {
            *group = coded.transmit_group(word).unwrap_or(SILENCE);
        }
        groups
    }

    /// Words for the lines in the next word period.
    #[inline(always)]
    pub(super) fn send(&mut self) -> [Option<Word>; L] {
        if self.data_link.take_lane_reset() {
            self.lanes.lane_reset();
            self.lanes.link_reset();
        }
        let wants = self.lanes.wants();
        let row = if wants != 0 {
            self.data_link.transmit(usize::from(wants))
        } else {
            if self.lanes.width() == 0 {
                self.data_link.transmit(0);
            }
            None
        };
        self.lanes.transmit(row.as_ref()).0
    }

    /// Runs the receiver for one word period on groups from the wires.
    #[inline(always)]
    pub fn receive(&mut self, groups: &[u64; L]) {
        let mut words = [None; L];
        let lanes = self.lanes.lanes_for_coders();
        for (((coded, lane), group), word) in
            self.coded.iter_mut().zip(lanes).zip(groups).zip(&mut words)
        {
            *word = coded.receive(lane, (*group != SILENCE).then_some(*group));
        }
        self.take(words);
    }

    /// Puts a group from a wire into the elastic buffer of its lane, by the clock of the far end.
    pub fn arrive(&mut self, lane: usize, group: u64) {
        let Some(line) = self.elastic.as_mut().and_then(|lines| lines.get_mut(lane)) else {
            return;
        };
        let line_group = (group != SILENCE).then_some(group);
        let word = self.coded[lane].receive(&mut self.lanes.lanes_for_coders()[lane], line_group);
        match word {
            Some(word) => {
                if !line.signal {
                    *line = LaneLine { elastic: ElasticBuffer::new(), signal: true };
                }
                line.elastic.write(word);
            }
            None => line.signal = false,
        }
    }

    /// Runs the receiver for one word period on groups from the elastic buffers.
    pub fn receive_elastic(&mut self) {
        let mut words = [None; L];
        if let Some(lines) = &mut self.elastic {
            for (line, word) in lines.iter_mut().zip(&mut words) {
                *word = line.signal.then(|| line.elastic.read());
            }
        }
        self.take(words);
    }

    #[inline(always)]
    fn take(&mut self, words: [Option<Word>; L]) {
        let row = self.lanes.receive(words);
        self.deliver(row);
    }

    /// Ends a word period with the row that the lanes received.
    #[inline(always)]
    pub(super) fn deliver(&mut self, row: Option<ReceivedRow<L>>) {
        if let Some(row) = row {
            self.data_link.receive(row);
        }
        while let Some(far) = self.lanes.take_far_end_capability() {
            self.data_link.far_end_capability(far.lane, far.capability, far.lane_active);
        }
        let resets = self.in_reset();
        if resets != self.says_reset {
            self.says_reset = resets;
            let flag = self.data_link.capability() & capability::LINK_RESET != 0;
            self.lanes.set_link_reset_flag(flag);
        }
    }

    /// Whether frames pass in both directions and no retry is in progress.
    pub fn is_healthy(&self) -> bool {
        use datalink::ReceiveError::{ValidNegative, ValidPositive};
        self.data_link.reset_state() == datalink::LinkResetState::LinkInitialised
            && self.lanes.width() != 0
            && (self.lanes.status().bypass
                || self.lanes.status().alignment == multilane::Alignment::BothEndsReady)
            && matches!(self.data_link.sequence().state(), ValidPositive | ValidNegative)
    }

    /// Whether nothing but idle traffic happens here.
    pub fn is_quiet(&self) -> bool {
        if self.touched {
            return false;
        }
        let off = |lane: &lane::Lane| match lane.state() {
            LaneState::Active => false,
            // A lane that is to start leaves the state in its next word period.
            LaneState::Disabled => !lane.parameters.lane_start && !lane.parameters.auto_start,
            LaneState::Wait => !lane.parameters.lane_start,
            _ => false,
        };
        let lanes = &self.lanes.lanes()[..self.count];
        if lanes.iter().all(off) {
            return true;
        }
        let settled = |lane: &lane::Lane| lane.state() == LaneState::Active || off(lane);
        self.is_healthy() && lanes.iter().all(settled) && self.data_link.is_idle()
    }

    /// The lanes that are active, a bit for each.
    pub(super) fn active_lanes(&self) -> u32 {
        let lanes = self.lanes.lanes()[..self.count].iter().enumerate();
        lanes.fold(0, |mask, (number, lane)| {
            mask | u32::from(lane.state() == LaneState::Active) << number
        })
    }

    /// Whether no lane is active or about to end.
    pub(super) fn is_down(&self) -> bool {
        let down = |lane: &lane::Lane| {
            lane.state() < LaneState::Active && lane.status().no_signal && !self.touched
        };
        self.lanes.lanes()[..self.count].iter().all(down)
    }

    fn base(&mut self) -> LinkMib<'_, GrowingWords, L, CHANNELS> {
        let (lanes, lane_count) = (&mut self.lanes, self.count);
        LinkMib { link: &mut self.data_link, lanes, lane_count, node: &mut self.node }
    }

    /// Accounts for skipped word periods, in which only idle frames would have passed.
    pub fn skip_idle_periods(&mut self, periods: u64) {
        if self.lanes.width() != 0 {
            self.data_link.skip_idle_rows(u32::try_from(periods).unwrap_or(u32::MAX));
        }
    }

    /// Whether the buffers are held in reset; words written to them would be lost.
    fn in_reset(&self) -> bool {
        self.data_link.reset_state() != datalink::LinkResetState::LinkInitialised
    }

    fn each_lane(&mut self, lane: Option<u8>, mut change: impl FnMut(&mut lane::Lane)) -> bool {
        let count = self.count;
        let chosen =
            |index: &usize| *index < count && lane.is_none_or(|lane| usize::from(lane) == *index);
        let mut any = false;
        for (_, lane) in
            self.lanes.lanes_mut().iter_mut().enumerate().filter(|(index, _)| chosen(index))
        {
            change(lane);
            any = true;
        }
        any
    }
}

impl<const L: usize> link::SimulatedEnd for SpaceFibreEnd<L> {
    fn channels(&self) -> usize {
        self.data_link.virtual_channels()
    }

    fn is_running(&self) -> bool {
        self.data_link.reset_state() == datalink::LinkResetState::LinkInitialised
            && self.lanes.width() != 0
    }

    fn writable(&self, channel: usize) -> usize {
        if self.in_reset() { 0 } else { self.data_link.writable(channel) }
    }

    fn write(&mut self, channel: usize, words: &[Word]) -> usize {
        if self.in_reset() { 0 } else { self.data_link.write(channel, words) }
    }

    fn readable(&self, channel: usize) -> usize {
        self.data_link.readable(channel)
    }

    fn read(&mut self, channel: usize, words: &mut [Word]) -> usize {
        self.data_link.read(channel, words)
    }

    fn waiting(&self) -> u32 {
        self.data_link.readable_channels()
    }

    fn send_broadcast(&mut self, message: LinkBroadcast) -> bool {
        let sent = self.data_link.send_broadcast(message);
        if let Some(slot) = self.node.slot_of(&message).filter(|_| sent) {
            self.data_link.schedule(slot);
        }
        sent
    }

    fn broadcasts_at_once(&self) -> bool {
        self.data_link.broadcasts_at_once()
    }

    fn receive_broadcast(&mut self) -> Option<LinkBroadcast> {
        let message = self.data_link.receive_broadcast()?;
        if let Some(slot) = self.node.slot_of(&message) {
            self.data_link.schedule(slot);
        }
        Some(message)
    }

    fn send_code(&mut self, _code: BroadcastCode) -> bool {
        false
    }

    fn receive_code(&mut self) -> Option<BroadcastCode> {
        None
    }

    fn schedule(&mut self, slot: u8) {
        self.data_link.schedule(slot);
    }

    fn set_qos(&mut self, channel: usize, parameters: qos::QosParameters) -> bool {
        self.data_link.set_qos_parameters(channel, parameters)
    }

    fn qos(&self, channel: usize) -> Option<qos::QosParameters> {
        self.data_link.qos_parameters(channel)
    }

    fn command(&mut self, command: EndCommand) -> bool {
        let done = match command {
            EndCommand::LinkReset => {
                self.data_link.link_reset();
                true
            }
            EndCommand::InterfaceReset => {
                self.data_link.interface_reset();
                true
            }
            EndCommand::LaneReset(lane) => self.each_lane(lane, lane::Lane::reset),
            EndCommand::LaneStart(lane, on) => {
                self.each_lane(lane, |lane| lane.parameters.lane_start = on)
            }
            EndCommand::AutoStart(lane, on) => {
                self.each_lane(lane, |lane| lane.parameters.auto_start = on)
            }
        };
        if done {
            self.commands.push(command);
        }
        done
    }

    fn sent_words(&self) -> Vec<u64> {
        (0..self.channels()).map(|channel| self.data_link.sent_words(channel)).collect()
    }

    fn counters(&self) -> EndCounters {
        let status = self.data_link.latched();
        let per_channel = |count: fn(&DataLink<GrowingWords, L, CHANNELS>, usize) -> u64| {
            (0..self.channels()).map(|channel| count(&self.data_link, channel)).collect()
        };
        let (sent, received, errors) = (&status.sent, &status.received, &status.errors);
        EndCounters {
            sent_words: self.sent_words(),
            received_words: per_channel(|link, channel| link.received_words(channel)),
            named: vec![
                ("data frames sent", sent.data_frames),
                ("data frames received", received.data_frames),
                ("broadcast frames sent", sent.broadcast_frames),
                ("broadcast frames received", received.broadcast_frames),
                ("broadcast messages dropped", status.broadcasts_dropped),
                ("idle frames sent", sent.idle_frames),
                ("idle frames received", received.idle_frames),
                ("FCTs sent", sent.fcts),
                ("FCTs received", received.fcts),
                ("ACKs sent", sent.acks),
                ("ACKs received", received.acks),
                ("NACKs sent", sent.nacks),
                ("NACKs received", received.nacks),
                ("FULLs sent", sent.fulls),
                ("FULLs received", received.fulls),
                ("RETRYs sent", sent.retries),
                ("RETRYs received", received.retries),
                ("error recovery attempts", status.error_recovery_attempts),
                ("RXERR", errors.rxerr),
                ("CRC-16 errors", errors.crc16),
                ("CRC-8 errors", errors.crc8),
                ("frame errors", errors.frame),
                ("sequence errors", errors.sequence),
                ("link resets by protocol error", errors.protocol),
                ("far-end link resets", errors.far_end_link_reset),
                ("input buffer overflows", errors.input_buffer_overflow),
                ("FCT credit overflows", errors.fct_credit_overflow),
                ("alignments lost", u64::from(self.lanes.status().misaligned_events)),
            ],
        }
    }

    fn mib(&mut self, item: mib::MibItem, index: usize) -> Result<u64, mib::Error> {
        self.base().get(item, index)
    }

    fn set_mib(&mut self, item: mib::MibItem, index: usize, value: u64) -> Result<(), mib::Error> {
        self.base().set(item, index, value)?;
        self.touched = true;
        let lane = Some(index as u8);
        self.commands.extend(match item {
            mib::MibItem::LinkReset => Some(EndCommand::LinkReset),
            mib::MibItem::InterfaceReset => Some(EndCommand::InterfaceReset),
            mib::MibItem::LaneStart => Some(EndCommand::LaneStart(lane, value != 0)),
            mib::MibItem::AutoStart => Some(EndCommand::AutoStart(lane, value != 0)),
            mib::MibItem::LaneReset if value != 0 => Some(EndCommand::LaneReset(lane)),
            _ => None,
        });
        Ok(())
    }
}
