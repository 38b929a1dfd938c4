//! State and counters of ports.

use super::{Attachment, Error, Network, Result};
use crate::arena::CONTROL;
use crate::links::LinkWatcher;
use spfe_contract::{MibItem, PortState, Status};
use spfe_device::message::CONTEXTS;
use spfe_device::shared::QueueCounts;
use spfe_host::port::{ChannelCounters, ChannelInfo, MessageCounters, TimeCodeInfo, TimeCodeValue};
use spfe_host::{Peer, PortInfo};
use spfe_ring::sync::Ordering;
use std::sync::Weak;

fn counters(values: QueueCounts) -> ChannelCounters {
    let QueueCounts { packets, bytes, errors, stalls, wakes, .. } = values;
    ChannelCounters { packets, bytes, errors, stalls, wakes }
}

impl Network {
    /// Whether the client has a queue of packets open on a virtual channel.
    pub fn owns_channel(&self, at: Attachment, port: u32, vc: u32) -> bool {
        let _inner = self.lock();
        let known = self.port(at.endpoint, port).is_ok_and(|config| vc < config.vcs);
        known
            && [true, false].into_iter().any(|tx| {
                let config = self.config(at.endpoint, port, vc, tx);
                config.kind != 0 && config.owner == at.client
            })
    }

    /// Sets the transmit priority of a virtual channel: 0, the most urgent, to 15.
    ///
    /// # Errors
    /// BAD_VC for an unknown virtual channel or a priority over 15.
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
        if let Some(exact) = self.exact(at.endpoint, port) {
            exact.set_priority(at.endpoint, port, vc, priority);
        }
        Ok(())
    }

    /// Frees the link time that a sender has booked and not used.
    pub(super) fn give_back_link_time(&self, endpoint: u32, port: u32, vc: u32) {
        let config = &self.topology().endpoints[endpoint as usize][port as usize];
        if let (Some(timing), false) = (config.rate.timing(), config.is_exact()) {
            let (link, _) = self.arena.times_out(endpoint, port);
            link.give_back(vc, self.clock.now_ns(), &timing, CONTROL);
        }
    }

    /// State and counters of a port.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such port.
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
            kind: config.kind(),
            state,
            vcs: config.vcs,
            rate: config.rate,
            model: config.model,
            peer: config.peer,
            channels,
            messages: MessageCounters {
                sent: sum(&messages.tx, |values| values.packets),
                received: sum(&messages.rx, |values| values.packets),
                dropped: sum(&messages.rx, |values| values.dropped),
            },
            time_codes: TimeCodeInfo {
                last: TimeCodeValue::new(messages.time_code.load(Ordering::Relaxed) as u8, 0),
                out_of_sequence: messages.time_code_invalid.load(Ordering::Relaxed),
            },
        })
    }

    /// State of a port's link.
    pub(crate) fn port_state(&self, endpoint: u32, port: u32) -> PortState {
        if let Some(state) = self.fabric_state(endpoint, port) {
            return state;
        }
        let config = &self.topology().endpoints[endpoint as usize][port as usize];
        match self.exact(endpoint, port) {
            _ if config.peer == Peer::None => PortState::Down,
            Some(exact) => exact.state(endpoint, port),
            None => PortState::Up,
        }
    }

    /// Tells `watcher` of every change of a port's state from now on, for as long as it lives. A
    /// packet-level link never changes; a fabric port changes with its nodes.
    pub(crate) fn watch_port(&self, endpoint: u32, port: u32, watcher: Weak<dyn LinkWatcher>) {
        self.watch_nodes(endpoint, port, watcher.clone());
        if let Some(exact) = self.exact(endpoint, port) {
            exact.watch(endpoint, port, watcher);
        }
    }

    /// Transmit priority of a virtual channel.
    fn priority(&self, endpoint: u32, port: u32, vc: u32) -> u8 {
        let of_link = self
            .exact(endpoint, port)
            .and_then(|exact| exact.mib_item(endpoint, port, MibItem::Priority, vc).ok());
        let paced = || self.arena.times_out(endpoint, port).0.priority(vc);
        of_link.map_or_else(paced, |priority| priority as u8)
    }

    fn channel(&self, endpoint: u32, port: u32, vc: u32) -> ChannelInfo {
        let (out, into) =
            (self.arena.flow_out(endpoint, port, vc), self.arena.flow_into(endpoint, port, vc));
        let config = &self.topology().endpoints[endpoint as usize][port as usize];
        let peer = config.peer;
        // The two ends of an exact link share no flow, but they are in the same network.
        let far = match peer {
            Peer::Port { endpoint, port } => Some((endpoint, port, vc)),
            _ => config.far_end(endpoint, port, vc),
        };
        let (far_rx, far_tx) = far.map_or((0, 0), |(endpoint, port, vc)| {
            (
                self.config(endpoint, port, vc, false).kind,
                self.config(endpoint, port, vc, true).kind,
            )
        });
        let client = |owner| (owner != 0).then_some(owner);
        ChannelInfo {
            priority: self.priority(endpoint, port, vc),
            sender: client(self.config(endpoint, port, vc, true).owner),
            receiver: client(self.config(endpoint, port, vc, false).owner),
            far_receives: far_rx != 0 || peer.answers() || matches!(peer, Peer::Sink { .. }),
            far_sends: far_tx != 0 || peer.answers() || matches!(peer, Peer::Generator { .. }),
            tx: counters(out.tx_count.values()),
            rx: counters(into.rx_count.values()),
        }
    }
}
