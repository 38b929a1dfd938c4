//! `spfe link qos`: quality of service of virtual channels (50-11C 5.7.4).

use super::values;
use crate::error::Failure;
use crate::output;
use clap::Args;
use serde_json::json;
use spfe::{MibItem, MibName, Port, Status};

/// Show the quality of service of virtual channels, or set it for one of them.
#[derive(Clone, Debug, Args)]
pub struct QosArgs {
    /// Virtual channel [default: all].
    #[arg(value_name = "VC")]
    vc: Option<u32>,
    /// priority=0..15 (0 is the most urgent), bandwidth=0..65535 (65536ths of the link) or 0..100%,
    /// slots=all, none, a mask such as 0xff, or slots such as 0-15,32.
    #[arg(value_name = "NAME=VALUE", requires = "vc", value_parser = setting)]
    settings: Vec<(MibItem, u64)>,
}

fn setting(text: &str) -> Result<(MibItem, u64), String> {
    match text.split_once('=') {
        Some(("priority", value)) => Ok((MibItem::Priority, values::number(value)?)),
        Some(("bandwidth", value)) => Ok((MibItem::ExpectedBandwidth, values::share(value)?)),
        Some(("slots", value)) => Ok((MibItem::TimeSlots, values::slots(value)?)),
        _ => Err(format!("'{text}' is none of priority=, bandwidth=, slots=")),
    }
}

/// Columns with their items; not every link has all of them.
const COLUMNS: [(&str, &str, MibItem); 5] = [
    ("PRIORITY", "priority", MibItem::Priority),
    ("BANDWIDTH", "bandwidth", MibItem::ExpectedBandwidth),
    ("SLOTS", "slots", MibItem::TimeSlots),
    ("OVER-USE", "over_use", MibItem::BandwidthOverUse),
    ("UNDER-USE", "under_use", MibItem::BandwidthUnderUse),
];

/// Applies the settings and returns the resulting values as text.
pub fn run(args: &QosArgs, port: &Port, as_json: bool) -> Result<String, Failure> {
    let mib = port.mib();
    // The command line requires a channel for settings.
    let index = args.vc.unwrap_or(0);
    for (item, value) in &args.settings {
        mib.write(MibName { item: *item, index }, *value)?;
    }
    let vcs = match args.vc {
        Some(vc) => vc..vc.saturating_add(1),
        None => 0..port.info()?.vcs,
    };
    let (mut rows, mut objects) = (Vec::new(), String::new());
    for vc in vcs {
        let mut row = vec![vc.to_string()];
        let mut object = json!({ "vc": vc });
        for (_, key, item) in COLUMNS {
            let value = match mib.read(MibName { item, index: vc }) {
                Ok(value) => Some(value),
                Err(error) if error.status() == Some(Status::BadOpcode) => None,
                Err(error) => return Err(error.into()),
            };
            row.push(value.map_or("-".to_owned(), |value| text(item, value)));
            object[key] = json!(value);
        }
        rows.push(row);
        objects += &format!("{object}\n");
    }
    if as_json {
        return Ok(objects);
    }
    let heads: Vec<_> = std::iter::once("VC").chain(COLUMNS.map(|column| column.0)).collect();
    Ok(output::table(&heads, heads.len(), &rows))
}

fn text(item: MibItem, value: u64) -> String {
    match item {
        MibItem::ExpectedBandwidth => format!("{value} ({:.2} %)", value as f64 / 655.36),
        MibItem::TimeSlots => values::slots_text(value),
        MibItem::BandwidthOverUse | MibItem::BandwidthUnderUse if value != 0 => "yes".to_owned(),
        MibItem::BandwidthOverUse | MibItem::BandwidthUnderUse => "no".to_owned(),
        _ => value.to_string(),
    }
}
