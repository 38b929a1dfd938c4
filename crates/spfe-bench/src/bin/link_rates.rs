//! User data rates of saturated exact links, next to the rates that follow from the overheads of
//! the standard and to published figures of a closed implementation.
//!
//! `link_rates` sends packets of 64 KiB on one virtual channel over 1, 2, 3, 4, 8 and 16 lanes, in
//! one direction and in both, at the lane rates of the published figures. It measures simulated
//! time, so the result is the same on every machine.

use spfe_link::Word;
use spfe_sim::link::{NoObserver, Side, SimulatedLink};
use spfe_sim::spacefibre::{self, SpaceFibreConfig};
use spfe_sim::time::US;

/// Share of the signalling rate that user data gets, with 8b/10b coding and SKIP words. For each 64
/// rows of data the link sends SDF, EDF and the ACK of an FCT; with data in both directions also an
/// FCT and the ACK of a frame.
const ONE_WAY: f64 = 0.8 * 5000.0 / 5001.0 * 64.0 / 67.0;
const BOTH_WAYS: f64 = 0.8 * 5000.0 / 5001.0 * 64.0 / 69.0;

/// Published user data rates in Gbit/s.
struct Published {
    lanes: u8,
    mbps: u32,
    one_way: &'static str,
    both_ways: &'static str,
}

const PUBLISHED: [Published; 4] = [
    Published { lanes: 1, mbps: 6250, one_way: "4.8", both_ways: "4.6" },
    Published { lanes: 4, mbps: 6250, one_way: "19.2", both_ways: "18.6" },
    Published { lanes: 4, mbps: 7500, one_way: "22.9", both_ways: "22.2" },
    Published { lanes: 5, mbps: 6250, one_way: "23.8", both_ways: "-" },
];

/// An endless sequence of packets of 64 KiB with EOP.
struct Source(u32);

impl Source {
    fn next(&mut self) -> Word {
        let index = self.0;
        self.0 = (self.0 + 1) % 16385;
        if index == 16384 {
            Word::from_symbols([0xfd, 0xfb, 0xfb, 0xfb], 0xf)
        } else {
            Word::data(index)
        }
    }
}

/// User data rate of the direction from end A, Gbit/s.
fn rate(lanes: u8, mbps: u32, both: bool) -> Result<f64, spacefibre::SpaceFibreConfigError> {
    let mut link = spacefibre::new(&SpaceFibreConfig::new(lanes, mbps))?;
    let mut sources = [Source(0), Source(0)];
    let period = 40_000_000 / u64::from(mbps);
    let (warm_up, end) = (60 * US, 260 * US);
    let (mut now, mut start, mut words) = (0, 0, 0);
    while now < end {
        if start == 0 && now >= warm_up {
            (start, words) = (now, 0);
        }
        for side in Side::BOTH {
            words += exchange(link.as_mut(), side, &mut sources[side as usize], both);
        }
        now += 8 * period;
        link.run(now, &mut NoObserver);
    }
    // One word in 16385 is an EOP, which is overhead.
    Ok(words as f64 * 32e-9 * 16384.0 / 16385.0 / ((now - start) as f64 * 1e-12))
}

/// Fills one end and empties the other. Returns the number of words received at end B.
fn exchange(link: &mut dyn SimulatedLink, side: Side, source: &mut Source, both: bool) -> usize {
    let end = link.end(side);
    if both || side == Side::A {
        while end.writable(0) != 0 {
            end.write(0, &[source.next()]);
        }
    }
    let (mut words, mut count) = ([Word::default(); 256], 0);
    loop {
        match end.read(0, &mut words) {
            0 => return if side == Side::B { count } else { 0 },
            read => count += read,
        }
    }
}

fn main() -> Result<(), spacefibre::SpaceFibreConfigError> {
    println!("lanes\tone way\tshare of R\toff\tboth ways\tshare of R\toff");
    for lanes in [1, 2, 3, 4, 8, 16] {
        let total = f64::from(lanes) * 6.25;
        let (one, both) = (rate(lanes, 6250, false)?, rate(lanes, 6250, true)?);
        println!(
            "{lanes}\t{one:.3}\t{:.4}\t{:+.2} %\t{both:.3}\t{:.4}\t{:+.2} %",
            one / total,
            (one / total / ONE_WAY - 1.0) * 100.0,
            both / total,
            (both / total / BOTH_WAYS - 1.0) * 100.0,
        );
    }
    println!("\nlink\tone way\tpublished\tboth ways\tpublished (Gbit/s of user data)");
    for Published { lanes, mbps, one_way, both_ways } in PUBLISHED {
        println!(
            "{} Gbit/s, {lanes} lanes\t{:.2}\t{one_way}\t{:.2}\t{both_ways}",
            f64::from(mbps) * f64::from(lanes) / 1e3,
            rate(lanes, mbps, false)?,
            rate(lanes, mbps, true)?,
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published figures have two or three digits.
    #[test]
    fn the_published_rates_are_met() {
        for Published { lanes, mbps, one_way, both_ways } in PUBLISHED {
            for (both, published) in [(false, one_way), (true, both_ways)] {
                let Ok(published) = published.parse::<f64>() else { continue };
                let rate = rate(lanes, mbps, both).unwrap();
                let off = rate / published - 1.0;
                assert!(off.abs() < 0.01, "{lanes} lanes: {rate:.3} of {published} Gbit/s");
            }
        }
    }
}
