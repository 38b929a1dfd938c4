//! One packet from user memory to user memory.
//!
//!     cargo run --example hello
//!
//! `virtual:` is an endpoint in this process. A cable joins its SpaceFibre ports 0 and 1, so a
//! packet that leaves port 0 on a virtual channel arrives at port 1 on the same one. Nothing has to
//! be installed or started. The same program runs on a daemon's network when it is given another
//! name and the two ends are opened where they belong, for instance in two processes.

use spfe::{Deadline, End, Endpoint, Status};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let endpoint = Endpoint::open("virtual:")?;

    // The two ends of virtual channel 0. Each end of a channel has one owner at a time: a second
    // `tx()` here would fail with BUSY.
    let mut tx = endpoint.port(0)?.vc(0)?.tx()?;
    let mut rx = endpoint.port(1)?.vc(0)?.rx()?;

    // Memory the device may read and write. Buffers are cut from it; a byte belongs to one buffer.
    let memory = endpoint.alloc(64 * 1024)?;

    // The receiver posts buffers first. Without one the packet would wait at the sender: packets are
    // never dropped.
    let mut buffers = memory.split(4096, 8)?;
    rx.post_all(&mut buffers);

    // The packet. Sending moves the buffer to the queue, so nobody can change what is on its way.
    let mut packet = memory.buf(32 * 1024..36 * 1024)?;
    packet.put(b"from here to there");
    packet.tag = 42;
    tx.send(packet)?;

    // Wait for it, one second at most. On the way in the bytes are in one of our own buffers.
    let received = rx.recv(Deadline::after(Duration::from_secs(1)))?;
    assert_eq!((received.status, received.end), (Status::Ok, End::Eop));
    println!("received: {}", String::from_utf8_lossy(&received.buf));
    assert_eq!(&received.buf[..], b"from here to there");

    // Give the buffer back for the next packet.
    rx.post(received.buf)?;

    // The sender's completion says that the packet is delivered; then the buffer is ours again, with
    // the tag we gave it.
    let packets = tx.drain(Deadline::after(Duration::from_secs(1)))?;
    let packet = tx.take().ok_or("the packet's buffer did not come back")?;
    println!("sent: {packets} packet of {} bytes, tag {}", packet.len(), packet.tag);
    assert_eq!((packets, packet.tag), (1, 42));

    // Everything closes when it is dropped, in any order.
    Ok(())
}
