//! An observer that writes a capture of a simulation (docs/capture.md).
//!
//! Each direction of a link is an interface. Packets, messages and errors are recorded at the end
//! that receives them, states and faults at their own end. Records of one link are in order; links
//! take turns within a step of the simulation.

mod event;
mod selection;

pub use selection::{CaptureFilter, LinkDescription};

use crate::fault::{EndCommand, FaultKind, LastingFault};
use crate::link::{EndEvent, Observer, Side};
use crate::records::command_text;
use crate::scenario::{PortName, Scenario};
use crate::time::Ps;
use event::{ALIGNMENTS, LANE_STATES, RESETS, SPACEWIRE_STATES, change, error, fault, lasting};
use spfe_capture::{
    BroadcastRecord, CaptureError, CaptureSummary, CaptureWriter, CharactersRecord, CodeRecord,
    EventCode, Interface, InterfaceId, LineCharacter, LineWord, LinkEvent, LinkKind, PacketRecord,
    RecordBatch, RecordDirection, WordsRecord, WriterOptions,
};
use spfe_link::datalink;
use spfe_link::network::DiscardedPacket;
use spfe_link::spacewire::{self, BroadcastCode};
use spfe_link::word::Word;
use spfe_proto::PacketEnd;
use std::io::Write;

/// Words or characters in one record.
const BATCH: usize = 256;

/// The interfaces and pending words of one end of a link.
#[derive(Clone, Debug)]
struct RecordedPort {
    /// Interface of what it sends.
    out: InterfaceId,
    /// Interface of what it receives.
    into: InterfaceId,
    lanes: Vec<u8>,
    alignment: u8,
    reset: u8,
    words: Vec<RecordBatch<LineWord>>,
    characters: RecordBatch<LineCharacter>,
    retries: u32,
    /// Lanes whose outgoing pair is swapped, a bit for each.
    swapped: u16,
}

#[derive(Clone, Debug)]
struct RecordedLink {
    kind: LinkKind,
    lanes: u8,
    period_ps: u32,
    bit_ps: u32,
    scrambled: bool,
    chosen: bool,
    ports: [RecordedPort; 2],
}

/// Writes a capture. After an error of the writer it writes nothing more, and
/// [`CaptureRecorder::finish`] returns the error.
pub struct CaptureRecorder<W: Write> {
    capture: CaptureWriter<W>,
    links: Vec<RecordedLink>,
    /// For each router, link and end of its ports.
    routers: Vec<Vec<Option<(usize, Side)>>>,
    packets: bool,
    messages: bool,
    events: bool,
    failed: Option<CaptureError>,
}

impl<W: Write> CaptureRecorder<W> {
    /// Begins a capture of what the scenario selects.
    ///
    /// # Errors
    ///
    /// The writer fails, or a name is too long.
    pub fn new(
        to: W,
        scenario: &Scenario,
        options: &WriterOptions<'_>,
    ) -> Result<Self, CaptureError> {
        let comment = format!("{}; seed {}", scenario.title, scenario.seed);
        let comment = if options.comment.is_empty() { &comment } else { options.comment };
        let links: Vec<_> = scenario.links.iter().map(LinkDescription::of).collect();
        let of = &scenario.capture;
        let (packets, messages, events) = (of.packets, of.messages, of.events);
        let wanted = CaptureFilter { packets, messages, events, links: &of.links };
        let mut recorder =
            Self::of_links(to, &links, wanted, &WriterOptions { comment, ..*options })?;
        let port_of =
            |router: &str, port: u8| scenario.link_at(&PortName { unit: router.into(), port });
        recorder.routers = scenario
            .routers
            .iter()
            .map(|router| (0..32).map(|port| port_of(&router.name, port)).collect())
            .collect();
        Ok(recorder)
    }

    /// Begins a capture of some links.
    ///
    /// # Errors
    ///
    /// The writer fails, or a name is too long.
    pub fn of_links(
        to: W,
        links: &[LinkDescription],
        wanted: CaptureFilter<'_>,
        options: &WriterOptions<'_>,
    ) -> Result<Self, CaptureError> {
        let mut capture = CaptureWriter::new(to, options)?;
        let mut made = vec![];
        for link in links {
            let LinkDescription { lanes, rate_bps, .. } = *link;
            let mut interface = |from: &str, to: &str| {
                capture.interface(&Interface {
                    name: &format!("{from}>{to}"),
                    description: &link.name,
                    speed_bps: Some(rate_bps.saturating_mul(u64::from(lanes))).filter(|s| *s != 0),
                })
            };
            let [a, b] = &link.ends;
            let ids = [interface(a, b)?, interface(b, a)?];
            let port = |out: InterfaceId, into: InterfaceId| RecordedPort {
                out,
                into,
                lanes: vec![0; usize::from(lanes)],
                alignment: 0,
                reset: 0,
                words: (0..lanes).map(|_| RecordBatch::new(into, BATCH)).collect(),
                characters: RecordBatch::new(into, BATCH),
                retries: 0,
                swapped: 0,
            };
            made.push(RecordedLink {
                kind: if link.spacewire { LinkKind::SpaceWire } else { LinkKind::SpaceFibre },
                lanes,
                period_ps: (40_000_000_000_000 / rate_bps.max(1)) as u32,
                bit_ps: (1_000_000_000_000 / rate_bps.max(1)) as u32,
                scrambled: link.scrambled,
                chosen: wanted.links.is_empty() || wanted.links.contains(&link.name),
                ports: [port(ids[0], ids[1]), port(ids[1], ids[0])],
            });
        }
        let CaptureFilter { packets, messages, events, .. } = wanted;
        let (links, routers, failed) = (made, Vec::new(), None);
        Ok(Self { capture, links, routers, packets, messages, events, failed })
    }

