//! Data link layer (50-11C 5.7): virtual channels, flow control, frames, error recovery, link
//! reset.
//!
//! A [`DataLink`] is one end of a link. In each word period the layer below takes a row with
//! [`DataLink::transmit`] and delivers one with [`DataLink::receive`].
//! [`DataLink::take_lane_reset`] says when to reset the lanes. The lanes send
//! [`DataLink::capability`] in INIT3, and pass the far end's field to
//! [`DataLink::far_end_capability`]. At any time in between, the user writes and reads words of
//! virtual channels and sends and receives broadcast messages.
//!
//! CRC-16 and scrambling are not done here but in each column (5.6.4.2).
//!
//! Where the standard leaves a choice, or is not clear, this code does the following:
//!
//! | question | answer |
//! | --- | --- |
//! | CRC-16 over scrambled or plain data | decided in the columns; without scrambling both are the same |
//! | SIF symbol | D4.2; unknown control words are ignored, so another symbol does no harm |
//! | retries before a link reset | no limit; they are counted |
//! | length of an idle frame on several lanes | sends up to 64 words, accepts 64 per lane |
//! | two channels of equal precedence | [`qos::QosTieBreak`] |
//! | NACK after a CRC error of a single word inside a frame | [`DataLinkConfig::nack_on_single_crc`] |
//! | distance of a NACK from an ACK, and from an equal NACK | [`DataLinkConfig::nack_keeps_gap`], [`DataLinkConfig::nack_repeat_words`] |
//! | FCT and frame size when lanes fail | unchanged: `fct_multiplier`, `segment_multiplier` |
//! | error recovery buffer nearly full | a segment waits until all of it fits; while something waits for room, the buffer counts as full and FULL is sent |
//! | bandwidth of a resend | free: a segment is charged when it is first sent |
//! | broadcast credit of a resend | none needed |
//! | broadcast messages at a link reset | messages not yet sent stay, and become LATE; messages already sent are lost |
//! | overflow of an input buffer | counts only if the frame is good: a damaged SDF may name any channel |
//! | data frame without words | accepted; never sent |
//! | far end that took two link resets for one | [`DataLinkConfig::link_reset_retry_words`] |

mod broadcast;
mod buffer;
mod burst;
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
use broadcast::BroadcastCredit;
use buffer::{InputBuffer, OutputBuffer};
use core::fmt;
use queue::ResendQueue;
use recovery::Recovery;

/// Words of a segment and of an FCT at a multiplier of 1.
pub const SEGMENT_WORDS: usize = 64;
/// Maximum number of broadcast messages held in each direction.
pub const BROADCAST_QUEUE: usize = 8;

/// Memory of the buffers. The number of words of each must be a power of two.
#[derive(Debug)]
pub struct Buffers<B, const V: usize> {
    /// Output buffers of the virtual channels: at least 64 words each; four segments give full
    /// speed. Buffers of channels above [`DataLinkConfig::virtual_channels`] are not used and may
    /// have any size.
    pub output: [B; V],
    /// Input buffers of the virtual channels: at least one segment and one FCT each; full speed
    /// takes four FCTs and the words of a round trip.
    pub input: [B; V],
    /// Error recovery buffer for data: at least one segment; full speed takes the words of a round
    /// trip.
    pub recovery: B,
}

/// Reason why a link cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataLinkConfigError {
    /// A link type has 1 to 32 virtual channels.
    VirtualChannels,
    /// The configuration asks for more virtual channels than the link type has.
    ChannelsInUse,
    /// A row has 1 to 16 words.
    Lanes,
    /// The FCT multiplier must be 1 to 8.
    FctMultiplier,
    /// The segment multiplier must be 1 to 16, and no more than the number of lanes.
    SegmentMultiplier,
    /// The FCT credit limit must be at least four FCTs.
    FctCreditLimit,
    /// A buffer is too small, or not a power of two.
    Buffer,
}

impl fmt::Display for DataLinkConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::VirtualChannels => "virtual channels: 1 to 32 allowed",
            Self::ChannelsInUse => "virtual channels in use: more than the link type has",
            Self::Lanes => "lanes of a row: 1 to 16 allowed",
            Self::FctMultiplier => "FCT multiplier: 1 to 8",
            Self::SegmentMultiplier => {
                "segment multiplier: 1 to 16 allowed, and no more than the lanes of a row"
            }
            Self::FctCreditLimit => "FCT credit limit: at least four FCTs",
            Self::Buffer => {
                "buffer: a power of two, at least 64 words; input and recovery a segment"
            }
        })
    }
}

impl core::error::Error for DataLinkConfigError {}

