//! Packets, messages, events, frames and characters. Comments give the number of each record,
//! because tests rely on it.

use spfe_capture::layout::flag;
use spfe_capture::record::{BroadcastMessage, word_flag};
use spfe_capture::{
    BroadcastRecord, CaptureError, CaptureWriter, CharactersRecord, CodeRecord, EventCode,
    FrameRecord, InterfaceId, LineCharacter, LineWord, LinkEvent, LinkKind, PacketEnd,
    PacketRecord, RecordDirection, WordsRecord,
};
use spfe_link::column::Column;
use spfe_link::control::{self, ControlWord};
use spfe_link::crc::Crc8;
use spfe_link::network::{DiscardReason, DiscardedPacket};
use spfe_link::spacewire::{self, BroadcastCode, NChar};
use spfe_link::word::k;
use spfe_link::{Word, lane};
use spfe_proto::ptp::{PacketKind, PrimaryHeader, SequenceFlags, SpacePacket, Transfer};
use spfe_proto::rmap::{
    CommandHeader, Instruction, ReplyAddress, ReplyHeader, RmapCommand, RmapOperation, RmapReply,
    RmapStatus,
};
use std::io::Write;

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

const WRITE: RmapOperation = RmapOperation::Write { verify: true, reply: true, increment: true };
const READ: RmapOperation = RmapOperation::Read { increment: true };

fn header(operation: RmapOperation, transaction: u16, length: u32) -> CommandHeader {
    CommandHeader {
        target: 0xfe,
        instruction: Instruction::command(operation),
        key: 0x20,
        reply_address: ReplyAddress::NONE,
        initiator: 0x67,
        transaction,
        address: 0x01_4000_0010,
        length,
    }
}

fn command(header: CommandHeader, data: &[u8], path: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 128];
    let bytes = RmapCommand { header, data }.write(path, &mut out).expect("command fits");
    out.truncate(bytes);
    out
}

fn reply(to: CommandHeader, status: RmapStatus, data: &[u8], path: &[u8]) -> Vec<u8> {
    let header = ReplyHeader {
        initiator: to.initiator,
        instruction: to.instruction.to_reply(),
        status,
        target: to.target,
        transaction: to.transaction,
        length: data.len() as u32,
    };
    let mut out = vec![0; 128];
    let bytes = RmapReply { header, data }.write(path, &mut out).expect("reply fits");
    out.truncate(bytes);
    out
}

/// Adds packets that are 1 us and 1 ps apart.
struct Sender<'a, W: Write> {
    capture: &'a mut CaptureWriter<W>,
    time_ps: u64,
    id: u64,
}

impl<W: Write> Sender<'_, W> {
    fn send(
        &mut self,
        interface: InterfaceId,
        bytes: &[u8],
        end: PacketEnd,
    ) -> std::result::Result<(), CaptureError> {
        self.id += 1;
        self.time_ps += 1_000_001;
        let packet = PacketRecord {
            link: LinkKind::SpaceFibre,
            direction: RecordDirection::Received,
            vc: Some(1),
            network: Some(1),
            id: self.id,
            ..PacketRecord::new(bytes, end)
        };
        self.capture.packet(self.time_ps, interface, &packet)
    }
}

/// The last records: packets after 18.4467440738 ms (2^64 ps / 10^9), after an hour and after a week.
pub fn late<W: Write>(capture: &mut CaptureWriter<W>, forward: InterfaceId) -> Result {
    const SECOND: u64 = 1_000_000_000_000;
    for time_ps in [18_500_000_123, 3_600 * SECOND + 456, 7 * 86_400 * SECOND + 789] {
        let mut to = Sender { capture, time_ps: time_ps - 1_000_001, id: 0 };
        to.send(forward, b"\xfe\xf0late", PacketEnd::Eop)?;
    }
    Ok(())
}

