//! What happens to links, as it goes into the results.

use crate::fault::{Command, Fault, Kind, Lasting};
use crate::link::{Event, Link, Side};
use crate::results::{self, EventKind, Histogram, LaneStateChange, Recorder};
use crate::time::Ps;

/// A link's records.
#[derive(Clone, Debug, Default)]
struct OfLink {
    lane_states: [Vec<LaneStateChange>; 2],
    after_error: Recorder,
    after_cut: Recorder,
    /// The direction to an end was cut, and the end is not in order again.
    cut: [bool; 2],
    /// Words of each channel that each end had sent at the last sample, and in each step.
    before: [Vec<u64>; 2],
    series: [Vec<Vec<u64>>; 2],
}

/// Records of all links.
#[derive(Clone, Debug, Default)]
pub struct Records {
    links: Vec<OfLink>,
    events: Vec<results::Event>,
    most: usize,
    left_out: u64,
    /// Lane states of a link and end that are kept.
    steps: usize,
}

impl Records {
    /// For a number of links; so many events are kept, and series have so many steps.
    pub fn new(links: usize, events: usize, steps: usize) -> Self {
        let links = vec![OfLink::default(); links];
        Self { links, events: Vec::new(), most: events, left_out: 0, steps }
    }

    /// Something happened at an end of a link.
    pub fn event(&mut self, at_ps: Ps, link: u32, side: Side, event: &Event) {
        let Some(of_link) = self.links.get_mut(link as usize) else { return };
        let at_end = side as usize;
        match event {
            Event::LaneState { lane, state } if of_link.lane_states[at_end].len() < self.most => {
                let (lane, state) = (u32::from(*lane), (*state).to_string());
                of_link.lane_states[at_end].push(LaneStateChange { at_ps, lane, state });
            }
            Event::Fault { fault: Fault { kind: Kind::Cut { .. }, .. }, .. } => {
                of_link.cut[side.other() as usize] = true;
            }
            Event::Recovered { after_ps } => {
                let recorder = match std::mem::take(&mut of_link.cut[at_end]) {
                    true => &mut of_link.after_cut,
                    false => &mut of_link.after_error,
                };
                recorder.record(*after_ps);
            }
            _ => {}
        }
        if self.events.len() >= self.most {
            self.left_out += 1;
            return;
        }
        let (kind, text) = text_of(event);
        let event = results::Event { at_ps, link: Some(link), end: side as u8, kind, text };
        self.events.push(event);
    }

    /// Something happened that is of no link.
    pub fn note(&mut self, at_ps: Ps, kind: EventKind, text: String) {
        if self.events.len() >= self.most {
            self.left_out += 1;
            return;
        }
        self.events.push(results::Event { at_ps, link: None, end: 0, kind, text });
    }

    /// A time step of the series ends.
    pub fn sample(&mut self, links: &mut [Box<dyn Link>], step: usize) {
        if step >= self.steps {
            return;
        }
        for (of_link, link) in self.links.iter_mut().zip(links) {
            for side in Side::BOTH {
                let sent = link.end(side).counters().sent_words;
                let before = &mut of_link.before[side as usize];
                before.resize(sent.len(), 0);
                let series = &mut of_link.series[side as usize];
                series.resize(sent.len(), Vec::new());
                for ((sent, before), series) in sent.iter().zip(before).zip(series) {
                    series.resize(series.len().max(step + 1), 0);
                    if let Some(sum) = series.get_mut(step) {
                        *sum += sent.saturating_sub(*before);
                    }
                    *before = *sent;
                }
            }
        }
    }

    /// The events that were kept, and the number of those that were not.
    pub fn events(&self) -> (Vec<results::Event>, u64) {
        let mut events = self.events.clone();
        events.sort_by_key(|event| event.at_ps);
        (events, self.left_out)
    }

    /// Lane states at both ends of a link.
    pub fn lane_states(&self, link: usize) -> [Vec<LaneStateChange>; 2] {
        self.links.get(link).map(|link| link.lane_states.clone()).unwrap_or_default()
    }

