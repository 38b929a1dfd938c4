//! `spfe link`: shows and sets the parameters, status, errors and counters of a link.

mod qos;
mod values;

use crate::context::{Context, DeviceArg};
use crate::error::Failure;
use crate::{output, ports};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use spfe::{
    Endpoint, LinkCommand, MibEntry, MibInfo, MibItem, MibKind, MibName, MibScope, MibValue, Port,
};

const AFTER: &str = "\
Names are those of ECSS-E-ST-50-11C tables 5-36 and 5-37, with the number of the lane or virtual \
channel where there is one for each: 'Lane State[1]', PRIORITY.3, lane-start.0. \
contract/REFERENCE.md explains all of them. Without a device a network is made that lives as long \
as the command; a link that stays:
  spfed --listen /tmp/spfe.sock --link exact:2x6.25G &
  spfe link unix:/tmp/spfe.sock/0 --mib
  spfe link unix:/tmp/spfe.sock/0 set lane-start.1=0 auto-start.1=0
  spfe link unix:/tmp/spfe.sock/0 qos 3 priority=2 bandwidth=25% slots=0-31";

/// Show the link of a port: state, lanes, counters; configure or reset it.
///
/// Exact links (link=exact:1x6.25G) have every item of the standard's management information base.
/// Packet-level links have priorities, lane states and packet counters.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = AFTER, args_conflicts_with_subcommands = false)]
pub struct LinkArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port.
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Also show every item of the management information base: value, unit, layer, table, range.
    #[arg(long)]
    mib: bool,
    /// Also show counters that are zero.
    #[arg(long)]
    all: bool,
    #[command(subcommand)]
    action: Option<Action>,
}

/// Operations on the link.
#[derive(Clone, Debug, Subcommand)]
enum Action {
    /// Set items of the management information base in this order.
    Set {
        /// Item and value (decimal, or with 0x): LaneStart[0]=1, 'Link Reset=1', priority.3=2.
        #[arg(value_name = "NAME=VALUE", required = true, value_parser = values::setting)]
        settings: Vec<(MibName, u64)>,
    },
    Qos(qos::QosArgs),
    /// Reset the link: packets in flight are cut, status and errors are cleared.
    Reset,
}

/// Runs `spfe link`.
pub fn run(args: &LinkArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open()?;
    let port = endpoint.port(args.port)?;
    let text = match &args.action {
        None => show(args, &endpoint, &port, context.json)?,
        Some(Action::Set { settings }) => set(&port, settings, context.json)?,
        Some(Action::Qos(qos)) => qos::run(qos, &port, context.json)?,
        Some(Action::Reset) => {
            endpoint.link_command(args.port, LinkCommand::Reset)?;
            show(args, &endpoint, &port, context.json)?
        }
    };
    print!("{text}");
    Ok(())
}

/// Sets items and returns their new values as text.
fn set(port: &Port, settings: &[(MibName, u64)], as_json: bool) -> Result<String, Failure> {
    let mib = port.mib();
    let mut text = String::new();
    for (name, value) in settings {
        mib.write(*name, *value)?;
        let now = mib.read(*name)?;
        text += &if as_json {
            format!("{}\n", item_json(name, now))
        } else {
            format!("{name} = {}\n", value_of(name.item, now))
        };
    }
    Ok(text)
}

