//! Campaigns of random errors on exact links: single bit errors, bit error rates from 1e-9 to 1e-4,
//! lane cuts every 10 us to 10 ms, 1 to 16 lanes, a hot redundant lane, different clocks.
//!
//! `link_soak [WORDS [SEED]]`: total words (default 10^9) and seed (default 1). Prints a table and
//! the recovery times. It compares all received data with the sent data. The first failure ends the
//! run and prints how to repeat it.

use indicatif::{ProgressBar, ProgressStyle};
use spfe_sim::campaign::{Campaign, CampaignOutcome};
use spfe_sim::time::{MS, Ps, US};
use std::process::ExitCode;

/// A row of the table.
struct Case {
    name: String,
    campaign: Campaign,
}

fn cases(words: u64, seed: u64) -> Vec<Case> {
    let mut cases = vec![];
    let mut add = |name: String, campaign: Campaign| cases.push(Case { name, campaign });
    for lanes in [1, 2, 4] {
        let mut campaign = Campaign::new(lanes, 0.0, 0, seed);
        campaign.single = Some(20 * US);
        add(format!("{lanes} lanes, a bit error every 20 us"), campaign);
    }
    for (lanes, name) in [(1, "1e-9"), (2, "1e-8"), (4, "1e-7"), (8, "1e-6"), (16, "1e-5")] {
        let rate = name.parse().unwrap_or_default();
        add(format!("{lanes} lanes, bit error rate {name}"), Campaign::new(lanes, rate, 0, seed));
    }
    for lanes in [1, 2, 3, 4] {
        let mut campaign = Campaign::new(lanes, 1e-4, 0, seed);
        campaign.windows = Some((200 * US, 200 * US));
        add(format!("{lanes} lanes, bit error rate 1e-4 half of the time"), campaign);
    }
    for (every, name) in
        [(10 * US, "10 us"), (100 * US, "100 us"), (MS, "1 ms"), (10 * MS, "10 ms")]
    {
        for lanes in [1, 2, 4] {
            let mut campaign = Campaign::new(lanes, 1e-8, 0, seed);
            campaign.cuts = Some((every, every));
            add(format!("{lanes} lanes, a cut every {name}"), campaign);
        }
    }
    let mut campaign = Campaign::new(4, 1e-6, 0, seed);
    campaign.link.max_data_sending = 3;
    campaign.link.ends[0].clock_ppb = 100_000;
    campaign.link.ends[1].clock_ppb = -100_000;
    campaign.link.skew_bits = vec![0, 30, 75, 160];
    campaign.cuts = Some((200 * US, 400 * US));
    add("3 + 1 hot redundant lanes, 200 ppm, skew, 1e-6, a cut every 200 us".into(), campaign);
    let share = words / cases.len() as u64;
    cases.iter_mut().for_each(|case| case.campaign.words = share);
    cases
}

fn percentile(sorted: &[Ps], percent: usize) -> f64 {
    let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(index).map_or(0.0, |time| *time as f64 / 1e6)
}

fn row(name: &str, outcome: &CampaignOutcome) {
    let mut times = outcome.recoveries.clone();
    times.sort_unstable();
    println!(
        "{name}\t{:.1}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.2}\t{:.2}\t{:.2}",
        outcome.words as f64 / 1e6,
        outcome.packets,
        outcome.broadcasts.1,
        outcome.retries,
        outcome.lane_losses,
        outcome.link_resets,
        times.len(),
        percentile(&times, 50),
        percentile(&times, 99),
        percentile(&times, 100),
    );
    histogram(&times);
}

/// Prints a histogram of times, with bounds that are powers of two.
fn histogram(sorted: &[Ps]) {
    let mut bound = 125_000;
    let mut from = 0;
    while from < sorted.len() && bound < Ps::MAX / 2 {
        let to = sorted.partition_point(|time| *time < bound);
        if to > from {
            let share = (to - from) as f64 / sorted.len() as f64;
            let bar = "#".repeat((share * 60.0).ceil() as usize);
            println!("#   below {:>8.3} us {:>7} {bar}", bound as f64 / 1e6, to - from);
        }
        from = to;
        bound *= 2;
    }
}

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|text| text.replace('_', "").parse::<u64>());
    let (words, seed) = match (numbers.next().transpose(), numbers.next().transpose()) {
        (Ok(words), Ok(seed)) => (words.unwrap_or(1_000_000_000), seed.unwrap_or(1)),
        _ => {
            eprintln!("usage: link_soak [WORDS [SEED]], both whole numbers");
            return ExitCode::from(2);
        }
    };
    println!(
        "case\tMwords\tpackets\tbroadcasts\tretries\tlanes lost\tlink resets\trecoveries\tmedian us\t99 % us\tmost us"
    );
    let style = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} words, {eta} {msg}");
    let bar =
        ProgressBar::new(words).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut done = 0;
    for case in cases(words, seed) {
        bar.set_message(case.name.clone());
        match case.campaign.run(|words| bar.set_position(done + words)) {
            Ok(outcome) => {
                done += outcome.words;
                bar.suspend(|| row(&case.name, &outcome));
                if outcome.link_resets != 0 {
                    eprintln!("link resets without a request: {:?}", case.campaign);
                    return ExitCode::FAILURE;
                }
            }
            Err(failure) => {
                bar.finish_and_clear();
                eprintln!("{}: {failure}\nto repeat: {:?}", case.name, case.campaign);
                return ExitCode::FAILURE;
            }
        }
    }
    bar.finish_and_clear();
    println!("# {done} words: none lost, duplicated, changed or out of order");
    ExitCode::SUCCESS
}
