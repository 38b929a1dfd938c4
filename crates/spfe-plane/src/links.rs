//! How exact links and observers take part in a network without the plane knowing what they are.
//!
//! The lab implements these traits. None of them is on the path of a packet between two
//! packet-level ports: a runner asks for its tap when it binds, and only ports on exact links have a
//! [`LinkSource`] or [`LinkSink`].

use spfe_contract::{MibItem, PortState};
use spfe_device::flow::{Accepted, NextPiece, Piece};
use spfe_device::message::MessageObserver;
use spfe_device::observer::DeliveryObserver;
use spfe_device::shared::FlowShared;
use spfe_host::{MibEntry, MibFault};
use std::sync::{Arc, Weak};

/// Is told when the state of a port's link changes. Called with the lock of the links held, so it
/// must neither wait nor ask them.
pub trait LinkWatcher: Send + Sync {
    /// The state has changed.
    fn changed(&self);
}

/// The exact links of a network: simulated word by word, in the process that owns the network.
///
/// Every method takes a port by endpoint and number. Those that do not return an `Option` are only
/// called for ports that [`ExactLinks::has`].
pub trait ExactLinks: Send + Sync {
    /// Whether a port is on an exact link.
    fn has(&self, endpoint: u32, port: u32) -> bool;
    /// Where packets of a virtual channel leave the port.
    fn sink(self: Arc<Self>, endpoint: u32, port: u32, vc: u32) -> Option<Box<dyn LinkSink>>;
    /// Where packets of a virtual channel enter the port; `shared` is the flow that they fill.
    fn source(
        self: Arc<Self>,
        endpoint: u32,
        port: u32,
        vc: u32,
        shared: &'static FlowShared,
    ) -> Option<Box<dyn LinkSource>>;
    /// State of the link, as software needs it.
    fn state(&self, endpoint: u32, port: u32) -> PortState;
    /// Sets the priority of a virtual channel: 0, the most urgent, to 15.
    fn set_priority(&self, endpoint: u32, port: u32, vc: u32, priority: u8);
    /// States, counters and items of the management information base.
    fn mib(&self, endpoint: u32, port: u32) -> Vec<MibEntry>;
    /// The value of an item.
    fn mib_item(
        &self,
        endpoint: u32,
        port: u32,
        item: MibItem,
        index: u32,
    ) -> Result<u64, MibFault>;
    /// Sets an item.
    fn set_mib_item(
        &self,
        endpoint: u32,
        port: u32,
        item: MibItem,
        index: u32,
        value: u64,
    ) -> Result<(), MibFault>;
    /// Resets the link; false if it has no reset.
    fn reset(&self, endpoint: u32, port: u32) -> bool;
    /// Tells `watcher` of every change of [`ExactLinks::state`] from now on, for as long as it lives.
    fn watch(&self, endpoint: u32, port: u32, watcher: Weak<dyn LinkWatcher>);
    /// Opens the wire for a time in ns, in a lane or in all. The error says what is wrong with lane
    /// or time.
    fn cut(
        &self,
        endpoint: u32,
        port: u32,
        lane: Option<u32>,
        duration_ns: u64,
    ) -> Result<(), String>;
}

/// Takes the packets that leave a port on a virtual channel.
pub trait LinkSink: Send {
    /// Takes as much of the piece as the link has room for.
    fn take(&mut self, piece: &mut Piece) -> Accepted;
    /// Ends the open packet with EEP: its sender is gone.
    fn cut(&mut self);
    /// Whether a packet has begun and not ended.
    fn is_open(&self) -> bool;
}

/// Gives the packets that enter a port on a virtual channel.
pub trait LinkSource: Send {
    /// The next piece, if one has arrived. Its bytes stay in place until [`LinkSource::done`] or
    /// [`LinkSource::lose`].
    fn next(&mut self, piece: &mut Piece) -> NextPiece;
    /// The receiver has taken `done` bytes of the piece and has no more room.
    fn pause(&mut self, done: u32);
    /// The receiver has taken all of a piece of `length` bytes.
    fn done(&mut self, length: u32);
    /// The receiver is gone: drops the rest of the packet.
    fn lose(&mut self);
}

/// Runs the exact links of a network in a device thread, and the flows at their ends.
pub trait LinkDriver: Send {
    /// Runs the links up to `now_ns` after the network's start; true if there is more to do at once.
    fn turn(&mut self, now_ns: u64) -> bool;
    /// When the links go on by themselves, in ns after the network's start.
    fn due_ns(&self) -> Option<u64>;
    /// Wakes hosts whose time has come; returns when the next one is due, in ns of the clock.
    fn wake_due(&mut self) -> Option<u64>;
    /// Tells the hosts whether the device sleeps and wants a doorbell.
    fn set_need_doorbell(&mut self, on: bool);
    /// Whether all changes of queues have been seen.
    fn is_current(&self) -> bool;
}

/// Observes the packet-level links of a network: captures and live statistics.
///
/// Called with a flow's seat held: it must not wait for the control plane.
pub trait LinkObserver: Send + Sync {
    /// A tap on the flow of a virtual channel out of a port, or into it; `None` if nothing observes.
    fn tap(
        self: Arc<Self>,
        endpoint: u32,
        port: u32,
        vc: u32,
        out: bool,
    ) -> Option<DeliveryObserver>;
    /// A tap on the messages out of a port; `None` if nothing observes.
    fn message_tap(self: Arc<Self>, endpoint: u32, port: u32) -> Option<MessageObserver>;
}
