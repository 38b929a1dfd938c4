//! Every instruction byte with everything that can be wrong about a command, against a second,
//! independent formulation of the standard's rules.

use crate::lab::{Access, Watched, ask, model_crc, with_crc};
use spfe_proto::PacketEnd;
use spfe_proto::rmap::target::TargetDiscard;
use spfe_proto::rmap::{RmapTarget, RmapTargetConfig, TargetOutcome};

/// What follows the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    Good,
    Nothing,
    Early,
    TooMuch,
    Damaged,
    Eep,
    EepInData,
    EepAfterHeader,
}

const BODIES: [Body; 8] = [
    Body::Good,
    Body::Nothing,
    Body::Early,
    Body::TooMuch,
    Body::Damaged,
    Body::Eep,
    Body::EepInData,
    Body::EepAfterHeader,
];

#[derive(Clone, Copy, Debug)]
struct Case {
    instruction: u8,
    body: Body,
    length: usize,
    logical_ok: bool,
    key_ok: bool,
    crc_ok: bool,
    verify_bytes: u32,
    reply_to_reserved: bool,
}

/// Operation of a command code, by the list of the standard (5.1).
fn kind(code: u8) -> &'static str {
    match code {
        0b0010 | 0b0011 => "read",
        0b0111 => "modify",
        0b1000..=0b1011 => "write",
        0b1100..=0b1111 => "verified write",
        _ => "invalid",
    }
}

impl Case {
    fn code(&self) -> u8 {
        self.instruction / 4 % 16
    }

    fn data(&self) -> Vec<u8> {
        (1..=self.length as u8).collect()
    }

    fn reply_address(&self) -> Vec<u8> {
        [0, 0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14][..4 * usize::from(self.instruction % 4)].to_vec()
    }

    fn reply_path(&self) -> Vec<u8> {
        self.reply_address().into_iter().skip_while(|byte| *byte == 0).collect()
    }

    /// The header by the offsets of the standard, with the CRC of the model.
    fn header(&self) -> Vec<u8> {
        let logical = if self.logical_ok { 0x42 } else { 0x43 };
        let key = if self.key_ok { 0x20 } else { 0x21 };
        let mut header = vec![logical, 1, self.instruction, key];
        header.extend(self.reply_address());
        header.extend([0x67, 0xab, 0xcd, 0x01, 0x40, 0, 0, 0x10, 0, 0, self.length as u8]);
        header.push(model_crc(&header) ^ u8::from(!self.crc_ok));
        header
    }

    fn packet(&self) -> (Vec<u8>, PacketEnd) {
        let carries = !matches!(kind(self.code()), "read");
        let good = if carries { with_crc(&self.data()) } else { Vec::new() };
        let mut rest = good.clone();
        match self.body {
            Body::Good | Body::Eep => {}
            Body::Nothing | Body::EepAfterHeader => rest.clear(),
            Body::Early | Body::EepInData => drop(rest.pop()),
            Body::TooMuch => rest.push(0),
            Body::Damaged => rest.iter_mut().last().into_iter().for_each(|byte| *byte ^= 0x10),
        }
        let eep = matches!(self.body, Body::Eep | Body::EepInData | Body::EepAfterHeader);
        ([self.header(), rest].concat(), if eep { PacketEnd::Eep } else { PacketEnd::Eop })
    }

    /// The rules in their order of priority.
    fn expected(&self, rest: usize, end: PacketEnd) -> Result<u8, TargetDiscard> {
        let kind = kind(self.code());
        match self.instruction >> 6 {
            0 => return Err(TargetDiscard::Reply),
            // Before the EEP: a damaged header does not even tell where it ends.
            _ if !self.crc_ok => return Err(TargetDiscard::HeaderCrc),
            _ if end == PacketEnd::Eep && rest == 0 => return Err(TargetDiscard::EepAfterHeader),
            1 => {}
            _ if self.reply_to_reserved => return Ok(2),
            _ => return Err(TargetDiscard::ReservedType),
        }
        let buffered = matches!(kind, "verified write" | "modify");
        let due = if kind == "read" { 0 } else { self.length + 1 };
        Ok(match kind {
            "invalid" => 2,
            _ if !self.logical_ok => 12,
            _ if !self.key_ok => 3,
            "modify" if ![0, 2, 4, 6, 8].contains(&self.length) => 11,
            _ if buffered && self.length > self.verify_bytes as usize => 9,
            _ if end == PacketEnd::Eep => 7,
            _ if rest < due => 5,
            _ if rest > due => 6,
            _ if self.body == Body::Damaged && due != 0 => 4,
            _ => 0,
        })
    }

    /// The memory accesses that must happen; no others may.
    fn accesses(&self, status: u8, rest: usize) -> Vec<Access> {
        let access = |write, bytes| Access {
            write,
            address: 0x01_4000_0010,
            increment: self.code() % 2 == 1,
            bytes,
        };
        let arrived = self.length.min(rest.saturating_sub(1));
        let mut accesses = match (kind(self.code()), status) {
            ("read", 0) => vec![access(false, self.length)],
            ("modify", 0) => vec![access(false, self.length / 2), access(true, self.length / 2)],
            ("verified write", 0) => vec![access(true, self.length)],
            ("write", 0 | 4..=7) => vec![access(true, arrived)],
            _ => vec![],
        };
        accesses.retain(|access| access.bytes != 0);
        accesses
    }

