//! Reads and writes memory at the other end of a link with RMAP (ECSS-E-ST-50-52C).
//!
//!     cargo run --example remote_memory
//!
//! One endpoint serves windows of its memory in a thread. The other endpoint writes to a window,
//! reads it back, sets single bits, and shows how the target refuses an access that is not allowed.

use spfe::rmap::{
    Allow, Initiator, InitiatorOptions, Remote, RmapRequest, Target, TargetConfig, Window,
};
use spfe::{Deadline, Endpoint, LinkRate, Mode};
use std::error::Error;

const KEY: u8 = 0x20;
const MEMORY: u64 = 0x4000_0000;
const CALIBRATION: u64 = 0x5000_0000;

fn main() -> Result<(), Box<dyn Error>> {
    let (instrument, processor) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline)?;

    // The instrument has one window to read and write, and one to read only.
    let config = TargetConfig { verify_bytes: 64 << 10, ..TargetConfig::default() };
    let mut target = Target::open(&instrument.port(0)?.vc(0)?, config, 64 << 10)?;
    let memory = instrument.alloc(2 << 20)?;
    target.add(Window::new(MEMORY, memory.buf(0..1 << 20)?).key(KEY))?;
    let read_only = Allow { read: true, write: false, modify: false };
    target.add(Window::new(CALIBRATION, memory.buf(1 << 20..2 << 20)?).allow(read_only))?;
    let canceller = target.canceller();
    let server = std::thread::spawn(move || {
        let ended = target.serve_until(Deadline::NEVER);
        (ended.map(drop), *target.counters())
    });

    // The processor. A long access becomes several commands, of which several are outstanding.
    let remote = Remote { key: KEY, ..Remote::default() };
    let options = InitiatorOptions { max_data: 64 << 10, ..InitiatorOptions::new(remote) };
    let mut initiator = Initiator::open(&processor.port(0)?.vc(0)?, options)?;
    let data: Vec<u8> = (0..1u32 << 20).map(|n| (n >> 3) as u8).collect();
    initiator.write(MEMORY, &data, Deadline::NEVER)?;
    let mut back = vec![0; data.len()];
    initiator.read(MEMORY, &mut back, Deadline::NEVER)?;
    assert_eq!(back, data);
    println!("wrote and read back {} bytes", data.len());

    // Changes the bits whose mask bit is one, and returns the old bytes.
    let mut old = [0; 4];
    initiator.modify(MEMORY + 8, &[0xff; 4], &[0x80, 0, 0, 1], &mut old, Deadline::NEVER)?;
    println!("read-modify-write: the bytes were {old:02x?}");

    // One command each; the replies may come in any order.
    for channel in 0..4 {
        initiator.begin(CALIBRATION + channel * 16, &RmapRequest::read(16), Deadline::NEVER)?;
    }
    while initiator.outstanding() != 0 {
        let (transaction, data) = initiator.finish(Deadline::NEVER)?;
        println!("transaction {transaction}: {} bytes", data?.len());
    }

    // The target reports why it refuses.
    match initiator.write(CALIBRATION, &[1], Deadline::NEVER) {
        Err(error) => println!("{error}"),
        Ok(()) => return Err("a read-only window was written".into()),
    }

    canceller.cancel();
    let (ended, counters) = server.join().map_err(|_| "the server panicked")?;
    match ended {
        Err(error) if error.is_cancelled() => {}
        ended => ended?,
    }
    println!(
        "{} reads, {} writes, {} refused",
        counters.reads, counters.writes, counters.not_authorised
    );
    Ok(())
}
