//! The protocol between a client and the `spfed` daemon.
//!
//! A UNIX socket of type SOCK_SEQPACKET carries datagrams of at most [`DATAGRAM_MAX`] bytes. Each
//! [`Request`] gets one [`Reply`], in order. File descriptors of memory and events are attached to
//! datagrams. The data path does not use the socket: nothing is sent between the creation and the
//! destruction of a queue.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`message`] | requests and replies |
//! | [`codec`] | encoding and decoding: pure, never panics |
//! | [`socket`] | datagrams and descriptors on a socket |
//! | [`client`] | client side: handshake and calls |
//!
//! A datagram is a header of 12 bytes, little-endian, then the message in postcard form:
//!
//! | bytes | field |
//! | --- | --- |
//! | 0 to 3 | `SPFS` |
//! | 4 to 5 | version of this protocol ([`PROTOCOL`]) |
//! | 6 to 7 | zero |
//! | 8 to 11 | sequence number, chosen by the client and repeated in the reply |
//!
//! `Hello` attaches the connection as a client. Without it the daemon answers only queries that
//! change nothing (`Network`, `NetworkPort`, `Pair`, `Clients`, `Capture`). It closes the connection after 5 s,
//! or when the capture ends.
//!
//! Header and error reply have the same form in every version, so that builds with different versions
//! can report the mismatch.

pub mod client;
pub mod codec;
pub mod message;
pub mod socket;

pub use client::Connection;
pub use codec::{decode_reply, decode_request, encode_reply, encode_request};
pub use message::{
    CaptureRequest, ClientInfo, Hello, MIB_ENTRIES, NetworkInfo, PairInfo, Reply, Request,
    WANT_ENGINE, Welcome,
};
pub use spfe_host::ControlError as Error;

/// Version of the protocol. It goes up with every change of a message.
pub const PROTOCOL: u16 = 9;
/// Maximum size of a datagram in bytes. A topology of 64 endpoints with 8 ports each fits.
pub const DATAGRAM_MAX: usize = 16 * 1024;
/// Maximum number of descriptors in a datagram: a stream of the fabric has two memories, four bells
/// and a page of counters.
pub const FDS_MAX: usize = 7;
/// Maximum length of a client's name in bytes.
pub const NAME_MAX: usize = 64;

/// Result of a request.
pub type Result<T> = std::result::Result<T, Error>;
