//! Sends echo requests (RFC 792), each after the answer to the one before.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, ipproto};

use crate::random::Random;

const REQUEST: u8 = 8;
const REPLY: u8 = 0;
const HEADER: usize = 8;
/// Maximum time for an answer.
const LIMIT: Duration = Duration::from_secs(5);

/// Sends `count` requests with `bytes` bytes.
///
/// # Errors
/// A request is not answered, or the answer has other bytes.
pub fn echo(ip: Ipv4Addr, count: u16, bytes: usize) -> Result<(), String> {
    let run = |number| one(ip, number, bytes).map_err(|e| format!("echo {number} of {count}: {e}"));
    (0..count).try_for_each(run)
}

fn one(ip: Ipv4Addr, number: u16, bytes: usize) -> io::Result<()> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, Some(ipproto::ICMP))?;
    // UdpSocket serves as a connected datagram socket for any protocol.
    let socket = UdpSocket::from(socket);
    socket.set_read_timeout(Some(LIMIT))?;
    socket.connect((ip, 0))?;
    let [high, low] = number.to_be_bytes();
    // The kernel fills in the checksum and the identifier.
    let mut message = vec![REQUEST, 0, 0, 0, 0, 0, high, low];
    message.extend(Random::new(number.into()).bytes(bytes));
    socket.send(&message)?;
    let mut answer = vec![0; HEADER + bytes + 1];
    let length = socket.recv(&mut answer)?;
    answer.truncate(length);
    if answer.first() == Some(&REPLY) && answer.get(6..) == message.get(6..) {
        return Ok(());
    }
    Err(io::Error::other(format!("the answer of {length} bytes differs from the request")))
}
