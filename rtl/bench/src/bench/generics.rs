//! Reads the generics of builds from their registers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::registers as reg;
use crate::station::Station;

/// Published generics, with the register and the mask of their value in this core.
const READ: [(&str, u32, u32); 30] = [
    ("SESSION_COUNT", reg::BUILD_SIZES, reg::BUILD_SIZES_SESSIONS_MASK),
    ("ARP_TABLE_ENTRY_COUNT", reg::BUILD_SIZES, reg::BUILD_SIZES_ARP_ENTRIES_MASK),
    ("MAC2TCP_DATA_WIDTH", reg::BUILD_WIDTHS, reg::BUILD_WIDTHS_MAC_RX_MASK),
    ("TCP2MAC_DATA_WIDTH", reg::BUILD_WIDTHS, reg::BUILD_WIDTHS_MAC_TX_MASK),
    ("USER2TCP_DATA_WIDTH", reg::BUILD_WIDTHS, reg::BUILD_WIDTHS_USER_TX_MASK),
    ("TCP2USER_DATA_WIDTH", reg::BUILD_WIDTHS, reg::BUILD_WIDTHS_USER_RX_MASK),
    ("MTU", reg::BUILD_LIMITS, reg::BUILD_LIMITS_MTU_MASK),
    ("VIRTUAL_INTERFACES_COUNT", reg::BUILD_LIMITS, reg::BUILD_LIMITS_VIFS_MASK),
    ("ICMP_SERVER_EN", reg::BUILD_FEATURES, reg::BUILD_FEATURES_ICMP_SERVER_MASK),
    ("ARP_GRATUITOUS_REFRESH_EN", reg::BUILD_FEATURES, reg::BUILD_FEATURES_ARP_GRATUITOUS_MASK),
    ("ARP_SERVER_EN", reg::BUILD_FEATURES, reg::BUILD_FEATURES_ARP_SERVER_MASK),
    ("INSTANT_ACK_EN", reg::BUILD_FEATURES, reg::BUILD_FEATURES_INSTANT_ACK_MASK),
    ("EMI_CREDIT_EN", reg::BUILD_FEATURES, reg::BUILD_FEATURES_CREDIT_EVENTS_MASK),
    ("EMI_STATUS_EN", reg::BUILD_FEATURES, reg::BUILD_FEATURES_STATUS_EVENTS_MASK),
    ("TX_PUSH_BIT_VALUE", reg::BUILD_FEATURES, reg::BUILD_FEATURES_TX_PUSH_MASK),
    (
        "TX_CONGESTION_CONTROL_EN",
        reg::BUILD_FEATURES,
        reg::BUILD_FEATURES_TX_CONGESTION_CONTROL_MASK,
    ),
    (
        "TX_DROP_IF_NOT_ESTABLISHED_EN",
        reg::BUILD_FEATURES,
        reg::BUILD_FEATURES_TX_DROP_IF_NOT_ESTABLISHED_MASK,
    ),
    ("RX_OOS_SEQNUM_EN", reg::BUILD_FEATURES, reg::BUILD_FEATURES_RX_OUT_OF_SEQUENCE_MASK),
    ("RX_REORDERING_EN", reg::BUILD_FEATURES, reg::BUILD_FEATURES_RX_REORDERING_MASK),
    ("RX_CHECKSUM_VERIFICATION_EN", reg::BUILD_FEATURES, reg::BUILD_FEATURES_RX_CHECKSUM_MASK),
    ("TX_RETRANSMIT_MEM_ADDR_WIDTH", reg::BUILD_MEMORIES, reg::BUILD_MEMORIES_TX_ADDR_BITS_MASK),
    ("RX_REORDERING_MEM_ADDR_WIDTH", reg::BUILD_MEMORIES, reg::BUILD_MEMORIES_RX_ADDR_BITS_MASK),
    ("RX_FIFO_PACKET_COUNT", reg::BUILD_MEMORIES, reg::BUILD_MEMORIES_RX_FIFO_PACKETS_MASK),
    ("RX_OUTPUT_PIPE_COUNT", reg::BUILD_MEMORIES, reg::BUILD_MEMORIES_RX_PIPE_MASK),
    ("TX_OUTPUT_PIPE_COUNT", reg::BUILD_MEMORIES, reg::BUILD_MEMORIES_TX_PIPE_MASK),
    // Parameters that only this core has.
    ("RxPacked", reg::BUILD_FEATURES, reg::BUILD_FEATURES_RX_PACKED_MASK),
    ("RxEopMerge", reg::BUILD_FEATURES, reg::BUILD_FEATURES_RX_EOP_MERGE_MASK),
    ("MacTxPad", reg::BUILD_FEATURES, reg::BUILD_FEATURES_MAC_TX_PAD_MASK),
    ("register map, major and minor", reg::VERSION, u32::MAX),
    ("identification", reg::ID, u32::MAX),
];

/// Published generics that are not parameters of this core. docs/tcp-core.md says what it does
/// instead.
pub const FIXED: [&str; 18] = [
    "DEBUG_MODE_EN",
    "EMI2USER_DATA_WIDTH",
    "MM_ADDR_WIDTH",
    "PEER_IPV4_ADDRESS_COUNT",
    "VLAN_COUNT",
    "MAC_ADDRESS_COUNT",
    "RX_REORDERING_MEM_DATA_WIDTH",
    "RX_REORDERING_MEM_MASK_WIDTH",
    "RX_REORDERING_MEM_INTERNAL_RAM_TYPE",
    "RX_REORDERING_MEM_INTERNAL_LATENCY",
    "TX_RETRANSMIT_MEM_DATA_WIDTH",
    "TX_RETRANSMIT_MEM_MASK_WIDTH",
    "TX_RETRANSMIT_MEM_EXTERNAL_EN",
    "TX_RETRANSMIT_MEM_EXTERNAL_FULL_DUPLEX_EN",
    "TX_RETRANSMIT_MEM_EXTERNAL_LATENCY",
    "TX_RETRANSMIT_MEM_INTERNAL_RAM_TYPE",
    "TX_RETRANSMIT_MEM_INTERNAL_LATENCY",
    "TX_RETRANSMIT_MEM_INTERNAL_DUAL_CLOCK_EN",
];

/// `generics.json`: values by build and name.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Generics {
    /// Values by build and by name.
    pub builds: BTreeMap<String, BTreeMap<String, u32>>,
}

/// Reads the generics of all measured builds that have the published generics.
///
/// # Errors
/// A build cannot be made or loaded.
pub fn measure() -> Result<Generics, String> {
    let mut out = Generics::default();
    for build in ["sf64", "ct64"] {
        let mut station = Station::new(build).map_err(|error| error.to_string())?;
        let values = READ.iter().map(|(name, register, mask)| {
            let value = station.read(*register) & mask;
            ((*name).to_owned(), value >> mask.trailing_zeros())
        });
        out.builds.insert(build.to_owned(), values.collect());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::Published;

    #[test]
    fn every_published_generic_is_read_or_explained() {
        for (name, _) in Published::load().generics {
            let read = READ.iter().filter(|(found, ..)| *found == name).count();
            let fixed = FIXED.iter().filter(|found| **found == name).count();
            assert_eq!(read + fixed, 1, "{name}");
        }
    }

    #[test]
    fn the_guide_explains_every_generic_that_is_no_parameter() {
        let guide = std::fs::read_to_string(crate::builds::root().join("docs/tcp-core.md"));
        let guide = guide.expect("can be read");
        for name in FIXED {
            assert!(guide.contains(&format!("| {name} |")), "docs/tcp-core.md lacks {name}");
        }
    }
}
