//! Decodes SpaceWire to characters, packets and codes, with final counts.

use super::input::Input;
use super::show::{self, Out};
use super::{DecodeArgs, Format};
use crate::context::Context;
use crate::error::Failure;
use crate::output::plural;
use serde_json::{Map, Value, json};
use spfe_trace::ListenerConfig;
use spfe_trace::spacewire::text::{CharacterName, bits, characters, signals};
use spfe_trace::spacewire::{SpaceWireEvent, SpaceWireEventKind, SpaceWireListener};
use std::collections::BTreeMap;

/// Counts of a run.
#[derive(Default)]
struct Counts {
    things: BTreeMap<&'static str, u64>,
    violations: BTreeMap<&'static str, u64>,
}

/// Decodes the whole input and returns the number of violations.
pub fn run(
    args: &DecodeArgs,
    context: &Context,
    mut input: Input,
    out: &mut Out,
) -> Result<u64, Failure> {
    let mut listener = SpaceWireListener::new(ListenerConfig::default().packet_limit_bytes);
    let (mut counts, mut line) = (Counts::default(), String::new());
    while input.next(&mut line)? {
        let mut sink = |event: SpaceWireEvent<'_>| {
            counts.count(&event);
            show(out, args.frames, &event);
        };
        let read = match args.format {
            Format::Bits => {
                bits(&line).try_for_each(|bit| bit.map(|bit| listener.push_bit(bit, &mut sink)))
            }
            Format::Signals => signals(&line)
                .try_for_each(|now| now.map(|now| listener.push_signals(now, &mut sink))),
            _ => characters(&line).try_for_each(|found| {
                let (character, times) = found?;
                (0..times).for_each(|_| listener.push(character, &mut sink));
                Ok(())
            }),
        };
        read.map_err(|error| input.wrong(&error))?;
    }
    listener.finish(&mut |event| {
        counts.count(&event);
        show(out, args.frames, &event);
    });
    if out.json {
        let Counts { things, violations } = &counts;
        let summary = json!({ "summary": { "counts": things, "violations": violations } });
        out.line(format_args!("{summary}"));
    } else if !context.quiet {
        counts.say(out);
    }
    Ok(counts.violations.values().sum())
}

impl Counts {
    fn count(&mut self, event: &SpaceWireEvent<'_>) {
        match &event.what {
            SpaceWireEventKind::Violation(violation) => {
                *self.violations.entry(violation.name()).or_default() += 1;
            }
            what => *self.things.entry(kind(what)).or_default() += 1,
        }
    }

    fn say(&self, out: &mut Out) {
        let things: Vec<_> = self.things.iter().map(|(name, n)| plural(*n, name)).collect();
        out.line(format_args!(
            "{}",
            if things.is_empty() { "nothing".into() } else { things.join(", ") }
        ));
        let violations: Vec<_> =
            self.violations.iter().map(|(name, n)| format!("{n} {name}")).collect();
        if violations.is_empty() {
            out.line(format_args!("no violations"));
        } else {
            let count = plural(self.violations.values().sum(), "violation");
            out.line(format_args!("{count}: {}", violations.join(", ")));
        }
    }
}

const fn kind(what: &SpaceWireEventKind<'_>) -> &'static str {
    match what {
        SpaceWireEventKind::GotNull => "link start",
        SpaceWireEventKind::Character(_) => "character",
        SpaceWireEventKind::TimeCode { .. } => "time-code",
        SpaceWireEventKind::Interrupt { .. } => "interrupt",
        SpaceWireEventKind::Acknowledge { .. } => "interrupt acknowledge",
        SpaceWireEventKind::Packet(_) => "packet",
        SpaceWireEventKind::Violation(_) => "violation",
    }
}

fn show(out: &mut Out, frames: bool, event: &SpaceWireEvent<'_>) {
    let (text, mut fields) = match &event.what {
        SpaceWireEventKind::Character(character) if !frames => {
            let text = CharacterName(*character).to_string();
            let fields = Map::from_iter([("text".to_owned(), json!(text))]);
            (text, fields)
        }
        SpaceWireEventKind::Violation(violation) => {
            let fields = Map::from_iter([
                ("name".to_owned(), json!(violation.name())),
                ("text".to_owned(), json!(violation.to_string())),
            ]);
            (format!("! {violation}"), fields)
        }
        _ if !frames => return,
        SpaceWireEventKind::Character(_) => return,
        SpaceWireEventKind::GotNull => ("first NULL".to_owned(), Map::new()),
        SpaceWireEventKind::TimeCode { time } => {
            (format!("time-code {time}"), Map::from_iter([("time".to_owned(), json!(time))]))
        }
        SpaceWireEventKind::Interrupt { id } => {
            (format!("interrupt {id}"), Map::from_iter([("id".to_owned(), json!(id))]))
        }
        SpaceWireEventKind::Acknowledge { id } => {
            (format!("interrupt acknowledge {id}"), Map::from_iter([("id".to_owned(), json!(id))]))
        }
        SpaceWireEventKind::Packet(packet) => {
            let mut fields = show::packet_json(packet);
            fields.remove("vc");
            (format!("packet: {}", show::packet(packet)), fields)
        }
    };
    if out.json {
        fields.insert("at".into(), json!(event.at));
        fields.insert("event".into(), json!(kind(&event.what)));
        out.line(format_args!("{}", Value::Object(fields)));
    } else {
        out.line(format_args!("{:>8} {text}", event.at));
    }
}