/// Records 1 to 14.
pub fn rmap<W: Write>(
    capture: &mut CaptureWriter<W>,
    forward: InterfaceId,
    back: InterfaceId,
) -> Result {
    let mut to = Sender { capture, time_ps: 0, id: 0 };
    let data = [0xde, 0xad, 0xbe, 0xef];
    // 1, 2: a write that still has one path byte, and its reply.
    let write = header(WRITE, 0x10, 4);
    to.send(forward, &command(write, &data, &[3]), PacketEnd::Eop)?;
    to.send(back, &reply(write, RmapStatus::SUCCESS, &[], &[]), PacketEnd::Eop)?;
    // 3, 4: a read, and its reply.
    let read = header(READ, 0x11, 4);
    to.send(forward, &command(read, &[], &[]), PacketEnd::Eop)?;
    to.send(back, &reply(read, RmapStatus::SUCCESS, &data, &[]), PacketEnd::Eop)?;
    // 5, 6: a read-modify-write with data and mask. The reply holds the previous value.
    let rmw = header(RmapOperation::ReadModifyWrite, 0x13, 8);
    to.send(forward, &command(rmw, &[0, 0, 0, 0xff, 0, 0, 0, 0x0f], &[]), PacketEnd::Eop)?;
    to.send(back, &reply(rmw, RmapStatus::SUCCESS, &data, &[]), PacketEnd::Eop)?;
    // 7, 8: a write with damaged data, and the reply with its error status.
    let damaged = header(WRITE, 0x14, 4);
    let mut bytes = command(damaged, &data, &[]);
    bytes[17] ^= 0x10;
    to.send(forward, &bytes, PacketEnd::Eop)?;
    to.send(back, &reply(damaged, RmapStatus::INVALID_DATA_CRC, &[], &[]), PacketEnd::Eop)?;
    // 9: a read with a damaged header, which gets no reply.
    let mut bytes = command(header(READ, 0x15, 4), &[], &[]);
    bytes[8] ^= 1;
    to.send(forward, &bytes, PacketEnd::Eop)?;
    // 10, 11: a read with a path in each direction, and its reply with a path of two bytes.
    let far = CommandHeader {
        reply_address: ReplyAddress::from_path(&[4, 9]).expect("short path"),
        ..header(READ, 0x16, 2)
    };
    to.send(forward, &command(far, &[], &[5, 7]), PacketEnd::Eop)?;
    to.send(back, &reply(far, RmapStatus::SUCCESS, &data[..2], &[4, 9]), PacketEnd::Eop)?;
    // 12: a write that the network cut within its data.
    let bytes = command(header(WRITE, 0x17, 4), &data, &[]);
    to.send(forward, &bytes[..18], PacketEnd::Eep)?;
    // 13: a reply without a command.
    to.send(back, &reply(header(WRITE, 0x99, 4), RmapStatus(12), &[], &[]), PacketEnd::Eop)?;
    // 14: a reserved command code.
    let unused = CommandHeader { instruction: Instruction(0x44), ..header(READ, 0x18, 4) };
    let mut bytes = vec![0; 16];
    unused.write(&mut bytes)?;
    to.send(forward, &bytes, PacketEnd::Eop)?;
    Ok(())
}

/// Records 15 to 22.
pub fn others<W: Write>(
    capture: &mut CaptureWriter<W>,
    forward: InterfaceId,
    sensor: InterfaceId,
) -> Result {
    let mut to = Sender { capture, time_ps: 20_000_000, id: 100 };
    // 15, 16: a space packet, and one with a wrong length.
    let header = PrimaryHeader {
        kind: PacketKind::Telecommand,
        secondary_header: true,
        apid: 0x123,
        sequence_flags: SequenceFlags::Unsegmented,
        sequence_count: 77,
    };
    let mut cargo = vec![0; 16];
    SpacePacket { header, data: &[9; 10] }.write(&mut cargo)?;
    for cargo in [&cargo[..], &cargo[..15]] {
        let mut bytes = vec![0; 64];
        let transfer = Transfer { target: 0x30, user_application: 5, cargo };
        let length = transfer.write(&[], &mut bytes)?;
        to.send(forward, &bytes[..length], PacketEnd::Eop)?;
    }
    // 17, 18: a packet of a private protocol, and a packet that is only an end marker.
    to.send(forward, &[0xfe, 0xf0, 1, 2, 3], PacketEnd::Eop)?;
    to.send(forward, &[], PacketEnd::Eop)?;
    // 19: a broadcast message with the LATE flag.
    let message = BroadcastMessage {
        channel: 0x20,
        kind: 0x81,
        data: [1, 2, 3, 4, 5, 6, 7, 8],
        late: true,
        delayed: false,
    };
    let broadcast = BroadcastRecord { message, direction: RecordDirection::Received, flags: 0 };
    to.capture.broadcast(30_000_123, forward, &broadcast)?;
    // 20, 21, 22: a time-code, an interrupt, and its acknowledgement.
    let codes =
        [BroadcastCode::time(0x3f), BroadcastCode::interrupt(5), BroadcastCode::acknowledge(5)];
    for (time_ps, code) in (31_000_000..).zip(codes) {
        let code = CodeRecord { code, direction: RecordDirection::Received, flags: 0 };
        to.capture.time_code(time_ps, sensor, &code)?;
    }
    Ok(())
}

