//! A port of a router: it buffers words between a link and the switch.

use super::BURST;
use crate::link::Side;
use crate::links::Links;
use crate::reports::{DiscardNote, Reports};
use crate::scenario::{self, Medium, StartMode};
use crate::time::Ps;
use spfe_link::Word;
use spfe_link::network::config::SwitchPortControl;
use spfe_link::network::{DiscardReason, DiscardedPacket, PacketUnit, SwitchPorts};
use std::collections::VecDeque;

/// Bytes of a discarded packet that suffice to identify it: a header of twelve behind a path.
const START: usize = 48;
const UNKNOWN: usize = usize::MAX;

/// Words from a link for the switch.
#[derive(Clone, Debug)]
struct Input {
    words: [Word; BURST],
    head: usize,
    count: usize,
    /// The packet being discarded, and its first bytes.
    spill: Option<(DiscardedPacket, Vec<u8>)>,
}

impl Input {
    const fn new() -> Self {
        Self { words: [Word { bits: 0, k: 0 }; BURST], head: 0, count: 0, spill: None }
    }
}

/// Words from the switch for a link.
#[derive(Clone, Debug)]
struct Output {
    words: Vec<Word>,
    /// Free words in the link's buffer, or `UNKNOWN` until the link was asked.
    room: usize,
}

/// Properties of a link that registers show.
#[derive(Clone, Copy, Debug)]
pub struct LinkSummary {
    pub spacewire: bool,
    pub lanes: u8,
    pub mbps: u32,
}

/// A port of a router.
#[derive(Clone, Debug)]
pub struct RouterPort {
    pub line: Option<LinkSummary>,
    /// Settings in its control register.
    pub control: SwitchPortControl,
    /// Time-slots of each virtual channel in its registers.
    pub slots: Vec<u64>,
    /// The link, and the router's end of it.
    pub link: Option<(usize, Side)>,
    /// This is port 0, which has no link.
    is_inner: bool,
    running: bool,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// Inputs that hold words, a bit for each virtual channel.
    waiting: u32,
    /// Outputs that hold words, a bit for each virtual channel.
    filled: u32,
    /// Words that port 0 sends.
    inner: VecDeque<Word>,
}

impl RouterPort {
    pub fn new(link: Option<(usize, Side)>, line: Option<LinkSummary>, channels: usize) -> Self {
        Self {
            line,
            control: SwitchPortControl::default(),
            slots: vec![u64::MAX; channels],
            link,
            is_inner: false,
            running: false,
            inputs: vec![Input::new(); channels],
            outputs: vec![Output { words: Vec::with_capacity(BURST), room: UNKNOWN }; channels],
            waiting: 0,
            filled: 0,
            inner: VecDeque::new(),
        }
    }

    /// Port 0: one virtual channel, on virtual network 0.
    pub fn inner() -> Self {
        Self { is_inner: true, running: true, ..Self::new(None, None, 1) }
    }

    /// Sets the registers as the scenario says.
    pub fn begin(&mut self, link: &scenario::ScenarioLink, side: Side) {
        let starts = match &link.medium {
            Medium::SpaceFibre(of) => of.start,
            Medium::SpaceWire(of) => of.start,
        };
        let start = starts.get(side as usize).copied().unwrap_or_default();
        self.control = SwitchPortControl {
            enable: true,
            start: start == StartMode::Start,
            auto_start: start != StartMode::Off,
        };
        if let Medium::SpaceFibre(of) = &link.medium {
            for (vc, slots) in self.slots.iter_mut().enumerate() {
                *slots = of.qos(side, vc as u8).map_or(u64::MAX, |qos| qos.time_slots);
            }
        }
    }

    pub const fn is_running(&self) -> bool {
        self.running
    }

    pub fn channels(&self) -> usize {
        self.inputs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting == 0 && self.filled == 0 && self.inner.is_empty()
    }

    /// Reads words from the link. True if the switch has any to move.
    pub fn refill(&mut self, now: Ps, links: &mut dyn Links, reports: &mut dyn Reports) -> bool {
        if self.is_inner {
            self.refill_inner();
        }
        let Some((link, side)) = self.link else { return self.waiting != 0 };
        if !links.is_awake(link) {
            return self.waiting != 0;
        }
        let Some(end) = links.end((link, side)) else { return false };
        self.running = end.is_running();
        let mut more = end.waiting() & !self.waiting;
        let any = more != 0;
        while more != 0 {
            let vc = more.trailing_zeros() as usize;
            more &= more - 1;
            let Some(input) = self.inputs.get_mut(vc) else { break };
            input.head = 0;
            input.count = end.read(vc, &mut input.words);
            self.waiting |= u32::from(input.count != 0) << vc;
            if reports.wants_words() {
                let words = input.words.get(..input.count).unwrap_or(&[]);
                reports.words(now, (link, side), vc, words);
            }
        }
        if any {
            links.used(link);
        }
        self.waiting != 0
    }

