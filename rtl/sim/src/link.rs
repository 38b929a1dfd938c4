//! The structs of the data link layer in their bits; `spfe_sf_link_pkg` defines them.

use spfe_link::datalink::{DataLinkParameters, LinkBroadcast};
use spfe_link::qos::QosParameters;

use crate::{Packer, Unpacker};

/// Commands of management, for one cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Commands {
    /// Link reset.
    pub link_reset: bool,
    /// Interface reset.
    pub interface_reset: bool,
}

/// Rows of the link for each row of a channel, in 256ths.
fn price(share: u16) -> u64 {
    match share {
        0 => 0,
        u16::MAX => 256,
        _ => (1 << 24) / u64::from(share),
    }
}

/// Writes a `link_param_t`, with the current time-slot.
pub fn put_parameters(
    bits: &mut Packer,
    parameters: &DataLinkParameters,
    slot: u8,
    commands: Commands,
) {
    let share = u64::from(parameters.expected_broadcast_bandwidth);
    let rows = ((4 << 16) + share / 2).checked_div(share).unwrap_or(0);
    // routing_switch, idle_limit, time_slot, broadcast_rows
    bits.flag(false).put(0xf_ffff, 24).put(slot.into(), 6).put(rows, 19);
    bits.flag(parameters.data_scrambled).flag(commands.link_reset);
    bits.flag(commands.interface_reset);
}

/// Writes the `vc_param_t` of all channels.
pub fn put_channels(bits: &mut Packer, parameters: &DataLinkParameters, qos: &[QosParameters]) {
    for (vc, qos) in qos.iter().enumerate() {
        bits.flag(parameters.continuous_mode >> vc & 1 != 0)
            .put(qos.time_slots, 64)
            .put(price(qos.expected_bandwidth), 25)
            .put(qos.priority.into(), 4);
    }
}

/// Writes a `broadcast_t`.
pub fn put_broadcast(bits: &mut Packer, message: &LinkBroadcast) {
    bits.put(u64::from_le_bytes(message.data), 64)
        .put(message.channel.into(), 8)
        .put(message.kind.into(), 8)
        .flag(message.delayed)
        .flag(message.late)
        .flag(false);
}

/// Reads a `broadcast_t`: the message, and whether messages before it were dropped.
pub fn get_broadcast(bits: &mut Unpacker<'_>) -> (LinkBroadcast, bool) {
    let message = LinkBroadcast {
        data: bits.get(64).to_le_bytes(),
        channel: bits.get(8) as u8,
        kind: bits.get(8) as u8,
        delayed: bits.flag(),
        late: bits.flag(),
    };
    (message, bits.flag())
}