/// Records 23 to 26.
pub fn events<W: Write>(capture: &mut CaptureWriter<W>, forward: InterfaceId) -> Result {
    // 23: a change of lane state. 24: an injected fault.
    let state = LinkEvent::lane_state(2, lane::LaneState::Connected, lane::LaneState::Active);
    capture.event(40_000_000, forward, &state)?;
    let fault = LinkEvent { lane: Some(2), ..LinkEvent::new(EventCode::FaultBitError, 3) };
    capture.event(40_000_001, forward, &fault.text("seed 1, word 77"))?;
    // 25: a switch drops a packet. 26: alignment is lost.
    let dropped = DiscardedPacket {
        port: 3,
        vc: 1,
        network: Some(1),
        address: Some(0x40),
        reason: DiscardReason::InvalidAddress,
    };
    capture.event(40_000_002, forward, &LinkEvent::dropped(&dropped, 12).text("router port 3"))?;
    let cause = spfe_link::multilane::Misaligned::FifoOverflow;
    capture.event(40_000_003, forward, &LinkEvent::misaligned(cause))?;
    Ok(())
}

/// Packs a packet into words: its bytes, EOP, then Fill up to a whole word.
pub fn words_of(packet: &[u8]) -> Vec<Word> {
    let symbols: Vec<(u8, bool)> =
        packet.iter().map(|byte| (*byte, false)).chain([(k::EOP, true)]).collect();
    let word = |symbols: &[(u8, bool)]| {
        let mut word = Word::from_symbols([k::FILL; 4], 0xf);
        for (index, (value, is_k)) in symbols.iter().enumerate() {
            word.bits = word.bits & !(0xff << (8 * index)) | u32::from(*value) << (8 * index);
            word.k = word.k & !(1 << index) | u8::from(*is_k) << index;
        }
        word
    };
    symbols.chunks(4).map(word).collect()
}

fn data_frame(vc: u8, seq: u8, packet: &[u8], scrambled: bool) -> Vec<LineWord> {
    let mut column = Column::new(true);
    let sdf = ControlWord::Sdf { vc }.encode();
    column.start(sdf, scrambled);
    let mut words = vec![sdf];
    words.extend(words_of(packet).into_iter().map(|word| column.send(word)));
    words.push(column.end(seq));
    words.into_iter().map(LineWord::from).collect()
}

