//! What a port is and what moves on it.

use super::{Attachment, Error, Network, Result};
use crate::exact::Exact;
use crate::topology::Peer;
use serde::{Deserialize, Serialize};
use spfe_contract::{MibItem, PortState, Status};
use spfe_device::message::CONTEXTS;
use spfe_device::shared::QueueCounts;
use spfe_ring::sync::Ordering;

/// What a port is, and what moves on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortInfo {
    /// `port_kind`.
    pub kind: u8,
    /// `port_state`.
    pub state: u8,
    /// Virtual channels.
    pub vcs: u32,
    /// Rate of the link.
    pub rate: crate::topology::LinkRate,
    /// How the link is made.
    pub model: crate::topology::LinkModel,
    /// What it is connected to.
    pub peer: Peer,
    /// Per virtual channel: who sends, who receives at the far end, priority, counters.
    pub channels: Vec<ChannelInfo>,
    /// Messages sent, received and dropped.
    pub messages: (u64, u64, u64),
    /// Last time-code, and how many were not one more than the one before.
    pub time_code: (u8, u32),
}

/// One virtual channel of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelInfo {
    /// Priority, 0 the most urgent.
    pub priority: u8,
    /// Participant that sends here, 0 if none.
    pub tx_owner: u32,
    /// Participant that receives here, 0 if none.
    pub rx_owner: u32,
    /// The far end has a receiver.
    pub far_receives: bool,
    /// The far end has a sender.
    pub far_sends: bool,
    /// Transmit counters: packets, bytes, errors, stalls, wakes.
    pub tx: [u64; 5],
    /// Receive counters.
    pub rx: [u64; 5],
}

fn five(values: QueueCounts) -> [u64; 5] {
    [values.packets, values.bytes, values.errors, values.stalls, values.wakes]
}

impl Network {
    /// Sets the priority of a virtual channel out of a port (0, the most urgent, to 15).
    pub fn set_priority(&self, at: Attachment, port: u32, vc: u32, priority: u8) -> Result<()> {
        let config = self.port(at.endpoint, port)?;
        if vc >= config.vcs || priority > 15 {
            let what = format!(
                "VC {vc} priority {priority}: port {port} has VCs 0 to {}, priorities 0 to 15",
                config.vcs - 1
            );
            return Err(Error::new(Status::BadVc, what));
        }
        self.arena.times_out(at.endpoint, port).0.set_priority(vc, priority);
        if let Some((exact, face)) = self.exact_face(at.endpoint, port) {
            exact.set_priority(face, vc, priority);
        }
        Ok(())
    }

    pub(super) fn exact_face(&self, endpoint: u32, port: u32) -> Option<(&Exact, usize)> {
        let exact = self.exact.as_deref()?;
        Some((exact, exact.face(endpoint, port)?))
    }

    /// What a port is and what moves on it.
    pub fn port_info(&self, endpoint: u32, port: u32) -> Result<PortInfo> {
        let inner = self.lock();
        self.exists(endpoint)?;
        let config = self.port(endpoint, port)?;
        let state = self.port_state(endpoint, port);
        let messages = self.arena.messages(endpoint, port);
        let sum = |slots: &[spfe_device::message::MessageContext; CONTEXTS],
                   pick: fn(QueueCounts) -> u64| {
            slots.iter().map(|slot| pick(slot.count.values())).sum::<u64>()
        };
        let channels = (0..config.vcs).map(|vc| self.channel(endpoint, port, vc)).collect();
        drop(inner);
        Ok(PortInfo {
            kind: config.kind().raw(),
            state: state.raw(),
            vcs: config.vcs,
            rate: config.rate,
            model: config.model,
            peer: config.peer,
            channels,
            messages: (
                sum(&messages.tx, |values| values.packets),
                sum(&messages.rx, |values| values.packets),
                sum(&messages.rx, |values| values.dropped),
            ),
            time_code: (
                messages.time_code.load(Ordering::Relaxed) as u8,
                messages.time_code_invalid.load(Ordering::Relaxed),
            ),
        })
    }

    /// State of a port's link.
    pub(crate) fn port_state(&self, endpoint: u32, port: u32) -> PortState {
        let config = &self.topology().endpoints[endpoint as usize][port as usize];
        match self.exact_face(endpoint, port) {
            _ if config.peer == Peer::None => PortState::Down,
            Some((exact, face)) => exact.state(face),
            None => PortState::Up,
        }
    }

    /// Priority of a virtual channel out of a port.
    fn priority(&self, endpoint: u32, port: u32, vc: u32) -> u8 {
        let of_link = self
            .exact_face(endpoint, port)
            .and_then(|(exact, face)| exact.item(face, MibItem::Priority, vc as usize).ok());
        let paced = || self.arena.times_out(endpoint, port).0.priority(vc);
        of_link.map_or_else(paced, |priority| priority as u8)
    }

    fn channel(&self, endpoint: u32, port: u32, vc: u32) -> ChannelInfo {
        let (out, into) =
            (self.arena.flow_out(endpoint, port, vc), self.arena.flow_into(endpoint, port, vc));
        let peer = self.topology().endpoints[endpoint as usize][port as usize].peer;
        let (far_rx, far_tx) = match peer {
            Peer::Port { endpoint, port } => (
                self.config(endpoint, port, vc, false).kind,
                self.config(endpoint, port, vc, true).kind,
            ),
            _ => (0, 0),
        };
        ChannelInfo {
            priority: self.priority(endpoint, port, vc),
            tx_owner: self.config(endpoint, port, vc, true).owner,
            rx_owner: self.config(endpoint, port, vc, false).owner,
            far_receives: far_rx != 0 || peer.answers() || matches!(peer, Peer::Sink { .. }),
            far_sends: far_tx != 0 || peer.answers() || matches!(peer, Peer::Generator { .. }),
            tx: five(out.tx_count.values()),
            rx: five(into.rx_count.values()),
        }
    }
}
