//! `spfe link`: the link of a port, its parameters and counters.

use crate::context::Context;
use crate::error::Failure;
use crate::{output, ports};
use clap::Args;
use serde_json::{Value, json};
use spfe::{Endpoint, LinkCommand, MibEntry, MibValue, VcParameter};

/// Show the link of a port, reset it, or set its quality of service.
///
/// Exact links (link=exact:1x6.25G) show the state of every lane and layer and their counters;
/// packet-level links have priorities and counters of packets.
#[derive(Clone, Debug, Args)]
pub struct LinkArgs {
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Set a parameter: vc.N.priority=0..15, vc.N.bandwidth=0..65535 (65536ths of the link) or 0..100%,
    /// vc.N.slots=MASK (64 time-slots, such as 0xff).
    #[arg(long = "set", value_name = "vc.N.NAME=VALUE", value_parser = setting)]
    settings: Vec<LinkCommand>,
    /// Reset the link: packets on their way are cut.
    #[arg(long)]
    reset: bool,
    /// Leave out what is zero.
    #[arg(long)]
    brief: bool,
}

/// A parameter of a virtual channel and its value.
fn setting(text: &str) -> Result<LinkCommand, String> {
    let bad = || {
        format!(
            "'{text}' is none of vc.N.priority=0..15, vc.N.bandwidth=0..65535 or 0..100%, \
             vc.N.slots=MASK"
        )
    };
    let (name, value) = text.split_once('=').ok_or_else(bad)?;
    let mut parts = name.split('.');
    let (Some("vc"), Some(vc), Some(name), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(bad());
    };
    let vc = vc.parse().map_err(|_| bad())?;
    let number = || match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).map_err(|_| bad()),
        None => value.parse::<u64>().map_err(|_| bad()),
    };
    let (parameter, value) = match name {
        "priority" => (VcParameter::Priority, number()?),
        "bandwidth" => (VcParameter::Bandwidth, share(value).map_or_else(number, Ok)?),
        "slots" => (VcParameter::Slots, number()?),
        _ => return Err(bad()),
    };
    Ok(LinkCommand::Set { vc, parameter, value })
}

/// A percentage in 65536ths.
fn share(text: &str) -> Option<u64> {
    let percent = text.strip_suffix('%')?.parse::<f64>().ok()?;
    (0.0..=100.0).contains(&percent).then(|| ((percent * 655.36).round() as u64).min(65535))
}

/// Sets what is asked for, then shows the link.
pub fn run(args: &LinkArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open()?;
    for command in &args.settings {
        endpoint.link_command(args.port, *command)?;
    }
    if args.reset {
        endpoint.link_command(args.port, LinkCommand::Reset)?;
    }
    let text = show(args, &endpoint, context.json)?;
    print!("{text}");
    Ok(())
}

fn show(args: &LinkArgs, endpoint: &Endpoint, as_json: bool) -> Result<String, Failure> {
    let info = endpoint.port(args.port)?.info()?;
    let mut list = endpoint.port_mib(args.port)?;
    if args.brief {
        list.retain(|entry| entry.value != MibValue::Number(0));
    }
    if as_json {
        let mut object = ports::json(args.port, &info);
        object["mib"] = Value::Array(list.iter().map(entry_json).collect());
        return Ok(format!("{object}\n"));
    }
    let rows: Vec<_> = list.iter().map(entry_row).collect();
    let head = output::table(&ports::COLUMNS, 1, &[ports::row(args.port, &info)]);
    let body = output::table(&["LAYER", "NAME", "INDEX", "VALUE"], 2, &rows);
    Ok(format!("{head}\n{body}"))
}

fn entry_row(entry: &MibEntry) -> Vec<String> {
    let value = match &entry.value {
        MibValue::Number(number) => number.to_string(),
        MibValue::Text(text) => output::printable(text),
    };
    let index = entry.index.map(|index| index.to_string()).unwrap_or_default();
    vec![output::printable(&entry.layer), output::printable(&entry.name), index, value]
}

fn entry_json(entry: &MibEntry) -> Value {
    let value = match &entry.value {
        MibValue::Number(number) => json!(number),
        MibValue::Text(text) => json!(text),
    };
    json!({ "layer": entry.layer, "name": entry.name, "index": entry.index, "value": value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(vc: u32, parameter: VcParameter, value: u64) -> LinkCommand {
        LinkCommand::Set { vc, parameter, value }
    }

    #[test]
    fn settings_are_understood() {
        for (text, command) in [
            ("vc.3.priority=2", set(3, VcParameter::Priority, 2)),
            ("vc.0.bandwidth=6554", set(0, VcParameter::Bandwidth, 6554)),
            ("vc.0.bandwidth=25%", set(0, VcParameter::Bandwidth, 16384)),
            ("vc.1.bandwidth=100%", set(1, VcParameter::Bandwidth, 65535)),
            ("vc.31.slots=0xff", set(31, VcParameter::Slots, 255)),
        ] {
            assert_eq!(setting(text).unwrap(), command, "{text}");
        }
        for text in ["", "vc.0.priority", "vc.x.priority=1", "vc.0.color=1", "vc.0.bandwidth=101%"]
        {
            assert!(setting(text).unwrap_err().contains("vc.N.priority"), "{text}");
        }
    }

    #[test]
    fn a_link_shows_what_was_set() {
        let args = LinkArgs { port: 0, settings: vec![], reset: false, brief: true };
        for device in ["virtual:?link=exact:2x6.25G&time=virtual", "virtual:"] {
            let endpoint = Endpoint::open(device).unwrap();
            endpoint.link_command(0, set(3, VcParameter::Priority, 5)).unwrap();
            let text = show(&args, &endpoint, false).unwrap();
            let row = ["data", "link", "priority", "3", "5"];
            assert!(text.lines().any(|line| line.split_whitespace().eq(row)), "{text}");
            let text = show(&args, &endpoint, true).unwrap();
            let object: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(object["mib"][0]["name"], "state");
        }
    }
}