    /// Allows the file to grow by a number of bytes, with
    /// [`Keep::First`](spfe_capture::Keep::First). See [`CaptureWriter::allow`].
    pub fn allow(&mut self, bytes: u64) {
        self.capture.allow(bytes);
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// The first error of the writer.
    pub fn finish(mut self) -> Result<(W, CaptureSummary), CaptureError> {
        for index in 0..self.links.len() {
            for side in Side::BOTH {
                self.flush(index, side);
            }
        }
        match self.failed {
            Some(error) => Err(error),
            None => self.capture.finish(),
        }
    }

    fn note(&mut self, result: Result<(), CaptureError>) {
        if let (Err(error), None) = (result, &self.failed) {
            self.failed = Some(error);
        }
    }

    /// Writes pending words and characters.
    fn flush(&mut self, link: usize, side: Side) {
        let Some(wired) = self.links.get_mut(link) else { return };
        let (words, characters) = (wired.words_of(0), wired.characters_of());
        let port = &mut wired.ports[side as usize];
        let mut result = port.characters.flush(&mut self.capture, characters);
        for (lane, batch) in port.words.iter_mut().enumerate() {
            let words = WordsRecord { lane: lane as u8, ..words };
            result = result.and(batch.flush(&mut self.capture, words));
        }
        self.note(result);
    }

    /// The link, if it is selected and `wanted` is set.
    fn chosen(&self, link: u32, wanted: bool) -> Option<&RecordedLink> {
        self.links
            .get(link as usize)
            .filter(|wired| wanted && wired.chosen && self.failed.is_none())
    }

    fn record(&mut self, at: Ps, link: u32, side: Side, of_sender: bool, record: LinkEvent<'_>) {
        let Some(wired) = self.chosen(link, self.events) else { return };
        let port = &wired.ports[side as usize];
        let (id, direction) = if of_sender {
            (port.out, RecordDirection::Sent)
        } else {
            (port.into, RecordDirection::Received)
        };
        let record = LinkEvent { link: wired.kind, direction, ..record };
        let result = self.capture.event(at, id, &record);
        self.note(result);
    }
}

impl RecordedLink {
    fn words_of(&self, lane: u8) -> WordsRecord<'static> {
        use spfe_capture::layout::flag;
        WordsRecord {
            words: &[],
            period_ps: self.period_ps,
            first: 0,
            lane,
            lanes: self.lanes,
            direction: RecordDirection::Received,
            flags: if self.scrambled { flag::SCRAMBLED } else { flag::PLAIN },
        }
    }

    const fn characters_of(&self) -> CharactersRecord<'static> {
        CharactersRecord {
            characters: &[],
            bit_ps: self.bit_ps,
            first: 0,
            direction: RecordDirection::Received,
            flags: 0,
        }
    }
}

