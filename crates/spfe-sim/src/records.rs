//! Records of link events for the results.

use crate::fault::{EndCommand, FOREVER, FaultKind, LastingFault, WireFault};
use crate::link::{EndEvent, Side, SimulatedLink};
use crate::results::{self, Histogram, LaneStateChange, LatencyRecorder, RecordedEventKind};
use crate::time::Ps;

/// Records of one link.
#[derive(Clone, Debug, Default)]
struct LinkRecords {
    lane_states: [Vec<LaneStateChange>; 2],
    after_error: LatencyRecorder,
    after_cut: LatencyRecorder,
    /// For each end: the direction to it was cut, and it has not recovered.
    cut: [bool; 2],
    /// Words on the wires until the last sample.
    words: u64,
    /// For each end, the words sent on each channel until the last sample; and in each step.
    before: [Vec<u64>; 2],
    series: [Vec<Vec<u64>>; 2],
}

/// What a link has sent so far.
pub struct LinkSample {
    link: usize,
    /// Words on its wires.
    pub words: u64,
    /// For each end, the words of each channel.
    sent: [Vec<u64>; 2],
}

impl LinkSample {
    /// `None` if there are no more words than before.
    pub fn new(link: usize, of: &mut dyn SimulatedLink, before: u64) -> Option<Self> {
        let words = of.words();
        (words != before).then(|| {
            let sent = Side::BOTH.map(|side| of.end(side).sent_words());
            Self { link, words, sent }
        })
    }
}

/// Records of all links.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    links: Vec<LinkRecords>,
    events: Vec<results::RecordedEvent>,
    most: usize,
    left_out: u64,
    /// Maximum number of lane states kept for an end of a link.
    steps: usize,
}

impl Measurements {
    /// Records for a number of links, a maximum number of events, and series with a number of
    /// steps.
    pub fn new(links: usize, events: usize, steps: usize) -> Self {
        let links = vec![LinkRecords::default(); links];
        Self { links, events: Vec::new(), most: events, left_out: 0, steps }
    }