    /// Times of recovery after errors and after cuts.
    pub fn recoveries(&self, link: usize) -> [Histogram; 2] {
        let of_link = |link: &OfLink| [link.after_error.histogram(), link.after_cut.histogram()];
        self.links.get(link).map(of_link).unwrap_or_default()
    }

    /// Channels that were used in a direction.
    pub fn channels(&self, link: usize, side: Side) -> Vec<results::Channel> {
        let Some(of_link) = self.links.get(link) else { return Vec::new() };
        let all = of_link.before[side as usize].iter().zip(&of_link.series[side as usize]);
        let used = all.enumerate().filter(|(_, (words, _))| **words != 0);
        used.map(|(vc, (words, series))| results::Channel {
            vc: vc as u32,
            words: *words,
            series: series.clone(),
        })
        .collect()
    }
}

fn text_of(event: &Event) -> (EventKind, String) {
    match event {
        Event::LaneState { lane, state } => (EventKind::State, format!("lane {lane}: {state}")),
        Event::Alignment { state, sending, receiving } => (
            EventKind::State,
            format!(
                "alignment: {state}, {} lanes send, {} receive data",
                sending.count_ones(),
                receiving.count_ones()
            ),
        ),
        Event::LinkReset { state } => (EventKind::State, format!("link reset: {state}")),
        Event::Error { name } => (EventKind::Error, (*name).to_string()),
        Event::Retry => (EventKind::Retry, "sent again from the last acknowledge on".into()),
        Event::Recovered { after_ps } => {
            (EventKind::Recovered, format!("in order again after {} ns", after_ps / 1000))
        }
        Event::Fault { lane, fault } => (EventKind::Fault, fault_text(*lane, fault)),
        Event::Lasting { fault, begins } => (EventKind::Fault, lasting_text(fault, *begins)),
        Event::CodeLost { code } => {
            (EventKind::Fault, format!("time-code {} not sent", code.0 & 0x3f))
        }
        Event::Command(command) => (EventKind::Fault, command_text(*command)),
    }
}

fn fault_text(lane: u8, fault: &Fault) -> String {
    let what = match fault.kind {
        Kind::BitError => "a bit inverted".into(),
        Kind::Burst { bits } => format!("{bits} random bits"),
        Kind::Drop => "a word dropped".into(),
        Kind::Duplicate => "a word doubled".into(),
        Kind::Reorder => "two words exchanged".into(),
        Kind::Cut { duration_ps } => format!("cut for {} ns", duration_ps / 1000),
        Kind::PolaritySwap => "polarity swapped".into(),
        Kind::Skew { bits } => format!("longer by {bits} bits"),
    };
    format!("lane {lane}: {what}")
}

/// What begins or ends, for people.
fn lasting_text(fault: &Lasting, begins: bool) -> String {
    let what = match *fault {
        Lasting::BitErrorRate { lane: of, rate } => {
            format!("bit error rate {rate:e} on {}", lanes(of))
        }
        Lasting::Babbling { channel } => format!("virtual channel {channel} babbles"),
        Lasting::Blocked { channel: Some(channel) } => {
            format!("virtual channel {channel} is blocked")
        }
        Lasting::Blocked { channel: None } => "all virtual channels are blocked".into(),
    };
    format!("{what}: {}", if begins { "begins" } else { "ends" })
}

fn lanes(lane: Option<u8>) -> String {
    lane.map_or("all lanes".into(), |lane| format!("lane {lane}"))
}

/// A command, for people.
pub fn command_text(command: Command) -> String {
    match command {
        Command::LinkReset => "Link Reset".into(),
        Command::InterfaceReset => "Interface Reset".into(),
        Command::LaneReset(of) => format!("LaneReset of {}", lanes(of)),
        Command::LaneStart(of, on) => format!("LaneStart of {}: {on}", lanes(of)),
        Command::AutoStart(of, on) => format!("AutoStart of {}: {on}", lanes(of)),
    }
}