impl<W: Write> Observer for CaptureRecorder<W> {
    fn event(&mut self, at: Ps, link: u32, side: Side, event: EndEvent) {
        let Some(wired) = self.links.get_mut(link as usize) else { return };
        let spacewire = wired.kind == LinkKind::SpaceWire;
        let port = &mut wired.ports[side as usize];
        let text;
        let (of_sender, record) = match event {
            EndEvent::LaneState { state, .. } if spacewire => {
                let value = change(&SPACEWIRE_STATES, state, port.lanes.first_mut());
                (true, LinkEvent::new(EventCode::SpaceWireState, value))
            }
            EndEvent::LaneState { lane, state } => {
                let value = change(&LANE_STATES, state, port.lanes.get_mut(usize::from(lane)));
                (
                    true,
                    LinkEvent { lane: Some(lane), ..LinkEvent::new(EventCode::LaneState, value) },
                )
            }
            EndEvent::Alignment { state, sending, receiving } => {
                let value = change(&ALIGNMENTS, state, Some(&mut port.alignment));
                text = format!("sending {sending:04x}, receiving {receiving:04x}");
                (true, LinkEvent::new(EventCode::Alignment, value).text(&text))
            }
            EndEvent::LinkReset { state } => {
                let value = change(&RESETS, state, Some(&mut port.reset));
                (true, LinkEvent::new(EventCode::LinkReset, value))
            }
            EndEvent::Error { name } => (false, error(name)),
            EndEvent::Retry => {
                port.retries += 1;
                let attempts = port.retries;
                (true, LinkEvent::new(EventCode::Recovery, attempts).text("retry"))
            }
            EndEvent::Recovered { after_ps } => {
                text = format!("recovered after {:.3} us", after_ps as f64 / 1e6);
                (false, LinkEvent::new(EventCode::Note, 0).text(&text))
            }
            EndEvent::Fault { lane, fault: ref what } => {
                let bit = 1u16.checked_shl(lane.into()).unwrap_or(0);
                if what.kind == FaultKind::PolaritySwap {
                    port.swapped ^= bit;
                }
                (true, fault(lane, what, wired.bit_ps, port.swapped & bit != 0))
            }
            EndEvent::Lasting { fault: ref what, begins } => {
                let when = if begins { "begins" } else { "ends" };
                text = match what {
                    LastingFault::BitErrorRate { rate, .. } => format!("{rate:e}, {when}"),
                    _ => when.into(),
                };
                let (of_sender, record) = lasting(what, begins);
                (of_sender, record.text(&text))
            }
            EndEvent::CodeLost { code } => {
                (true, LinkEvent::new(EventCode::FaultCodeLost, code.0.into()))
            }
            EndEvent::Command(command) => {
                text = command_text(command);
                let (code, lane) = match command {
                    EndCommand::LinkReset | EndCommand::InterfaceReset => {
                        (EventCode::FaultFarEndReset, None)
                    }
                    EndCommand::LaneReset(lane) => (EventCode::FaultFarEndReset, lane),
                    EndCommand::LaneStart(lane, _) | EndCommand::AutoStart(lane, _) => {
                        (EventCode::Note, lane)
                    }
                };
                (true, LinkEvent { lane, ..LinkEvent::new(code, 0).text(&text) })
            }
        };
        self.record(at, link, side, of_sender, record);
    }

    fn word(&mut self, at: Ps, link: u32, side: Side, lane: u8, word: Option<Word>) {
        let Some(wired) = self.links.get_mut(link as usize) else { return };
        let words = wired.words_of(lane);
        let batch = wired.ports[side as usize].words.get_mut(usize::from(lane));
        let Some(batch) = batch.filter(|_| self.failed.is_none()) else { return };
        let result = batch.push(&mut self.capture, at, words, word.into());
        self.note(result);
    }

    fn character(
        &mut self,
        at: Ps,
        link: u32,
        side: Side,
        character: spacewire::SpaceWireCharacter,
    ) {
        let Some(wired) = self.links.get_mut(link as usize) else { return };
        let characters = wired.characters_of();
        let batch = &mut wired.ports[side as usize].characters;
        let result = batch.push(&mut self.capture, at, characters, LineCharacter::Good(character));
        self.note(result);
    }

    fn wants_packets(&self) -> bool {
        self.packets
    }

    fn packet(&mut self, at: Ps, link: u32, side: Side, channel: u8, bytes: &[u8], end: PacketEnd) {
        let Some(wired) = self.chosen(link, self.packets) else { return };
        let end = match end {
            PacketEnd::Eop => spfe_capture::PacketEnd::Eop,
            PacketEnd::Eep => spfe_capture::PacketEnd::Eep,
        };
        let packet = PacketRecord {
            link: wired.kind,
            direction: RecordDirection::Received,
            vc: (wired.kind == LinkKind::SpaceFibre).then_some(channel),
            ..PacketRecord::new(bytes, end)
        };
        let result = self.capture.packet(at, wired.ports[side as usize].into, &packet);
        self.note(result);
    }

    fn dropped(&mut self, at: Ps, router: u32, dropped: DiscardedPacket) {
        let port = self
            .routers
            .get(router as usize)
            .and_then(|ports| ports.get(usize::from(dropped.port)).copied().flatten());
        let Some((link, side)) = port else { return };
        self.record(at, link as u32, side, false, LinkEvent::dropped(&dropped, 0));
    }

    fn broadcast(
        &mut self,
        at: Ps,
        link: u32,
        side: Side,
        sent: bool,
        message: &datalink::LinkBroadcast,
    ) {
        let Some(wired) = self.chosen(link, self.messages) else { return };
        let (id, direction) = wired.ports[side as usize].interface(sent);
        let broadcast = BroadcastRecord { message: *message, direction, flags: 0 };
        let result = self.capture.broadcast(at, id, &broadcast);
        self.note(result);
    }

    fn code(&mut self, at: Ps, link: u32, side: Side, sent: bool, code: BroadcastCode) {
        let Some(wired) = self.chosen(link, self.messages) else { return };
        let (id, direction) = wired.ports[side as usize].interface(sent);
        let result = self.capture.time_code(at, id, &CodeRecord { code, direction, flags: 0 });
        self.note(result);
    }
}

impl RecordedPort {
    const fn interface(&self, sent: bool) -> (InterfaceId, RecordDirection) {
        if sent {
            (self.out, RecordDirection::Sent)
        } else {
            (self.into, RecordDirection::Received)
        }
    }
}
