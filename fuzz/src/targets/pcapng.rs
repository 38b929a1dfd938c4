//! Captures: any file is refused with the place of the block, or read; what is read can be written
//! and read again.

use spfe_capture::{
    CaptureReader, CaptureWriter, Interface, PacketRecord, ReadError, RecordContent, WriterOptions,
};

/// Reads a file to its end or its first error; gives back the packets.
fn read(file: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut reader = CaptureReader::new(file);
    let mut packets = vec![];
    loop {
        match reader.record() {
            Ok(None) => return packets,
            Ok(Some(record)) => match record.content {
                RecordContent::Packet(bytes) => packets.push((record.time_ps, bytes.to_vec())),
                RecordContent::Words(list) | RecordContent::Frame(list) => {
                    let whole = record.header.length as usize;
                    assert!(list.iter().count() <= whole);
                }
                RecordContent::Characters(list) => {
                    assert!(list.iter().count() <= record.header.length as usize);
                }
                RecordContent::Broadcast(_)
                | RecordContent::Code(_)
                | RecordContent::Event { .. } => {}
            },
            Err(error) => {
                let (ReadError::Io { offset, .. }
                | ReadError::Block { offset, .. }
                | ReadError::Length { offset, .. }
                | ReadError::Record { offset, .. }) = error;
                assert!(offset < file.len() as u64, "{error}");
                return packets;
            }
        }
    }
}

crate::target!(|file: &[u8]| {
    let packets = read(file);
    let mut capture =
        CaptureWriter::new(Vec::new(), &WriterOptions::default()).expect("good options");
    let interface = Interface { name: "a.1>b.2", description: "", speed_bps: None };
    let id = capture.interface(&interface).expect("good name");
    for (time_ps, bytes) in &packets {
        let packet = PacketRecord::new(bytes, spfe_capture::PacketEnd::Eop);
        capture.packet(*time_ps, id, &packet).expect("good packet");
    }
    let (again, _) = capture.finish().expect("memory does not fail");
    assert_eq!(read(&again), packets);
});
