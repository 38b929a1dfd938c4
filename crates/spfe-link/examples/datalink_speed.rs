//! Measures the time per word of two directly joined data links of one lane.

use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig};
use spfe_link::{ReceivedRow, Row, Word};
use std::time::Instant;

type End = DataLink<Vec<Word>, 1, 4>;

fn end() -> End {
    let memory = |words| vec![Word::default(); words];
    let buffers = Buffers {
        output: std::array::from_fn(|_| memory(1024)),
        input: std::array::from_fn(|_| memory(1024)),
        recovery: memory(1024),
    };
    DataLink::new(DataLinkConfig::default(), buffers).expect("sizes are right")
}

fn hand_over(from: &mut End, to: &mut End) {
    match from.transmit(1) {
        Some(Row::Control(word)) => to.receive(ReceivedRow::Control { word, crc16_good: true }),
        Some(Row::Data { words, count }) => to.receive(ReceivedRow::Data { words, count }),
        None => {}
    }
}

fn measure(name: &str, ways: usize) {
    let mut ends = [end(), end()];
    let load = [Word::data(0x0102_0304); 256];
    let mut out = [Word::default(); 256];
    for _ in 0..4 {
        for end in &mut ends {
            end.transmit(0);
            end.take_lane_reset();
        }
    }
    let fields = [ends[1].capability(), ends[0].capability()];
    for (end, field) in ends.iter_mut().zip(fields) {
        end.far_end_capability(0, field, false);
    }
    let periods = 20_000_000u64;
    let mut words = 0;
    let start = Instant::now();
    for period in 0..periods {
        if period % 128 == 0 {
            for index in 0..2 {
                if index < ways {
                    ends[index].write(0, &load);
                    words += ends[1 - index].read(0, &mut out);
                }
            }
        }
        let [a, b] = &mut ends;
        hand_over(a, b);
        hand_over(b, a);
    }
    let ns = start.elapsed().as_nanos() as f64 / periods as f64;
    let share = words as f64 / (periods as f64 * ways.max(1) as f64);
    println!("{name}: {ns:.1} ns for a word period, both ends and ways; {share:.3} data words");
}

fn main() {
    measure("idle", 0);
    measure("one way", 1);
    measure("both ways", 2);
}
