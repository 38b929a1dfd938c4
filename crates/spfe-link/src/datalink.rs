//! Data Link layer (50-11C 5.7): virtual channels, flow control, frames, error recovery, link reset.
//!
//! A [`DataLink`] is one end of a link. The layer below takes a row with [`DataLink::transmit`] and
//! gives one with [`DataLink::receive`] in each word period; the lanes are told of a LaneReset by
//! [`DataLink::take_lane_reset`], send [`DataLink::capability`] in INIT3, and hand what they
//! receive there to [`DataLink::far_end_capability`]. The user writes and reads words of virtual
//! channels and sends and fetches broadcast messages at any time between.
//!
//! CRC-16 and scrambling are done column by column below (5.6.4.2).
//!
//! Choices where the standard leaves one, or where its text was not at hand:
//!
//! | question | here |
//! | --- | --- |
//! | CRC-16 over scrambled or plain data | of the columns below; `data_scrambled` off avoids it |
//! | SIF symbol | D4.2; an unknown control word is ignored, so another one does no harm |
//! | retries before a link reset | no limit; they are counted |
//! | length of an idle frame on several lanes | sends up to 64 words, accepts 64 for each lane |
//! | two channels of the same precedence | [`qos::QosTieBreak`] |
//! | NACK after a CRC error of a single word inside a frame | [`DataLinkConfig::nack_on_single_crc`] |
//! | distance of a NACK from an ACK | [`DataLinkConfig::nack_keeps_gap`] |
//! | FCT and frame size when lanes fail | stay: `fct_multiplier`, `segment_multiplier` |
//! | error recovery buffer nearly full | a segment waits until it fits whole; the buffer counts as full, and FULL is sent, while something ready finds no room |
//! | bandwidth of a resend | free: a segment is charged when first sent |
//! | broadcast credit of a resend | none needed |
//! | broadcast messages that wait at a link reset | stay, and are late; those sent are lost |
//! | overflow of an input buffer | one only when the frame is good: a damaged SDF names any channel |
//! | data frame without words | accepted; never sent |
//! | far end that took two link resets for one | [`DataLinkConfig::link_reset_retry_words`] |

mod broadcast;
mod buffer;
mod identify;
mod mib;
mod queue;
mod receive;
mod recovery;
mod reset;
mod sequence;
mod transmit;

pub use broadcast::LinkBroadcast;
pub use buffer::{EEP, Store, WordContent, content};
pub use identify::{CheckedWord, Identification, IdentificationState, WordVerdict};
pub use mib::{
    DataLinkConfig, DataLinkCounters, DataLinkErrors, DataLinkParameters, DataLinkStatus,
};
pub use reset::{LinkReset, LinkResetState, capability};
pub use sequence::{Acknowledgement, ReceiveError, Sequence};

use crate::prbs::Prbs;
use crate::qos::{self, MediumAccess};
use crate::word::Word;
use broadcast::Flow;
use buffer::{Input, Output};
use core::fmt;
use queue::Queue;
use recovery::Recovery;

/// Words of a segment, and of room of an FCT, for a multiplier of 1.
pub const SEGMENT_WORDS: usize = 64;
/// Broadcast messages that wait to be sent, or to be fetched.
pub const BROADCAST_QUEUE: usize = 8;

/// Memory for the buffers, each of a power of two of words.
#[derive(Debug)]
pub struct Buffers<B, const V: usize> {
    /// Output virtual channel buffers, at least 64 words; four segments do not slow down. Those of
    /// channels above [`DataLinkConfig::virtual_channels`] may be of any size, and are not used.
    pub output: [B; V],
    /// Input virtual channel buffers, at least a segment and an FCT; full rate takes four FCTs,
    /// and the round trip.
    pub input: [B; V],
    /// Error recovery buffer for data, at least a segment; full rate takes the round trip.
    pub recovery: B,
}

/// Why a link cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataLinkConfigError {
    /// A link is made for 1 to 32 virtual channels.
    VirtualChannels,
    /// More virtual channels are asked for than the link is made for.
    ChannelsInUse,
    /// Rows have 1 to 16 words.
    Lanes,
    /// FCT multiplier M: 1 to 8.
    FctMultiplier,
    /// Segment multiplier P: 1 to 16, and at most the lanes of a row.
    SegmentMultiplier,
    /// The FCT credit limit is below four FCTs.
    FctCreditLimit,
    /// A buffer is too small, or not a power of two.
    Buffer,
}

