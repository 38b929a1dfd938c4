//! CCSDS space packets in packets (ECSS-E-ST-50-53C).

use crate::args::{read_bytes, read_sized, write_sized};
use crate::result::{Fault, run};
use spfe::Status;
use spfe::ccsds::{HEADER, space_packet::PRIMARY_HEADER};
use spfe::ccsds::{PacketKind, PrimaryHeader, SequenceFlags, SpacePacket, Transfer};
use std::ffi::c_int;

/// CSpacePacket, as C passes it.
#[repr(C)]
pub struct CSpacePacket {
    size: usize,
    data: *const u8,
    data_bytes: u32,
    apid: u16,
    sequence_count: u16,
    telecommand: u8,
    secondary_header: u8,
    sequence_flags: u8,
    target: u8,
    user_application: u8,
    reserved: [u8; 7],
}

fn refuse(what: impl ToString) -> Fault {
    Fault::new(Status::BadField, what.to_string())
}

impl CSpacePacket {
    fn header(&self) -> Result<PrimaryHeader, Fault> {
        let Self { telecommand, secondary_header, sequence_flags, .. } = *self;
        if telecommand > 1 || secondary_header > 1 || self.reserved != [0; 7] {
            return Err(refuse(format!(
                "space packet: telecommand {telecommand}, secondary_header {secondary_header}, \
                 reserved {:?}: 0 or 1, 0 or 1, and zeros",
                self.reserved
            )));
        }
        let sequence_flags = match sequence_flags {
            0 => SequenceFlags::Continuation,
            1 => SequenceFlags::First,
            2 => SequenceFlags::Last,
            3 => SequenceFlags::Unsegmented,
            other => return Err(refuse(format!("space packet: sequence flags {other}: 0 to 3"))),
        };
        let kind = if telecommand == 1 { PacketKind::Telecommand } else { PacketKind::Telemetry };
        let secondary_header = secondary_header == 1;
        let (apid, sequence_count) = (self.apid, self.sequence_count);
        Ok(PrimaryHeader { kind, secondary_header, apid, sequence_flags, sequence_count })
    }
}

/// Writes a space packet as a packet.
///
/// # Safety
/// `packet` is null or points to as many bytes as its size says, and so do its data; `path` and `out`
/// are null or have as many bytes as is said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_ccsds_write(
    packet: *const CSpacePacket,
    path: *const u8,
    path_bytes: usize,
    out: *mut u8,
    room: usize,
) -> c_int {
    run(|| {
        if packet.is_null() {
            return Err(refuse("space packet: NULL"));
        }
        // SAFETY: the caller's promise; integers and pointers may be zero.
        let (packet, path, data) = unsafe {
            let packet = read_sized(packet)?;
            let data = read_bytes(packet.data, packet.data_bytes as usize, "packet data")?;
            (packet, read_bytes(path, path_bytes, "path address")?, data)
        };
        let header = packet.header()?;
        let cargo = PRIMARY_HEADER + data.len();
        let needed = path.len().saturating_add(HEADER + cargo);
        if out.is_null() || room < needed {
            let what = format!("place of {room} bytes for a packet: {needed} needed");
            return Err(Fault::new(Status::TooLong, what));
        }
        let length = c_int::try_from(needed).map_err(refuse)?;
        let inside = |part: &[u8]| {
            let (first, other) = (out as usize, part.as_ptr() as usize);
            first < other + part.len() && other < first + needed
        };
        if inside(data) || inside(path) {
            return Err(refuse("space packet: its data or path lies in the place for the packet"));
        }
        // SAFETY: the caller's promise, and `room` is not less; nothing else refers to it.
        let out = unsafe { std::slice::from_raw_parts_mut(out, needed) };
        // The cargo is written behind the place of the header, which then goes in front of it.
        let at = path.len() + HEADER;
        SpacePacket { header, data }.write(&mut out[at..]).map_err(refuse)?;
        let transfer = Transfer {
            target: packet.target,
            user_application: packet.user_application,
            cargo: &[],
        };
        transfer.write(path, &mut out[..at]).map_err(refuse)?;
        Ok(length)
    })
}

/// Reads a space packet out of a packet.
///
/// # Safety
/// `data` is null or has as many bytes; `packet` is null or points to as many bytes as its size says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_ccsds_read(
    data: *const u8,
    bytes: usize,
    packet: *mut CSpacePacket,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let data = unsafe { read_bytes(data, bytes, "packet")? };
        let transfer = Transfer::parse(data, spfe::ccsds::PacketEnd::Eop).map_err(refuse)?;
        let SpacePacket { header, data } = transfer.space_packet().map_err(refuse)?;
        let found = CSpacePacket {
            size: size_of::<CSpacePacket>(),
            data: data.as_ptr(),
            data_bytes: data.len() as u32,
            apid: header.apid,
            sequence_count: header.sequence_count,
            telecommand: (header.kind == PacketKind::Telecommand).into(),
            secondary_header: header.secondary_header.into(),
            sequence_flags: match header.sequence_flags {
                SequenceFlags::Continuation => 0,
                SequenceFlags::First => 1,
                SequenceFlags::Last => 2,
                SequenceFlags::Unsegmented => 3,
            },
            target: transfer.target,
            user_application: transfer.user_application,
            reserved: [0; 7],
        };
        // SAFETY: the caller's promise.
        unsafe { write_sized(packet, found) }
    })
}
