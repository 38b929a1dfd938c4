//! Setting items.

use super::LinkMib;
use crate::datalink::{self, Store};
use crate::{lane, qos};
use spfe_contract::MibItem;

impl<B: Store, const L: usize, const V: usize> LinkMib<'_, B, L, V> {
    /// Sets an item that exists to a value within its range.
    pub(super) fn write(&mut self, id: MibItem, index: usize, value: u64) {
        let on = value != 0;
        match id {
            MibItem::VirtualNetwork => {
                if let Some(network) = self.node.virtual_network.get_mut(index) {
                    *network = value as u8;
                }
            }
            MibItem::BroadcastChannel => self.node.broadcast_channel = value as u8,
            MibItem::Schedule => self.link.schedule(value as u8),
            MibItem::ScheduleType => self.node.schedule_type = value as u16,
            MibItem::InterfaceReset => self.interface_reset(),
            MibItem::LinkReset => {
                self.link.link_reset();
                self.clear_errors();
            }
            MibItem::DataScrambled => self.link_parameter(|p| p.data_scrambled = on),
            MibItem::ExpectedBroadcastBandwidth => {
                self.link_parameter(|p| p.expected_broadcast_bandwidth = value as u16);
            }
            MibItem::ContinuousMode => self.link_parameter(|p| {
                p.continuous_mode =
                    p.continuous_mode & !(1 << (index & 31)) | u32::from(on) << (index & 31);
            }),
            MibItem::Priority => self.channel(index, |p| p.priority = value as u8),
            MibItem::ExpectedBandwidth => {
                self.channel(index, |p| p.expected_bandwidth = value as u16)
            }
            MibItem::TimeSlots => self.channel(index, |p| p.time_slots = value),
            MibItem::IdleTimeLimit => self.link.set_idle_time_limit(value as u32),
            MibItem::MaxDataSendingLanes => self.lanes.parameters.max_data_sending = value as u8,
            MibItem::TxEn => self.lane(index, |p| p.tx_en = on),
            MibItem::RxEn => self.lane(index, |p| p.rx_en = on),
            MibItem::LaneStart => self.lane(index, |p| p.lane_start = on),
            MibItem::AutoStart => self.lane(index, |p| p.auto_start = on),
            MibItem::LaneReset => self.lane(index, |p| p.lane_reset = on),
            MibItem::NearEndParallelLoopback => {
                self.lane(index, |p| p.near_end_parallel_loopback = on)
            }
            MibItem::FarEndParallelLoopback => {
                self.lane(index, |p| p.far_end_parallel_loopback = on)
            }
            MibItem::NearEndSerialLoopback => self.lane(index, |p| p.near_end_serial_loopback = on),
            MibItem::FarEndSerialLoopback => self.lane(index, |p| p.far_end_serial_loopback = on),
            MibItem::StandbyReason => self.lane(index, |p| p.standby_reason = value as u8),
            // All other items are read-only.
            _ => {}
        }
    }

    /// Sets the parameters of all layers to their power-on values.
    fn interface_reset(&mut self) {
        self.link.interface_reset();
        let there = self.lane_count.min(L);
        self.lanes.parameters.max_data_sending = there as u8;
        for lane in self.lanes.lanes_mut().iter_mut().take(there) {
            lane.parameters = lane::LaneParameters::new();
        }
        self.lanes.clear_status();
        *self.node = super::NodeRegisters::new();
    }

    fn link_parameter(&mut self, change: impl FnOnce(&mut datalink::DataLinkParameters)) {
        let mut parameters = self.link.parameters();
        change(&mut parameters);
        self.link.set_parameters(parameters);
    }

    fn channel(&mut self, vc: usize, change: impl FnOnce(&mut qos::QosParameters)) {
        if let Some(mut parameters) = self.link.qos_parameters(vc) {
            change(&mut parameters);
            self.link.set_qos_parameters(vc, parameters);
        }
    }

    fn lane(&mut self, index: usize, change: impl FnOnce(&mut lane::LaneParameters)) {
        if let Some(lane) = self.lanes.lane_mut(index) {
            change(&mut lane.parameters);
        }
    }
}
