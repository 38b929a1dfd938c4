//! CCSDS space packets in packets (ECSS-E-ST-50-53C).

use crate::bytes::Bytes;
use crate::error::fault;
use crate::packet::Packet;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spfe::Status;
use spfe::ccsds::space_packet::PRIMARY_HEADER;
use spfe::ccsds::{self, HEADER, PacketEnd, PacketKind, PrimaryHeader, SequenceFlags, Transfer};

/// A CCSDS space packet (CCSDS 133.0-B) and its transfer in a packet of the network.
///
/// `bytes(packet)` is what a queue sends; `encode` puts a path address in front.
/// `SpacePacket.decode` reads a received packet.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:") as endpoint:
/// ...     with endpoint.port(0).tx() as tx, endpoint.port(1).rx() as rx:
/// ...         tx.send(bytes(spfe.SpacePacket(0x123, b"housekeeping", sequence_count=7)))
/// ...         packet = spfe.SpacePacket.decode(rx.recv(timeout=1))
/// >>> packet.apid == 0x123, packet.sequence_count, packet.data
/// (True, 7, b'housekeeping')
#[pyclass(frozen, eq, module = "spfe")]
#[derive(PartialEq)]
pub struct SpacePacket {
    header: PrimaryHeader,
    data: Vec<u8>,
    /// Logical address of the target.
    #[pyo3(get)]
    target: u8,
    /// Value for the user application, defined by the mission.
    #[pyo3(get)]
    user_application: u8,
}

const FLAGS: [(&str, SequenceFlags); 4] = [
    ("continuation", SequenceFlags::Continuation),
    ("first", SequenceFlags::First),
    ("last", SequenceFlags::Last),
    ("unsegmented", SequenceFlags::Unsegmented),
];

fn refuse(error: impl ToString) -> PyErr {
    fault(Status::BadField, error.to_string())
}

impl SpacePacket {
    /// The packet of the network: path address, header of the transfer, space packet.
    fn write(&self, path: &[u8]) -> PyResult<Vec<u8>> {
        let at = path.len() + HEADER;
        let mut out = vec![0; at + PRIMARY_HEADER + self.data.len()];
        let packet = ccsds::SpacePacket { header: self.header, data: &self.data };
        let (front, cargo) = out.split_at_mut(at);
        packet.write(cargo).map_err(refuse)?;
        let Self { target, user_application, .. } = *self;
        Transfer { target, user_application, cargo: &[] }.write(path, front).map_err(refuse)?;
        Ok(out)
    }
}

#[pymethods]
impl SpacePacket {
    /// `apid` is the application process identifier (11 bits), `data` the packet data field (1 to
    /// 65536 bytes), `sequence_flags` "unsegmented", "first", "continuation" or "last".
    #[new]
    #[pyo3(signature = (apid, data, *, sequence_count=0, telecommand=false, secondary_header=false, sequence_flags="unsegmented", target=254, user_application=0))]
    #[allow(clippy::too_many_arguments)] // by name in Python
    fn new(
        py: Python<'_>,
        apid: u16,
        data: &Bound<'_, PyAny>,
        sequence_count: u16,
        telecommand: bool,
        secondary_header: bool,
        sequence_flags: &str,
        target: u8,
        user_application: u8,
    ) -> PyResult<Self> {
        let named = FLAGS.iter().find(|(name, _)| *name == sequence_flags);
        let &(_, sequence_flags) = named.ok_or_else(|| {
            refuse(format!(
                "sequence flags '{sequence_flags}': unsegmented, first, continuation or last"
            ))
        })?;
        let kind = if telecommand { PacketKind::Telecommand } else { PacketKind::Telemetry };
        let header = PrimaryHeader { kind, secondary_header, apid, sequence_flags, sequence_count };
        let packet = Self { header, data: Bytes::of(data)?.to_vec(py), target, user_application };
        // Writing checks the fields.
        packet.write(&[]).map(|_| packet)
    }

    /// Reads a received packet, which starts with the logical address of the target.
    #[staticmethod]
    fn decode(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let cut = data.cast::<Packet>().is_ok_and(|packet| packet.get().is_cut());
        let end = if cut { PacketEnd::Eep } else { PacketEnd::Eop };
        let bytes = Bytes::of(data)?.to_vec(py);
        let transfer = Transfer::parse(&bytes, end).map_err(refuse)?;
        let packet = transfer.space_packet().map_err(refuse)?;
        let Transfer { target, user_application, .. } = transfer;
        Ok(Self { header: packet.header, data: packet.data.to_vec(), target, user_application })
    }

    /// The packet to send, behind the bytes of a path address.
    #[pyo3(signature = (path=Vec::new()))]
    fn encode<'py>(&self, py: Python<'py>, path: Vec<u8>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.write(&path)?))
    }

    /// Application process identifier.
    #[getter]
    fn apid(&self) -> u16 {
        self.header.apid
    }

    /// The packet data field.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.data)
    }

    /// Sequence count, or packet name of a telecommand: 0 to 16383.
    #[getter]
    fn sequence_count(&self) -> u16 {
        self.header.sequence_count
    }

    /// "unsegmented", "first", "continuation" or "last".
    #[getter]
    fn sequence_flags(&self) -> &'static str {
        let named = FLAGS.iter().find(|(_, flags)| *flags == self.header.sequence_flags);
        named.map_or("", |(name, _)| name)
    }

    /// Whether it goes to space.
    #[getter]
    fn telecommand(&self) -> bool {
        self.header.kind == PacketKind::Telecommand
    }

    /// Whether the data starts with a secondary header.
    #[getter]
    fn secondary_header(&self) -> bool {
        self.header.secondary_header
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.encode(py, Vec::new())
    }

    fn __repr__(&self) -> String {
        let PrimaryHeader { apid, sequence_count, .. } = self.header;
        format!("SpacePacket(apid={apid:#x}, count={sequence_count}, {} bytes)", self.data.len())
    }
}
