//! Packets of the standard's annex (A), of read-modify-writes (X), and of our own (E): the
//! initiator writes each command, the target makes each reply, and the initiator accepts it.

use crate::lab::{Watched, ask, hex, model_crc, split, target};
use spfe_proto::PacketEnd;
use spfe_proto::rmap::{
    Denial, ReplyAddress, RmapCommand, RmapInitiator, RmapNode, RmapReply, RmapRequest, RmapStatus,
    RmapTarget, RmapTargetConfig, TargetOutcome, TransactionFailure,
};

const EIGHT_AND_EIGHT: &str = "01 23 45 67 89 AB CD EF 10 11 12 13 14 15 16 17";
const A_ROW: &str = "A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 AA AB AC AD AE AF";

/// A command, the memory before and after it, and its reply.
struct Vector {
    name: &'static str,
    command: &'static str,
    reply: &'static str,
    reply_path: &'static str,
    key: u8,
    transaction: u16,
    address: u64,
    request: RmapRequest<'static>,
    before: &'static str,
    after: &'static str,
}

fn leak(text: &str) -> &'static [u8] {
    hex(text).leak()
}

fn write(verify: bool, reply: bool, data: &str) -> RmapRequest<'static> {
    RmapRequest::Write { verify, reply, increment: true, data: leak(data) }
}

fn vectors() -> Vec<Vector> {
    let plain = Vector {
        name: "A-1",
        command: "FE 01 6C 00 67 00 00 00 A0 00 00 00 00 00 10 9F 01 23 45 67 89 AB CD EF \
                  10 11 12 13 14 15 16 17 56",
        reply: "67 01 2C 00 FE 00 00 ED",
        reply_path: "",
        key: 0,
        transaction: 0,
        address: 0xa000_0000,
        request: write(false, true, EIGHT_AND_EIGHT),
        before: "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
        after: EIGHT_AND_EIGHT,
    };
    let beef = Vector {
        name: "E-1",
        command: "FE 01 7C 20 67 00 10 00 40 00 00 00 00 00 04 3C DE AD BE EF 48",
        reply: "67 01 3C 00 FE 00 10 69",
        key: 0x20,
        transaction: 0x10,
        address: 0x4000_0000,
        request: write(true, true, "DE AD BE EF"),
        before: "00 00 00 00",
        after: "DE AD BE EF",
        ..plain
    };
    vec![
        Vector {
            name: "A-2",
            command: "FE 01 4C 00 67 00 01 00 A0 00 00 00 00 00 10 C9",
            reply: "67 01 0C 00 FE 00 01 00 00 00 10 6D 01 23 45 67 89 AB CD EF \
                    10 11 12 13 14 15 16 17 56",
            transaction: 1,
            request: RmapRequest::read(16),
            before: EIGHT_AND_EIGHT,
            ..plain
        },
        Vector {
            name: "A-3",
            command: "11 22 33 44 55 66 77 | FE 01 6E 00 00 99 AA BB CC DD EE 00 67 00 02 00 \
                      A0 00 00 10 00 00 10 7F A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 AA AB AC AD AE AF B4",
            reply: "99 AA BB CC DD EE 00 | 67 01 2E 00 FE 00 02 1D",
            reply_path: "99 AA BB CC DD EE 00",
            transaction: 2,
            address: 0xa000_0010,
            request: write(false, true, A_ROW),
            after: A_ROW,
            ..plain
        },
        Vector {
            name: "A-4",
            command: "11 22 33 44 | FE 01 4D 00 99 AA BB CC 67 00 03 00 A0 00 00 10 00 00 10 F7",
            reply: "99 AA BB CC | 67 01 0D 00 FE 00 03 00 00 00 10 52 A0 A1 A2 A3 A4 A5 A6 A7 \
                    A8 A9 AA AB AC AD AE AF B4",
            reply_path: "99 AA BB CC",
            transaction: 3,
            address: 0xa000_0010,
            request: RmapRequest::read(16),
            before: A_ROW,
            after: A_ROW,
            ..plain
        },
        Vector {
            name: "X-1",
            command: "FE 01 5C 00 67 00 04 00 A0 00 00 10 00 00 06 9D C0 18 02 F0 3C 03 E3",
            reply: "67 01 1C 00 FE 00 04 00 00 00 03 4F A0 A1 A2 D7",
            transaction: 4,
            address: 0xa000_0010,
            request: RmapRequest::ReadModifyWrite {
                data: leak("C0 18 02"),
                mask: leak("F0 3C 03"),
            },
            before: "A0 A1 A2",
            after: "C0 99 A2",
            ..plain
        },
        Vector {
            name: "X-2",
            command: "11 | FE 01 5D 00 00 00 00 88 67 00 05 00 A0 00 00 10 00 00 08 C6 \
                      07 02 A0 00 0F 83 E0 FF 1D",
            reply: "88 | 67 01 1D 00 FE 00 05 00 00 00 04 FF E0 99 A2 A3 7D",
            reply_path: "88",
            transaction: 5,
            address: 0xa000_0010,
            request: RmapRequest::ReadModifyWrite {
                data: leak("07 02 A0 00"),
                mask: leak("0F 83 E0 FF"),
            },
            before: "E0 99 A2 A3",
            after: "E7 1A A2 00",
            ..plain
        },
        Vector {
            name: "E-2",
            command: "FE 01 48 20 67 00 11 00 40 00 00 00 00 00 04 28",
            reply: "67 01 08 00 FE 00 11 00 00 00 04 5E DE AD BE EF 48",
            transaction: 0x11,
            request: RmapRequest::Read { increment: false, length: 4 },
            before: "DE AD BE EF",
            ..beef
        },
        Vector {
            name: "E-3",
            command: "FE 01 6C 00 67 00 12 00 00 00 00 00 00 00 00 0D 00",
            reply: "67 01 2C 00 FE 00 12 12",
            transaction: 0x12,
            address: 0,
            request: write(false, true, ""),
            before: "",
            after: "",
            ..plain
        },
        Vector {
            name: "E-4",
            command: "FE 01 5C 20 67 00 13 00 40 00 00 00 00 00 08 3B 00 00 00 FF 00 00 00 0F E7",
            reply: "67 01 1C 00 FE 00 13 00 00 00 04 7E DE AD BE EF 48",
            transaction: 0x13,
            request: RmapRequest::ReadModifyWrite {
                data: leak("00 00 00 FF"),
                mask: leak("00 00 00 0F"),
            },
            before: "DE AD BE EF",
            ..beef
        },
        Vector {
            name: "E-5",
            command: "FE 01 64 00 67 00 14 01 00 00 00 10 00 00 01 7A 55 FA",
            reply: "",
            transaction: 0x14,
            address: 0x1_0000_0010,
            request: write(false, false, "55"),
            before: "00",
            after: "55",
            ..plain
        },
        beef,
        plain,
    ]
}