    fn refill_inner(&mut self) {
        let Some(input) = self.inputs.first_mut().filter(|input| input.count == 0) else { return };
        input.head = 0;
        for place in &mut input.words {
            let Some(word) = self.inner.pop_front() else { break };
            *place = word;
            input.count += 1;
        }
        self.waiting = u32::from(input.count != 0);
    }

    /// Writes words to the link.
    pub fn flush(&mut self, links: &mut dyn Links) {
        let Some((link, side)) = self.link else { return };
        while self.filled != 0 {
            let vc = self.filled.trailing_zeros() as usize;
            self.filled &= self.filled - 1;
            links.used(link);
            if let (Some(output), Some(end)) = (self.outputs.get_mut(vc), links.end((link, side))) {
                end.write(vc, &output.words);
                output.words.clear();
            }
        }
        self.outputs.iter_mut().for_each(|output| output.room = UNKNOWN);
    }

    /// Whether there are words for the configuration port.
    pub const fn has_configuration_words(&self) -> bool {
        self.is_inner && self.filled != 0
    }

    /// Takes the words for the configuration port.
    pub fn take_configuration_words(&mut self) -> Vec<Word> {
        self.filled = 0;
        self.outputs.first_mut().map(|output| std::mem::take(&mut output.words)).unwrap_or_default()
    }

    pub fn give_configuration_words(&mut self, words: &[Word]) {
        self.inner.extend(words);
    }
}

/// The ports during a step of the switch.
pub struct Exchange<'a> {
    pub ports: &'a mut [RouterPort],
    pub links: &'a mut dyn Links,
    pub spilled: &'a mut Vec<DiscardNote>,
}

impl Exchange<'_> {
    #[inline]
    fn input(&mut self, port: usize, vc: usize) -> Option<&mut Input> {
        self.ports.get_mut(port)?.inputs.get_mut(vc)
    }
}

impl SwitchPorts for Exchange<'_> {
    type Unit = Word;
    const BURST: usize = BURST;

    #[inline]
    fn waiting(&mut self, port: usize) -> u32 {
        self.ports.get(port).map_or(0, |port| port.waiting)
    }

    #[inline]
    fn peek(&mut self, port: usize, vc: usize) -> Option<Word> {
        let input = self.input(port, vc).filter(|input| input.count != 0)?;
        input.words.get(input.head).copied()
    }

    #[inline]
    fn take(&mut self, port: usize, vc: usize) {
        let Some(port) = self.ports.get_mut(port) else { return };
        let Some(input) = port.inputs.get_mut(vc) else { return };
        let word = input.words.get(input.head).copied();
        input.head += 1;
        input.count -= 1;
        port.waiting &= !(u32::from(input.count == 0) << vc);
        if input.spill.is_some()
            && let Some(word) = word
        {
            collect_discarded(input, word, self.spilled);
        }
    }

    #[inline]
    fn has_room(&mut self, port: usize, vc: usize) -> bool {
        let Some(port) = self.ports.get_mut(port) else { return false };
        let Some(output) = port.outputs.get_mut(vc) else { return false };
        if output.room == UNKNOWN {
            output.room = match port.link {
                Some(end) => self.links.end(end).map_or(0, |end| end.writable(vc)),
                None => BURST,
            };
        }
        output.words.len() < output.room
    }

    #[inline]
    fn put(&mut self, port: usize, vc: usize, unit: Word) {
        let Some(port) = self.ports.get_mut(port) else { return };
        if let Some(output) = port.outputs.get_mut(vc) {
            output.words.push(unit);
            port.filled |= 1 << vc;
        }
    }

    fn is_running(&mut self, port: usize) -> bool {
        self.ports.get(port).is_some_and(|port| port.running)
    }

    fn dropped(&mut self, dropped: DiscardedPacket) {
        self.spilled.push(DiscardNote::Reported(dropped));
        if dropped.reason != DiscardReason::Timeout
            && let Some(input) = self.input(dropped.port.into(), dropped.vc.into())
        {
            input.spill = Some((dropped, Vec::new()));
        }
    }
}

/// Collects a word of a packet that is being discarded.
#[cold]
fn collect_discarded(input: &mut Input, word: Word, spilled: &mut Vec<DiscardNote>) {
    let Some((dropped, mut bytes)) = input.spill.take() else { return };
    bytes.extend((0..4).filter(|index| !word.is_k(*index)).map(|index| word.symbol(index)));
    if word.is_end() || bytes.len() >= START {
        spilled.push(DiscardNote::Start(dropped, bytes));
    } else {
        input.spill = Some((dropped, bytes));
    }
}
