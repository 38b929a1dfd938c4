//! User data rates of saturated exact links, beside the arithmetic of the standard's overheads and
//! published figures of a closed implementation.
//!
//! `link_rates`: 64 KiB packets on one virtual channel, 1, 2, 3, 4, 8 and 16 lanes, one way and both
//! ways, at the lane rates of the published figures. All of it is simulated time: the same on every
//! machine.

use spfe_link::Word;
use spfe_sim::link::{NoObserver, Side, SimulatedLink};
use spfe_sim::spacefibre::{self, SpaceFibreConfig};
use spfe_sim::time::US;

/// SDF, EDF and the ACK of an FCT beside 64 rows; both ways an FCT and the ACK of a frame too.
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

/// Endless packets of 64 KiB and an EOP.
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

/// Gbit/s of user data of the direction from A.
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
    // EOP words are overhead: 1 in 16385.
    Ok(words as f64 * 32e-9 * 16384.0 / 16385.0 / ((now - start) as f64 * 1e-12))
}

/// Fills and empties an end; how many words came to B.
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

    /// The closed implementation's figures have two or three digits.
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