#[test]
fn initiator_writes_the_commands() {
    for vector in vectors() {
        let (path, packet) = split(vector.command);
        let node = RmapNode {
            path: &path,
            key: vector.key,
            initiator: 0x67,
            reply_address: ReplyAddress::from_path(&hex(vector.reply_path)).unwrap(),
            ..RmapNode::default()
        };
        let mut initiator = RmapInitiator::<4>::new().with_transaction(vector.transaction);
        let mut out = [0; 64];
        let sent = initiator.begin(&node, vector.address, &vector.request, 0, 1, &mut out).unwrap();
        assert_eq!(&out[..sent.bytes], [&path[..], &packet].concat(), "{}", vector.name);

        let (_, reply) = split(vector.reply);
        assert_eq!(sent.outstanding, !reply.is_empty(), "{}", vector.name);
        if sent.outstanding {
            let done = initiator.handle(&reply, PacketEnd::Eop).unwrap();
            assert_eq!(done.transaction, vector.transaction);
            let data: &[u8] = if reply.len() > 12 { &reply[12..reply.len() - 1] } else { &[] };
            assert_eq!(done.result, Ok(data), "{}", vector.name);
        }
        assert_eq!(initiator.outstanding(), 0);
    }
}

#[test]
fn target_writes_the_replies() {
    for vector in vectors() {
        let (_, packet) = split(vector.command);
        let mut memory = Watched::new(vector.address, &hex(vector.before));
        let mut target = RmapTarget::new(RmapTargetConfig {
            key: Some(vector.key),
            ..RmapTargetConfig::default()
        });
        let answer = ask(&mut target, &packet, PacketEnd::Eop, &mut memory);
        assert!(matches!(answer.outcome, TargetOutcome::Executed { .. }), "{}", vector.name);
        assert_eq!(answer.reply, hex(&vector.reply.replace('|', " ")), "{}", vector.name);
        assert_eq!(memory.bytes, hex(vector.after), "{}", vector.name);
        if vector.name == "E-3" {
            assert_eq!(memory.accesses, []);
        }
    }
}

