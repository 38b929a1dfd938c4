//! Words simulated per second: a saturated link with both ends and the code.

use spfe_link::Word;
use spfe_sim::link::{Blind, Side};
use spfe_sim::spacefibre::{self, Config};
use std::time::Instant;

fn main() {
    for lanes in [1, 2, 4, 8, 16] {
        for ppb in [0, 50_000] {
            let mut config = Config::new(lanes, 6250);
            config.ends[1].clock_ppb = ppb;
            let mut link = spacefibre::new(&config).unwrap();
            link.run(40_000_000, &mut Blind);
            let words: Vec<Word> = (0..512).map(Word::data).collect();
            let mut buffer = [Word::default(); 512];
            let (before, start) = (link.words(), Instant::now());
            let mut read = 0;
            let mut now = link.now();
            for _ in 0..(50_000 / u32::from(lanes)) {
                for side in Side::BOTH {
                    let end = link.end(side);
                    end.write(0, &words);
                    while end.waiting() & 1 != 0 {
                        read += end.read(0, &mut buffer);
                    }
                }
                now += 6400 * 16;
                link.run(now, &mut Blind);
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
    }
}
