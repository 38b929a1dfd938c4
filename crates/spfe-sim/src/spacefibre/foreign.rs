//! The foreign end of a SpaceFibre link, as the link sees it.

use crate::fault::EndCommand;
use crate::foreign::{Border, FarStream};
use crate::link::{EndCounters, SimulatedEnd};
use crate::wire::SILENCE;
use spfe_link::code::bits_of;
use spfe_link::datalink::LinkBroadcast;
use spfe_link::qos;
use spfe_link::spacewire::BroadcastCode;
use spfe_link::word::Word;
use spfe_topology::StreamKind;
use std::time::Duration;

/// A foreign end. Without a connection it is a cable that is not plugged in.
pub struct ForeignSide<const L: usize> {
    stream: Box<dyn FarStream>,
    kind: StreamKind,
    lanes: usize,
    /// Word periods in a message.
    words: usize,
    /// Messages of this round, and the current word period in it.
    inbox: Vec<u64>,
    outbox: Vec<u64>,
    place: usize,
    /// The message to take words from is here.
    fetched: bool,
    connected: bool,
    borders: [Border; L],
    /// Words of this word period that the foreign end sent and received, for observers.
    sent: [Option<Word>; L],
    line: [Option<Word>; L],
    none: NoUser,
}

impl<const L: usize> ForeignSide<L> {
    /// A foreign end at the other side of a stream.
    pub fn new(stream: Box<dyn FarStream>) -> Self {
        let (kind, lanes, words) = (stream.kind(), stream.lanes(), stream.words());
        let mut new = Self {
            stream,
            kind,
            lanes,
            words,
            inbox: vec![0; lanes * words],
            outbox: vec![0; lanes * words],
            place: 0,
            fetched: false,
            connected: false,
            borders: [Border::default(); L],
            sent: [None; L],
            line: [None; L],
            none: NoUser,
        };
        new.look();
        new
    }

    /// Takes up a connection. Nothing is on its way at first.
    fn look(&mut self) {
        if !self.connected && self.stream.is_connected() {
            self.connected = true;
            self.place = 0;
            self.inbox.fill(0);
            self.fetched = true;
        }
    }

    /// Whether a foreign end is connected.
    pub const fn is_connected(&self) -> bool {
        self.connected
    }

    /// Word periods that can pass without waiting for the foreign end. Waits for at most `wait`
    /// for its words.
    pub fn ready(&mut self, wait: Duration) -> u64 {
        self.look();
        if !self.connected {
            return u64::MAX;
        }
        if self.fetched || self.stream.is_ready(wait) {
            (self.words - self.place) as u64
        } else {
            0
        }
    }

    /// Groups that the foreign end sends in this word period.
    pub fn transmit(&mut self) -> [u64; L] {
        self.sent = [None; L];
        let mut groups = [SILENCE; L];
        if self.connected && !self.fetched {
            self.fetched = self.stream.receive(&mut self.inbox);
            self.connected = self.fetched;
        }
        if !self.connected {
            return groups;
        }
        let cells = &self.inbox[self.place * self.lanes..][..self.lanes];
        let lanes = cells.iter().zip(&mut self.borders).zip(&mut self.sent).zip(&mut groups);
        for (((cell, border), word), group) in lanes {
            if let Some((bits, sent)) = border.enter(self.kind, *cell) {
                (*group, *word) = (bits, Some(sent));
            }
        }
        groups
    }

    /// Groups that arrive at the foreign end in this word period.
    pub fn receive(&mut self, groups: &[u64; L]) {
        let lanes = groups.iter().zip(&mut self.borders).zip(&mut self.line).take(self.lanes);
        let out = &mut self.outbox[self.place * self.lanes..][..self.lanes];
        for (((group, border), word), cell) in lanes.zip(out) {
            let group = (*group != SILENCE).then(|| bits_of(*group));
            (*cell, *word) = border.leave(self.kind, group);
        }
        if !self.connected {
            return;
        }
        self.place += 1;
        if self.place == self.words {
            (self.place, self.fetched) = (0, false);
            self.connected = self.stream.send(&self.outbox);
        }
    }

    /// Word that a lane sent in this word period.
    pub fn sent(&self, lane: usize) -> Option<Word> {
        self.sent[lane]
    }

    /// Word that arrived on a lane in this word period.
    pub fn line(&self, lane: usize) -> Option<Word> {
        self.line[lane]
    }

    /// What a unit at this end would use: nothing.
    pub fn user(&mut self) -> &mut dyn SimulatedEnd {
        &mut self.none
    }
}

/// The user of a foreign end is not here.
struct NoUser;

impl SimulatedEnd for NoUser {
    fn channels(&self) -> usize {
        0
    }

    fn is_running(&self) -> bool {
        false
    }

    fn writable(&self, _: usize) -> usize {
        0
    }

    fn write(&mut self, _: usize, _: &[Word]) -> usize {
        0
    }

    fn readable(&self, _: usize) -> usize {
        0
    }

    fn read(&mut self, _: usize, _: &mut [Word]) -> usize {
        0
    }

    fn waiting(&self) -> u32 {
        0
    }

    fn send_broadcast(&mut self, _: LinkBroadcast) -> bool {
        false
    }

    fn broadcasts_at_once(&self) -> bool {
        false
    }

    fn receive_broadcast(&mut self) -> Option<LinkBroadcast> {
        None
    }

    fn send_code(&mut self, _: BroadcastCode) -> bool {
        false
    }

    fn receive_code(&mut self) -> Option<BroadcastCode> {
        None
    }

    fn schedule(&mut self, _: u8) {}

    fn set_qos(&mut self, _: usize, _: qos::QosParameters) -> bool {
        false
    }

    fn qos(&self, _: usize) -> Option<qos::QosParameters> {
        None
    }

    fn command(&mut self, _: EndCommand) -> bool {
        false
    }

    fn counters(&self) -> EndCounters {
        EndCounters::default()
    }
}
