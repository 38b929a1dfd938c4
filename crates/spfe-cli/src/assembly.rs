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
    /// Bytes of the file.
    Data,
    /// The trailer, always last.
    Done(Trailer),
}

/// State of a transfer at the receiver.
pub struct Assembly {
    place: String,
    header: Option<Header>,
    /// The last part was not the end of its packet.
    inside: bool,
}

impl Assembly {
    /// The state before the first packet.
    pub fn new(place: &str) -> Self {
        Self { place: place.to_owned(), header: None, inside: false }
    }

    /// Classifies the next packet or part of one. `bytes` is the number of file bytes before it.
    pub fn take(&mut self, received: &Received, bytes: u64) -> Result<Step, Failure> {
        whole(received, &self.place, bytes)?;
        let is_packet = !self.inside && !received.more();
        self.inside = received.more();
        let Some(header) = &self.header else {
            if !is_packet {
                return Err(self.no_header("it is longer than its buffer"));
            }
            let header = Header::decode(&received.buf).map_err(|why| self.no_header(&why))?;
            self.header = Some(header.clone());
            return Ok(Step::Header(header));
        };
        let trailer = if is_packet { Trailer::decode(&received.buf, &header.id) } else { None };
        Ok(trailer.map_or(Step::Data, Step::Done))
    }

    fn no_header(&self, why: &str) -> Failure {
        Failure::damaged(format!(
            "{}: the first packet is no header of `spfe send` ({why}); --raw takes packets as they \
             come",
            self.place
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
        let header = Header { id: [3; 16], length: Some(4), name: "x".into() };
        let trailer = Trailer { id: [3; 16], length: 4, sha256: [0; 32] };
        let mut assembly = Assembly::new("port 0 VC 0");
        let step = assembly.take(&packet(&header.encode()), 0).unwrap();
        assert_eq!(step, Step::Header(header.clone()));
        // A second header, the trailer of another transfer, and a trailer at the end of a longer
        // packet are data.
        assert_eq!(assembly.take(&packet(&header.encode()), 0).unwrap(), Step::Data);
        let other = Trailer { id: [4; 16], ..trailer };
        assert_eq!(assembly.take(&packet(&other.encode()), 0).unwrap(), Step::Data);
        let part = received(b"part", End::More, Status::Ok);
        assert_eq!(assembly.take(&part, 0).unwrap(), Step::Data);
        assert_eq!(assembly.take(&packet(&trailer.encode()), 0).unwrap(), Step::Data);
        assert_eq!(assembly.take(&packet(&trailer.encode()), 0).unwrap(), Step::Done(trailer));
    }

    #[test]
    fn what_is_no_header_is_named() {
        let failure = Assembly::new("port 0 VC 0").take(&packet(b"hello"), 0).unwrap_err();
        assert_eq!(failure.kind, Kind::Damaged);
        assert!(failure.what.contains("5 bytes, a header has 40"), "{failure}");
        let header = Header { id: [0; 16], length: None, name: String::new() };
        let part = received(&header.encode(), End::More, Status::Ok);
        let failure = Assembly::new("port 0 VC 0").take(&part, 0).unwrap_err();
        assert!(failure.what.contains("longer than its buffer"), "{failure}");
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
