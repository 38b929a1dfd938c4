//! Interfaces of every simulated link: the link, its two ends, and its observers.

use crate::fault::{EndCommand, LastingFault, WireFault};
use crate::packet::PacketHeader;
use crate::time::Ps;
use spfe_link::Word;
use spfe_link::datalink::LinkBroadcast;
use spfe_link::mib;
use spfe_link::network::DiscardedPacket;
use spfe_link::qos;
use spfe_link::spacewire::BroadcastCode;
use spfe_proto::PacketEnd;
use std::time::Duration;

/// One end of a link. A direction is named after the end that sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The first end.
    A = 0,
    /// The second end.
    B = 1,
}

impl Side {
    /// Both ends.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// The opposite end.
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// An event at one end of a link. States and errors have the names of the standard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EndEvent {
    /// A lane changed its state (50-11C 5.5.4). A SpaceWire link reports its own state as lane 0.
    LaneState {
        /// The lane.
        lane: u8,
        /// The new state.
        state: &'static str,
    },
    /// The alignment of the lanes changed (50-11C 5.6.4.3).
    Alignment {
        /// The new state.
        state: &'static str,
        /// Lanes that send data, a bit for each.
        sending: u16,
        /// Lanes that receive data, a bit for each.
        receiving: u16,
    },
    /// The link reset state changed (50-11C 5.7.9).
    LinkReset {
        /// The new state.
        state: &'static str,
    },
    /// This end found an error.
    Error {
        /// Name of the error in the tables of the standard.
        name: &'static str,
    },
    /// A valid NACK arrived: the end sends all unacknowledged data again.
    Retry,
    /// The receiver works without errors again.
    Recovered {
        /// Time since the damaged word arrived.
        after_ps: Ps,
    },
    /// A fault was applied to a word that this end sent.
    Fault {
        /// The lane.
        lane: u8,
        /// The fault.
        fault: WireFault,
    },
    /// A lasting fault begins or ends. It affects what this end sends, or its application.
    Lasting {
        /// The fault.
        fault: LastingFault,
        /// True at its beginning, false at its end.
        begins: bool,
    },
    /// The time-code master at this end skipped a time-code that was due.
    CodeLost {
        /// The skipped code.
        code: BroadcastCode,
    },
    /// The unit at this end gave a command.
    Command(EndCommand),
}

/// Observes links, nodes and routers, for captures and live statistics. Every method does nothing
/// by default.
pub trait Observer {
    /// An event happened at one end of a link.
    fn event(&mut self, at: Ps, link: u32, side: Side, event: EndEvent) {
        let _ = (at, link, side, event);
    }

    /// A lane's decoder delivered a word (SpaceFibre). Called for links whose words are shown.
    /// `None` means that there is no signal.
    fn word(&mut self, at: Ps, link: u32, side: Side, lane: u8, word: Option<Word>) {
        let _ = (at, link, side, lane, word);
    }

    /// An end received a character (SpaceWire). Called for links whose words are shown.
    fn character(
        &mut self,
        at: Ps,
        link: u32,
        side: Side,
        character: spfe_link::spacewire::SpaceWireCharacter,
    ) {
        let _ = (at, link, side, character);
    }

    /// Whether the simulation should call [`Observer::packet`].
    fn wants_packets(&self) -> bool {
        false
    }

    /// A node or router took the end of a packet from a link. `bytes` begins with the path bytes
    /// that are left.
    fn packet(&mut self, at: Ps, link: u32, side: Side, channel: u8, bytes: &[u8], end: PacketEnd) {
        let _ = (at, link, side, channel, bytes, end);
    }

    /// A node began to hand a packet of a traffic stream to its end of a link.
    fn handed_in(&mut self, at: Ps, link: u32, side: Side, channel: u8, packet: PacketHeader) {
        let _ = (at, link, side, channel, packet);
    }

    /// A packet of a traffic stream reached its destination, complete and in order.
    fn delivered(&mut self, at: Ps, link: u32, side: Side, channel: u8, packet: PacketHeader) {
        let _ = (at, link, side, channel, packet);
    }

    /// A router discarded a packet.
    fn dropped(&mut self, at: Ps, router: u32, dropped: DiscardedPacket) {
        let _ = (at, router, dropped);
    }

    /// An end sent or received a broadcast message.
    fn broadcast(&mut self, at: Ps, link: u32, side: Side, sent: bool, message: &LinkBroadcast) {
        let _ = (at, link, side, sent, message);
    }

    /// An end sent or received a time-code or interrupt.
    fn code(&mut self, at: Ps, link: u32, side: Side, sent: bool, code: BroadcastCode) {
        let _ = (at, link, side, sent, code);
    }
}

/// Ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// Counters of one end. A word is four characters; end markers count as characters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndCounters {
    /// Words in data frames for each virtual channel, without retries. SpaceWire: N-Chars on
    /// channel 0.
    pub sent_words: Vec<u64>,
    /// Accepted words in data frames for each virtual channel. SpaceWire: N-Chars on channel 0.
    pub received_words: Vec<u64>,
    /// Other counters by name, in a fixed order: frames, control words, errors, retries, lane
    /// states.
    pub named: Vec<(&'static str, u64)>,
}