fn show(
    args: &LinkArgs,
    endpoint: &Endpoint,
    port: &Port,
    as_json: bool,
) -> Result<String, Failure> {
    let info = port.info()?;
    let mut counters = endpoint.port_mib(args.port)?;
    counters
        .retain(|entry| entry.item.is_none() && (args.all || entry.value != MibValue::Number(0)));
    let items = port.mib().items()?;
    let lanes = lanes(&items);
    if as_json {
        let mut object = ports::json(args.port, &info);
        object["lanes"] =
            lanes.iter().map(|lane| json!({ "lane": lane.0, "state": lane.1 })).collect();
        object["counters"] = counters.iter().map(counter_json).collect();
        if args.mib {
            object["mib"] = items.iter().map(|(name, value)| item_json(name, *value)).collect();
        }
        return Ok(format!("{object}\n"));
    }
    let mut text = output::table(&ports::COLUMNS, 1, &[ports::row(args.port, &info)]);
    if !lanes.is_empty() {
        let rows: Vec<_> =
            lanes.iter().map(|lane| vec![lane.0.to_string(), lane.1.to_owned()]).collect();
        text += &format!("\n{}", output::table(&["LANE", "STATE"], 2, &rows));
    }
    let rows: Vec<_> = counters.iter().map(counter_row).collect();
    text += &format!("\n{}", output::table(&["LAYER", "COUNTER", "INDEX", "VALUE"], 2, &rows));
    if args.mib {
        let rows: Vec<_> = items.iter().map(|(name, value)| item_row(name, *value)).collect();
        let head = ["NAME", "VALUE", "UNIT", "LAYER", "TABLE", "KIND", "ACCESS", "RANGE"];
        text += &format!("\n{}", output::table(&head, head.len(), &rows));
    }
    Ok(text)
}

/// The state of each lane.
fn lanes(items: &[(MibName, u64)]) -> Vec<(u32, &'static str)> {
    let states = items.iter().filter(|(name, _)| name.item == MibItem::LaneState);
    states.map(|(name, value)| (name.index, text_of(name.item, *value).unwrap_or("?"))).collect()
}

/// The name of a value, if it has one.
fn text_of(item: MibItem, value: u64) -> Option<&'static str> {
    item.info().values.get(usize::try_from(value).ok()?).copied()
}

/// A value with its name or unit.
fn value_of(item: MibItem, value: u64) -> String {
    match text_of(item, value) {
        Some(text) => format!("{value} ({text})"),
        None if item.info().unit == "mask" => format!("{value:#x}"),
        None => value.to_string(),
    }
}

/// The table of the standard that defines an item.
fn table_of(info: &MibInfo) -> &'static str {
    if info.kind == MibKind::Parameter { "5-36" } else { "5-37" }
}

fn item_row(name: &MibName, value: u64) -> Vec<String> {
    let info = name.item.info();
    let max = if info.max > 0xffff { format!("{:#x}", info.max) } else { info.max.to_string() };
    vec![
        name.to_string(),
        value_of(name.item, value),
        info.unit.to_owned(),
        spfe::layer_name(info.layer).to_owned(),
        table_of(info).to_owned(),
        info.kind.name().to_lowercase(),
        info.access.name().to_lowercase(),
        format!("{} to {max}", info.min),
    ]
}

fn item_json(name: &MibName, value: u64) -> Value {
    let info = name.item.info();
    json!({
        "name": info.title,
        "identifier": name.item.name(),
        "index": (info.scope != MibScope::Link).then_some(name.index),
        "value": value,
        "text": text_of(name.item, value),
        "unit": info.unit,
        "layer": spfe::layer_name(info.layer),
        "table": table_of(info),
        "kind": info.kind.name().to_lowercase(),
        "access": info.access.name().to_lowercase(),
        "min": info.min,
        "max": info.max,
    })
}

fn counter_row(entry: &MibEntry) -> Vec<String> {
    let value = match &entry.value {
        MibValue::Number(number) => number.to_string(),
        MibValue::Text(text) => output::printable(text),
    };
    let index = entry.index.map(|index| index.to_string()).unwrap_or_default();
    vec![output::printable(&entry.layer), output::printable(&entry.name), index, value]
}

fn counter_json(entry: &MibEntry) -> Value {
    let value = match &entry.value {
        MibValue::Number(number) => json!(number),
        MibValue::Text(text) => json!(text),
    };
    json!({ "layer": entry.layer, "name": entry.name, "index": entry.index, "value": value })
}
