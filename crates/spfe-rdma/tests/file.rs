//! The file of a target-only endpoint.

use spfe_proto::PacketEnd;
use spfe_proto::rmap::{CommandHeader, Instruction, RmapCommand, RmapOperation};
use spfe_rdma::{RemoteKey, TargetFile, TargetNode};

const FILE: &str = r#"
logical_address = 0x42
notifications = 16
serial = 7

[rmap]
key = 0x20

[[region]]
name = "frames"
size = "8188M"
generation = 0xabc
initiators = [0x67, 0x68]

[[region]]
name = "mailbox"
size = 4096
base = 0x100000000
rights = "rw"
notify = true
"#;

#[test]
fn a_file_makes_a_target() {
    let file = TargetFile::parse(FILE).unwrap();
    let target = file.target().unwrap();
    assert_eq!((target.options().logical_address, target.options().serial), (0x42, 7));
    let regions: Vec<_> = target.regions().iter().collect();
    let [(key, frames), (_, mailbox)] = regions[..] else { panic!("{}", regions.len()) };
    assert_eq!((key, frames.memory.bytes()), (RemoteKey(0xabc), 8188 << 20));
    assert_eq!(frames.offset_of((8188 << 20) - 1, 1), Some((8188 << 20) - 1));
    assert_eq!(frames.memory.used_bytes(), 0);
    assert_eq!((mailbox.base, mailbox.rights.atomic, mailbox.notify), (1 << 32, false, true));
    // A key that the file does not give is random.
    let keys: Vec<_> =
        (0..8).map(|_| file.target().unwrap().regions().iter().last().unwrap().0).collect();
    assert!(keys.iter().any(|key| *key != keys[0]), "{keys:?}");
}

#[test]
fn what_is_wrong_with_a_file() {
    let region = "[[region]]\nname = 'a'\n";
    for (text, words) in [
        ("x = 1".to_owned(), "unknown field `x`"),
        ("protocol = 1".to_owned(), "protocol 0x01: 0xf0 to 0xfe allowed"),
        ("segment = 1000".to_owned(), "segment 1000: a power of two from 256 to 65536"),
        ("notifications = 65537".to_owned(), "notifications 65537: at most 65536 allowed"),
        (region.to_owned(), "missing field `size`"),
        (format!("{region}size = 0"), "region 'a' of 0 bytes: 1 to 8G allowed"),
        (format!("{region}size = '9G'"), "1 to 8G allowed"),
        (format!("{region}size = 'big'"), "region 'a': 'big' is not a size"),
        (format!("{region}size = 1\nrights = 'x'"), "rights 'x', letters r, w, a allowed"),
        (format!("{region}size = 1\nhidden = true"), "set generation"),
        (format!("{region}size = '5G'\n{region}size = '4G'"), "8G allowed"),
    ] {
        let error = TargetFile::parse(&text).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    for (text, words) in [
        (format!("{region}size = 1\ngeneration = 0"), "generation 0x0 of its key, 0x1 to 0xfff"),
        (format!("{region}size = 2\nbase = 0x7fffffffffffffff"), ""),
    ] {
        let file = TargetFile::parse(&text).unwrap();
        match file.target() {
            Err(error) => assert!(error.to_string().contains(words), "{error}"),
            Ok(_) => assert!(words.is_empty(), "{text}"),
        }
    }
}

/// Two regions that touch each other, and RMAP with addresses in both.
const NEIGHBOURS: &str = r#"
[rmap]
addressing = "absolute"
verify = 8

[[region]]
name = "writable"
size = 16
base = 0x100
rights = "rw"

[[region]]
name = "fixed"
size = 16
base = 0x110
rights = "r"
"#;

/// Status of the reply to a write of these bytes.
fn write_with_rmap(node: &mut TargetNode, address: u64, data: &[u8]) -> u8 {
    let operation = RmapOperation::Write { verify: true, reply: true, increment: true };
    let header = CommandHeader {
        target: 0xfe,
        instruction: Instruction::command(operation),
        key: 0,
        reply_address: Default::default(),
        initiator: 0x67,
        transaction: 1,
        address,
        length: data.len() as u32,
    };
    let mut packet = [0; 64];
    let bytes = RmapCommand { header, data }.write(&[], &mut packet).unwrap();
    node.handle(&packet[..bytes], PacketEnd::Eop, 0, 0);
    let mut reply = Vec::new();
    node.respond(0, &mut reply).unwrap();
    reply[3]
}

#[test]
fn rmap_needs_the_right_to_the_region_that_it_reaches() {
    let mut node = TargetNode::new(&TargetFile::parse(NEIGHBOURS).unwrap()).unwrap();
    assert_eq!(write_with_rmap(&mut node, 0x10c, &[1; 4]), 0);
    // The first byte of the second region is where the first one ends.
    assert_eq!(write_with_rmap(&mut node, 0x110, &[1; 4]), 10);
    assert_eq!(write_with_rmap(&mut node, 0x10e, &[1; 4]), 10, "in no region as a whole");
    assert_eq!(write_with_rmap(&mut node, 0x100, &[1; 9]), 9, "more than is verified");
    let counters = node.rmap_counters().unwrap();
    assert_eq!((counters.writes, counters.not_authorised), (1, 2));
    let mut bytes = [0; 16];
    node.target.regions().iter().last().unwrap().1.memory.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [0; 16]);
}
