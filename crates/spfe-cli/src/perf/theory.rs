//! `spfe perf theory`: the highest rates and the least latency that links allow, by packet size.

use super::args::TheoryArgs;
use super::case::sizes;
use crate::context::Context;
use crate::error::Failure;
use crate::output;
use serde_json::json;
use spfe::LinkTiming;

/// Delay of a cable, ns per metre.
const NS_PER_METRE: f64 = 5.0;
/// The limits of a link for packets of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limits {
    one_way_bps: f64,
    both_ways_bps: f64,
    packets_per_s: f64,
    latency_ns: f64,
}

impl Limits {
    fn new(timing: &LinkTiming, bytes: u64, cable: f64) -> Self {
        let one_way_bps = timing.payload_bps(bytes, false);
        Self {
            one_way_bps,
            both_ways_bps: timing.payload_bps(bytes, true),
            packets_per_s: one_way_bps / 8.0 / bytes as f64,
            latency_ns: timing.alone_ps(bytes) as f64 / 1e3 + cable * NS_PER_METRE,
        }
    }
}

/// Prints the limits of each link.
///
/// # Errors
/// Wrong sizes, and a link without limit.
pub fn run(args: &TheoryArgs, context: &Context) -> Result<(), Failure> {
    print!("{}", text(args, context.json)?);
    Ok(())
}

fn text(args: &TheoryArgs, as_json: bool) -> Result<String, Failure> {
    let sizes = sizes(&args.sizes, 1, 64 << 10)?;
    let mut out = String::new();
    if args.tsv {
        out += "link\tsize_bytes\tone_way_bps\tboth_ways_bps\tpackets_per_s\tlatency_ns\n";
    }
    for (number, link) in args.link.iter().enumerate() {
        let timing = link
            .timing()
            .ok_or_else(|| Failure::usage("--link unlimited: such a link has no highest rate"))?;
        let mut rows = Vec::new();
        for bytes in &sizes {
            let limits = Limits::new(&timing, *bytes, args.cable);
            let Limits { one_way_bps, both_ways_bps, packets_per_s, latency_ns } = limits;
            if args.tsv {
                out += &format!(
                    "{link}\t{bytes}\t{one_way_bps:.0}\t{both_ways_bps:.0}\t{packets_per_s:.1}\t\
                     {latency_ns:.3}\n"
                );
            } else if as_json {
                let row = json!({
                    "link": link.to_string(),
                    "size_bytes": bytes,
                    "one_way_bps": one_way_bps.round(),
                    "both_ways_bps": both_ways_bps.round(),
                    "packets_per_s": (packets_per_s * 10.0).round() / 10.0,
                    "latency_ns": (latency_ns * 1e3).round() / 1e3,
                });
                out += &format!("{row}\n");
            }
            rows.push(vec![
                bytes.to_string(),
                output::rate(one_way_bps),
                output::rate(both_ways_bps),
                format!("{packets_per_s:.0}"),
                output::seconds(latency_ns / 1e9),
            ]);
        }
        if !args.tsv && !as_json {
            let head = ["BYTES", "ONE WAY", "BOTH WAYS", "PACKETS/S", "LATENCY"];
            let line = if number == 0 { "" } else { "\n" };
            out += &format!("{line}{link}\n{}", output::table(&head, 0, &rows));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        theory: TheoryArgs,
        #[arg(long)]
        json: bool,
    }

    fn shown(words: &[&str]) -> Result<String, Failure> {
        let line = Line::try_parse_from([&["theory"], words].concat()).expect("valid options");
        text(&line.theory, line.json)
    }

    #[test]
    fn the_limits_of_spacewire_are_those_of_its_characters() {
        let text =
            shown(&["--link", "spw:200M", "--size-min", "1", "--size-max", "60", "--step", "+59"]);
        let text = text.unwrap();
        assert!(text.contains("114.3 Mbit/s") && text.contains("158.9 Mbit/s"), "{text}");
        assert!(text.contains("106.7 Mbit/s") && text.contains("70 ns"), "{text}");
        let words = ["--link", "spw:200M", "--size", "60", "--cable", "10m", "--tsv"];
        let tsv = shown(&words).unwrap();
        let values: Vec<_> = tsv.lines().nth(1).unwrap().split('\t').collect();
        assert_eq!(values, ["spw:200M", "60", "158940397", "151300236", "331125.8", "3070.000"]);
    }

    #[test]
    fn every_link_has_its_table() {
        let text = shown(&["--size", "4K"]).unwrap();
        assert!(text.contains("4x7.5G\n") && text.contains("\n\nspw:200M\n"), "{text}");
        assert!(text.contains("22.89 Gbit/s") || text.contains("22.9 Gbit/s"), "{text}");
        let json = shown(&["--size", "4K", "--json"]).unwrap();
        let row: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
        assert!(row["both_ways_bps"].as_f64() < row["one_way_bps"].as_f64());
        assert!(shown(&["--link", "unlimited"]).is_err());
    }
}
