//! The time line of a link: faults, errors, retries, recoveries and lane states.

use super::axis::TimeAxis;
use crate::markup::escape;
use crate::svg::{coord, label};
use spfe_sim::results::{LaneStateChange, RecordedEventKind, Results};
use std::collections::BTreeSet;
use std::fmt::Write;

const WIDTH: f64 = 1100.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 10.0;
/// Height of a row of marks, and of a lane.
const ROW: f64 = 20.0;
const LANE: f64 = 13.0;

const KINDS: [(RecordedEventKind, &str, &str); 4] = [
    (RecordedEventKind::Fault, "tick-fault", "faults"),
    (RecordedEventKind::Error, "tick-error", "errors"),
    (RecordedEventKind::Retry, "tick-retry", "retries"),
    (RecordedEventKind::Recovered, "tick-recovered", "recoveries"),
];

pub(super) fn figure(results: &Results, index: usize) -> String {
    let Some(link) = results.links.get(index) else { return String::new() };
    let axis = TimeAxis { left: LEFT, right: RIGHT, duration: results.duration_ps };
    let mut y = TOP;
    let mut body = String::new();
    for (kind, class, name) in KINDS {
        for (end, port) in link.ends.iter().enumerate() {
            let times: Vec<_> = (results.events.iter())
                .filter(|event| {
                    event.link.map(|link| link as usize) == Some(index)
                        && usize::from(event.end) == end
                        && event.kind == kind
                })
                .map(|event| event.at_ps)
                .collect();
            if times.is_empty() {
                continue;
            }
            let text = format!("{name} at {port}");
            body.push_str(&label(LEFT - 8.0, y + 14.0, "end small", &text));
            // Marks at the same place are drawn once.
            let places: BTreeSet<i64> =
                times.iter().map(|time| (axis.x(*time) * 2.0).round() as i64).collect();
            let mut path = String::new();
            for place in places {
                let _ =
                    write!(path, "M{} {}v{}", coord(place as f64 / 2.0), coord(y + 3.0), ROW - 6.0);
            }
            let _ = writeln!(
                body,
                "<path class=\"tick {class}\" d=\"{path}\"><title>{}: {}</title></path>",
                escape(&text),
                times.len()
            );
            y += ROW;
        }
    }
    for (states, port) in link.lane_states.iter().zip(&link.ends) {
        for lane in lanes(states) {
            let text = format!("lane {lane} at {port}");
            body.push_str(&label(LEFT - 8.0, y + 10.0, "end small", &text));
            body.push_str(&bands(states, lane, y, &axis));
            y += LANE;
        }
        y += 4.0;
    }
    body.push_str(&axis.draw(y + 2.0));
    let id = format!("time-{index}");
    let height = coord(y + 40.0);
    format!(
        "<figure class=\"wide\">\n<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"{id}\">\n<title id=\"{id}\">Events of {}</title>\n{body}</svg>\n\
         <figcaption>Lanes: green is Active (SpaceWire: Run), yellow on the way there, grey \
         neither.{}</figcaption>\n</figure>\n",
        escape(&link.name),
        left_out(results),
    )
}

fn left_out(results: &Results) -> String {
    match results.events_left_out {
        0 => String::new(),
        more => format!(" {more} later events of the simulation were not kept."),
    }
}

fn lanes(states: &[LaneStateChange]) -> BTreeSet<u32> {
    states.iter().map(|state| state.lane).collect()
}

/// Draws a band for each state of a lane.
fn bands(states: &[LaneStateChange], lane: u32, y: f64, axis: &TimeAxis) -> String {
    let mine: Vec<&LaneStateChange> = states.iter().filter(|state| state.lane == lane).collect();
    let mut out = String::new();
    for (index, state) in mine.iter().enumerate() {
        let end = mine.get(index + 1).map_or(axis.duration, |next| next.at_ps);
        let (from, to) = (axis.x(state.at_ps), axis.x(end));
        let class = match state.state.as_str() {
            "Active" | "Run" => "state up",
            "ColdReset" | "Disabled" | "ClearLine" | "Wait" | "LossOfSignal" | "PrepareStandby"
            | "ErrorReset" | "ErrorWait" => "state",
            _ => "state coming",
        };
        // Very short bands are invisible and would make the page large.
        if to - from < 0.15 && index + 1 < mine.len() {
            continue;
        }
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>",
            coord(from),
            coord(y + 1.0),
            coord((to - from).max(0.4)),
            coord(LANE - 2.0),
            escape(&state.state),
        );
    }
    out
}
