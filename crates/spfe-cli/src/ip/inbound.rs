//! Packets from the network: extracts frames and counts dropped packets.

use spfe::{End, Packet, Status};
use spfe_proto::ethernet::{self, DropReason, EthernetPacket};

/// Packets dropped, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// Packets that ended with EEP or that the device could not receive.
    pub cut: u64,
    /// Packets shorter than a header and the shortest frame.
    pub short: u64,
    /// Packets longer than the MTU allows.
    pub long: u64,
    /// Packets with an unknown header.
    pub header: u64,
    /// Frames whose checksum or segments do not fit them.
    pub offload: u64,
}

impl Drops {
    /// The packets of both.
    pub fn sum(self, other: Self) -> Self {
        Self {
            cut: self.cut + other.cut,
            short: self.short + other.short,
            long: self.long + other.long,
            header: self.header + other.header,
            offload: self.offload + other.offload,
        }
    }
}

/// Extracts frames from packets in order of arrival.
#[derive(Clone, Debug)]
pub struct Inbound {
    /// MTU of the interface, bytes.
    mtu: u32,
    /// Understand version 1 only.
    first_only: bool,
    /// Start of frames of version 2: the nodes of a fabric.
    prefix: [u8; ethernet::PREFIX_BYTES],
    /// Skip the rest of a packet that is longer than a buffer.
    skip: bool,
    /// Counts of dropped packets.
    pub drops: Drops,
}

impl Inbound {
    /// For an interface with this MTU; `first_only` takes version 1 only.
    pub fn new(mtu: u32, first_only: bool) -> Self {
        let prefix = ethernet::PREFIX;
        Self { mtu, first_only, prefix, skip: false, drops: Drops::default() }
    }

    /// Takes only frames of version 2 that start so: on a fabric, those of one node for another.
    pub fn with_prefix(mut self, prefix: [u8; ethernet::PREFIX_BYTES]) -> Self {
        self.prefix = prefix;
        self
    }

    pub fn set_mtu(&mut self, mtu: u32) {
        self.mtu = mtu;
    }

    /// The queue was opened again: the device drops the rest of a packet whose start went to the old
    /// one.
    pub fn restart(&mut self) {
        self.skip = false;
    }

