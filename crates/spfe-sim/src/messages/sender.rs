//! Sources of messages, and checks of what arrives.

use crate::ledger::Ledger;
use crate::link::Side;
use crate::reports::NumberedMessage;
use crate::results::{self, LatencyRecorder};
use crate::rng;
use crate::scenario::PortName;
use crate::time::Ps;
use fastrand::Rng;
use spfe_link::datalink::LinkBroadcast;
use spfe_link::spacewire::BroadcastCode;
use spfe_link::spacewire::character::CodeMeaning;
use spfe_link::spacewire::timecode::TimeCodeRegister;
use std::collections::VecDeque;

/// A message that is due.
#[derive(Clone, Copy, Debug)]
pub enum DueMessage {
    /// Send this message.
    Message(NumberedMessage),
    /// A fault keeps this time-code from being sent.
    Lost(BroadcastCode),
}

/// Number of sent messages whose time is remembered.
const REMEMBERED: usize = 1024;

/// Kind of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageSource {
    /// Broadcast messages that contain a number.
    Numbered,
    /// Time-codes.
    TimeCodes,
    /// Numbers of time-slots, below this limit.
    Slots(u8),
}

/// A source of messages.
pub struct Sender {
    name: String,
    from: PortName,
    /// Kind of messages.
    pub kind: MessageSource,
    channel: u8,
    b_type: u8,
    /// Its link, and the end it sends from.
    pub link: (usize, Side),
    spacewire: bool,
    period_ps: Ps,
    jitter_ps: Ps,
    /// Time of the next message without jitter.
    next_ps: Option<Ps>,
    late_ps: Ps,
    stop_ps: Ps,
    left: u64,
    rng: Rng,
    number: u64,
    register: TimeCodeRegister,
    /// A fault keeps it from sending.
    pub silent: bool,
    /// Numbers and times of the last messages.
    times: VecDeque<(u64, Ps)>,
    /// For each node, the last number received and the time-code register.
    seen: Vec<(Option<u64>, TimeCodeRegister)>,
    sent: u64,
    refused: u64,
    received: u64,
    late: u64,
    delayed: u64,
    latency: LatencyRecorder,
}

/// Settings of a source of messages.
pub struct SenderSettings<'a> {
    /// Name.
    pub name: &'a str,
    /// The port that sends.
    pub from: &'a PortName,
    /// Kind of messages.
    pub kind: MessageSource,
    /// Broadcast channel.
    pub channel: u8,
    /// B_TYPE.
    pub b_type: u8,
    /// The link, and the end that sends.
    pub link: (usize, Side),
    /// Whether the link is SpaceWire.
    pub spacewire: bool,
    /// Time between two messages.
    pub period_ps: Ps,
    /// Each message is late by a random time below this.
    pub jitter_ps: Ps,
    /// Time of the first message.
    pub start_ps: Ps,
    /// No message from this time on.
    pub stop_ps: Option<Ps>,
    /// Maximum number of messages.
    pub count: Option<u64>,
}

impl Sender {
    /// A source for a network with a number of nodes.
    pub fn new(settings: &SenderSettings<'_>, seed: u64, nodes: usize) -> Self {
        let mut rng = rng::stream(seed, &format!("messages {}", settings.name));
        Self {
            name: settings.name.into(),
            from: settings.from.clone(),
            kind: settings.kind,
            channel: settings.channel,
            b_type: settings.b_type,
            link: settings.link,
            spacewire: settings.spacewire,
            period_ps: settings.period_ps.max(1),
            jitter_ps: settings.jitter_ps,
            next_ps: (settings.count != Some(0)).then_some(settings.start_ps),
            late_ps: rng::below(&mut rng, settings.jitter_ps),
            stop_ps: settings.stop_ps.unwrap_or(Ps::MAX),
            left: settings.count.unwrap_or(u64::MAX),
            rng,
            number: 0,
            register: TimeCodeRegister::new(),
            silent: false,
            times: VecDeque::new(),
            seen: vec![(None, TimeCodeRegister::new()); nodes],
            sent: 0,
            refused: 0,
            received: 0,
            late: 0,
            delayed: 0,
            latency: LatencyRecorder::new(),
        }
    }

    /// Time of the next message.
    pub fn next_ps(&self) -> Option<Ps> {
        let next = self.next_ps?.saturating_add(self.late_ps);
        (next < self.stop_ps).then_some(next)
    }

    /// The message that is due, if any.
    pub fn poll(&mut self, now: Ps) -> Option<DueMessage> {
        self.next_ps().filter(|next| *next <= now)?;
        self.next_ps = self.next_ps.map(|next| next.saturating_add(self.period_ps));
        self.late_ps = rng::below(&mut self.rng, self.jitter_ps);
        self.left -= 1;
        if self.left == 0 {
            self.next_ps = None;
        }
        let number = self.number;
        self.number += 1;
        let code = match self.kind {
            MessageSource::TimeCodes => self.register.tick(),
            _ => BroadcastCode::time(0),
        };
        if self.silent {
            return Some(DueMessage::Lost(code));
        }
        if self.times.len() == REMEMBERED {
            self.times.pop_front();
        }
        self.times.push_back((self.mark(number, code), now));
        if self.spacewire {
            return Some(DueMessage::Message(NumberedMessage::Code(code)));
        }
        let data = match self.kind {
            MessageSource::Numbered => number.to_be_bytes(),
            MessageSource::TimeCodes => [code.0, 0, 0, 0, 0, 0, 0, 0],
            MessageSource::Slots(slots) => {
                [(number % u64::from(slots.max(1))) as u8, 0, 0, 0, 0, 0, 0, 0]
            }
        };
        let (channel, kind) = (self.channel, self.b_type);
        let message = LinkBroadcast { channel, kind, data, late: false, delayed: false };
        Some(DueMessage::Message(NumberedMessage::Broadcast(message)))
    }