impl fmt::Display for DataLinkConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::VirtualChannels => "virtual channels: 1 to 32",
            Self::ChannelsInUse => "virtual channels in use: at most those the link is made for",
            Self::Lanes => "lanes of a row: 1 to 16",
            Self::FctMultiplier => "FCT multiplier: 1 to 8",
            Self::SegmentMultiplier => "segment multiplier: 1 to 16, at most the lanes of a row",
            Self::FctCreditLimit => "FCT credit limit: at least four FCTs",
            Self::Buffer => {
                "buffer: a power of two, at least 64 words; input and recovery a segment"
            }
        })
    }
}

impl core::error::Error for DataLinkConfigError {}

/// One end of a link with rows of up to `L` words and up to `V` virtual channels; how many there
/// are is in [`DataLinkConfig::virtual_channels`]. Idle channels take no time in a word period.
pub struct DataLink<B, const L: usize, const V: usize> {
    config: DataLinkConfig,
    parameters: DataLinkParameters,
    status: DataLinkStatus,
    /// Channels there are: `V` at most.
    channels: usize,
    outputs: [Output<B>; V],
    inputs: [Input<B>; V],
    /// Words sent for the first time, and accepted.
    words: [[u64; V]; 2],
    /// FCT credit in words.
    credit: [u32; V],
    /// Channels with credit and a segment.
    ready: u32,
    /// Channels with room for one more FCT.
    fct_due: u32,
    recovery: Recovery<B>,
    sequence: Sequence,
    identification: Identification,
    reset: LinkReset,
    /// DataScrambled as of the last link reset.
    data_scrambled: bool,
    far_end: Option<u8>,
    qos: MediumAccess<V>,
    flow: Flow,
    prbs: Prbs,
    transmitter: transmit::Transmitter,
    receiver: receive::Receiver,
    waiting: Queue<LinkBroadcast, BROADCAST_QUEUE>,
    arrived: Queue<LinkBroadcast, BROADCAST_QUEUE>,
}

impl<B: Store, const L: usize, const V: usize> DataLink<B, L, V> {
    /// A link after power-on, with the parameters that Interface Reset gives.
    pub fn new(
        config: DataLinkConfig,
        buffers: Buffers<B, V>,
    ) -> Result<Self, DataLinkConfigError> {
        check(&config, L, V)?;
        let segment = SEGMENT_WORDS * usize::from(config.segment_multiplier);
        let quantum = SEGMENT_WORDS * usize::from(config.fct_multiplier);
        let channels = channels_in_use(&config, V);
        let outputs = buffers.output.map(Output::new);
        let inputs = buffers.input.map(Input::new);
        let recovery = Recovery::new(buffers.recovery);
        let fits = |capacity: usize, least| capacity >= least && capacity.is_power_of_two();
        let mut used = outputs.iter().zip(&inputs).take(channels);
        let all_fit = fits(recovery.capacity(), segment)
            && used.all(|(output, input)| {
                fits(output.capacity(), SEGMENT_WORDS)
                    && fits(input.capacity(), segment.max(quantum))
            });
        if !all_fit {
            return Err(DataLinkConfigError::Buffer);
        }
        let parameters = DataLinkParameters::default();
        Ok(Self {
            config,
            parameters,
            status: DataLinkStatus {
                error_recovery_buffer_empty: true,
                ..DataLinkStatus::default()
            },
            channels,
            outputs,
            inputs,
            words: [[0; V]; 2],
            credit: [0; V],
            ready: 0,
            fct_due: 0,
            recovery,
            sequence: Sequence::new(),
            identification: Identification::new(segment as u32),
            reset: LinkReset::default(),
            data_scrambled: parameters.data_scrambled,
            far_end: None,
            qos: MediumAccess::with_channels(config.qos, channels),
            flow: Flow::new(parameters.expected_broadcast_bandwidth),
            prbs: Prbs::new(),
            transmitter: transmit::Transmitter::default(),
            receiver: receive::Receiver::default(),
            waiting: Queue::new(),
            arrived: Queue::new(),
        })
    }