/// Records 27 to 32.
pub fn frames<W: Write>(capture: &mut CaptureWriter<W>, forward: InterfaceId) -> Result {
    let mut time_ps = 50_000_000;
    let mut frame = |words: &[LineWord], flags| {
        time_ps += 1_000_000;
        let frame =
            FrameRecord { words, lane: 0, lanes: 1, direction: RecordDirection::Sent, flags };
        capture.frame(time_ps, forward, &frame)
    };
    // 27: a scrambled data frame with a whole packet. 28: a plain one with a damaged CRC.
    let packet = command(header(READ, 0x31, 4), &[], &[]);
    frame(&data_frame(3, 0x05, &packet, true), flag::SCRAMBLED)?;
    let mut damaged = data_frame(3, 0x86, &[0xfe, 0xf0, 1], false);
    damaged[1].word.bits ^= 0x100;
    frame(&damaged, flag::PLAIN)?;
    // 29: a broadcast frame.
    let message = BroadcastMessage { channel: 0x20, kind: 1, data: [7; 8], ..Default::default() };
    let sbf = ControlWord::Sbf { channel: message.channel, kind: message.kind }.encode();
    let (first, second) = (message.word(false), message.word(true));
    let crc = [sbf, first, second].into_iter().fold(Crc8::new(), |crc, word| crc.symbols(word, 4));
    let ebf = control::ebf(crc, message.status(), 0x07);
    frame(&[sbf, first, second, ebf].map(LineWord::from), 0)?;
    // 30: an FCT. 31: a NACK with a damaged CRC. 32: an unknown control word.
    let fct = ControlWord::Fct { multiplier: 4, vc: 3, seq: 0x2a, crc: 0 }.sealed();
    frame(&[fct.into()], 0)?;
    let mut nack = ControlWord::Nack { seq: 0x84, crc: 0 }.sealed();
    nack.bits ^= 1 << 24;
    frame(&[nack.into()], 0)?;
    frame(&[Word::control(0x0000_84fc).into()], 0)?;
    Ok(())
}

/// Record 33: a SpaceWire link starts, sends packets and a time-code, and has a parity error.
pub fn characters<W: Write>(capture: &mut CaptureWriter<W>, sensor: InterfaceId) -> Result {
    use spacewire::SpaceWireCharacter as C;
    let data = |value| C::NChar(NChar::Data(value));
    let good = [
        C::Null,
        C::Null,
        C::Fct,
        C::Fct,
        data(0xfe),
        data(0xf0),
        C::Broadcast(BroadcastCode::time(0x15)),
        data(0x55),
        C::NChar(NChar::Eop),
        data(0x41),
        C::NChar(NChar::Eep),
    ];
    let mut characters: Vec<LineCharacter> = good.into_iter().map(LineCharacter::Good).collect();
    characters.push(LineCharacter::ParityError);
    let characters = CharactersRecord {
        characters: &characters,
        bit_ps: 5000,
        first: 0,
        direction: RecordDirection::Received,
        flags: 0,
    };
    capture.characters(70_000_000, sensor, &characters)?;
    Ok(())
}

/// Record 34: words of the second of two lanes. They are words that a lane without errors does not
/// send, a data frame with a PAD, and words that a receiver treats as errors.
pub fn words<W: Write>(
    capture: &mut CaptureWriter<W>,
    forward: InterfaceId,
) -> std::result::Result<Vec<LineWord>, CaptureError> {
    let controls = [
        ControlWord::Skip,
        ControlWord::Idle,
        ControlWord::Init1Inverted,
        ControlWord::Init2Inverted,
        ControlWord::Standby { reason: 7 },
        ControlWord::LostSignal { cause: 1 },
        ControlWord::Active { lanes: 3 },
        ControlWord::Align { lanes: 0x12, inverse: 0xed },
        ControlWord::Align { lanes: 0x12, inverse: 0x12 },
    ];
    let mut words: Vec<LineWord> = controls.iter().map(|word| word.encode().into()).collect();
    let mut frame = data_frame(4, 0x11, b"GFEDONML", true);
    let pad = ControlWord::Pad.encode().into();
    frame.insert(frame.len() - 1, pad);
    let full = ControlWord::Full { seq: 0x10, crc: 0 }.sealed();
    frame.insert(2, full.into());
    words.extend(frame);
    // A frame that starts within a frame, a frame that RXERR ends, and an invalid K character.
    let sdf: LineWord = ControlWord::Sdf { vc: 4 }.encode().into();
    let odd = Word::from_symbols([1, 0x3c, 3, 4], 2);
    words.extend([sdf, sdf, sdf, Word::RXERR.into(), odd.into(), LineWord::from(None)]);
    words.push(LineWord { flags: word_flag::FAULT, ..Word::data(0x0102_0304).into() });
    let run = WordsRecord {
        words: &words,
        period_ps: 6400,
        first: u64::MAX - 3,
        lane: 1,
        lanes: 2,
        direction: RecordDirection::Received,
        flags: flag::SCRAMBLED,
    };
    capture.words(80_000_000, forward, &run)?;
    Ok(words)
}
