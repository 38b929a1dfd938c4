//! A far end of the link that sends every word back, and empty packets, which count for nothing,
//! over cables that damage words.

use std::collections::VecDeque;

use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig};
use spfe_link::multilane::{MultiLane, MultiLaneConfig};
use spfe_link::word::k;
use spfe_link::{SpaceFibrePort, Word};
use spfe_rtl_sim::{damage, once_in};

use crate::QUEUES;

pub struct FarEnd {
    port: SpaceFibrePort<Vec<Word>, 1, QUEUES>,
    cables: [VecDeque<Option<Word>>; 2],
    /// Words of each channel on their way back.
    words: [VecDeque<Word>; QUEUES],
    /// Channels whose words are left where they are.
    hold: usize,
    started: u32,
}

fn ends_packet(word: Word) -> bool {
    let is_end = |(place, symbol)| word.k >> place & 1 != 0 && matches!(symbol, k::EOP | k::EEP);
    word.symbols().into_iter().enumerate().any(is_end)
}

impl FarEnd {
    pub fn new() -> Self {
        let memory = || vec![Word::default(); 512];
        let memories = || std::array::from_fn(|_| memory());
        let buffers = Buffers { output: memories(), input: memories(), recovery: memory() };
        let link = DataLink::new(DataLinkConfig::default(), buffers).expect("is valid");
        Self {
            port: SpaceFibrePort::new_starting(link, MultiLane::new(&MultiLaneConfig::new())),
            cables: [(); 2].map(|()| VecDeque::from(vec![None; 10])),
            words: std::array::from_fn(|_| VecDeque::new()),
            hold: 0,
            started: 0,
        }
    }

    pub fn is_ready(&self) -> bool {
        self.started == 100
    }

    /// A word period: the word from the core, and the one to it.
    pub fn step(
        &mut self,
        from_core: Option<Word>,
        initialised: bool,
        rng: &mut fastrand::Rng,
    ) -> Option<Word> {
        let up = initialised && self.port.link.is_initialised();
        self.started = if up { 100.min(self.started + 1) } else { 0 };
        if once_in(rng, 2000) {
            self.hold = if rng.bool() { 0 } else { rng.usize(..1 << QUEUES) };
        }
        for vc in 0..QUEUES {
            let mut word = [Word::default()];
            if self.hold >> vc & 1 == 0 && self.port.link.read(vc, &mut word) != 0 {
                self.words[vc].push_back(word[0]);
                if ends_packet(word[0]) && once_in(rng, 4) {
                    let end = if rng.bool() { k::EOP } else { k::EEP };
                    let symbols = [end, k::FILL, k::FILL, k::FILL];
                    self.words[vc].push_back(Word::from_symbols(symbols, 0xf));
                }
            }
            if let Some(word) = self.words[vc].front()
                && self.port.link.write(vc, &[*word]) != 0
            {
                self.words[vc].pop_front();
            }
        }
        let [to_core] = self.port.transmit();
        let started = self.is_ready();
        let mut pass = |cable: usize, word: Option<Word>| {
            let hit = started && once_in(rng, 4000);
            self.cables[cable].push_back(word.map(|w| if hit { damage(rng, w) } else { w }));
            self.cables[cable].pop_front().flatten()
        };
        let to_core = pass(1, to_core);
        let arrives = pass(0, from_core);
        self.port.receive([arrives]);
        to_core
    }
}
