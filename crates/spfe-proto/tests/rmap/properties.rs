//! Random packets: what is written can be read again, what is read can be written again, and no
//! bytes make anything panic or access memory without permission.

use crate::lab::{Access, Watched, with_crc};
use proptest::prelude::*;
use spfe_proto::PacketEnd;
use spfe_proto::rmap::{
    CommandHeader, Denial, Instruction, PacketError, PacketType, ReplyAddress, ReplyHeader,
    RmapCommand, RmapInitiator, RmapNode, RmapReply, RmapRequest, RmapStatus, RmapTarget,
    RmapTargetConfig, TargetOutcome,
};

fn reply_address() -> impl Strategy<Value = ReplyAddress> {
    let byte = prop_oneof![Just(0), any::<u8>()];
    (0..4usize, prop::collection::vec(byte, 12))
        .prop_map(|(words, field)| ReplyAddress::from_field(&field[..words * 4]).unwrap())
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..40)
}

fn end() -> impl Strategy<Value = PacketEnd> {
    prop_oneof![4 => Just(PacketEnd::Eop), 1 => Just(PacketEnd::Eep)]
}

prop_compose! {
    fn header(types: u8)(
        fields in any::<(u8, u8, u8, u16)>(),
        code in 0..16u8,
        packet_type in 1..=types,
        reply_address in reply_address(),
        address in 0..1u64 << 40,
        length in 0..1u32 << 24,
    ) -> CommandHeader {
        let words = (reply_address.field().len() / 4) as u8;
        CommandHeader {
            target: fields.0,
            instruction: Instruction(packet_type << 6 | code << 2 | words),
            key: fields.1,
            reply_address,
            initiator: fields.2,
            transaction: fields.3,
            address,
            length,
        }
    }
}

prop_compose! {
    fn reply()(
        fields in any::<(u8, u8, u8, u8, u16)>(),
        data in data(),
    ) -> (ReplyHeader, Vec<u8>) {
        let instruction = Instruction(fields.1 & 0x3f);
        let data = if instruction.is_write() { Vec::new() } else { data };
        let header = ReplyHeader {
            initiator: fields.0,
            instruction,
            status: RmapStatus(fields.2),
            target: fields.3,
            transaction: fields.4,
            length: data.len() as u32,
        };
        (header, data)
    }
}

/// A random change of a packet.
#[derive(Clone, Debug)]
enum Change {
    Set(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Append(Vec<u8>),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        3 => any::<(prop::sample::Index, u8)>().prop_map(|(at, to)| Change::Set(at, to)),
        1 => any::<prop::sample::Index>().prop_map(Change::Cut),
        1 => prop::collection::vec(any::<u8>(), 1..4).prop_map(Change::Append),
    ];
    prop::collection::vec(change, 0..4)
}

fn change(mut packet: Vec<u8>, changes: Vec<Change>) -> Vec<u8> {
    for change in changes {
        match change {
            Change::Set(..) if packet.is_empty() => {}
            Change::Set(at, to) => {
                let at = at.index(packet.len());
                packet[at] = to;
            }
            Change::Cut(at) => packet.truncate(at.index(packet.len() + 1)),
            Change::Append(bytes) => packet.extend(bytes),
        }
    }
    packet
}

/// Restores the CRC of the header if there is room for one, so that changes get past the header
/// check.
fn mend(mut packet: Vec<u8>) -> Vec<u8> {
    let Some(instruction) = packet.get(2).map(|byte| Instruction(*byte)) else { return packet };
    let header = match instruction.packet_type() {
        PacketType::Reply if instruction.is_write() => 8,
        PacketType::Reply => 12,
        _ => 16 + instruction.reply_address_bytes(),
    };
    if packet.len() >= header {
        packet[header - 1] = crate::lab::model_crc(&packet[..header - 1]);
    }
    packet
}