/// One end of a link with rows of up to `L` words and up to `V` virtual channels.
/// [`DataLinkConfig::virtual_channels`] gives the number in use. Idle channels cost no time in a
/// word period.
pub struct DataLink<B, const L: usize, const V: usize> {
    config: DataLinkConfig,
    parameters: DataLinkParameters,
    status: DataLinkStatus,
    /// Virtual channels in use, up to `V`.
    channels: usize,
    outputs: [OutputBuffer<B>; V],
    inputs: [InputBuffer<B>; V],
    /// Virtual channels whose input buffer holds words, a bit for each.
    readable: u32,
    /// Per virtual channel: words sent (resends not counted), and words accepted.
    words: [[u64; V]; 2],
    /// FCT credit in words.
    credit: [u32; V],
    /// Bit mask of virtual channels that have credit and a segment to send.
    ready: u32,
    /// Bit mask of virtual channels whose input buffer has room for another FCT.
    fct_due: u32,
    recovery: Recovery<B>,
    sequence: Sequence,
    identification: Identification,
    reset: LinkReset,
    /// The parameter DataScrambled at the time of the last link reset.
    data_scrambled: bool,
    qos: MediumAccess<V>,
    flow: BroadcastCredit,
    prbs: Prbs,
    transmitter: transmit::Transmitter,
    receiver: receive::Receiver,
    waiting: ResendQueue<LinkBroadcast, BROADCAST_QUEUE>,
    arrived: ResendQueue<LinkBroadcast, BROADCAST_QUEUE>,
}