    /// Records an event at an end of a link.
    pub fn event(&mut self, at_ps: Ps, link: u32, side: Side, event: &EndEvent) {
        let Some(of_link) = self.links.get_mut(link as usize) else { return };
        let at_end = side as usize;
        match event {
            EndEvent::LaneState { lane, state }
                if of_link.lane_states[at_end].len() < self.most =>
            {
                let (lane, state) = (u32::from(*lane), (*state).to_string());
                of_link.lane_states[at_end].push(LaneStateChange { at_ps, lane, state });
            }
            EndEvent::Fault { fault: WireFault { kind: FaultKind::Cut { .. }, .. }, .. } => {
                of_link.cut[side.other() as usize] = true;
            }
            EndEvent::Recovered { after_ps } => {
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
        let (link, end) = (Some(link), side as u8);
        let event = results::RecordedEvent { at_ps, link, end, kind, text, ..Default::default() };
        self.events.push(event);
    }

    /// Records an event that belongs to no link.
    pub fn note(&mut self, at_ps: Ps, kind: RecordedEventKind, text: String) {
        if self.events.len() >= self.most {
            self.left_out += 1;
            return;
        }
        let event = results::RecordedEvent { at_ps, kind, text, ..Default::default() };
        self.events.push(event);
    }

    /// Ends a time step of the series. Links that have slept in it are passed over.
    pub fn sample<'l>(
        &mut self,
        links: impl Iterator<Item = &'l mut Box<dyn SimulatedLink>>,
        step: usize,
    ) {
        for (link, of) in links.enumerate() {
            let before = self.links.get(link).map_or(0, |records| records.words);
            if let Some(sample) = LinkSample::new(link, &mut **of, before) {
                self.add(&sample, step);
            }
        }
    }

    /// Adds the sample of a link to a time step of the series.
    pub fn add(&mut self, sample: &LinkSample, step: usize) {
        let Some(of_link) = self.links.get_mut(sample.link) else { return };
        if step >= self.steps {
            return;
        }
        of_link.words = sample.words;
        for (side, sent) in sample.sent.iter().enumerate() {
            let before = &mut of_link.before[side];
            before.resize(sent.len(), 0);
            let series = &mut of_link.series[side];
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

    /// The recorded events, and the number of events beyond the maximum.
    pub fn events(&self) -> (Vec<results::RecordedEvent>, u64) {
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
        let of_link =
            |link: &LinkRecords| [link.after_error.histogram(), link.after_cut.histogram()];
        self.links.get(link).map(of_link).unwrap_or_default()
    }

    /// Words on the used channels of a direction.
    pub fn channels(&self, link: usize, side: Side) -> Vec<results::ChannelResults> {
        let Some(of_link) = self.links.get(link) else { return Vec::new() };
        let all = of_link.before[side as usize].iter().zip(&of_link.series[side as usize]);
        let used = all.enumerate().filter(|(_, (words, _))| **words != 0);
        used.map(|(vc, (words, series))| results::ChannelResults {
            vc: vc as u32,
            words: *words,
            series: series.clone(),
        })
        .collect()
    }
}

fn text_of(event: &EndEvent) -> (RecordedEventKind, String) {
    match event {
        EndEvent::LaneState { lane, state } => {
            (RecordedEventKind::State, format!("lane {lane}: {state}"))
        }
        EndEvent::Alignment { state, sending, receiving } => (
            RecordedEventKind::State,
            format!(
                "alignment: {state}, {} lanes send, {} receive data",
                sending.count_ones(),
                receiving.count_ones()
            ),
        ),
        EndEvent::LinkReset { state } => (RecordedEventKind::State, format!("link reset: {state}")),
        EndEvent::Error { name } => (RecordedEventKind::Error, (*name).to_string()),
        EndEvent::Retry => (RecordedEventKind::Retry, "retry of everything unacknowledged".into()),
        EndEvent::Recovered { after_ps } => {
            (RecordedEventKind::Recovered, format!("recovered after {} ns", after_ps / 1000))
        }
        EndEvent::Fault { lane, fault } => (RecordedEventKind::Fault, fault_text(*lane, fault)),
        EndEvent::Lasting { fault, begins } => {
            (RecordedEventKind::Fault, lasting_text(fault, *begins))
        }
        EndEvent::CodeLost { code } => {
            (RecordedEventKind::Fault, format!("time-code {} not sent", code.0 & 0x3f))
        }
        EndEvent::Command(command) => (RecordedEventKind::Fault, command_text(*command)),
    }
}

fn fault_text(lane: u8, fault: &WireFault) -> String {
    let what = match fault.kind {
        FaultKind::BitError => "a bit inverted".into(),
        FaultKind::Burst { bits } => format!("{bits} random bits"),
        FaultKind::Drop => "a word dropped".into(),
        FaultKind::Duplicate => "a word duplicated".into(),
        FaultKind::Reorder => "two words swapped".into(),
        FaultKind::Cut { duration_ps: FOREVER } => "cut".into(),
        FaultKind::Cut { duration_ps } => format!("cut for {} ns", duration_ps / 1000),
        FaultKind::Stuck { high, .. } => format!("stuck at {}", u8::from(high)),
        FaultKind::Delay { delay_ps } => format!("longer by {} ns", delay_ps / 1000),
        FaultKind::PolaritySwap => "polarity swapped".into(),
        FaultKind::Skew { bits } => format!("longer by {bits} bits"),
    };
    format!("lane {lane}: {what}")
}

/// Describes the begin or end of a lasting fault.
fn lasting_text(fault: &LastingFault, begins: bool) -> String {
    let what = match *fault {
        LastingFault::BitErrorRate { lane: of, rate } => {
            format!("bit error rate {rate:e} on {}", lanes(of))
        }
        LastingFault::Babbling { channel } => format!("virtual channel {channel} babbles"),
        LastingFault::Blocked { channel: Some(channel) } => {
            format!("virtual channel {channel} is blocked")
        }
        LastingFault::Blocked { channel: None } => "all virtual channels are blocked".into(),
    };
    format!("{what}: {}", if begins { "begins" } else { "ends" })
}

fn lanes(lane: Option<u8>) -> String {
    lane.map_or("all lanes".into(), |lane| format!("lane {lane}"))
}

/// Describes a command.
pub fn command_text(command: EndCommand) -> String {
    match command {
        EndCommand::LinkReset => "Link Reset".into(),
        EndCommand::InterfaceReset => "Interface Reset".into(),
        EndCommand::LaneReset(of) => format!("LaneReset of {}", lanes(of)),
        EndCommand::LaneStart(of, on) => format!("LaneStart of {}: {on}", lanes(of)),
        EndCommand::AutoStart(of, on) => format!("AutoStart of {}: {on}", lanes(of)),
    }
}
