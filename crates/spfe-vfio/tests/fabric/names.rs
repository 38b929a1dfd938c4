//! Names in the vectors and the contract's numbers for them.

use spfe_contract::{
    BlockType, Command, QueueKind, WorkOpcode, access, event_block as event,
    fabric_block as fabric, peer_block as peer, port_block as port, queue_options,
    statistics_block as statistics, work_flags as wf,
};

/// Type and stride of a block.
pub fn block(name: &str) -> (BlockType, u32) {
    match name {
        "port" => (BlockType::Port, 0),
        "fabric" => (BlockType::Fabric, 0),
        "peer" => (BlockType::Peer, peer::STRIDE),
        "event" => (BlockType::Event, event::STRIDE),
        "statistics" => (BlockType::Statistics, statistics::STRIDE),
        _ => panic!("block {name}"),
    }
}

/// Offset of a register in its block or element.
pub fn register(block: BlockType, name: &str) -> u32 {
    match (block, name) {
        (BlockType::Port, "KIND") => port::KIND,
        (BlockType::Port, "STATE") => port::STATE,
        (BlockType::Port, "VCS") => port::VCS,
        (BlockType::Port, "QUEUE_COUNT") => port::QUEUE_COUNT,
        (BlockType::Port, "CHANGES") => port::CHANGES,
        (BlockType::Port, "LINK_START") => port::LINK_START,
        (BlockType::Port, "LINK_VECTOR") => port::LINK_VECTOR,
        (BlockType::Fabric, "NODE") => fabric::NODE,
        (BlockType::Fabric, "NODES") => fabric::NODES,
        (BlockType::Fabric, "CHANNELS") => fabric::CHANNELS,
        (BlockType::Fabric, "EPOCH") => fabric::EPOCH,
        (BlockType::Fabric, "RINGS") => fabric::RINGS,
        (BlockType::Fabric, "REFUSED") => fabric::REFUSED,
        (BlockType::Fabric, "REFUSED_STATUS") => fabric::REFUSED_STATUS,
        (BlockType::Fabric, "BELL_VECTOR") => fabric::BELL_VECTOR,
        (BlockType::Peer, "STATE") => peer::STATE,
        (BlockType::Peer, "EPOCH") => peer::EPOCH,
        (BlockType::Peer, "RINGS") => peer::RINGS,
        (BlockType::Peer, "DOORBELL") => peer::DOORBELL,
        (BlockType::Peer, "INWARD") => peer::INWARD,
        (BlockType::Peer, "OUTWARD") => peer::OUTWARD,
        (BlockType::Event, "COUNT") => event::COUNT,
        (BlockType::Statistics, "ERRORS_LO") => statistics::ERRORS_LO,
        _ => panic!("register {name} of {block:?}"),
    }
}

/// The value of an enumeration with this name.
pub fn value<T: Copy>(name: &str, all: &[T], name_of: impl Fn(T) -> &'static str) -> T {
    let found = all.iter().find(|value| name_of(**value) == name);
    *found.unwrap_or_else(|| panic!("{name} is not known"))
}

pub fn command(name: &str) -> Command {
    let all = [Command::PortConfigure, Command::Reset, Command::QueueEnable, Command::QueueDisable];
    value(name, &all, Command::name)
}

pub fn queue_kind(name: &str) -> QueueKind {
    use QueueKind::{MessageTx, Rdma, RdmaRx, Rx, Tx};
    value(name, &[Tx, Rx, Rdma, RdmaRx, MessageTx], QueueKind::name)
}

pub fn opcode(name: &str) -> WorkOpcode {
    use WorkOpcode::{Bind, CmpSwap, FetchAdd, Read, Unbind, Write, WriteImm};
    let all = [Bind, CmpSwap, FetchAdd, Read, Unbind, Write, WriteImm];
    value(name, &all, WorkOpcode::name)
}

/// Bits with names joined by +.
pub fn bits(text: &str) -> u32 {
    let bit = |name: &str| match name {
        "0" => 0,
        "SIGNAL" => u32::from(wf::SIGNAL),
        "LAST" => u32::from(wf::LAST),
        "LOCAL_READ" => access::LOCAL_READ,
        "LOCAL_WRITE" => access::LOCAL_WRITE,
        "REMOTE_READ" => access::REMOTE_READ,
        "REMOTE_WRITE" => access::REMOTE_WRITE,
        "REMOTE_KEYS" => queue_options::REMOTE_KEYS,
        _ => panic!("bit {name}"),
    };
    text.split('+').map(bit).fold(0, |all, bit| all | bit)
}

/// A number: decimal, or hexadecimal with 0x.
pub fn number(text: &str) -> u64 {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.unwrap_or_else(|_| panic!("number {text}"))
}

/// Bytes in hexadecimal.
pub fn bytes(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "{text}");
    let pair = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal digits");
    (0..text.len()).step_by(2).map(pair).collect()
}