    fn run(&self) {
        let (packet, end) = self.packet();
        let rest = packet.len() - self.header().len();
        let expected = self.expected(rest, end);
        let mut target = RmapTarget::new(RmapTargetConfig {
            logical_address: Some(0x42),
            accept_default: false,
            key: Some(0x20),
            verify_bytes: self.verify_bytes,
            check_all_writes: false,
            reply_to_reserved: self.reply_to_reserved,
        });
        let mut memory = Watched::new(0x01_4000_0010, &[0xa1, 0xa2, 0xa3, 0xa4]);
        let answer = ask(&mut target, &packet, end, &mut memory);
        let status = match answer.outcome {
            TargetOutcome::Executed { .. } => Ok(0),
            TargetOutcome::Refused { status, .. } => Ok(status.0),
            TargetOutcome::Discarded(discard) => Err(discard),
        };
        assert_eq!(status, expected, "{self:?}");
        let reply = expected.map_or(vec![], |status| self.reply(status));
        assert_eq!(answer.reply, reply, "{self:?}");
        let accesses = expected.map_or(vec![], |status| self.accesses(status, rest));
        assert_eq!(memory.accesses, accesses, "{self:?}");
        let counters = target.counters();
        let good = counters.reads + counters.writes + counters.modifies;
        assert_eq!(good, u64::from(expected == Ok(0)), "{self:?}");
        assert_eq!(counters.replies, u64::from(!reply.is_empty()), "{self:?}");
    }

    /// The reply by the offsets of the standard.
    fn reply(&self, status: u8) -> Vec<u8> {
        if self.instruction & 8 == 0 {
            return vec![];
        }
        let logical = if self.logical_ok { 0x42 } else { 0x43 };
        let mut reply = vec![0x67, 1, self.instruction % 64, status, logical, 0xab, 0xcd];
        let writes = self.instruction & 0x20 != 0;
        let memory = [0xa1, 0xa2, 0xa3, 0xa4, 0, 0, 0, 0];
        let data = match (kind(self.code()), status) {
            ("read", 0) if self.code() & 1 == 0 => {
                memory[..4].iter().cycle().take(self.length).copied().collect()
            }
            ("read", 0) => memory[..self.length].to_vec(),
            ("modify", 0) => memory[..self.length / 2].to_vec(),
            _ => vec![],
        };
        if !writes {
            reply.extend([0, 0, 0, data.len() as u8]);
        }
        reply.push(model_crc(&reply));
        if !writes {
            reply.extend(with_crc(&data));
        }
        [self.reply_path(), reply].concat()
    }
}

#[test]
fn every_instruction() {
    let mut cases = 0;
    for instruction in 0..=255 {
        for body in BODIES {
            for length in [0, 1, 4, 5, 8] {
                for bits in 0..32 {
                    Case {
                        instruction,
                        body,
                        length,
                        logical_ok: bits & 1 == 0,
                        key_ok: bits & 2 == 0,
                        crc_ok: bits & 4 == 0,
                        verify_bytes: if bits & 8 == 0 { 4096 } else { 2 },
                        reply_to_reserved: bits & 16 == 0,
                    }
                    .run();
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 256 * 8 * 5 * 32);
}

/// Summary: which of the 256 instructions are executed, refused with which status, replied to,
/// discarded.
#[test]
fn summary() {
    let case = |instruction| Case {
        instruction,
        body: Body::Good,
        length: 4,
        logical_ok: true,
        key_ok: true,
        crc_ok: true,
        verify_bytes: 4096,
        reply_to_reserved: false,
    };
    let (mut executed, mut refused, mut replied, mut discarded) = (vec![], vec![], vec![], 0);
    for instruction in 0..=255 {
        let (packet, end) = case(instruction).packet();
        let config =
            RmapTargetConfig { logical_address: Some(0x42), ..RmapTargetConfig::default() };
        let answer = ask(&mut RmapTarget::new(config), &packet, end, &mut Watched::default());
        match answer.outcome {
            TargetOutcome::Executed { .. } => executed.push(instruction),
            TargetOutcome::Refused { .. } => refused.push(instruction),
            TargetOutcome::Discarded(_) => discarded += 1,
        }
        if !answer.reply.is_empty() {
            replied.push(instruction);
        }
    }
    let of = |list: &[u8]| list.iter().flat_map(|i| *i..*i + 4).collect::<Vec<u8>>();
    let writes = [0x60, 0x64, 0x68, 0x6c, 0x70, 0x74, 0x78, 0x7c];
    assert_eq!(executed, of(&[&[0x48, 0x4c, 0x5c][..], &writes].concat()));
    assert_eq!(refused, of(&[0x40, 0x44, 0x50, 0x54, 0x58]));
    assert_eq!(replied, of(&[0x48, 0x4c, 0x58, 0x5c, 0x68, 0x6c, 0x78, 0x7c]));
    assert_eq!(discarded, 192);
}
