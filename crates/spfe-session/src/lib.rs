//! How a client and the `spfed` daemon talk.
//!
//! A UNIX socket of type SOCK_SEQPACKET carries datagrams of at most [`DATAGRAM_MAX`] bytes: one
//! [`Request`], one [`Reply`], in order. Descriptors (memory, events) travel beside them. The data
//! path does not come here: after a queue has been created nothing is sent until it is destroyed.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`message`] | requests and replies |
//! | [`codec`] | datagrams from and to messages: pure, never panics |
//! | [`socket`] | datagrams and descriptors on a socket |
//! | [`client`] | the client's side: handshake and calls |
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
//! `Hello` makes a connection a client. Without it the daemon answers only what looks at it and
//! changes nothing (`Look`, `LookAtPort`, `Clients`, `Capture`), and closes the connection after 5 s,
//! or when its capture ends.
//!
//! Header and error reply keep their form in every version, so that two builds that do not
//! understand each other can say so.

pub mod client;
pub mod codec;
pub mod message;
pub mod socket;

pub use client::Connection;
pub use codec::{decode_reply, decode_request, encode_reply, encode_request};
pub use message::{
    CaptureRequest, ClientInfo, Hello, MIB_ENTRIES, NetworkInfo, Reply, Request, WANT_ENGINE,
    Welcome,
};
pub use spfe_host::ControlError as Error;

/// Version of this protocol. Goes up with every change of a message.
pub const PROTOCOL: u16 = 4;
/// Longest datagram in bytes: the topology of 64 endpoints with 8 ports each fits.
pub const DATAGRAM_MAX: usize = 16 * 1024;
/// Most descriptors beside a datagram: the doorbell page and the network's memory.
pub const FDS_MAX: usize = 2;
/// Longest name of a client in bytes.
pub const NAME_MAX: usize = 64;

/// A result of the control plane.
pub type Result<T> = std::result::Result<T, Error>;