    // Virtual channels (6.3.2)

    /// Takes words of N-Chars into a virtual channel's output buffer: data characters, EOP, EEP and
    /// Fill, at most one end marker in a word and after it only Fill (5.3.9). A word with anything
    /// else ends the packet with EEP, and the rest up to the next end marker is dropped. How many
    /// words were taken; 0 for a channel that does not exist.
    pub fn write(&mut self, vc: usize, words: &[Word]) -> usize {
        let Some(output) = self.output_mut(vc) else { return 0 };
        let taken = output.write(words);
        self.refresh(vc);
        taken
    }

    /// Words that a virtual channel's output buffer has room for.
    pub fn writable(&self, vc: usize) -> usize {
        self.outputs.get(vc).filter(|_| vc < self.channels).map_or(0, Output::free)
    }

    /// Gives words that arrived on a virtual channel; how many.
    pub fn read(&mut self, vc: usize, words: &mut [Word]) -> usize {
        let quantum = self.quantum();
        let Some(input) = self.inputs.get_mut(vc).filter(|_| vc < self.channels) else { return 0 };
        let count = input.read(words);
        if input.has_room(quantum) {
            self.fct_due |= 1 << vc;
            self.transmitter.look_up();
        }
        count
    }

    /// Words that wait on a virtual channel.
    pub fn readable(&self, vc: usize) -> usize {
        self.inputs.get(vc).map_or(0, Input::len)
    }

    /// Words of data frames that a virtual channel has sent, each once however often it went.
    pub fn sent_words(&self, vc: usize) -> u64 {
        self.words[0].get(vc).copied().unwrap_or(0)
    }

    /// Words of data frames that a virtual channel has received and accepted.
    pub fn received_words(&self, vc: usize) -> u64 {
        self.words[1].get(vc).copied().unwrap_or(0)
    }

    // Broadcast messages (6.3.3)

    /// Sends a broadcast message as soon as the broadcast flow control lets it go. False: too many
    /// wait.
    pub fn send_broadcast(&mut self, mut message: LinkBroadcast) -> bool {
        message.late = !self.reset.is_initialised()
            || self.transmitter.no_lane()
            || self.transmitter.is_retrying()
            || self.recovery.broadcasts.is_pending() && !self.transmitter.in_broadcast();
        self.transmitter.look_up();
        self.waiting.push(message)
    }

    /// Whether a broadcast message given now goes with no other before it. A network layer marks
    /// one that does not DELAYED.
    pub fn broadcasts_at_once(&self) -> bool {
        self.reset.is_initialised()
            && !self.transmitter.no_lane()
            && !self.transmitter.is_retrying()
            && !self.transmitter.in_broadcast()
            && !self.recovery.broadcasts.is_pending()
            && self.recovery.has_broadcast_room()
            && self.waiting.len() == 0
            && self.flow.may_send()
    }

    /// A broadcast message that arrived.
    pub fn receive_broadcast(&mut self) -> Option<LinkBroadcast> {
        self.arrived.pop()
    }

    /// Broadcast frames that may go at once (5.7.5).
    pub fn broadcast_credit(&self) -> u16 {
        self.flow.credit()
    }

    // Schedule (6.3.4)

    /// SCHEDULE.request: a time-slot begins, 0 to 63. A frame under way is completed.
    pub fn schedule(&mut self, slot: u8) {
        self.transmitter.look_up();
        self.qos.schedule(slot);
    }

    // Management (6.5)

    /// What is fixed.
    pub const fn config(&self) -> &DataLinkConfig {
        &self.config
    }

    /// Virtual channels there are.
    pub const fn virtual_channels(&self) -> usize {
        self.channels
    }

    /// Parameters of the layer.
    pub const fn parameters(&self) -> DataLinkParameters {
        self.parameters
    }