/// Both directions, with CRCs of the model.
#[test]
fn packets_round_trip() {
    for vector in vectors() {
        let (path, packet) = split(vector.command);
        let command = RmapCommand::parse(&packet, PacketEnd::Eop).unwrap();
        let mut out = [0; 64];
        let bytes = command.write(&path, &mut out).unwrap();
        assert_eq!(&out[..bytes], [&path[..], &packet].concat(), "{}", vector.name);
        let header = command.header.bytes();
        assert_eq!(model_crc(&packet[..header]), 0, "{}", vector.name);
        assert_eq!(model_crc(&packet[header..]), 0, "{}", vector.name);

        let (path, packet) = split(vector.reply);
        if packet.is_empty() {
            continue;
        }
        let reply = RmapReply::parse(&packet, PacketEnd::Eop).unwrap();
        let bytes = reply.write(&path, &mut out).unwrap();
        assert_eq!(&out[..bytes], [&path[..], &packet].concat(), "{}", vector.name);
        assert_eq!(model_crc(&packet[..reply.header.bytes()]), 0, "{}", vector.name);
        assert_eq!(model_crc(&packet[reply.header.bytes()..]), 0, "{}", vector.name);
    }
}

/// E-1, E-2, E-6, E-7: error replies, and commands without a reply.
#[test]
fn errors() {
    let write = hex("FE 01 7C 20 67 00 10 00 40 00 00 00 00 00 04 3C DE AD BE EF 48");
    let mut damaged = write.clone();
    damaged[16] ^= 1;
    let mut other =
        RmapTarget::new(RmapTargetConfig { key: Some(0x21), ..RmapTargetConfig::default() });
    let mut memory = Watched::default();
    let reply = ask(&mut other, &write, PacketEnd::Eop, &mut memory).reply;
    assert_eq!(reply, hex("67 01 3C 03 FE 00 10 3C"));
    let reply = ask(&mut target(), &damaged, PacketEnd::Eop, &mut memory).reply;
    assert_eq!(reply, hex("67 01 3C 04 FE 00 10 1A"));

    let read = hex("FE 01 48 20 67 00 11 00 40 00 00 00 00 00 04 28");
    let mut out = [0; 64];
    let denied = |_: &_| Err(Denial::Access);
    let outcome = target().handle(&read, PacketEnd::Eop, &mut memory, denied, &mut out).unwrap();
    let reply = &out[..outcome.reply_bytes()];
    assert_eq!(reply, hex("67 01 08 0A FE 00 11 00 00 00 00 8E 00"));
    let node = RmapNode { key: 0x20, initiator: 0x67, ..RmapNode::default() };
    let mut initiator = RmapInitiator::<1>::new().with_transaction(0x11);
    let request = RmapRequest::Read { increment: false, length: 4 };
    initiator.begin(&node, 0x4000_0000, &request, 0, 1, &mut [0; 64]).unwrap();
    let done = initiator.handle(reply, PacketEnd::Eop).unwrap();
    assert_eq!(done.result, Err(TransactionFailure::Status(RmapStatus::NOT_AUTHORISED)));

    let code = hex("FE 01 44 00 67 00 15 00 00 00 00 00 00 00 04 4A");
    let mut any_key = RmapTarget::default();
    let answer = ask(&mut any_key, &code, PacketEnd::Eop, &mut memory);
    assert_eq!(answer.reply, []);
    assert_eq!(any_key.counters().unused_type_or_code, 1);
    let length = hex("FE 01 5C 00 67 00 16 00 00 00 00 00 00 00 05 6C 01 02 03 04 05 62");
    let reply = ask(&mut any_key, &length, PacketEnd::Eop, &mut memory).reply;
    assert_eq!(reply, hex("67 01 1C 0B FE 00 16 00 00 00 00 9C 00"));
    assert_eq!(memory.accesses, []);
}
