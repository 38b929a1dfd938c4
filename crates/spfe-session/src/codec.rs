//! Encoding and decoding of datagrams. Pure; the input may be any bytes.

use crate::message::{Reply, Request};
use crate::{DATAGRAM_MAX, Error, NAME_MAX, PROTOCOL, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use spfe_contract::Status;

/// Size of the header of a datagram in bytes.
pub const HEADER_BYTES: usize = 12;

const MAGIC: [u8; 4] = *b"SPFS";

/// The header of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Protocol version of the sender.
    pub protocol: u16,
    /// Sequence number.
    pub sequence: u32,
}

/// Decodes the header of any protocol version.
///
/// # Errors
/// BAD_FIELD if the datagram is too short or too long, or belongs to another protocol.
pub fn decode_header(datagram: &[u8]) -> Result<Header> {
    let bad = |what: String| Err(Error::new(Status::BadField, what));
    if datagram.len() > DATAGRAM_MAX {
        return bad(format!("datagram of {} bytes; at most {DATAGRAM_MAX}", datagram.len()));
    }
    let Some(header) = datagram.first_chunk::<HEADER_BYTES>() else {
        return bad(format!("datagram of {} bytes; at least {HEADER_BYTES}", datagram.len()));
    };
    let [a, b, c, d, v0, v1, r0, r1, s0, s1, s2, s3] = *header;
    if [a, b, c, d] != MAGIC {
        return bad(format!("datagram starts with {:02x?}, not with 'SPFS'", [a, b, c, d]));
    }
    let protocol = u16::from_le_bytes([v0, v1]);
    if protocol == PROTOCOL && [r0, r1] != [0, 0] {
        return bad("reserved bytes 6 and 7 of a datagram are not zero".to_owned());
    }
    Ok(Header { protocol, sequence: u32::from_le_bytes([s0, s1, s2, s3]) })
}

fn encode<T: Serialize>(sequence: u32, message: &T) -> Result<Vec<u8>> {
    let mut datagram = Vec::with_capacity(256);
    datagram.extend_from_slice(&MAGIC);
    datagram.extend_from_slice(&PROTOCOL.to_le_bytes());
    datagram.extend_from_slice(&[0, 0]);
    datagram.extend_from_slice(&sequence.to_le_bytes());
    let datagram = postcard::to_extend(message, datagram)
        .map_err(|error| Error::new(Status::BadField, format!("message: {error}")))?;
    if datagram.len() > DATAGRAM_MAX {
        let what = format!("message of {} bytes; at most {DATAGRAM_MAX}", datagram.len());
        return Err(Error::new(Status::TooLong, what));
    }
    Ok(datagram)
}

fn decode_body<T: DeserializeOwned>(datagram: &[u8]) -> Result<T> {
    let body = datagram.get(HEADER_BYTES..).unwrap_or_default();
    match postcard::take_from_bytes::<T>(body) {
        Ok((message, [])) => Ok(message),
        Ok((_, rest)) => {
            let what = format!("{} bytes behind the message", rest.len());
            Err(Error::new(Status::BadField, what))
        }
        Err(error) => Err(Error::new(Status::BadField, format!("malformed message: {error}"))),
    }
}

fn versions(ours: &str, theirs: &str, version: u16) -> Error {
    let what = format!(
        "{ours} speaks session protocol {PROTOCOL}, {theirs} speaks {version}: install {ours} and \
         {theirs} of the same release"
    );
    Error::new(Status::BadVersion, what)
}

/// Encodes a request.
///
/// # Errors
/// TOO_LONG if the datagram exceeds [`DATAGRAM_MAX`].
pub fn encode_request(sequence: u32, request: &Request) -> Result<Vec<u8>> {
    encode(sequence, request)
}

/// Decodes a request and its sequence number.
///
/// # Errors
/// BAD_VERSION if the client has another protocol version; BAD_FIELD if the datagram is malformed or
/// a name is longer than 64 bytes.
pub fn decode_request(datagram: &[u8]) -> Result<(u32, Request)> {
    let header = decode_header(datagram)?;
    if header.protocol != PROTOCOL {
        return Err(versions("the daemon", "the client", header.protocol));
    }
    let request = decode_body(datagram)?;
    if let Request::Hello(hello) = &request
        && hello.name.len() > NAME_MAX
    {
        let what = format!("client name of {} bytes; at most {NAME_MAX}", hello.name.len());
        return Err(Error::new(Status::BadField, what));
    }
    Ok((header.sequence, request))
}

/// Encodes a reply.
///
/// # Errors
/// TOO_LONG if the datagram exceeds [`DATAGRAM_MAX`].
pub fn encode_reply(sequence: u32, reply: &Result<Reply>) -> Result<Vec<u8>> {
    encode(sequence, reply)
}

