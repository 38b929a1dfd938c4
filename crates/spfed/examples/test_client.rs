//! A client process for the tests of the daemon, which kill it.
//!
//! `test_client hold SOCKET` opens both ends of VC 0 of endpoint 0 and keeps them.
//! `test_client send SOCKET` sends packets of 64 KiB on VC 0 of endpoint 0 without end.
//! `test_client leave SOCKET COUNT HOW` posts 32 packets of 4 KiB on VC 0 of endpoint 0, filled with
//! their numbers, waits until COUNT are reported as sent, prints how many are, and ends. HOW is
//! `queue` (closes the queue, then exits), `endpoint` (closes everything) or `exit`.

use spfe::{Deadline, Endpoint, Result, Status, Vc};
use std::time::{Duration, Instant};

/// Limit of the wait for the ends of the previous client.
const SOON: Duration = Duration::from_secs(20);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [action, socket, more @ ..] = &arguments[..] else {
        panic!("usage: test_client hold|send|leave SOCKET [COUNT HOW]")
    };
    let endpoint = Endpoint::open(&format!("unix:{socket}/0"))?;
    let vc = endpoint.port(0)?.vc(0)?;
    match (action.as_str(), more) {
        ("hold", []) => hold(&vc),
        ("send", []) => send(&endpoint, &vc),
        ("leave", [count, how]) => {
            leave(endpoint, vc, count.parse().expect("COUNT is a number"), how)
        }
        _ => panic!("unknown action '{action}'"),
    }
}

/// Keeps both ends open. The line `ready` says that they are.
fn hold(vc: &Vc) -> Result<()> {
    let _ends = (vc.tx()?, vc.rx()?);
    println!("ready");
    loop {
        std::thread::park();
    }
}

fn send(endpoint: &Endpoint, vc: &Vc) -> Result<()> {
    let start = Instant::now();
    // The daemon may still be cleaning up after the previous client.
    let mut tx = loop {
        match vc.tx() {
            Ok(tx) => break tx,
            Err(error) if start.elapsed() > SOON => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let mut packets = endpoint.alloc(1 << 20)?.split(65536, 16)?;
    loop {
        while let Some(packet) = packets.pop() {
            tx.send(packet)?;
        }
        tx.wait(Deadline::NEVER)?;
        while tx.poll().is_some() {}
        while let Some(packet) = tx.take() {
            packets.push(packet);
        }
    }
}

fn leave(endpoint: Endpoint, vc: Vc, count: u32, how: &str) -> Result<()> {
    let mut tx = vc.tx()?;
    let packets = endpoint.alloc(32 * 4096)?.split(4096, 32)?;
    for (number, mut packet) in (0u8..).zip(packets) {
        packet.fill(number);
        tx.send(packet)?;
    }
    let mut reported = 0;
    while reported < count {
        tx.wait(Deadline::after(SOON))?;
        while let Some(sent) = tx.poll() {
            assert_eq!(sent.status, Status::Ok);
            reported += sent.packets;
        }
    }
    println!("{reported}");
    match how {
        "queue" => drop(tx),
        "endpoint" => drop((tx, vc, endpoint)),
        "exit" => {}
        _ => panic!("unknown end '{how}'"),
    }
    // Runs no destructor.
    std::process::exit(0)
}
