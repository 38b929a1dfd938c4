//! Where the value of each item is.

use super::{Id, Mib};
use crate::datalink::Store;
use crate::lane::SyncState;

impl<B: Store, const L: usize, const V: usize> Mib<'_, B, L, V> {
    /// The value of an item that exists.
    pub(super) fn read(&self, id: Id, index: usize) -> u64 {
        let value = self.read_network(id, index).or_else(|| self.read_link(id, index));
        let value = value.or_else(|| self.read_multi_lane(id));
        value.or_else(|| self.read_lane(id, index)).unwrap_or(0)
    }

    fn read_network(&self, id: Id, index: usize) -> Option<u64> {
        match id {
            Id::VirtualNetwork => self.node.virtual_network(index).map(u64::from),
            Id::BroadcastChannel => Some(self.node.broadcast_channel.into()),
            _ => None,
        }
    }

    fn read_link(&self, id: Id, index: usize) -> Option<u64> {
        let parameters = self.link.parameters();
        let config = self.link.config();
        let limits = self.link.qos().limits();
        let status = self.link.status();
        let qos = self.link.qos_parameters(index)?;
        let use_status = self.link.qos().status();
        let bit = |mask: u32| u64::from(mask >> (index & 31) & 1);
        Some(match id {
            Id::DataScrambled => parameters.data_scrambled.into(),
            Id::ExpectedBroadcastBandwidth => parameters.expected_broadcast_bandwidth.into(),
            Id::Priority => qos.priority.into(),
            Id::ExpectedBandwidth => qos.expected_bandwidth.into(),
            Id::TimeSlots => qos.time_slots,
            Id::ContinuousMode => bit(parameters.continuous_mode),
            Id::IdleTimeLimit => limits.idle_time_limit.into(),
            Id::BandwidthCreditLimit => limits.bandwidth_credit_limit.into(),
            Id::MinimumBandwidthCreditThreshold => limits.minimum_threshold_tenths.into(),
            Id::FctMultiplier => config.fct_multiplier.into(),
            Id::SegmentMultiplier => config.segment_multiplier.into(),
            Id::HasCredit => bit(status.has_credit),
            Id::InputBufferOverflow => bit(status.input_buffer_overflow),
            Id::FctCreditOverflow => bit(status.fct_credit_overflow),
            Id::BandwidthOverUse => bit(use_status.bandwidth_over_use),
            Id::BandwidthUnderUse => bit(use_status.bandwidth_under_use),
            Id::Crc16Error => status.crc16_error.into(),
            Id::Crc8Error => status.crc8_error.into(),
            Id::FrameError => status.frame_error.into(),
            Id::SequenceError => status.sequence_error.into(),
            Id::ErrorRecoveryBufferEmpty => status.error_recovery_buffer_empty.into(),
            Id::ErrorRecoveryAttempts => status.error_recovery_attempts,
            Id::ProtocolError => status.protocol_error.into(),
            Id::FarEndLinkReset => status.far_end_link_reset.into(),
            Id::CurrentTimeSlot => use_status.current_time_slot.into(),
            _ => return None,
        })
    }

    fn read_multi_lane(&self, id: Id) -> Option<u64> {
        let status = self.lanes.status();
        Some(match id {
            Id::MaxDataSendingLanes => self.lanes.parameters.max_data_sending.into(),
            Id::Bypass => status.bypass.into(),
            Id::DataSendingLanes => status.data_sending.into(),
            Id::DataReceivingLanes => status.data_receiving.into(),
            Id::AlignmentState => status.alignment as u64,
            Id::MisalignedEvents => status.misaligned_events.into(),
            _ => return None,
        })
    }

    fn read_lane(&self, id: Id, index: usize) -> Option<u64> {
        let lane = self.lanes.lane(index)?;
        let (parameters, status) = (&lane.parameters, lane.status());
        Some(match id {
            Id::TxEn => parameters.tx_en.into(),
            Id::RxEn => parameters.rx_en.into(),
            Id::LaneStart => parameters.lane_start.into(),
            Id::AutoStart => parameters.auto_start.into(),
            Id::LaneReset => parameters.lane_reset.into(),
            Id::NearEndParallelLoopback => parameters.near_end_parallel_loopback.into(),
            Id::FarEndParallelLoopback => parameters.far_end_parallel_loopback.into(),
            Id::NearEndSerialLoopback => parameters.near_end_serial_loopback.into(),
            Id::FarEndSerialLoopback => parameters.far_end_serial_loopback.into(),
            Id::StandbyReason => parameters.standby_reason.into(),
            Id::LaneState => status.state as u64,
            Id::RxerrCount => status.rxerr_count.into(),
            Id::RxerrOverflow => status.rxerr_overflow.into(),
            Id::FarEndStandby => status.far_end_standby.into(),
            Id::FarEndStandbyReason => status.far_end_standby_reason.into(),
            Id::Timeout => status.timeout.into(),
            Id::FarEndLostSignal => status.far_end_lost_signal.into(),
            Id::FarEndLostSignalCause => status.far_end_lost_signal_cause.into(),
            Id::FarEndCapabilities => status.far_end_capability.unwrap_or(0).into(),
            Id::RxPolarity => status.rx_polarity_inverted.into(),
            Id::NoSignal => status.no_signal.into(),
            Id::BitSync => (lane.sync_state() != SyncState::LostSync).into(),
            _ => return None,
        })
    }
}
