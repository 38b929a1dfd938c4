//! Sends one packet from user memory to user memory.
//!
//!     cargo run --example hello
//!
//! `virtual:` is an endpoint in this process. A cable joins its SpaceFibre ports 0 and 1, so a
//! packet sent on a virtual channel of port 0 arrives at port 1 on the same channel. Nothing has to
//! be installed or started. With another device name the same code runs on a daemon's network, for
//! instance with the two ends in two processes.

use spfe::{Deadline, End, Endpoint, Status};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let endpoint = Endpoint::open("virtual:")?;

    // The two ends of virtual channel 0. Each end of a channel has one owner at a time: a second
    // `tx()` here would fail with BUSY.
    let mut tx = endpoint.port(0)?.vc(0)?.tx()?;
    let mut rx = endpoint.port(1)?.vc(0)?.rx()?;

    // Memory that the device may read and write. Buffers are parts of it and never overlap.
    let memory = endpoint.alloc(64 * 1024)?;

    // The receiver posts buffers first. Without a buffer the packet would wait at the sender:
    // packets are never dropped.
    let mut buffers = memory.split(4096, 8)?;
    rx.post_all(&mut buffers);

    // The packet. Sending moves the buffer to the queue, so the program cannot change it meanwhile.
    let mut packet = memory.buf(32 * 1024..36 * 1024)?;
    packet.put(b"from here to there");
    packet.set_tag(42);
    tx.send(packet)?;

    // Wait for the packet, at most one second. It arrives in one of the posted buffers.
    let received = rx.recv(Deadline::after(Duration::from_secs(1)))?;
    assert_eq!((received.status, received.end), (Status::Ok, End::Eop));
    println!("received: {}", String::from_utf8_lossy(&received.buf));
    assert_eq!(&received.buf[..], b"from here to there");

    // Give the buffer back for the next packet.
    rx.post(received.buf)?;

    // The sender's completion says that the packet is delivered. Then the buffer comes back, with
    // its tag.
    let packets = tx.drain(Deadline::after(Duration::from_secs(1)))?;
    let packet = tx.take().ok_or("the packet's buffer did not come back")?;
    println!("sent: {packets} packet of {} bytes, tag {}", packet.len(), packet.tag());
    assert_eq!((packets, packet.tag()), (1, 42));

    // Endpoints, ports and queues close when they are dropped, in any order.
    Ok(())
}
