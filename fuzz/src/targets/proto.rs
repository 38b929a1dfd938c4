//! Packets of RMAP and CCSDS packet transfer, as the other side of a link may send them.

use arbitrary::Arbitrary;
use spfe_proto::rmap::crc::crc;
use spfe_proto::rmap::{
    CommandHeader, CommandStream, Instruction, Memory, MemoryFault, PacketType, RmapCommand,
    RmapInitiator, RmapNode, RmapReply, RmapRequest, RmapTarget, RmapTargetConfig,
};
use spfe_proto::{PacketEnd, pid, ptp};

#[derive(Arbitrary, Debug)]
struct Input {
    packets: Vec<Packet>,
    check_all_writes: bool,
    reply_to_reserved: bool,
    verify_bytes: u16,
    reply_bytes: u8,
    fault: u8,
    /// Bytes of the pieces commands come in, less one.
    piece_bytes: u8,
}

#[derive(Arbitrary, Debug)]
struct Packet {
    bytes: Vec<u8>,
    eep: bool,
    /// Makes it RMAP with an intact header, so that the input comes further.
    mended: bool,
}

impl Packet {
    fn mend(&mut self) {
        if !self.mended || self.bytes.len() < 3 {
            return;
        }
        self.bytes[1] = spfe_proto::rmap::PID;
        let instruction = Instruction(self.bytes[2]);
        let header = match instruction.packet_type() {
            PacketType::Reply if instruction.is_write() => 8,
            PacketType::Reply => 12,
            _ => 16 + instruction.reply_address_bytes(),
        };
        if self.bytes.len() >= header {
            self.bytes[header - 1] = crc(&self.bytes[..header - 1]);
        }
        // With a length that fits, and an intact data CRC: all that follows the header.
        if let Some(data) = self.bytes.len().checked_sub(header + 1) {
            let length = (data as u32).to_be_bytes();
            self.bytes[header - 4..header - 1].copy_from_slice(&length[1..]);
            self.bytes[header - 1] = crc(&self.bytes[..header - 1]);
            let last = self.bytes.len() - 1;
            self.bytes[last] = crc(&self.bytes[header..last]);
        }
    }
}

/// Sees only what the header of the packet names.
struct Inside {
    header: Option<CommandHeader>,
    fault: u8,
}

impl Inside {
    fn check(&self, address: u64, increment: bool, bytes: usize) -> Result<(), MemoryFault> {
        let header = self.header.expect("an access comes from a command");
        let operation = header.instruction.operation().expect("with a code in use");
        assert_eq!((address, increment), (header.address, operation.increments()));
        assert!(0 < bytes && bytes <= header.length as usize);
        assert!(!increment || address + bytes as u64 <= 1 << 40);
        match self.fault {
            0 => Err(MemoryFault::Failed),
            1 => Err(MemoryFault::Refused),
            _ => Ok(()),
        }
    }
}

impl Memory for Inside {
    fn read(&mut self, address: u64, increment: bool, data: &mut [u8]) -> Result<(), MemoryFault> {
        data.fill(0x5a);
        self.check(address, increment, data.len())
    }

    fn write(&mut self, address: u64, increment: bool, data: &[u8]) -> Result<(), MemoryFault> {
        self.check(address, increment, data.len())
    }
}

/// Takes what is in the range of the command, whatever its pieces.
struct Within(Inside);

impl Memory for Within {
    fn read(&mut self, address: u64, increment: bool, data: &mut [u8]) -> Result<(), MemoryFault> {
        self.0.read(address, increment, data)
    }

    fn write(&mut self, address: u64, increment: bool, data: &[u8]) -> Result<(), MemoryFault> {
        let header = self.0.header.expect("an access comes from a command");
        assert!(!data.is_empty() && address >= header.address);
        let offset = address - header.address;
        assert!(increment || offset == 0);
        assert!(offset + data.len() as u64 <= u64::from(header.length));
        self.0.check(header.address, increment, data.len())
    }
}

/// Read is refused, or written again as it was.
fn there_and_back(bytes: &[u8], end: PacketEnd) {
    let mut out = vec![0; bytes.len()];
    if let Ok(command) = RmapCommand::parse(bytes, end) {
        assert_eq!(command.write(&[], &mut out), Ok(bytes.len()));
        assert_eq!(out, bytes);
    }
    if let Ok(reply) = RmapReply::parse(bytes, end) {
        assert_eq!(reply.write(&[], &mut out), Ok(bytes.len()));
        assert_eq!(out, bytes);
    }
    if let Ok(packet) = pid::IdentifiedPacket::parse(bytes) {
        assert_eq!(packet.write(&[], &mut out), Ok(bytes.len()));
        assert_eq!(out, bytes);
    }
    if let Ok(transfer) = ptp::Transfer::parse(bytes, end) {
        assert_eq!(transfer.write(&[], &mut out), Ok(bytes.len()));
        assert_eq!(out, bytes);
    }
    if let Ok(packet) = ptp::SpacePacket::parse(bytes) {
        assert_eq!(packet.write(&mut out), Ok(bytes.len()));
        assert_eq!(out, bytes);
    }
}

crate::target!(|input: Input| {
    let config = RmapTargetConfig {
        verify_bytes: input.verify_bytes.into(),
        check_all_writes: input.check_all_writes,
        reply_to_reserved: input.reply_to_reserved,
        ..RmapTargetConfig::default()
    };
    let (mut target, mut in_pieces) = (RmapTarget::new(config), RmapTarget::new(config));
    let mut stream = CommandStream::new(vec![0; usize::from(input.verify_bytes) + 2]);
    let piece_bytes = usize::from(input.piece_bytes) + 1;
    let mut initiator = RmapInitiator::<4>::new();
    for request in [RmapRequest::read(4), RmapRequest::write(&[1])] {
        initiator.begin(&RmapNode::default(), 0, &request, 0, 1, &mut [0; 64]).unwrap();
    }
    let mut out = vec![0; input.reply_bytes.into()];
    for mut packet in input.packets {
        packet.mend();
        let (bytes, end) =
            (&packet.bytes, if packet.eep { PacketEnd::Eep } else { PacketEnd::Eop });
        there_and_back(bytes, end);
        let _ = initiator.handle(bytes, end);
        let header = CommandHeader::parse(bytes).ok();
        let mut memory = Inside { header, fault: input.fault };
        let Ok(outcome) = target.handle(bytes, end, &mut memory, |_| Ok(()), &mut out) else {
            continue;
        };
        let mut within = Within(Inside { header, fault: input.fault });
        for piece in bytes.chunks(piece_bytes) {
            in_pieces.piece(&mut stream, piece, &mut within, |_| Ok(()));
        }
        let mut again = vec![0; out.len()];
        let pieces = in_pieces.end(&mut stream, end, &mut within, &mut again);
        // Writes that are checked first are bounded by the buffer there.
        if !input.check_all_writes {
            assert_eq!(pieces, Ok(outcome));
            assert_eq!(again[..outcome.reply_bytes()], out[..outcome.reply_bytes()]);
        }
        let reply = &out[..outcome.reply_bytes()];
        if !reply.is_empty() {
            let path = header.expect("a reply has its command").reply_address.path().len();
            RmapReply::parse(&reply[path..], PacketEnd::Eop).expect("replies are intact");
        }
    }
});
