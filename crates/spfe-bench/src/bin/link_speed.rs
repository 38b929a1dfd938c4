//! Speed of the simulation: words per second and core of a saturated exact link with both ends.
//!
//! `link_speed [LANES [ROUNDS]]`: number of lanes, and number of rounds of 16 word periods each.

use spfe_link::Word;
use spfe_sim::link::{NoObserver, Side};
use spfe_sim::spacefibre::{self, SpaceFibreConfig};
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|number| number.parse::<u32>());
    let lanes = arguments.next().map(|lanes| lanes.expect("LANES: a whole number"));
    let rounds = arguments.next().map(|rounds| rounds.expect("ROUNDS: a whole number"));
    let all = [1, 2, 4, 8, 16];
    for lanes in lanes.as_ref().map_or(&all[..], std::slice::from_ref) {
        for ppb in [0, 50_000] {
            measure(*lanes as u8, ppb, rounds.unwrap_or(50_000 / lanes));
        }
    }
}

fn measure(lanes: u8, ppb: i32, rounds: u32) {
    let mut config = SpaceFibreConfig::new(lanes, 6250);
    config.ends[1].clock_ppb = ppb;
    let mut link = spacefibre::new(&config).expect("a link");
    link.run(40_000_000, &mut NoObserver);
    let words: Vec<Word> = (0..512).map(Word::data).collect();
    let mut buffer = [Word::default(); 512];
    let (before, start) = (link.words(), Instant::now());
    let mut read = 0;
    let mut now = link.now();
    for _ in 0..rounds {
        for side in Side::BOTH {
            let end = link.end(side);
            end.write(0, &words);
            read += end.read(0, &mut buffer);
        }
        now += 6400 * 16;
        link.run(now, &mut NoObserver);
    }
    let count = (link.words() - before) as f64;
    let time = start.elapsed().as_secs_f64();
    println!(
        "{lanes} lanes {ppb} ppb: {:.1} Mword/s, {:.1} ns a word, {:.3} of the words data",
        count / time / 1e6,
        time * 1e9 / count,
        read as f64 / count,
    );
}