    /// Sets the parameters of the layer.
    pub fn set_parameters(&mut self, parameters: DataLinkParameters) {
        if parameters.expected_broadcast_bandwidth != self.parameters.expected_broadcast_bandwidth {
            self.flow.set_expected_bandwidth(parameters.expected_broadcast_bandwidth);
        }
        self.transmitter.look_up();
        self.parameters = parameters;
        for (vc, output) in self.outputs.iter_mut().enumerate() {
            output.continuous = parameters.continuous_mode >> (vc & 31) & 1 != 0;
        }
    }

    /// Parameters of a virtual channel's quality of service.
    pub fn qos_parameters(&self, vc: usize) -> Option<qos::QosParameters> {
        self.qos.parameters(vc)
    }

    /// Sets them. False if there is no such virtual channel.
    pub fn set_qos_parameters(&mut self, vc: usize, parameters: qos::QosParameters) -> bool {
        self.transmitter.look_up();
        self.qos.set_parameters(vc, parameters)
    }

    /// Sets the idle time limit of the bandwidth under-use, in rows.
    pub fn set_idle_time_limit(&mut self, rows: u32) {
        self.qos.set_idle_time_limit(rows);
    }

    /// The medium access controller's accounts.
    pub const fn qos(&self) -> &MediumAccess<V> {
        &self.qos
    }

    /// Status and errors of the layer.
    pub fn status(&self) -> DataLinkStatus {
        let mut status = self.status;
        let bit = |(vc, credit): (usize, &u32)| u32::from(*credit != 0) << (vc & 31);
        status.has_credit = self.credit.iter().enumerate().map(bit).fold(0, |mask, bit| mask | bit);
        status.error_recovery_buffer_empty = self.recovery.is_empty();
        status
    }

    /// What [`DataLink::status`] gives, without what has to be computed for it: `has_credit` and
    /// `error_recovery_buffer_empty`.
    #[inline(always)]
    pub const fn latched(&self) -> &DataLinkStatus {
        &self.status
    }

    /// Whether there is nothing to send but idle frames: no packet, no broadcast message, no FCT,
    /// no reply, and all that was sent is acknowledged.
    pub fn is_idle(&self) -> bool {
        self.outputs.iter().take(self.channels).all(Output::is_empty)
            && self.recovery.is_empty()
            && !self.waiting.is_pending()
            && self.fct_due == 0
            && self.sequence.reply() == Acknowledgement::None
            && !self.transmitter.is_retrying()
            && !self.transmitter.in_broadcast()
    }

    /// Clears the errors of the layer and of the quality of service; the counters stay.
    pub fn clear_errors(&mut self) {
        self.status.clear_errors();
        self.qos.clear_errors();
    }

    /// FCT credit of a virtual channel in words.
    pub fn fct_credit(&self, vc: usize) -> u32 {
        self.credit.get(vc).copied().unwrap_or(0)
    }

    /// Receiving side of the error recovery.
    pub const fn sequence(&self) -> &Sequence {
        &self.sequence
    }

    /// State of the data word identification.
    pub const fn identification(&self) -> IdentificationState {
        self.identification.state()
    }

    // Link reset (5.7.9, 5.7.10)

    /// State of the link reset.
    pub const fn reset_state(&self) -> LinkResetState {
        self.reset.state()
    }

    /// Whether the link is through its link reset.
    #[inline(always)]
    pub const fn is_initialised(&self) -> bool {
        self.reset.is_initialised()
    }

    /// Interface Reset: link reset, and the parameters go back to what they are after power-on.
    pub fn interface_reset(&mut self) {
        self.set_parameters(DataLinkParameters::default());
        self.qos = MediumAccess::with_channels(self.config.qos, self.channels);
        self.status = DataLinkStatus::default();
        self.reset.interface_reset();
    }

    /// Link Reset command: the status is cleared too.
    pub fn link_reset(&mut self) {
        self.status.clear_errors();
        self.reset.link_reset();
    }

    /// Whether LaneReset goes to all lanes and the Multi-Lane layer now. Asked in every word
    /// period: a link reset goes on when it was.
    pub fn take_lane_reset(&mut self) -> bool {
        self.reset.take_lane_reset()
    }