/// One end of a link, as its node or router uses it.
///
/// A SpaceWire link has one virtual channel. Its words carry up to four N-Chars as in SpaceFibre
/// (50-11C 5.3.7), and it has time-codes and interrupts instead of broadcast messages.
pub trait SimulatedEnd {
    /// Number of virtual channels.
    fn channels(&self) -> usize;

    /// Whether packets and messages can pass: the link is initialised and a lane is active.
    fn is_running(&self) -> bool;

    /// Free words in an output buffer; 0 during a link reset.
    fn writable(&self, channel: usize) -> usize;

    /// Writes words of packets into an output buffer. Returns how many fitted.
    fn write(&mut self, channel: usize, words: &[Word]) -> usize;

    /// Words in an input buffer.
    fn readable(&self, channel: usize) -> usize;

    /// Reads words of packets from an input buffer. Returns how many.
    fn read(&mut self, channel: usize, words: &mut [Word]) -> usize;

    /// Virtual channels whose input buffer holds words, a bit for each.
    fn waiting(&self) -> u32;

    /// Queues a broadcast message. False if the queue is full or the link has no broadcast
    /// messages.
    fn send_broadcast(&mut self, message: LinkBroadcast) -> bool;

    /// Whether a broadcast message sent now would leave at once, with no other queued before it. A
    /// router marks other messages DELAYED (50-11C 5.8). False if the link has no broadcast
    /// messages.
    fn broadcasts_at_once(&self) -> bool;

    /// Takes the next received broadcast message.
    fn receive_broadcast(&mut self) -> Option<LinkBroadcast>;

    /// Sends a time-code or interrupt. False if the link has no codes or does not run.
    fn send_code(&mut self, code: BroadcastCode) -> bool;

    /// Whether a code sent now would not replace one that still waits.
    fn takes_code(&self) -> bool {
        self.is_running()
    }

    /// Takes the next received time-code or interrupt.
    fn receive_code(&mut self) -> Option<BroadcastCode>;

    /// Begins time-slot `slot`, 0 to 63 (50-11C 5.7.4).
    fn schedule(&mut self, slot: u8);

    /// Sets the quality of service of a virtual channel. False if there is no such channel.
    fn set_qos(&mut self, channel: usize, parameters: qos::QosParameters) -> bool;

    /// Quality of service of a virtual channel.
    fn qos(&self, channel: usize) -> Option<qos::QosParameters>;

    /// Executes a command. False if this kind of link does not have it.
    fn command(&mut self, command: EndCommand) -> bool;

    /// Current values of the counters.
    fn counters(&self) -> EndCounters;

    /// [`EndCounters::sent_words`] by itself.
    fn sent_words(&self) -> Vec<u64> {
        self.counters().sent_words
    }

    /// Reads an item of the management information base (50-11C 5.9). `index` is a lane or a
    /// virtual channel, depending on the item.
    fn mib(&mut self, item: mib::MibItem, index: usize) -> Result<u64, mib::Error> {
        let _ = (item, index);
        Err(mib::Error::Absent)
    }

    /// Writes an item of the management information base.
    fn set_mib(&mut self, item: mib::MibItem, index: usize, value: u64) -> Result<(), mib::Error> {
        let _ = (item, index, value);
        Err(mib::Error::Absent)
    }
}

/// A link with two ends.
pub trait SimulatedLink: Send {
    /// Simulates until a time: every word period, or character, that begins before it.
    fn run(&mut self, until: Ps, observer: &mut dyn Observer);

    /// Simulated time: everything before it is final.
    fn now(&self) -> Ps;

    /// An end.
    fn end(&mut self, side: Side) -> &mut dyn SimulatedEnd;

    /// Injects a fault into words that `from` sends, at `at`, which is not in the past. False if
    /// this kind of link does not have the fault. See [`SimulatedLink::set_bit_error_rate`] for a
    /// rate of bit errors.
    fn inject(&mut self, at: Ps, from: Side, fault: WireFault) -> bool;

    /// Sets the probability that a bit sent by `from` is inverted, on one lane, or on all for
    /// `None`.
    fn set_bit_error_rate(&mut self, from: Side, lane: Option<u8>, rate: f64);

    /// Ends the cuts, stuck signals and planned faults of what `from` sends, on one lane, or on all
    /// for `None`.
    fn restore(&mut self, from: Side, lane: Option<u8>);

    /// Whether observers see the words or characters of this link.
    fn show_words(&mut self, on: bool);

    /// Words (SpaceWire: characters) sent on all lanes in both directions.
    fn words(&self) -> u64;

    /// Whether both ends have nothing to send, and nothing but idle traffic is on the wires. Time
    /// may then be skipped.
    fn is_quiet(&self) -> bool;

    /// Whether its time may stand still while it is quiet: nothing is planned for later, and no end is
    /// foreign.
    fn may_sleep(&self) -> bool {
        true
    }

    /// Skips time without simulating it. The link does not change until then.
    fn skip_to(&mut self, time: Ps);

    /// Time up to which [`SimulatedLink::run`] does not wait for a foreign end. Waits for at most
    /// `wait` until its next words are here.
    fn ready(&mut self, wait: Duration) -> Ps {
        let _ = wait;
        Ps::MAX
    }

    /// Whether one end is another simulator or a board.
    fn has_foreign_end(&self) -> bool {
        false
    }
}
