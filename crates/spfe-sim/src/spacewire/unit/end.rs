//! The interface of one end for the node or router behind it.

use super::SpaceWireUnit;
use crate::fault::EndCommand;
use crate::link::{EndCounters, EndEvent, SimulatedEnd};
use spfe_link::Word;
use spfe_link::datalink::{LinkBroadcast, WordContent, content};
use spfe_link::network::unit::PacketUnit as _;
use spfe_link::qos;
use spfe_link::spacewire::state::SpaceWireControl;
use spfe_link::spacewire::{BroadcastCode, SpaceWireState};

impl SimulatedEnd for SpaceWireUnit {
    fn channels(&self) -> usize {
        1
    }

    fn is_running(&self) -> bool {
        self.port.state() == SpaceWireState::Run
    }

    fn writable(&self, channel: usize) -> usize {
        if channel == 0 { self.transmit_words - self.to_send.len() } else { 0 }
    }

    fn write(&mut self, channel: usize, words: &[Word]) -> usize {
        let mut count = 0;
        for word in words {
            if self.writable(channel) == 0 {
                break;
            }
            if content(*word) != WordContent::Fill {
                self.write_open = !word.is_end();
                self.to_send.push_back(*word);
            }
            count += 1;
        }
        // The rest of a cut packet need not wait for the link.
        self.feed();
        count
    }

    fn readable(&self, channel: usize) -> usize {
        if channel == 0 { self.arrived.len() } else { 0 }
    }

    fn read(&mut self, channel: usize, words: &mut [Word]) -> usize {
        let count = self.readable(channel).min(words.len());
        for (to, word) in words.iter_mut().zip(self.arrived.drain(..count)) {
            self.read_open = !word.is_end();
            *to = word;
        }
        self.drain(self.now);
        count
    }

    fn waiting(&self) -> u32 {
        u32::from(!self.arrived.is_empty())
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

    fn send_code(&mut self, code: BroadcastCode) -> bool {
        let taken = match self.any_code {
            true => self.port.broadcast_any(code),
            false => self.port.broadcast(code),
        };
        self.codes_wait |= taken;
        taken
    }

    fn takes_code(&self) -> bool {
        self.is_running() && !self.codes_wait
    }

    fn receive_code(&mut self) -> Option<BroadcastCode> {
        self.codes.pop_front()
    }

    fn schedule(&mut self, _: u8) {}

    fn set_qos(&mut self, _: usize, _: qos::QosParameters) -> bool {
        false
    }

    fn qos(&self, _: usize) -> Option<qos::QosParameters> {
        None
    }

    /// Translates commands of SpaceFibre:
    ///
    /// * Link Reset: disables the link and restores the setting at once, which restarts the link.
    /// * Interface Reset: Port Reset, which also empties the queues.
    /// * LaneStart and AutoStart of lane 0 or all lanes: LinkStart and AutoStart.
    fn command(&mut self, command: EndCommand) -> bool {
        let before = self.port.control();
        let changed = match command {
            EndCommand::LinkReset => SpaceWireControl { enabled: false, ..before },
            EndCommand::InterfaceReset => SpaceWireControl { reset: true, ..before },
            EndCommand::LaneStart(None | Some(0), on) => {
                SpaceWireControl { link_start: on, ..before }
            }
            EndCommand::AutoStart(None | Some(0), on) => {
                SpaceWireControl { auto_start: on, ..before }
            }
            EndCommand::LaneReset(_) | EndCommand::LaneStart(..) | EndCommand::AutoStart(..) => {
                return false;
            }
        };
        self.report(self.now, EndEvent::Command(command));
        self.set_control(changed);
        if matches!(command, EndCommand::LinkReset | EndCommand::InterfaceReset) {
            self.set_control(before);
        }
        true
    }

    fn counters(&self) -> EndCounters {
        let counters = self.port.counters();
        EndCounters {
            sent_words: vec![counters.sent_n_chars],
            received_words: vec![counters.received_n_chars],
            named: self.counts.named(&self.port),
        }
    }
}
