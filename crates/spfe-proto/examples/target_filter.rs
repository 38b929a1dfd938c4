//! An RMAP target as a filter, to compare it with other software. It reads commands from standard
//! input and writes replies to standard output, one packet per line in hexadecimal digits. A
//! command without a reply gives an empty line.
//!
//!     echo fe014c0067000100a0000000000010c9 | cargo run -q -p spfe-proto --example target_filter
//!
//! The target has 64 KiB from address 0xa0000000 on, accepts every key and logical address, and
//! verifies up to 64 KiB.

use spfe_proto::PacketEnd;
use spfe_proto::rmap::target::REPLY_OVERHEAD;
use spfe_proto::rmap::{Ram, RmapTarget, RmapTargetConfig};
use std::io::{self, BufRead, Write};

const BASE: u64 = 0xa000_0000;
const BYTES: usize = 64 << 10;

fn bytes(line: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = line.trim().as_bytes().as_chunks::<2>();
    let pair = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    rest.is_empty().then(|| pairs.iter().map(pair).collect())?
}

fn main() -> io::Result<()> {
    let config = RmapTargetConfig {
        logical_address: None,
        verify_bytes: BYTES as u32,
        ..RmapTargetConfig::default()
    };
    let mut target = RmapTarget::new(config);
    let mut memory = vec![0; BYTES];
    let mut reply = vec![0; BYTES + REPLY_OVERHEAD];
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let packet = bytes(&line).ok_or_else(|| {
            let what = format!("'{line}' is no packet in hexadecimal digits, such as fe014c");
            io::Error::new(io::ErrorKind::InvalidInput, what)
        })?;
        let mut ram = Ram { base: BASE, word_bytes: 4, bytes: &mut memory };
        let outcome = target.handle(&packet, PacketEnd::Eop, &mut ram, |_| Ok(()), &mut reply);
        let length = outcome.map_or(0, |outcome| outcome.reply_bytes());
        for byte in &reply[..length] {
            write!(out, "{byte:02x}")?;
        }
        writeln!(out)?;
        out.flush()?;
    }
    Ok(())
}
