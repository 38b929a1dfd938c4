//! Forwarding of messages in a router.

use super::{give, take};
use crate::link::Side;
use crate::links::Links;
use crate::reports::{NumberedMessage, Reports};
use crate::scenario::{Scenario, ScenarioRouter, UnitId};
use crate::time::Ps;
use spfe_link::datalink::LinkBroadcast;
use spfe_link::network::bits_of;
use spfe_link::network::bridge::{self, Bridge, CodeMapping};
use spfe_link::network::broadcast::BroadcastSwitch;
use spfe_link::network::codes::{CodePorts, CodeSwitch};
use spfe_link::spacewire::BroadcastCode;
use std::collections::{BTreeMap, VecDeque};

/// Messages held for a port whose link accepts none at the moment.
const HELD: usize = 16;

/// Identifies the broadcast messages that carry time-codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeCodeChannel {
    /// Broadcast channel.
    pub channel: u8,
    /// B_TYPE.
    pub b_type: u8,
}

/// The parts of a router that forward messages and codes.
pub struct Relay {
    broadcast: BroadcastSwitch,
    codes: CodeSwitch,
    /// Converts between broadcast messages and time-codes; other codes do not pass.
    bridge: Bridge,
    clock: Option<TimeCodeChannel>,
    /// Link and end of each port.
    ports: BTreeMap<usize, (usize, Side)>,
    spacewire: u32,
    held: BTreeMap<usize, VecDeque<LinkBroadcast>>,
    lost: u64,
}

impl Relay {
    /// Builds the relay of a router.
    pub fn new(
        scenario: &Scenario,
        router: &ScenarioRouter,
        ports: impl Iterator<Item = (u8, usize, Side)>,
        clock: Option<TimeCodeChannel>,
    ) -> Self {
        let ports: BTreeMap<_, _> =
            ports.map(|(port, link, side)| (usize::from(port), (link, side))).collect();
        let (mut spacefibre, mut spacewire) = (0u32, 0u32);
        for (port, (link, _)) in &ports {
            match scenario.links.get(*link).is_some_and(|link| link.is_spacewire()) {
                true => spacewire |= 1 << port,
                false => spacefibre |= 1 << port,
            }
        }
        let rule = router.broadcast_copies.into();
        let timeout_ns = router.broadcast_timeout.0 / 1000;
        let mapping = |of: TimeCodeChannel| CodeMapping {
            channel: of.channel,
            kind: of.b_type,
            kind_mask: 0xff,
            byte: 0,
        };
        let bridge = Bridge::new(bridge::BridgeConfig {
            time: clock.map(mapping),
            interrupts: None,
            passes_late_time: false,
        });
        let enables = CodePorts { time_out: spacewire, interrupt_in: 0, interrupt_out: 0 };
        Self {
            broadcast: BroadcastSwitch::new(rule, timeout_ns, spacefibre),
            codes: CodeSwitch::new(enables, None),
            bridge,
            clock,
            ports,
            spacewire,
            held: BTreeMap::new(),
            lost: 0,
        }
    }

    /// Forwards received messages, as router `unit`. True if there were any.
    pub fn exchange(
        &mut self,
        now: Ps,
        unit: usize,
        links: &mut dyn Links,
        reports: &mut dyn Reports,
    ) -> bool {
        let mut any = self.send_held(now, links, reports);
        let ports: Vec<_> = self.ports.iter().map(|(port, end)| (*port, *end)).collect();
        for (port, end) in ports {
            while let Some(message) = take(now, links, end, reports) {
                any = true;
                if self.pass(now, port, message, links, reports) {
                    reports.heard(now, UnitId::Router(unit), &message);
                }
            }
        }
        any
    }

    /// Forwards a broadcast message. False if it is a copy of one already forwarded.
    fn pass(
        &mut self,
        now: Ps,
        port: usize,
        message: NumberedMessage,
        links: &mut dyn Links,
        reports: &mut dyn Reports,
    ) -> bool {
        let (ns, from) = (now / 1000, port as u8);
        match message {
            NumberedMessage::Broadcast(message) => {
                let copies = self.broadcast.counters().copies;
                let out = self.broadcast.receive(ns, from, message.channel);
                if self.broadcast.counters().copies != copies {
                    return false;
                }
                self.spread(now, out, message, links, reports);
                let time = self.clock.filter(|clock| clock.channel == message.channel);
                if time.is_some()
                    && self.spacewire != 0
                    && let Some(passed) = self.bridge.message(&message)
                {
                    let out = self.codes.receive(ns, from, passed.code);
                    self.spread_code(now, out, passed.code, links, reports);
                }
                true
            }
            NumberedMessage::Code(code) => {
                let before = self.codes.time();
                let out = self.codes.receive(ns, from, code);
                self.spread_code(now, out, code, links, reports);
                // Only the next time-code is forwarded.
                let valid = self.codes.time() == before.wrapping_add(1) & 0x3f;
                // Each port marks the message by itself.
                if valid && let Some(message) = self.bridge.code(code, true) {
                    let out = self.broadcast.receive(ns, from, message.channel);
                    self.spread(now, out, message, links, reports);
                }
                valid
            }
        }
    }

    /// Sends a message to ports, marked DELAYED where it cannot leave at once.
    fn spread(
        &mut self,
        now: Ps,
        out: u32,
        message: LinkBroadcast,
        links: &mut dyn Links,
        reports: &mut dyn Reports,
    ) {
        for port in bits_of(out) {
            let Some(end) = self.ports.get(&port) else { continue };
            let held = self.held.entry(port).or_default();
            let at_once =
                held.is_empty() && links.end(*end).is_some_and(|end| end.broadcasts_at_once());
            let message = LinkBroadcast { delayed: message.delayed || !at_once, ..message };
            if held.is_empty()
                && give(now, links, *end, NumberedMessage::Broadcast(message), reports)
            {
                continue;
            }
            if held.len() < HELD {
                held.push_back(message);
            } else {
                self.lost += 1;
            }
        }
    }

    fn spread_code(
        &mut self,
        now: Ps,
        out: u32,
        code: BroadcastCode,
        links: &mut dyn Links,
        reports: &mut dyn Reports,
    ) {
        for port in bits_of(out) {
            if let Some(end) = self.ports.get(&port) {
                give(now, links, *end, NumberedMessage::Code(code), reports);
            }
        }
    }

    fn send_held(&mut self, now: Ps, links: &mut dyn Links, reports: &mut dyn Reports) -> bool {
        let mut any = false;
        for (port, held) in &mut self.held {
            let Some(end) = self.ports.get(port) else { continue };
            while let Some(message) = held.front() {
                if !give(now, links, *end, NumberedMessage::Broadcast(*message), reports) {
                    break;
                }
                held.pop_front();
                any = true;
            }
        }
        any
    }

    /// Whether it holds no message.
    pub fn is_empty(&self) -> bool {
        self.held.values().all(VecDeque::is_empty)
    }

    /// Counters by name.
    pub fn counters(&self) -> [(&'static str, u64); 3] {
        let counters = self.broadcast.counters();
        [
            ("broadcast messages passed", counters.passed),
            ("broadcast copies discarded", counters.copies),
            ("broadcast messages lost", self.lost),
        ]
    }
}