impl<B: Store, const L: usize, const V: usize> DataLink<B, L, V> {
    /// Creates a link in its power-on state, with the parameters that Interface Reset sets.
    pub fn new(
        config: DataLinkConfig,
        buffers: Buffers<B, V>,
    ) -> Result<Self, DataLinkConfigError> {
        check(&config, L, V)?;
        let segment = SEGMENT_WORDS * usize::from(config.segment_multiplier);
        let quantum = SEGMENT_WORDS * usize::from(config.fct_multiplier);
        let channels = channels_in_use(&config, V);
        let outputs = buffers.output.map(OutputBuffer::new);
        let inputs = buffers.input.map(InputBuffer::new);
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
            readable: 0,
            words: [[0; V]; 2],
            credit: [0; V],
            ready: 0,
            fct_due: 0,
            recovery,
            sequence: Sequence::new(),
            identification: Identification::new(segment as u32),
            reset: LinkReset::default(),
            data_scrambled: parameters.data_scrambled,
            qos: MediumAccess::with_channels(config.qos, channels),
            flow: BroadcastCredit::new(parameters.expected_broadcast_bandwidth),
            prbs: Prbs::new(),
            transmitter: transmit::Transmitter::default(),
            receiver: receive::Receiver::default(),
            waiting: ResendQueue::new(),
            arrived: ResendQueue::new(),
        })
    }

    // Virtual channels (6.3.2)

    /// Writes words to the output buffer of a virtual channel. Returns how many were taken; 0 for a
    /// channel that does not exist.
    ///
    /// A word may hold data characters, EOP, EEP and Fill; after an end marker only Fill may follow
    /// (5.3.9). Any other word ends the packet with EEP, and drops the words up to the next end
    /// marker.
    pub fn write(&mut self, vc: usize, words: &[Word]) -> usize {
        let Some(output) = self.output_mut(vc) else { return 0 };
        let taken = output.write(words);
        self.refresh(vc);
        taken
    }

    /// Free words in the output buffer of a virtual channel.
    pub fn writable(&self, vc: usize) -> usize {
        self.outputs.get(vc).filter(|_| vc < self.channels).map_or(0, OutputBuffer::free)
    }

    /// Reads words that arrived on a virtual channel. Returns how many.
    pub fn read(&mut self, vc: usize, words: &mut [Word]) -> usize {
        let quantum = self.quantum();
        let Some(input) = self.inputs.get_mut(vc).filter(|_| vc < self.channels) else { return 0 };
        let count = input.read(words);
        self.readable &= !(u32::from(input.len() == 0) << (vc & 31));
        if input.has_room(quantum) {
            self.fct_due |= 1 << vc;
            self.transmitter.recheck();
        }
        count
    }

    /// Words in the input buffer of a virtual channel.
    pub fn readable(&self, vc: usize) -> usize {
        self.inputs.get(vc).map_or(0, InputBuffer::len)
    }

    /// Virtual channels whose input buffer holds words, a bit for each.
    pub const fn readable_channels(&self) -> u32 {
        self.readable
    }

    /// Words that a virtual channel has sent in data frames; resends are not counted.
    pub fn sent_words(&self, vc: usize) -> u64 {
        self.words[0].get(vc).copied().unwrap_or(0)
    }

    /// Words in the data frames that a virtual channel has accepted.
    pub fn received_words(&self, vc: usize) -> u64 {
        self.words[1].get(vc).copied().unwrap_or(0)
    }

    // Broadcast messages (6.3.3)

    /// Queues a broadcast message; it is sent as soon as the broadcast flow control allows. Returns
    /// false if the queue is full.
    pub fn send_broadcast(&mut self, mut message: LinkBroadcast) -> bool {
        message.late = !self.reset.is_initialised()
            || self.transmitter.no_lane()
            || self.transmitter.is_retrying()
            || self.recovery.broadcasts.is_pending() && !self.transmitter.in_broadcast();
        self.transmitter.recheck();
        self.waiting.push(message)
    }

    /// Whether a broadcast message queued now would be sent before any other. If not, the network
    /// layer marks the message DELAYED.
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

    /// Takes the oldest received broadcast message.
    pub fn receive_broadcast(&mut self) -> Option<LinkBroadcast> {
        self.arrived.pop()
    }

    /// Number of broadcast frames that may be sent now (5.7.5).
    pub fn broadcast_credit(&self) -> u16 {
        self.flow.credit()
    }

    // Schedule (6.3.4)

    /// SCHEDULE.request: starts time-slot `slot`, 0 to 63. A frame in progress is completed.
    pub fn schedule(&mut self, slot: u8) {
        self.transmitter.recheck();
        self.qos.schedule(slot);
    }

    // Management (6.5)

    /// The configuration that the link was created with.
    pub const fn config(&self) -> &DataLinkConfig {
        &self.config
    }

    /// Number of virtual channels in use.
    pub const fn virtual_channels(&self) -> usize {
        self.channels
    }

    /// Parameters of the data link layer.
    pub const fn parameters(&self) -> DataLinkParameters {
        self.parameters
    }

    /// Sets the parameters of the data link layer.
    pub fn set_parameters(&mut self, parameters: DataLinkParameters) {
        if parameters.expected_broadcast_bandwidth != self.parameters.expected_broadcast_bandwidth {
            self.flow.set_expected_bandwidth(parameters.expected_broadcast_bandwidth);
        }
        self.transmitter.recheck();
        self.parameters = parameters;
        for (vc, output) in self.outputs.iter_mut().enumerate() {
            output.continuous = parameters.continuous_mode >> (vc & 31) & 1 != 0;
        }
    }

    /// Quality of service parameters of a virtual channel; `None` if the channel does not exist.
    pub fn qos_parameters(&self, vc: usize) -> Option<qos::QosParameters> {
        self.qos.parameters(vc)
    }

    /// Sets the quality of service parameters. Returns false if the channel does not exist.
    pub fn set_qos_parameters(&mut self, vc: usize, parameters: qos::QosParameters) -> bool {
        self.transmitter.recheck();
        self.qos.set_parameters(vc, parameters)
    }

    /// Sets the idle time limit of bandwidth under-use, in rows.
    pub fn set_idle_time_limit(&mut self, rows: u32) {
        self.qos.set_idle_time_limit(rows);
    }

    /// Bandwidth credits of the medium access controller.
    pub const fn qos(&self) -> &MediumAccess<V> {
        &self.qos
    }

    /// Status and errors of the data link layer.
    pub fn status(&self) -> DataLinkStatus {
        let mut status = self.status;
        let bit = |(vc, credit): (usize, &u32)| u32::from(*credit != 0) << (vc & 31);
        status.has_credit = self.credit.iter().enumerate().map(bit).fold(0, |mask, bit| mask | bit);
        status.error_recovery_buffer_empty = self.recovery.is_empty();
        status
    }

    /// Like [`DataLink::status`], but without the fields that have to be computed: `has_credit` and
    /// `error_recovery_buffer_empty`.
    #[inline(always)]
    pub const fn latched(&self) -> &DataLinkStatus {
        &self.status
    }

    /// Whether only idle frames are left to send: no packet, broadcast message, FCT or reply is
    /// pending, and everything sent is acknowledged.
    pub fn is_idle(&self) -> bool {
        self.outputs.iter().take(self.channels).all(OutputBuffer::is_empty)
            && self.recovery.is_empty()
            && !self.waiting.is_pending()
            && self.fct_due == 0
            && self.sequence.reply() == Acknowledgement::None
            && !self.transmitter.is_retrying()
            && !self.transmitter.in_broadcast()
    }

    /// Clears the error flags of this layer and of the quality of service. The counters stay.
    pub fn clear_errors(&mut self) {
        self.status.clear_errors();
        self.qos.clear_errors();
    }

    /// FCT credit of a virtual channel in words.
    pub fn fct_credit(&self, vc: usize) -> u32 {
        self.credit.get(vc).copied().unwrap_or(0)
    }

    /// The receiving side of the error recovery.
    pub const fn sequence(&self) -> &Sequence {
        &self.sequence
    }

    /// State of the data word identification.
    pub const fn identification(&self) -> IdentificationState {
        self.identification.state()
    }

    // Link reset (5.7.9, 5.7.10)

    /// State of the link reset state machine.
    pub const fn reset_state(&self) -> LinkResetState {
        self.reset.state()
    }

    /// Whether the link reset is complete and the link works.
    #[inline(always)]
    pub const fn is_initialised(&self) -> bool {
        self.reset.is_initialised()
    }

    /// Interface Reset: resets the link and sets the parameters to their power-on values.
    pub fn interface_reset(&mut self) {
        self.set_parameters(DataLinkParameters::default());
        self.qos = MediumAccess::with_channels(self.config.qos, self.channels);
        self.status = DataLinkStatus::default();
        self.reset.interface_reset();
    }

    /// Link Reset command: resets the link and clears the status.
    pub fn link_reset(&mut self) {
        self.status.clear_errors();
        self.reset.link_reset();
    }

    /// Whether to send LaneReset to all lanes and to the multi-lane layer now. Call it in every
    /// word period; a link reset makes no progress otherwise.
    pub fn take_lane_reset(&mut self) -> bool {
        self.reset.take_lane_reset()
    }

    /// Capability field for INIT3. The lane adds LaneStart. DataScrambled is the parameter at the
    /// last link reset, so that all lanes of a connection send the same value.
    pub fn capability(&self) -> u8 {
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        flag(!self.reset.is_initialised(), capability::LINK_RESET)
            | flag(self.data_scrambled, capability::DATA_SCRAMBLED)
            | flag(self.config.multi_lane_capable, capability::MULTI_LANE)
            | flag(self.config.routing_switch, capability::ROUTING_SWITCH)
    }

    /// A lane received three identical INIT3 with this capability field. `any_lane_active`: whether
    /// a lane was active at that time.
    pub fn far_end_capability(&mut self, lane: u8, field: u8, any_lane_active: bool) {
        if self.reset.far_end_capability(lane, field, any_lane_active) {
            self.status.far_end_link_reset = true;
            self.status.errors.far_end_link_reset += 1;
        }
    }

    #[inline(always)]
    fn output_mut(&mut self, vc: usize) -> Option<&mut OutputBuffer<B>> {
        self.outputs.get_mut(vc).filter(|_| vc < self.channels)
    }

    /// Maximum number of words of a segment.
    #[inline(always)]
    fn segment(&self) -> usize {
        SEGMENT_WORDS * usize::from(self.config.segment_multiplier)
    }

    /// Number of words that an FCT grants.
    #[inline(always)]
    fn quantum(&self) -> usize {
        SEGMENT_WORDS * usize::from(self.config.fct_multiplier)
    }

    /// Updates `ready` after a buffer or the credit of a virtual channel changed.
    #[inline]
    fn refresh(&mut self, vc: usize) {
        let segment = self.segment();
        let (Some(output), Some(credit)) = (self.outputs.get(vc), self.credit.get(vc)) else {
            return;
        };
        let ready = *credit != 0 && output.has_segment(segment);
        if ready && self.ready >> vc & 1 == 0 {
            self.transmitter.recheck();
        }
        self.ready = self.ready & !(1 << vc) | u32::from(ready) << vc;
    }

    /// Performs a link reset in this layer. Parameters, status and bandwidth credits stay.
    /// Broadcast messages that were not sent yet stay too, and become LATE.
    fn reset_layer(&mut self) {
        let quantum = self.quantum();
        self.data_scrambled = self.parameters.data_scrambled;
        self.recovery.link_reset();
        self.sequence = Sequence::new();
        self.identification = Identification::new(self.segment() as u32);
        self.flow = BroadcastCredit::new(self.parameters.expected_broadcast_bandwidth);
        self.prbs = Prbs::new();
        self.transmitter = transmit::Transmitter::default();
        self.receiver = receive::Receiver::default();
        self.outputs.iter_mut().for_each(OutputBuffer::link_reset);
        self.inputs.iter_mut().for_each(InputBuffer::link_reset);
        self.credit = [0; V];
        self.ready = 0;
        (self.fct_due, self.readable) = (0, 0);
        for (vc, input) in self.inputs.iter().enumerate().take(self.channels) {
            self.fct_due |= u32::from(input.has_room(quantum)) << (vc & 31);
            self.readable |= u32::from(input.len() != 0) << (vc & 31);
        }
        self.waiting.for_each(|message| message.late = true);
    }
}

/// Number of channels in use; 0 in the configuration means all.
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
