//! Events of a SpaceFibre link, as text and as JSON.

use super::show::{self, Out};
use crate::output::plural;
use crate::parse;
use serde_json::{Map, Value, json};
use spfe_trace::name::Seq;
use spfe_trace::{LinkDirection, TraceEvent, TraceEventKind, name};

/// Prints an event.
pub fn show(out: &mut Out, direction: Option<LinkDirection>, event: &TraceEvent<'_>) {
    let (name, text, fields) = describe(event);
    if out.json {
        let mut object = fields;
        object.insert("at".into(), json!(event.at));
        object.insert("event".into(), json!(name));
        if let Some(direction) = direction {
            object.insert("direction".into(), json!(direction.name()));
        }
        return out.line(format_args!("{}", Value::Object(object)));
    }
    let direction = direction.map_or(String::new(), |direction| format!("{} ", direction.name()));
    out.line(format_args!("{:>8} {direction}{text}", event.at));
}

/// Name, line of text and JSON fields of an event.
fn describe(event: &TraceEvent<'_>) -> (&'static str, String, Map<String, Value>) {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| {
        fields.insert(key.to_owned(), value);
    };
    let (name, text) = match &event.what {
        TraceEventKind::Phase { lane, phase } => {
            put("lane", json!(lane));
            put("phase", json!(phase.name()));
            ("phase", format!("lane {lane}: {}", phase.name()))
        }
        TraceEventKind::Swapped { lane } => {
            put("lane", json!(lane));
            ("swapped", format!("lane {lane}: wires are swapped"))
        }
        TraceEventKind::Capability { lane, field } => {
            put("lane", json!(lane));
            put("field", json!(field));
            ("capability", format!("lane {lane}: capability 0x{field:02X}"))
        }
        TraceEventKind::Aligned { lanes } => {
            put("lanes", json!(lanes));
            ("aligned", format!("rows of lanes 0x{lanes:04X}"))
        }
        TraceEventKind::LinkReset => ("link reset", "link reset".to_owned()),
        TraceEventKind::DataFrame(frame) => {
            put("from", json!(frame.from));
            put("vc", json!(frame.vc));
            put("seq", json!(Seq(frame.seq).to_string()));
            put("words", json!(frame.words.len()));
            put("resent", json!(frame.resent));
            put("accepted", json!(frame.accepted));
            let (vc, seq, words) = (frame.vc, Seq(frame.seq), frame.words.len() as u64);
            let note = note(frame.resent, frame.accepted);
            let words = plural(words, "word");
            let text = format!("data frame VC {vc} seq {seq}: {words}, from {}{note}", frame.from);
            ("data frame", text)
        }
        TraceEventKind::BroadcastFrame(frame) => {
            put("from", json!(frame.from));
            put("channel", json!(frame.channel));
            put("type", json!(frame.kind));
            put("data", json!(parse::hex(&frame.data)));
            put("late", json!(frame.late));
            put("delayed", json!(frame.delayed));
            put("seq", json!(Seq(frame.seq).to_string()));
            put("resent", json!(frame.resent));
            put("accepted", json!(frame.accepted));
            let late = if frame.late { ", late" } else { "" };
            let delayed = if frame.delayed { ", delayed" } else { "" };
            let note = note(frame.resent, frame.accepted);
            let text = format!(
                "broadcast frame channel 0x{:02X} type 0x{:02X} seq {}: {}{late}{delayed}{note}",
                frame.channel,
                frame.kind,
                Seq(frame.seq),
                show::bytes(&frame.data)
            );
            ("broadcast frame", text)
        }
        TraceEventKind::IdleFrame(frame) => {
            put("from", json!(frame.from));
            put("seq", json!(Seq(frame.seq).to_string()));
            put("words", json!(frame.words));
            let words = plural(frame.words.into(), "word");
            (
                "idle frame",
                format!("idle frame seq {}: {words}, from {}", Seq(frame.seq), frame.from),
            )
        }
        TraceEventKind::Token { control, resent } => {
            let named = name(control.encode());
            put("text", json!(named.to_string()));
            put("resent", json!(resent));
            (named.kind.name(), format!("{named}{}", note(*resent, true)))
        }
        TraceEventKind::Missing { count } => {
            put("count", json!(count));
            ("missing", format!("{count} frames or FCTs never came"))
        }
        TraceEventKind::Packet(packet) => {
            fields = show::packet_json(packet);
            ("packet", format!("packet VC {}: {}", packet.vc, show::packet(packet)))
        }
        TraceEventKind::Violation(violation) => {
            put("name", json!(violation.name()));
            put("text", json!(violation.to_string()));
            ("violation", format!("! {violation}"))
        }
    };
    (name, text, fields)
}

fn note(resent: bool, accepted: bool) -> &'static str {
    match (resent, accepted) {
        (true, _) => ", sent again",
        (false, false) => ", after one that is missing",
        (false, true) => "",
    }
}
