//! Running traffic streams, with measurements of what they send and what arrives.

use crate::ledger::{Ledger, TrackTotals};
use crate::link::Side;
use crate::packet::{PacketHeader, PacketMaker};
use crate::results::{DropCount, LatencyRecorder, PacketTally};
use crate::scenario::route::{RouteFinder, RoutePlan};
use crate::scenario::{self, PacketPace, Scenario, UnitId};
use crate::time::Ps;
use crate::traffic::PacketSource;

/// A running traffic stream.
pub struct ActiveStream {
    /// Its number in the ledger.
    pub number: u16,
    /// Number of its next packet.
    next: u64,
    /// Times and lengths of its packets.
    pub source: PacketSource,
    /// Its address bytes and routes.
    pub plan: RoutePlan,
    /// Its link, and the end it sends from.
    pub from: (usize, Side),
    saturates: bool,
    tracks: Vec<usize>,
    sent: PacketTally,
    /// Times of the first word sent and the last word received.
    span_ps: Option<(Ps, Ps)>,
    step_ps: Ps,
    series: Vec<u64>,
    latency: LatencyRecorder,
}

impl ActiveStream {
    /// Builds a stream of a scenario.
    pub fn new(
        scenario: &Scenario,
        routes: &RouteFinder<'_>,
        flow: &scenario::TrafficStream,
        seed: u64,
        ledger: &mut Ledger,
    ) -> Result<Self, String> {
        let (least, most) = flow.size.range();
        if least < u64::from(crate::packet::HEADER_BYTES) || most > u64::from(u32::MAX) {
            return Err(format!(
                "packets of {least} to {most} bytes; at least {} (their header), at most 4 GiB",
                crate::packet::HEADER_BYTES
            ));
        }
        let plan = routes.flow(flow)?.accepted()?;
        let number = ledger.add_flow(&format!("flow '{}'", flow.name), plan.target);
        let nodes = flow.to.iter().filter_map(|to| match scenario.unit(&to.unit)? {
            UnitId::Node(node) => Some(node as u32),
            UnitId::Router(_) => None,
        });
        let trace = &plan.trace;
        let add = |node| ledger.add_track(number, node, trace.elements.clone(), !trace.adaptive);
        let tracks = nodes.map(add).collect();
        let from = scenario.link_at(&flow.from).ok_or("no link")?;
        Ok(Self {
            number,
            next: 0,
            source: PacketSource::new(flow, seed),
            plan,
            from,
            saturates: flow.pace == PacketPace::Saturate,
            tracks,
            sent: PacketTally::default(),
            span_ps: None,
            step_ps: scenario.step_ps(),
            series: Vec::new(),
            latency: LatencyRecorder::new(),
        })
    }

    /// Begins the packet that is due, if any. Says since when it has been due.
    pub fn begin(&mut self, now: Ps) -> Option<(PacketMaker, PacketHeader, Ps)> {
        let due = self.source.due(now)?;
        let since = if self.saturates { now } else { due.at_ps };
        let number = self.next as u32;
        self.next += 1;
        let header =
            PacketHeader { target: self.plan.target, flow: self.number, number, bytes: due.bytes };
        self.source.take(now);
        self.span_ps.get_or_insert((now, now));
        Some((PacketMaker::traffic(&self.plan.path, header), header, since))
    }

    /// Counts a packet that was sent completely.
    pub const fn sent(&mut self, bytes: u32) {
        self.sent.add(bytes as u64);
    }

    /// Counts a packet that arrived.
    pub fn delivered(&mut self, now: Ps, bytes: u32, latency_ps: Ps) {
        self.latency.record(latency_ps);
        if let Some((_, last)) = &mut self.span_ps {
            *last = now;
        }
        // A packet that arrives at the very end of a step belongs to this step.
        let step = (now.saturating_sub(1) / self.step_ps) as usize;
        if self.series.len() <= step {
            self.series.resize(step + 1, 0);
        }
        if let Some(sum) = self.series.get_mut(step) {
            *sum += u64::from(bytes);
        }
    }

    /// Measurements of the stream.
    pub fn results(
        &self,
        scenario: &Scenario,
        flow: &scenario::TrafficStream,
        ledger: &Ledger,
        steps: usize,
    ) -> crate::results::StreamResults {
        let (mut delivered, mut truncated) = (PacketTally::default(), PacketTally::default());
        let mut in_flight = PacketTally::default();
        let mut dropped: Vec<DropCount> = Vec::new();
        let own = self.source.dropped();
        if own.packets != 0 {
            let (place, reason) = (flow.from.to_string(), "buffer full when due".into());
            dropped.push(DropCount { place, reason, packets: own.packets });
        }
        for track in &self.tracks {
            let totals: TrackTotals<'_> = ledger.totals(*track);
            delivered.packets += totals.delivered;
            delivered.bytes += totals.bytes;
            truncated.packets += totals.cut;
            truncated.bytes += totals.cut_bytes;
            in_flight.packets += totals.in_flight;
            in_flight.bytes += totals.in_flight_bytes;
            for (cause, [packets, _]) in totals.causes.iter().filter(|(_, [lost, _])| *lost != 0) {
                let (place, reason) = cause.text(scenario);
                dropped.push(DropCount { place, reason, packets: *packets });
            }
        }
        let span_ps = self.span_ps.map_or(0, |(first, last)| last - first);
        let mut series = self.series.clone();
        series.resize(steps, 0);
        crate::results::StreamResults {
            name: flow.name.clone(),
            from: flow.from.to_string(),
            to: flow.to.iter().map(ToString::to_string).collect(),
            vc: flow.vc.into(),
            route: self.route_text(),
            offered: self.source.offered(),
            sent: self.sent,
            delivered,
            truncated,
            dropped,
            in_flight,
            goodput_bps: match span_ps {
                0 => 0.0,
                span_ps => delivered.bytes as f64 * 8e12 / span_ps as f64,
            },
            series,
            latency: self.latency.histogram(),
        }
    }

    fn route_text(&self) -> String {
        let bytes: Vec<_> = self.plan.path.iter().map(u8::to_string).collect();
        match (&bytes[..], self.plan.target) {
            ([], target) => format!("address {target}"),
            (path, target) => format!("path {}, then address {target}", path.join(".")),
        }
    }
}
