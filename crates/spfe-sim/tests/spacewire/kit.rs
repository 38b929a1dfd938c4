//! A SpaceWire link with an observer, and packets as words.

use spfe_link::Word;
use spfe_link::spacewire::{NChar, SpaceWireCharacter, SpaceWireState};
use spfe_link::word::k;
use spfe_sim::fault::{FaultKind, FaultTarget, WireFault};
use spfe_sim::link::{EndEvent, Observer, Side, SimulatedLink};
use spfe_sim::spacewire::words::Unpacker;
use spfe_sim::spacewire::{SpaceWireConfig, SpaceWireLink};
use spfe_sim::time::{NS, Ps, US};

pub use Side::{A, B};

/// Records everything the observer sees.
#[derive(Debug, Default, PartialEq)]
pub struct Log {
    pub events: Vec<(Ps, Side, EndEvent)>,
    pub characters: Vec<(Ps, Side, SpaceWireCharacter)>,
}

impl Observer for Log {
    fn event(&mut self, at: Ps, _: u32, side: Side, event: EndEvent) {
        let last = self.events.last().map_or(0, |(at, ..)| *at);
        assert!(at >= last, "{event:?} at {at} after {last}");
        self.events.push((at, side, event));
    }

    fn character(&mut self, at: Ps, _: u32, side: Side, character: SpaceWireCharacter) {
        let last = self.characters.last().map_or(0, |(at, ..)| *at);
        assert!(at >= last, "{character:?} at {at} after {last}");
        self.characters.push((at, side, character));
    }
}

impl Log {
    /// Times at which an end entered a state.
    pub fn entered(&self, side: Side, state: &str) -> Vec<Ps> {
        let is =
            |event: &EndEvent| matches!(event, EndEvent::LaneState { state: s, .. } if *s == state);
        self.events.iter().filter(|(_, s, e)| *s == side && is(e)).map(|(at, ..)| *at).collect()
    }

    /// Errors that an end found.
    pub fn errors(&self, side: Side) -> Vec<(Ps, &'static str)> {
        let name = |(at, s, event): &(Ps, Side, EndEvent)| match event {
            EndEvent::Error { name } if *s == side => Some((*at, *name)),
            _ => None,
        };
        self.events.iter().filter_map(name).collect()
    }
}

pub struct Kit {
    pub link: SpaceWireLink,
    pub log: Log,
}

impl Kit {
    pub fn new(config: SpaceWireConfig) -> Self {
        Self { link: SpaceWireLink::new(config).unwrap(), log: Log::default() }
    }

    /// A link in state Run at both ends, after the exchange of all initial FCTs.
    pub fn running(config: SpaceWireConfig) -> Self {
        let mut kit = Self::new(config);
        kit.run(50 * US + 60 * config.delay_ps);
        assert!(kit.is_running(), "{:?}", kit.log.events);
        kit
    }

    pub fn run(&mut self, ps: Ps) {
        let until = self.link.now() + ps;
        self.link.run(until, &mut self.log);
        assert_eq!(self.link.now(), until);
    }

    pub fn is_running(&self) -> bool {
        Side::BOTH.iter().all(|side| self.link.state(*side) == SpaceWireState::Run)
    }

    /// Runs until both ends are in state Run.
    pub fn until_running(&mut self) {
        for _ in 0..1000 {
            if self.is_running() {
                return;
            }
            self.run(US);
        }
        panic!("not running: {:?}", self.log.events);
    }

    pub fn count(&mut self, side: Side, name: &str) -> u64 {
        let counters = self.link.end(side).counters();
        counters.named.iter().find(|(other, _)| *other == name).unwrap().1
    }

    pub fn write(&mut self, side: Side, words: &[Word]) {
        assert_eq!(self.link.end(side).write(0, words), words.len());
    }

    /// Reads all words of an end.
    pub fn read(&mut self, side: Side) -> Vec<Word> {
        let mut all = Vec::new();
        let mut words = [Word::default(); 16];
        loop {
            match self.link.end(side).read(0, &mut words) {
                0 => return all,
                count => all.extend_from_slice(&words[..count]),
            }
        }
    }

    /// Runs in steps and reads, until nothing has arrived for some time.
    pub fn read_all(&mut self, side: Side) -> Vec<Word> {
        let mut all = Vec::new();
        let mut idle = 0;
        while idle < 30 {
            self.run(US);
            let words = self.read(side);
            idle = if words.is_empty() { idle + 1 } else { 0 };
            all.extend(words);
        }
        all
    }

    /// Injects a fault 100 ns from now, or at the first matching character after that.
    pub fn inject(&mut self, from: Side, target: FaultTarget, kind: FaultKind) -> Ps {
        let at = self.link.now() + 100 * NS;
        assert!(self.link.inject(at, from, WireFault { lane: None, target, kind }));
        at
    }
}

pub fn config(rate_mbps: u32) -> SpaceWireConfig {
    SpaceWireConfig { delay_ps: 20 * NS, ..SpaceWireConfig::new(7, rate_mbps) }
}

/// A packet as words.
pub fn packet(bytes: &[u8]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut chunks = bytes.chunks_exact(4);
    words.extend(chunks.by_ref().map(|c| Word::from_symbols([c[0], c[1], c[2], c[3]], 0)));
    let rest = chunks.remainder();
    let mut symbols = [k::FILL; 4];
    symbols[..rest.len()].copy_from_slice(rest);
    symbols[rest.len()] = k::EOP;
    words.push(Word::from_symbols(symbols, 0xf << rest.len()));
    words
}

pub fn n_chars(words: &[Word]) -> Vec<NChar> {
    let mut unpacker = Unpacker::default();
    let mut n_chars = Vec::new();
    words.iter().for_each(|word| unpacker.take(*word, |n_char| n_chars.push(n_char)));
    n_chars
}
