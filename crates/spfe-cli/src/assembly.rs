//! Sorts received packets into header, data and trailer of a file.

use crate::error::Failure;
use crate::frame::{Header, Trailer};
use crate::output;
use spfe::{End, Error, Received, Status};

/// Fails if a packet, or a part of one, was received with an error.
pub fn whole(received: &Received, place: &str, bytes: u64) -> Result<(), Failure> {
    match (received.status, received.end) {
        (Status::Ok, End::Eop | End::More) => Ok(()),
        (Status::Ok | Status::PacketCut, _) => Err(Failure::damaged(format!(
            "{place}: a packet ended with EEP after {} of the file: the sender gave up, or the \
             link cut it",
            output::bytes(bytes)
        ))),
        (status, _) => {
            Err(Error::device(status, format!("{place}: a buffer was not used: {}", status.doc())))?
        }
    }
}

/// Kind of a packet in a file transfer.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// The header, always first.
    Header(Header),
    /// The header of this transfer again: no answer has reached the sender yet.
    Again,
    /// A packet before the header: it belongs to a transfer that began with another receiver.
    Stranger,
    /// Bytes of the file, behind so many bytes of address.
    Data(usize),
    /// The trailer, always last.
    Done(Trailer),
}

/// Limit of packets before the header: more than the queues of a sender hold.
const STRANGERS_MAX: u32 = 40_000;

/// State of a transfer at the receiver.
pub struct Assembly {
    place: String,
    header: Option<Header>,
    /// Bytes of address before each packet.
    offset: usize,
    /// Packets before the header.
    strangers: u32,
    /// The last part was not the end of its packet.
    inside: bool,
}

impl Assembly {
    /// The state before the first packet.
    pub fn new(place: &str) -> Self {
        Self { place: place.to_owned(), header: None, offset: 0, strangers: 0, inside: false }
    }

    /// Classifies the next packet or part of one. `bytes` is the number of file bytes before it.
    pub fn take(&mut self, received: &Received, bytes: u64) -> Result<Step, Failure> {
        let starts = !self.inside;
        let is_packet = starts && !received.more();
        self.inside = received.more();
        let Some(header) = &self.header else {
            return self.first(received, is_packet);
        };
        whole(received, &self.place, bytes)?;
        let own = received.buf.get(self.offset..).unwrap_or_default();
        if is_packet && let Some(trailer) = Trailer::decode(own, &header.id) {
            return Ok(Step::Done(trailer));
        }
        if is_packet && Header::decode(&received.buf).is_ok_and(|(other, _)| other == *header) {
            return Ok(Step::Again);
        }
        Ok(Step::Data(if starts { self.offset } else { 0 }))
    }

    /// Classifies what comes before a header.
    fn first(&mut self, received: &Received, is_packet: bool) -> Result<Step, Failure> {
        let found = match (received.status, is_packet) {
            (Status::Ok | Status::PacketCut, false) => {
                Err("it is longer than its buffer".to_owned())
            }
            (Status::Ok, true) if received.end == End::Eop => Header::decode(&received.buf),
            (Status::Ok | Status::PacketCut, true) => Err("it ends with EEP".to_owned()),
            _ => {
                whole(received, &self.place, 0)?;
                return Ok(Step::Stranger);
            }
        };
        match found {
            Ok((header, offset)) => {
                (self.header, self.offset) = (Some(header.clone()), offset);
                Ok(Step::Header(header))
            }
            Err(why) => {
                self.strangers += 1;
                if self.strangers > STRANGERS_MAX {
                    Err(self.no_header(&why))
                } else {
                    Ok(Step::Stranger)
                }
            }
        }
    }

    fn no_header(&self, why: &str) -> Failure {
        Failure::damaged(format!(
            "{}: no header of `spfe send` among {} packets (the last one: {why}); --raw takes packets \
             as they come",
            self.place, self.strangers
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use spfe::Endpoint;

    fn received(bytes: &[u8], end: End, status: Status) -> Received {
        let endpoint = Endpoint::open("virtual:").unwrap();
        let mut buf = endpoint.alloc(4096).unwrap().buf(0..4096).unwrap();
        buf.put(bytes);
        Received { buf, end, status, time_ns: None }
    }

    fn packet(bytes: &[u8]) -> Received {
        received(bytes, End::Eop, Status::Ok)
    }

    #[test]
    fn a_file_is_header_data_trailer() {
        let header = Header { id: [3; 16], length: Some(4), name: "x".into(), reply: None };
        let trailer = Trailer { id: [3; 16], length: 4, sha256: [0; 32] };
        let mut assembly = Assembly::new("port 0 VC 0");
        let step = assembly.take(&packet(&header.encode()), 0).unwrap();
        assert_eq!(step, Step::Header(header.clone()));
        assert_eq!(assembly.take(&packet(&header.encode()), 0).unwrap(), Step::Again);
        // The header and the trailer of another transfer, and a trailer at the end of a longer
        // packet are data.
        let second = Header { id: [4; 16], ..header.clone() };
        assert_eq!(assembly.take(&packet(&second.encode()), 0).unwrap(), Step::Data(0));
        let cut = received(&header.encode(), End::Eep, Status::Ok);
        assert_eq!(Assembly::new("port 0 VC 0").take(&cut, 0).unwrap(), Step::Stranger);
        let other = Trailer { id: [4; 16], ..trailer };
        assert_eq!(assembly.take(&packet(&other.encode()), 0).unwrap(), Step::Data(0));
        let part = received(b"part", End::More, Status::Ok);
        assert_eq!(assembly.take(&part, 0).unwrap(), Step::Data(0));
        assert_eq!(assembly.take(&packet(&trailer.encode()), 0).unwrap(), Step::Data(0));
        assert_eq!(assembly.take(&packet(&trailer.encode()), 0).unwrap(), Step::Done(trailer));
    }

    #[test]
    fn packets_before_the_header_are_skipped_up_to_a_limit() {
        let header = Header { id: [0; 16], length: None, name: String::new(), reply: None };
        let mut assembly = Assembly::new("port 0 VC 0");
        let cut = received(b"x", End::Eep, Status::PacketCut);
        let part = received(&header.encode(), End::More, Status::Ok);
        for stranger in [&packet(b"hello"), &cut, &part, &packet(&header.encode())] {
            assert_eq!(assembly.take(stranger, 0).unwrap(), Step::Stranger);
        }
        // The header behind a logical address, which is also before the data.
        let addressed = [&[0xfe], &header.encode()[..]].concat();
        assert_eq!(assembly.take(&packet(&addressed), 0).unwrap(), Step::Header(header));
        assert_eq!(assembly.take(&packet(b"?data"), 0).unwrap(), Step::Data(1));
        let mut assembly = Assembly::new("port 0 VC 0");
        assembly.strangers = STRANGERS_MAX;
        let failure = assembly.take(&packet(b"hello"), 0).unwrap_err();
        assert_eq!(failure.kind, Kind::Damaged);
        assert!(failure.what.contains("5 bytes, a header has 40"), "{failure}");
    }

    #[test]
    fn a_cut_packet_is_damage() {
        for (end, status) in [(End::Eep, Status::PacketCut), (End::Eep, Status::Ok)] {
            let failure = whole(&received(b"x", end, status), "port 0 VC 0", 9).unwrap_err();
            assert_eq!(failure.kind, Kind::Damaged);
            assert!(failure.what.contains("EEP after 9 bytes"), "{failure}");
        }
        let failure = whole(&received(b"x", End::Eop, Status::BadRegion), "", 0).unwrap_err();
        assert_eq!(failure.status(), "BAD_REGION");
    }
}