/// Decodes a reply and its sequence number. The inner error is the daemon's, or BAD_VERSION if the
/// daemon has another protocol version.
///
/// # Errors
/// BAD_FIELD if the datagram is malformed.
pub fn decode_reply(datagram: &[u8]) -> Result<(u32, Result<Reply>)> {
    let header = decode_header(datagram)?;
    let reply = match decode_body::<Result<Reply>>(datagram) {
        // Errors have the same form in every version, so show the daemon's own message.
        Ok(Err(error)) => Err(error),
        _ if header.protocol != PROTOCOL => {
            Err(versions("the client", "the daemon", header.protocol))
        }
        reply => reply?,
    };
    Ok((header.sequence, reply))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Hello, Welcome};
    use proptest::prelude::*;
    use spfe_host::Attachment;
    use spfe_host::topology::{LinkModel, LinkRate, Mode, Peer, PortConfig, Topology};

    #[test]
    fn a_request_comes_back() {
        let request = Request::Hello(Hello::new(Some(1), "test"));
        let datagram = encode_request(7, &request).unwrap();
        assert_eq!(decode_request(&datagram).unwrap(), (7, request));
    }

    #[test]
    fn the_largest_topology_fits() {
        let peer = Peer::Generator { min_bytes: 1 << 24, max_bytes: 1 << 24, seed: u64::MAX };
        let rate = LinkRate::SpaceFibre { lanes: 16, mbps: 100_000 };
        let model = LinkModel::Packet;
        let port = PortConfig { space_wire: false, vcs: 32, rate, model, peer };
        let topology = Topology {
            endpoints: vec![vec![port; 8]; 64],
            mode: Mode::Thread,
            ..Topology::default()
        };
        topology.check().unwrap();
        let attachment = Attachment { client: 255, endpoint: 63 };
        let reply = Ok(Reply::Welcome(Welcome {
            contract: (1, 0),
            chain_max: 24,
            attachment,
            name: "n".repeat(64),
            topology,
        }));
        let datagram = encode_reply(u32::MAX, &reply).unwrap();
        assert_eq!(decode_reply(&datagram).unwrap(), (u32::MAX, reply));
    }

    #[test]
    fn another_version_is_named_on_both_sides() {
        let mut datagram = encode_request(1, &Request::Ping).unwrap();
        datagram[4] = PROTOCOL as u8 + 1;
        let error = decode_request(&datagram).unwrap_err();
        assert_eq!(error.status(), Status::BadVersion);
        let ours = format!("protocol {PROTOCOL}");
        let theirs = format!("speaks {}", PROTOCOL + 1);
        assert!(error.what.contains(&ours) && error.what.contains(&theirs), "{error}");
        let mut datagram = encode_reply(1, &Ok(Reply::Done)).unwrap();
        datagram[4] = PROTOCOL as u8 + 1;
        let error = decode_reply(&datagram).unwrap().1.unwrap_err();
        assert_eq!(error.status(), Status::BadVersion);
    }

    /// A client that does not know a mode cannot decode a `Welcome` with it, so a new mode needs a new
    /// protocol: then raise both and add it here.
    #[test]
    fn the_modes_of_this_protocol() {
        let number = |mode: Mode| -> u8 {
            match mode {
                Mode::Inline => 0,
                Mode::Coop => 1,
                Mode::Thread => 2,
                Mode::Auto => 3,
            }
        };
        assert_eq!(PROTOCOL, 9);
        for mode in [Mode::Inline, Mode::Coop, Mode::Thread, Mode::Auto] {
            let bytes: Vec<u8> = postcard::to_extend(&mode, Vec::new()).unwrap();
            assert_eq!(bytes, vec![number(mode)]);
        }
    }

    #[test]
    fn long_names_and_trailing_bytes_are_refused() {
        let hello = Hello { name: "x".repeat(65), ..Hello::new(None, "") };
        let datagram = encode_request(1, &Request::Hello(hello)).unwrap();
        assert!(decode_request(&datagram).unwrap_err().what.contains("at most 64"));
        let mut datagram = encode_request(1, &Request::Ping).unwrap();
        datagram.push(0);
        assert!(decode_request(&datagram).unwrap_err().what.contains("1 bytes behind"));
        assert_eq!(Hello::new(None, &"é".repeat(40)).name.len(), 64);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode_request(&bytes);
            let mut datagram = encode_request(0, &Request::Ping).unwrap();
            datagram.truncate(HEADER_BYTES);
            datagram.extend(&bytes);
            let _ = decode_request(&datagram);
            let _ = decode_reply(&datagram);
        }
    }
}
