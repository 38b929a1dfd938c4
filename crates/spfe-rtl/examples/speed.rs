//! Prints how many cycles a simulated core runs in a second of processor time.
//!
//!     cargo run --release -p spfe-rtl --example speed -- 'rtl:lab?lanes=1' 3
//!
//! The arguments are a device name and a number of seconds. Links are up, registers are read all the
//! time, and each core of the machine counts once: for a pair, a cycle is one of both.

use spfe_registers::RegisterSpace;
use spfe_rtl::{Name, Rtl};
use std::time::{Duration, Instant};

fn main() -> spfe_host::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let text = arguments.next().unwrap_or_else(|| "rtl:speed".to_owned());
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(3);
    let machine = Name::parse(&text)?.machine()?;
    let space = Rtl::take(&machine, 0)?;
    let (start, before) = (Instant::now(), machine.report());
    while start.elapsed() < Duration::from_secs(seconds) {
        space.read32(0);
    }
    let mut after = machine.report();
    after.cycles -= before.cycles;
    after.cpu_ns -= before.cpu_ns;
    println!(
        "{text}: {:.0} cycles per second of processor time, {} cycles in {:.2} s of this machine",
        after.cycles_per_second(),
        after.cycles,
        start.elapsed().as_secs_f64()
    );
    Ok(())
}