    /// A number that distinguishes successive messages.
    fn mark(&self, number: u64, code: BroadcastCode) -> u64 {
        match self.kind {
            MessageSource::Numbered => number,
            MessageSource::TimeCodes => code.0.into(),
            MessageSource::Slots(slots) => number % u64::from(slots.max(1)),
        }
    }

    /// Whether it sends the numbers of time-slots.
    pub const fn is_schedule(&self) -> bool {
        matches!(self.kind, MessageSource::Slots(_))
    }

    /// Whether it is the time-code master at a port.
    pub fn is_master(&self, place: &PortName) -> bool {
        self.kind == MessageSource::TimeCodes && self.from == *place
    }

    /// Counts a message that the link accepted or refused.
    pub const fn given(&mut self, taken: bool) {
        if taken {
            self.sent += 1;
        } else {
            self.refused += 1;
        }
    }

    /// The number of a message if this source sent it.
    pub fn recognise(&self, message: &NumberedMessage) -> Option<u64> {
        match message {
            NumberedMessage::Code(code) if self.kind == MessageSource::TimeCodes => {
                match code.meaning() {
                    CodeMeaning::Time(value) => Some(value.into()),
                    _ => None,
                }
            }
            NumberedMessage::Broadcast(message)
                if message.channel == self.channel && message.kind == self.b_type =>
            {
                match self.kind {
                    MessageSource::Numbered => Some(u64::from_be_bytes(message.data)),
                    _ => Some(message.data[0].into()),
                }
            }
            _ => None,
        }
    }

    /// Checks and counts a message of this source that arrived at a node.
    pub fn arrived(
        &mut self,
        now: Ps,
        node: usize,
        mark: u64,
        message: &NumberedMessage,
        ledger: &mut Ledger,
    ) {
        let Some((last, register)) = self.seen.get_mut(node) else { return };
        if self.kind == MessageSource::TimeCodes && !register.receive(mark as u8) {
            // Not the next time-code: the node does not report it to its host.
            return;
        }
        if self.kind == MessageSource::Numbered {
            if last.is_some_and(|last| mark <= last) {
                ledger.repeated(now, &format!("copies of {}", self.name), |ledger| {
                    let node = ledger.node_name(node as u32);
                    format!(
                        "{}: message {mark} reached node {node} twice: it took a second way longer \
                         than the broadcast-timeout of a router, so it passed as a new message, and \
                         may circulate for ever. Set broadcast-timeout above the longest time for \
                         which a link can hold a message back",
                        self.name
                    )
                });
            }
            if mark >= self.number {
                let text = format!("{}: message {mark} was never sent", self.name);
                ledger.violation(now, text);
            }
            *last = Some(mark);
        }
        self.received += 1;
        if let NumberedMessage::Broadcast(message) = message {
            self.late += u64::from(message.late);
            self.delayed += u64::from(message.delayed);
        }
        let sent = self.times.iter().rev().find(|(of, _)| *of == mark);
        if let Some((_, at)) = sent {
            self.latency.record(now - at.min(&now));
        }
    }

    /// Measurements of this source.
    pub fn results(&self) -> results::BroadcastResults {
        results::BroadcastResults {
            name: self.name.clone(),
            from: self.from.to_string(),
            sent: self.sent,
            refused: self.refused,
            received: self.received,
            late: self.late,
            delayed: self.delayed,
            latency: self.latency.histogram(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source `tick` of numbered messages, and a ledger of the nodes that receive them.
    fn source() -> (Sender, Ledger) {
        let from = PortName { unit: "clock".into(), port: 1 };
        let settings = SenderSettings {
            name: "tick",
            from: &from,
            kind: MessageSource::Numbered,
            channel: 7,
            b_type: 3,
            link: (0, Side::A),
            spacewire: false,
            period_ps: 1_000_000,
            jitter_ps: 0,
            start_ps: 0,
            stop_ps: None,
            count: None,
        };
        let nodes = ["clock", "camera"].map(str::to_owned);
        let mut ledger = Ledger::new();
        ledger.name_nodes(nodes.iter());
        (Sender::new(&settings, 1, nodes.len()), ledger)
    }

    #[test]
    fn a_circulating_message_is_one_violation() {
        let (mut source, mut ledger) = source();
        let Some(DueMessage::Message(message)) = source.poll(0) else { panic!() };
        let mark = source.recognise(&message).unwrap();
        for at in 0..1000 {
            for node in [0, 1] {
                source.arrived(at, node, mark, &message, &mut ledger);
            }
        }
        // All but the first message at each node are copies.
        assert_eq!((ledger.violations().len(), ledger.violation_count()), (1, 1));
        let violation = &ledger.violations()[0];
        assert_eq!(violation.more, 2 * 999 - 1);
        let line = violation.to_string();
        for part in [
            "tick: message 0 reached node 'clock' twice",
            "longer than the broadcast-timeout of a router",
            "Set broadcast-timeout above",
            "(1997 more of these)",
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
        assert_eq!(line.lines().count(), 1);
    }

    #[test]
    fn messages_that_arrive_once_in_order_are_no_violation() {
        let (mut source, mut ledger) = source();
        for at in 0..100 {
            let Some(DueMessage::Message(message)) = source.poll(at * 1_000_000) else { panic!() };
            let mark = source.recognise(&message).unwrap();
            source.arrived(at * 1_000_000 + 5, 1, mark, &message, &mut ledger);
        }
        assert_eq!(ledger.violation_count(), 0);
    }
}
