//! Recorded transactions of another initiator: ours writes the same commands from the same fields,
//! and accepts the same replies.

use spfe_proto::PacketEnd;
use spfe_proto::rmap::{
    RmapCommand, RmapInitiator, RmapNode, RmapOperation, RmapReply, RmapRequest,
};

const RECORDED: &str = include_str!("../../../../vectors/rmap_spw_rmap.txt");

fn hex(text: &str) -> Vec<u8> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    assert!(rest.is_empty(), "{text}");
    let pair = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    pairs.iter().map(pair).collect()
}

#[test]
fn packets_match_another_initiator() {
    let (mut reads, mut writes) = (0, 0);
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let (path, rest) = line.split_once('|').unwrap();
        let (packet, reply) = rest.split_once(' ').unwrap();
        let (path, packet, reply) = (hex(path), hex(packet), hex(reply));
        let command = RmapCommand::parse(&packet, PacketEnd::Eop).unwrap();
        let header = command.header;
        let request = match header.instruction.operation().unwrap() {
            RmapOperation::Read { increment } => {
                reads += 1;
                RmapRequest::Read { increment, length: header.length }
            }
            RmapOperation::Write { verify, reply, increment } => {
                writes += 1;
                RmapRequest::Write { verify, reply, increment, data: command.data }
            }
            RmapOperation::ReadModifyWrite => panic!("it has none: {line}"),
        };
        let node = RmapNode {
            path: &path,
            target: header.target,
            key: header.key,
            reply_address: header.reply_address,
            initiator: header.initiator,
        };
        let mut initiator = RmapInitiator::<1>::new().with_transaction(header.transaction);
        let mut out = [0; 512];
        let sent = initiator.begin(&node, header.address, &request, 0, 1, &mut out).unwrap();
        assert_eq!(out[..sent.bytes], [path, packet].concat(), "{line}");

        let (back, reply) = reply.split_at(header.reply_address.path().len());
        assert_eq!(back, header.reply_address.path());
        let done = initiator.handle(reply, PacketEnd::Eop).unwrap();
        assert_eq!(
            done.result,
            Ok(RmapReply::parse(reply, PacketEnd::Eop).unwrap().data),
            "{line}"
        );
    }
    assert!(reads >= 5 && writes >= 5, "{reads} reads, {writes} writes");
}