    /// What is in a packet, or `None` if the packet is dropped. A packet in parts is counted once.
    pub fn take<'a>(&mut self, packet: Packet<'a>) -> Option<EthernetPacket<'a>> {
        let usable = packet.status == Status::Ok;
        let more = usable && packet.end == End::More;
        let rest = std::mem::replace(&mut self.skip, more);
        if rest {
            return None;
        }
        let end = match packet.end {
            _ if more => {
                self.drops.long += 1;
                return None;
            }
            End::Eop if usable => spfe_proto::PacketEnd::Eop,
            _ => spfe_proto::PacketEnd::Eep,
        };
        let found = if self.first_only {
            let most = ethernet::packet_bytes(self.mtu);
            ethernet::parse(packet.bytes, end, most).map(EthernetPacket::Plain)
        } else {
            ethernet::parse_between(packet.bytes, end, self.mtu, self.prefix)
        };
        match found {
            Ok(found) => return Some(found),
            Err(DropReason::Cut) => self.drops.cut += 1,
            Err(DropReason::Short { .. }) => self.drops.short += 1,
            Err(DropReason::Long { .. }) => self.drops.long += 1,
            Err(DropReason::Header { .. }) => self.drops.header += 1,
            Err(DropReason::Offload) => self.drops.offload += 1,
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(bytes: &[u8], end: End) -> Packet<'_> {
        let status = if end == End::Eep { Status::PacketCut } else { Status::Ok };
        Packet { bytes, end, status }
    }

    #[test]
    fn a_node_takes_only_what_its_far_end_has_sent_to_it() {
        let mut inbound = Inbound::new(1500, false).with_prefix(ethernet::prefix(3, 9));
        let fields = ethernet::Offload::default().encode();
        let packet = |to, from| [&ethernet::prefix(to, from)[..], &fields, &[7; 60]].concat();
        let mut take = |bytes: &[u8]| {
            let packet = Packet { bytes, end: End::Eop, status: Status::Ok };
            inbound.take(packet).is_some()
        };
        assert!(take(&packet(3, 9)));
        for (to, from) in [(9, 3), (3, 8), (0, 0), (4, 9)] {
            assert!(!take(&packet(to, from)), "to {to} from {from}");
        }
        assert_eq!(inbound.drops.header, 4);
    }

    #[test]
    fn every_reason_is_counted_once() {
        let mut whole = ethernet::HEADER.to_vec();
        whole.extend([7; 60]);
        let mut wrong = whole.clone();
        wrong[2] = 2;
        let frame = Some(EthernetPacket::Plain(&[7; 60]));
        let mut inbound = Inbound::new(68, true);
        assert_eq!(inbound.take(packet(&whole, End::Eop)), frame);
        for (bytes, end) in [
            (&whole[..], End::Eep),
            (&whole[..19], End::Eop),
            (&wrong, End::Eop),
            // In three parts; then in two, of which the second is cut.
            (&whole, End::More),
            (&whole, End::More),
            (&whole, End::Eop),
            (&whole, End::More),
            (&whole, End::Eep),
            // Buffers the device could not use.
            (&[], End::Eep),
        ] {
            assert_eq!(inbound.take(packet(bytes, end)), None);
        }
        assert_eq!(inbound.drops, Drops { cut: 2, short: 1, long: 2, header: 1, offload: 0 });
        assert_eq!(inbound.take(packet(&whole, End::Eop)), frame);
    }

    #[test]
    fn a_buffer_that_failed_ends_what_came_before() {
        let mut inbound = Inbound::new(2000, false);
        let mut whole = ethernet::HEADER.to_vec();
        whole.extend([7; 14]);
        assert_eq!(inbound.take(packet(&whole, End::More)), None);
        let failed = Packet { bytes: &[], end: End::More, status: Status::DeviceReset };
        assert_eq!(inbound.take(failed), None);
        assert!(inbound.take(packet(&whole, End::Eop)).is_some());
        assert_eq!(inbound.drops, Drops { long: 1, ..Drops::default() });
    }

    #[test]
    fn a_new_queue_begins_with_a_new_packet() {
        let mut inbound = Inbound::new(2000, false);
        let whole = [&ethernet::HEADER[..], &[7; 14]].concat();
        assert_eq!(inbound.take(packet(&whole, End::More)), None);
        inbound.restart();
        assert!(inbound.take(packet(&whole, End::Eop)).is_some());
        assert_eq!(inbound.drops, Drops { long: 1, ..Drops::default() });
    }

    /// Version 1 alone counts version 2 as a wrong header; version 2 understands both.
    #[test]
    fn versions_are_told_apart() {
        let hello = ethernet::EthernetHello { version: 2, ..Default::default() };
        let segments = ethernet::Offload { segment_kind: 1, ..Default::default() };
        let frame = |fields: ethernet::Offload| {
            [&ethernet::PREFIX[..], &fields.encode(), &[7; 60]].concat()
        };
        let (good, bad) = (frame(Default::default()), frame(segments));
        let mut first = Inbound::new(1500, true);
        let mut second = Inbound::new(1500, false);
        for bytes in [&hello.encode()[..], &good, &bad] {
            assert_eq!(first.take(packet(bytes, End::Eop)), None);
        }
        assert_eq!(first.drops, Drops { header: 3, ..Drops::default() });
        let found = second.take(packet(&good, End::Eop));
        assert_eq!(found, Some(EthernetPacket::Offloaded(Default::default(), &[7; 60])));
        assert_eq!(second.take(packet(&bad, End::Eop)), None);
        assert_eq!(second.drops, Drops { offload: 1, ..Drops::default() });
    }

    proptest! {
        /// For any input: what is taken comes from one whole packet, and every other packet is
        /// counted once.
        #[test]
        fn packets_are_whole(
            parts in prop::collection::vec(
                (0u8..3, prop::collection::vec(any::<u8>(), 0..40), 0u8..6, any::<u8>()),
                0..40,
            ),
            mtu in 0u32..50,
            first_only: bool,
        ) {
            let (mut inbound, mut inside) = (Inbound::new(mtu, first_only), false);
            for (start, bytes, end, status) in parts {
                let starts = [&[][..], &ethernet::HEADER, &ethernet::PREFIX];
                let bytes = [starts[usize::from(start)], &bytes].concat();
                let end = [End::More, End::Eep].get(usize::from(end)).copied().unwrap_or(End::Eop);
                let status = Status::from_raw(status).unwrap_or(Status::Ok);
                let sum = |Drops { cut, short, long, header, offload }: Drops| {
                    cut + short + long + header + offload
                };
                let before = sum(inbound.drops);
                let taken = inbound.take(Packet { bytes: &bytes, end, status });
                let counted = sum(inbound.drops) - before;
                if let Some(taken) = taken {
                    prop_assert!(!inside && end == End::Eop && status == Status::Ok);
                    prop_assert_eq!(matches!(taken, EthernetPacket::Plain(_)), start == 1);
                }
                prop_assert_eq!(counted, u64::from(taken.is_none() && !inside));
                inside = end == End::More && status == Status::Ok;
            }
        }
    }
}
