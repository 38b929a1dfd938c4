//! The engine of the soft device, where threads of this process run it: in virtual networks of
//! all modes but thread.

use spfe_host::Peer;
pub(crate) use spfe_plane::Runner;
use spfe_plane::View;
pub(crate) use spfe_plane::view::MessageRunner;
use std::sync::Arc;

/// The data plane of this client in its network.
pub(crate) struct Engine(pub Arc<View>);

impl Engine {
    /// Whether the clients that use a port run the engine of its flows.
    pub fn runs(&self, endpoint: u32, port: u32) -> bool {
        self.0.runs(endpoint, port)
    }

    /// Whether runners made from now on measure the time of their engine.
    pub fn set_measure(&self, on: bool) {
        self.0.set_measure(on);
    }

    /// The runner of a transmit queue, as the owner of its flow.
    pub fn transmit(&self, endpoint: u32, port: u32, vc: u32) -> Runner {
        let view = &self.0;
        let mut runner = if view.peer(endpoint, port).answers() {
            view.runners_answering(endpoint, port, vc).0
        } else {
            view.runner_out(endpoint, port, vc, true)
        };
        runner.run(0);
        runner
    }

    /// The runner of a receive queue: the owner of the flow where an instrument sends, otherwise a
    /// helper of the sender.
    pub fn receive(&self, endpoint: u32, port: u32, vc: u32) -> Runner {
        let view = &self.0;
        let mut runner = match view.peer(endpoint, port) {
            peer if peer.answers() => view.runners_answering(endpoint, port, vc).1,
            Peer::Port { .. } | Peer::Fabric { .. } => view.runner_into(endpoint, port, vc, false),
            _ => view.runner_into(endpoint, port, vc, true),
        };
        runner.run(0);
        runner
    }

    /// The runner of a queue pair, which runs both directions of its virtual channel.
    #[cfg(feature = "rdma")]
    pub fn pair(&self, endpoint: u32, port: u32, vc: u32) -> Runner {
        let view = &self.0;
        let peer = view.peer(endpoint, port);
        let (out, into) = if peer.answers() {
            view.runners_answering(endpoint, port, vc)
        } else {
            let helps = matches!(peer, Peer::Port { .. } | Peer::Fabric { .. });
            let into = view.runner_into(endpoint, port, vc, !helps);
            (view.runner_out(endpoint, port, vc, true), into)
        };
        let mut runner = out.with_partner(into);
        runner.run(0);
        runner
    }

    /// Runners of the messages out of a port, and into it where another endpoint sends them.
    pub fn messages(&self, endpoint: u32, port: u32) -> (MessageRunner, Option<MessageRunner>) {
        (self.0.messages_out(endpoint, port), self.0.messages_into(endpoint, port))
    }
}