    /// Capability field that the lanes send in INIT3; a lane puts LaneStart in. DataScrambled is
    /// the parameter as it was at the last link reset, so that all lanes of a session say the same.
    pub fn capability(&self) -> u8 {
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        flag(!self.reset.is_initialised(), capability::LINK_RESET)
            | flag(self.data_scrambled, capability::DATA_SCRAMBLED)
            | flag(self.config.multi_lane_capable, capability::MULTI_LANE)
            | flag(self.config.routing_switch, capability::ROUTING_SWITCH)
    }

    /// A lane received three identical INIT3. `any_lane_active`: whether a lane was active then.
    pub fn far_end_capability(&mut self, lane: u8, field: u8, any_lane_active: bool) {
        self.far_end = Some(field);
        if self.reset.far_end_capability(lane, field, any_lane_active) {
            self.status.far_end_link_reset = true;
            self.status.errors.far_end_link_reset += 1;
        }
    }

    /// The capability last received, if any.
    pub const fn last_far_end_capability(&self) -> Option<u8> {
        self.far_end
    }

    #[inline(always)]
    fn output_mut(&mut self, vc: usize) -> Option<&mut Output<B>> {
        self.outputs.get_mut(vc).filter(|_| vc < self.channels)
    }

    /// Words of a segment at most.
    #[inline(always)]
    fn segment(&self) -> usize {
        SEGMENT_WORDS * usize::from(self.config.segment_multiplier)
    }

    /// Words of an FCT.
    #[inline(always)]
    fn quantum(&self) -> usize {
        SEGMENT_WORDS * usize::from(self.config.fct_multiplier)
    }

    /// A virtual channel's buffer or credit has changed.
    #[inline]
    fn refresh(&mut self, vc: usize) {
        let segment = self.segment();
        let (Some(output), Some(credit)) = (self.outputs.get(vc), self.credit.get(vc)) else {
            return;
        };
        let ready = *credit != 0 && output.has_segment(segment);
        if ready && self.ready >> vc & 1 == 0 {
            self.transmitter.look_up();
        }
        self.ready = self.ready & !(1 << vc) | u32::from(ready) << vc;
    }

    /// What a link reset does to this layer: everything but parameters, status and the credits of
    /// the quality of service. Broadcast messages that wait stay, and are late.
    fn reset_layer(&mut self) {
        let quantum = self.quantum();
        self.data_scrambled = self.parameters.data_scrambled;
        self.recovery.link_reset();
        self.sequence = Sequence::new();
        self.identification = Identification::new(self.segment() as u32);
        self.flow = Flow::new(self.parameters.expected_broadcast_bandwidth);
        self.prbs = Prbs::new();
        self.transmitter = transmit::Transmitter::default();
        self.receiver = receive::Receiver::default();
        self.outputs.iter_mut().for_each(Output::link_reset);
        self.inputs.iter_mut().for_each(Input::link_reset);
        self.credit = [0; V];
        self.ready = 0;
        self.fct_due = 0;
        for (vc, input) in self.inputs.iter().enumerate().take(self.channels) {
            self.fct_due |= u32::from(input.has_room(quantum)) << (vc & 31);
        }
        self.waiting.for_each(|message| message.late = true);
    }
}

/// 0 in the configuration is all that the link is made for.
fn channels_in_use(config: &DataLinkConfig, made_for: usize) -> usize {
    match usize::from(config.virtual_channels) {
        0 => made_for,
        count => count,
    }
}

fn check(
    config: &DataLinkConfig,
    lanes: usize,
    channels: usize,
) -> Result<(), DataLinkConfigError> {
    let fct = u32::from(config.fct_multiplier) * SEGMENT_WORDS as u32;
    if !(1..=32).contains(&channels) {
        Err(DataLinkConfigError::VirtualChannels)
    } else if channels_in_use(config, channels) > channels {
        Err(DataLinkConfigError::ChannelsInUse)
    } else if !(1..=16).contains(&lanes) {
        Err(DataLinkConfigError::Lanes)
    } else if !(1..=8).contains(&config.fct_multiplier) {
        Err(DataLinkConfigError::FctMultiplier)
    } else if !(1..=lanes).contains(&usize::from(config.segment_multiplier)) {
        Err(DataLinkConfigError::SegmentMultiplier)
    } else if config.fct_credit_limit_words < 4 * fct {
        Err(DataLinkConfigError::FctCreditLimit)
    } else {
        Ok(())
    }
}
