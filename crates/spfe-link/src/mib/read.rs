//! Reading items.

use super::LinkMib;
use crate::datalink::Store;
use crate::lane::SyncState;
use spfe_contract::MibItem;

impl<B: Store, const L: usize, const V: usize> LinkMib<'_, B, L, V> {
    /// Reads an item that exists.
    pub(super) fn read(&self, id: MibItem, index: usize) -> u64 {
        let value = self.read_network(id, index).or_else(|| self.read_link(id, index));
        let value = value.or_else(|| self.read_multi_lane(id));
        value.or_else(|| self.read_lane(id, index)).unwrap_or(0)
    }

    fn read_network(&self, id: MibItem, index: usize) -> Option<u64> {
        match id {
            MibItem::VirtualNetwork => self.node.virtual_network(index).map(u64::from),
            MibItem::BroadcastChannel => Some(self.node.broadcast_channel.into()),
            MibItem::ScheduleType => Some(self.node.schedule_type.into()),
            _ => None,
        }
    }

    fn read_link(&self, id: MibItem, index: usize) -> Option<u64> {
        let parameters = self.link.parameters();
        let config = self.link.config();
        let limits = self.link.qos().limits();
        let status = self.link.status();
        let qos = self.link.qos_parameters(index)?;
        let use_status = self.link.qos().status();
        let bit = |mask: u32| u64::from(mask >> (index & 31) & 1);
        Some(match id {
            MibItem::DataScrambled => parameters.data_scrambled.into(),
            MibItem::ExpectedBroadcastBandwidth => parameters.expected_broadcast_bandwidth.into(),
            MibItem::Priority => qos.priority.into(),
            MibItem::ExpectedBandwidth => qos.expected_bandwidth.into(),
            MibItem::TimeSlots => qos.time_slots,
            MibItem::ContinuousMode => bit(parameters.continuous_mode),
            MibItem::IdleTimeLimit => limits.idle_time_limit.into(),
            MibItem::BandwidthCreditLimit => limits.bandwidth_credit_limit.into(),
            MibItem::MinimumBandwidthCreditThreshold => limits.minimum_threshold_tenths.into(),
            MibItem::FctMultiplier => config.fct_multiplier.into(),
            MibItem::SegmentMultiplier => config.segment_multiplier.into(),
            MibItem::HasCredit => bit(status.has_credit),
            MibItem::InputBufferOverflow => bit(status.input_buffer_overflow),
            MibItem::FctCreditOverflow => bit(status.fct_credit_overflow),
            MibItem::BandwidthOverUse => bit(use_status.bandwidth_over_use),
            MibItem::BandwidthUnderUse => bit(use_status.bandwidth_under_use),
            MibItem::Crc16Error => status.crc16_error.into(),
            MibItem::Crc8Error => status.crc8_error.into(),
            MibItem::FrameError => status.frame_error.into(),
            MibItem::SequenceError => status.sequence_error.into(),
            MibItem::ErrorRecoveryBufferEmpty => status.error_recovery_buffer_empty.into(),
            MibItem::ErrorRecoveryAttempts => status.error_recovery_attempts,
            MibItem::ProtocolError => status.protocol_error.into(),
            MibItem::FarEndLinkReset => status.far_end_link_reset.into(),
            MibItem::CurrentTimeSlot => use_status.current_time_slot.into(),
            _ => return None,
        })
    }

    fn read_multi_lane(&self, id: MibItem) -> Option<u64> {
        let status = self.lanes.status();
        Some(match id {
            MibItem::MaxDataSendingLanes => self.lanes.parameters.max_data_sending.into(),
            MibItem::Bypass => status.bypass.into(),
            MibItem::DataSendingLanes => status.data_sending.into(),
            MibItem::DataReceivingLanes => status.data_receiving.into(),
            MibItem::AlignmentState => status.alignment as u64,
            MibItem::MisalignedEvents => status.misaligned_events.into(),
            _ => return None,
        })
    }

    fn read_lane(&self, id: MibItem, index: usize) -> Option<u64> {
        let lane = self.lanes.lane(index)?;
        let (parameters, status) = (&lane.parameters, lane.status());
        Some(match id {
            MibItem::TxEn => parameters.tx_en.into(),
            MibItem::RxEn => parameters.rx_en.into(),
            MibItem::LaneStart => parameters.lane_start.into(),
            MibItem::AutoStart => parameters.auto_start.into(),
            MibItem::LaneReset => parameters.lane_reset.into(),
            MibItem::NearEndParallelLoopback => parameters.near_end_parallel_loopback.into(),
            MibItem::FarEndParallelLoopback => parameters.far_end_parallel_loopback.into(),
            MibItem::NearEndSerialLoopback => parameters.near_end_serial_loopback.into(),
            MibItem::FarEndSerialLoopback => parameters.far_end_serial_loopback.into(),
            MibItem::StandbyReason => parameters.standby_reason.into(),
            MibItem::LaneState => status.state as u64,
            MibItem::RxerrCount => status.rxerr_count.into(),
            MibItem::RxerrOverflow => status.rxerr_overflow.into(),
            MibItem::FarEndStandby => status.far_end_standby.into(),
            MibItem::FarEndStandbyReason => status.far_end_standby_reason.into(),
            MibItem::Timeout => status.timeout.into(),
            MibItem::FarEndLostSignal => status.far_end_lost_signal.into(),
            MibItem::FarEndLostSignalCause => status.far_end_lost_signal_cause.into(),
            MibItem::FarEndCapabilities => status.far_end_capability.unwrap_or(0).into(),
            MibItem::RxPolarity => status.rx_polarity_inverted.into(),
            MibItem::NoSignal => status.no_signal.into(),
            MibItem::BitSync => (lane.sync_state() != SyncState::LostSync).into(),
            _ => return None,
        })
    }
}
