//! Packets from the network: extracts frames and counts dropped packets.

use spfe::{End, Packet, Status};
use spfe_proto::ethernet::{self, DropReason};

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
}

/// Extracts frames from packets in order of arrival.
#[derive(Clone, Debug)]
pub struct Inbound {
    /// Length of the longest accepted packet, bytes.
    most: usize,
    /// Skip the rest of a packet that is longer than a buffer.
    skip: bool,
    /// Counts of dropped packets.
    pub drops: Drops,
}

impl Inbound {
    /// Accepts packets of at most `most` bytes.
    pub fn new(most: usize) -> Self {
        Self { most, skip: false, drops: Drops::default() }
    }

    /// The frame in a packet, or `None` if the packet is dropped. A packet in parts is counted once.
    pub fn take<'a>(&mut self, packet: Packet<'a>) -> Option<&'a [u8]> {
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
        match ethernet::parse(packet.bytes, end, self.most) {
            Ok(frame) => return Some(frame),
            Err(DropReason::Cut) => self.drops.cut += 1,
            Err(DropReason::Short { .. }) => self.drops.short += 1,
            Err(DropReason::Long { .. }) => self.drops.long += 1,
            Err(DropReason::Header { .. }) => self.drops.header += 1,
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
    fn every_reason_is_counted_once() {
        let mut whole = ethernet::HEADER.to_vec();
        whole.extend([7; 60]);
        let mut wrong = whole.clone();
        wrong[2] = 2;
        let mut inbound = Inbound::new(whole.len());
        assert_eq!(inbound.take(packet(&whole, End::Eop)), Some(&[7; 60][..]));
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
        assert_eq!(inbound.drops, Drops { cut: 2, short: 1, long: 2, header: 1 });
        assert_eq!(inbound.take(packet(&whole, End::Eop)), Some(&[7; 60][..]));
    }

    #[test]
    fn a_buffer_that_failed_ends_what_came_before() {
        let mut inbound = Inbound::new(2000);
        let mut whole = ethernet::HEADER.to_vec();
        whole.extend([7; 14]);
        assert_eq!(inbound.take(packet(&whole, End::More)), None);
        let failed = Packet { bytes: &[], end: End::More, status: Status::DeviceReset };
        assert_eq!(inbound.take(failed), None);
        assert!(inbound.take(packet(&whole, End::Eop)).is_some());
        assert_eq!(inbound.drops, Drops { long: 1, ..Drops::default() });
    }

    proptest! {
    /// For any input: a frame comes from one whole packet, and every other packet is counted once.
            #[test]
            fn frames_are_whole(
                parts in prop::collection::vec(
                    (any::<bool>(), prop::collection::vec(any::<u8>(), 0..40), 0u8..6, any::<u8>()),
                    0..40,
                ),
                most in 0usize..50,
            ) {
                let (mut inbound, mut inside) = (Inbound::new(most), false);
                for (framed, bytes, end, status) in parts {
                    let start = if framed { &ethernet::HEADER[..] } else { &[] };
                    let bytes = [start, &bytes].concat();
                    let end = [End::More, End::Eep].get(usize::from(end)).copied().unwrap_or(End::Eop);
                    let status = Status::from_raw(status).unwrap_or(Status::Ok);
                    let before = inbound.drops;
                    let frame = inbound.take(Packet { bytes: &bytes, end, status });
                    let Drops { cut, short, long, header } = inbound.drops;
                    let sum = cut + short + long + header;
                    let counted = sum - before.cut - before.short - before.long - before.header;
                    if let Some(frame) = frame {
                        prop_assert!(!inside && end == End::Eop && status == Status::Ok);
                        prop_assert!(bytes.len() <= most && bytes == [&ethernet::HEADER, frame].concat());
                        prop_assert_eq!(counted, 0);
                    } else {
                        prop_assert_eq!(counted, u64::from(!inside));
                    }
                    inside = end == End::More && status == Status::Ok;
                }
            }
        }
}