/// Random bytes that are RMAP more often than by chance.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let random = prop::collection::vec(any::<u8>(), 0..64);
    let rmap = random.clone().prop_map(|mut bytes| {
        bytes.iter_mut().skip(1).take(1).for_each(|byte| *byte = 1);
        mend(bytes)
    });
    let built = (header(1), data(), changes(), any::<bool>()).prop_map(
        |(header, data, changes, mended)| {
            let header = CommandHeader { length: data.len() as u32, ..header };
            let mut out = [0; 128];
            let bytes = header.write(&mut out).unwrap();
            let carries = header.instruction.operation().is_none_or(|it| it.carries_data());
            let rest = if carries { with_crc(&data) } else { vec![] };
            let packet = change([&out[..bytes], &rest].concat(), changes);
            if mended { mend(packet) } else { packet }
        },
    );
    let replied =
        (reply(), changes(), any::<bool>()).prop_map(|((header, data), changes, mended)| {
            let mut out = [0; 128];
            let bytes = RmapReply { header, data: &data }.write(&[], &mut out).unwrap();
            let packet = change(out[..bytes].to_vec(), changes);
            if mended { mend(packet) } else { packet }
        });
    prop_oneof![1 => random, 2 => rmap, 3 => built, 3 => replied]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn headers_round_trip(header in header(3)) {
        let mut out = [0; 28];
        let bytes = header.write(&mut out).unwrap();
        prop_assert_eq!(bytes, header.bytes());
        prop_assert_eq!(CommandHeader::parse(&out[..bytes]), Ok(header));
    }

    #[test]
    fn commands_round_trip(header in header(1), data in data(), path in data()) {
        let Some(operation) = header.instruction.operation() else { return Ok(()) };
        let header = match operation.carries_data() {
            true => CommandHeader { length: data.len() as u32, ..header },
            false => header,
        };
        let data = if operation.carries_data() { &data[..] } else { &[] };
        let command = RmapCommand { header, data };
        let mut out = [0; 128];
        let bytes = command.write(&path, &mut out).unwrap();
        prop_assert_eq!(&out[..path.len()], &path[..]);
        prop_assert_eq!(RmapCommand::parse(&out[path.len()..bytes], PacketEnd::Eop), Ok(command));
    }

    #[test]
    fn replies_round_trip((header, data) in reply(), path in data()) {
        let reply = RmapReply { header, data: &data };
        let mut out = [0; 128];
        let bytes = reply.write(&path, &mut out).unwrap();
        prop_assert_eq!(&out[..path.len()], &path[..]);
        prop_assert_eq!(RmapReply::parse(&out[path.len()..bytes], PacketEnd::Eop), Ok(reply));
    }

    /// Any bytes are refused with a reason, or can be written again unchanged.
    #[test]
    fn bytes_are_refused_or_written_back_unchanged(bytes in bytes(), end in end()) {
        let mut out = [0; 128];
        match RmapCommand::parse(&bytes, end) {
            Ok(command) => {
                let written = command.write(&[], &mut out).unwrap();
                prop_assert_eq!((&out[..written], end), (&bytes[..], PacketEnd::Eop));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
        match RmapReply::parse(&bytes, end) {
            Ok(reply) => {
                let written = reply.write(&[], &mut out).unwrap();
                prop_assert_eq!((&out[..written], end), (&bytes[..], PacketEnd::Eop));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    /// Only commands with a code in use can be written and read.
    #[test]
    fn only_known_commands_can_be_written(header in header(3)) {
        let header = CommandHeader { length: 0, ..header };
        let mut out = [0; 64];
        let written = RmapCommand { header, data: &[] }.write(&[], &mut out);
        let instruction = header.instruction;
        let good = instruction.packet_type() == PacketType::Command && instruction.operation().is_some();
        prop_assert_eq!(written.is_ok(), good);
        let bytes = header.write(&mut out).unwrap();
        let error = RmapCommand::parse(&out[..bytes], PacketEnd::Eop).err();
        let refused = error == Some(PacketError::Code { instruction });
        prop_assert_eq!(refused, !good);
    }

    /// A buffer is either large enough, or refused with a reason.
    #[test]
    fn short_buffers_are_refused(header in header(1), data in data(), room in 0..80usize) {
        let header = CommandHeader { length: data.len() as u32, ..header };
        let mut out = vec![0xa5; room];
        match (RmapCommand { header, data: &data }).write(&[], &mut out) {
            Ok(bytes) => prop_assert!(bytes <= room),
            Err(_) => prop_assert!(out.iter().all(|byte| *byte == 0xa5)),
        }
    }

    /// Any bytes at a target that allows a window: the memory gets only accesses within the window
    /// that the header names, and only commands that want a reply get one.
    #[test]
    fn target_accesses_only_the_window(
        bytes in bytes(),
        end in end(),
        window in any::<(u64, u8)>(),
        room in 25..100usize,
        check_all_writes in any::<bool>(),
        reply_to_reserved in any::<bool>(),
    ) {
        let config = RmapTargetConfig { verify_bytes: 16, check_all_writes, reply_to_reserved, ..RmapTargetConfig::default() };
        let header = CommandHeader::parse(&bytes).ok();
        // Half of the windows surround the address of the packet.
        let (start, size) = match header {
            Some(header) if window.0 & 1 == 0 => (header.address.saturating_sub(4), u64::from(window.1)),
            _ => (window.0 >> 24, u64::from(window.1)),
        };
        let inside = |address: u64, bytes: u64| {
            start <= address && address.checked_add(bytes).is_some_and(|end| end <= start + size)
        };
        let allow = |header: &CommandHeader| {
            let allowed = inside(header.address, u64::from(header.length));
            allowed.then_some(()).ok_or(Denial::Access)
        };
        let (mut target, mut memory) = (RmapTarget::new(config), Watched::default());
        let mut out = vec![0; room];
        let outcome = target.handle(&bytes, end, &mut memory, allow, &mut out).unwrap();
        for Access { address, increment, bytes: count, write } in &memory.accesses {
            let header = header.unwrap();
            prop_assert!(inside(*address, *count as u64));
            prop_assert_eq!(*address, header.address);
            prop_assert!(0 < *count && *count <= header.length as usize);
            prop_assert_eq!(*increment, header.instruction.operation().unwrap().increments());
            prop_assert!(!write || header.instruction.operation().unwrap().carries_data());
        }
        let reply = &out[..outcome.reply_bytes()];
        match outcome {
            TargetOutcome::Discarded(_) => prop_assert!(reply.is_empty()),
            TargetOutcome::Executed { command, .. } | TargetOutcome::Refused { command, .. } => {
                prop_assert_eq!(Some(command), header);
                prop_assert_eq!(!reply.is_empty(), command.instruction.wants_reply());
                if !reply.is_empty() {
                    let path = command.reply_address.path();
                    prop_assert_eq!(&reply[..path.len()], path);
                    let reply = RmapReply::parse(&reply[path.len()..], PacketEnd::Eop).unwrap();
                    prop_assert_eq!(reply.header.transaction, command.transaction);
                    prop_assert!(!reply.header.status.is_reserved());
                }
            }
        }
    }

    /// Any bytes at an initiator: a transaction ends only by its own identifier.
    #[test]
    fn a_transaction_ends_only_by_its_own_identifier(packets in prop::collection::vec((bytes(), end()), 1..20)) {
        let mut initiator = RmapInitiator::<5>::new();
        let mut out = [0; 64];
        let node = RmapNode::default();
        let requests = [
            RmapRequest::read(4),
            RmapRequest::write(&[1]),
            RmapRequest::ReadModifyWrite { data: &[1, 2], mask: &[3, 4] },
        ];
        for request in requests.iter().cycle().take(5) {
            initiator.begin(&node, 0, request, 0, 1, &mut out).unwrap();
        }
        for (packet, end) in &packets {
            let before = initiator.outstanding();
            match initiator.handle(packet, *end) {
                Ok(done) => {
                    prop_assert_eq!(initiator.outstanding(), before - 1);
                    prop_assert_eq!(done.transaction.to_be_bytes(), [packet[5], packet[6]]);
                }
                Err(discard) => {
                    prop_assert!(!discard.to_string().is_empty());
                    prop_assert_eq!(initiator.outstanding(), before);
                }
            }
        }
    }

    /// Initiator, target and memory together behave like a plain array.
    #[test]
    fn memory_behaves_like_an_array(
        steps in prop::collection::vec((0..64u64, prop::collection::vec(any::<u8>(), 0..9), 0..4u8), 1..20),
    ) {
        let mut array = [0u8; 80];
        let mut bytes = [0u8; 80];
        let mut memory = spfe_proto::rmap::Ram { base: 0, word_bytes: 4, bytes: &mut bytes };
        let (mut target, mut initiator) = (RmapTarget::default(), RmapInitiator::<1>::new());
        for (address, data, kind) in steps {
            let place = address as usize..address as usize + data.len();
            let half = data.len().min(8) / 2;
            let (bits, mask) = (&data[..half], &data[half..2 * half]);
            let request = match kind {
                0 => RmapRequest::write(&data),
                1 => RmapRequest::read(data.len() as u32),
                2 => RmapRequest::ReadModifyWrite { data: bits, mask },
                _ => RmapRequest::Write { verify: false, reply: true, increment: true, data: &data },
            };
            let expected = match kind {
                1 => array[place.clone()].to_vec(),
                2 => array[address as usize..address as usize + half].to_vec(),
                _ => vec![],
            };
            match kind {
                1 => {}
                2 => for (index, (bit, mask)) in bits.iter().zip(mask).enumerate() {
                    let byte = &mut array[address as usize + index];
                    *byte = *byte & !mask | bit & mask;
                },
                _ => array[place].copy_from_slice(&data),
            }
            let (mut out, mut reply) = ([0; 64], [0; 64]);
            let sent = initiator
                .begin(&RmapNode::default(), address, &request, 0, 1, &mut out)
                .unwrap();
            let outcome = target
                .handle(&out[..sent.bytes], PacketEnd::Eop, &mut memory, |_| Ok(()), &mut reply)
                .unwrap();
            let done = initiator.handle(&reply[..outcome.reply_bytes()], PacketEnd::Eop).unwrap();
            prop_assert_eq!(done.result, Ok(&expected[..]));
        }
        prop_assert_eq!(memory.bytes, &array[..]);
    }
}
