//! What every link is: two ends, and what happens between them.

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

/// An end of a link. A direction has the name of the end that sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The first.
    A = 0,
    /// The second.
    B = 1,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// The opposite end.
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// What happens at an end. A state is named as the standard names it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EndEvent {
    /// A lane's state changed (50-11C 5.5.4), or that of a SpaceWire link, as lane 0.
    LaneState {
        /// The lane.
        lane: u8,
        /// The state.
        state: &'static str,
    },
    /// The alignment of the lanes changed (50-11C 5.6.4.3).
    Alignment {
        /// The state.
        state: &'static str,
        /// Lanes that data is sent on.
        sending: u16,
        /// Lanes that data is received from.
        receiving: u16,
    },
    /// The link reset state changed (50-11C 5.7.9).
    LinkReset {
        /// The state.
        state: &'static str,
    },
    /// An error that was found here, by its name in the standard's tables.
    Error {
        /// The name.
        name: &'static str,
    },
    /// A valid NACK came: what was not acknowledged is sent again.
    Retry,
    /// The receiver is in order again after an error.
    Recovered {
        /// Time since the damaged word came.
        after_ps: Ps,
    },
    /// Something was done to a word sent from here.
    Fault {
        /// The lane.
        lane: u8,
        /// What.
        fault: WireFault,
    },
    /// A fault that lasts begins or ends, in what is sent from here or taken here.
    Lasting {
        /// What.
        fault: LastingFault,
        /// It begins.
        begins: bool,
    },
    /// The time-code master here sent none where one was due.
    CodeLost {
        /// The code.
        code: BroadcastCode,
    },
    /// A command was given here.
    Command(EndCommand),
}

/// Who looks on. The default looks away.
pub trait Observer {
    /// Something happened at an end of a link.
    fn event(&mut self, at: Ps, link: u32, side: Side, event: EndEvent) {
        let _ = (at, link, side, event);
    }

    /// A word came out of a lane's decoder at an end (SpaceFibre), if the link was asked to show
    /// words; `None` without signal.
    fn word(&mut self, at: Ps, link: u32, side: Side, lane: u8, word: Option<Word>) {
        let _ = (at, link, side, lane, word);
    }

    /// A character came in at an end (SpaceWire), if the link was asked to show words.
    fn character(
        &mut self,
        at: Ps,
        link: u32,
        side: Side,
        character: spfe_link::spacewire::SpaceWireCharacter,
    ) {
        let _ = (at, link, side, character);
    }

    /// Whether [`Observer::packet`] is to be called.
    fn wants_packets(&self) -> bool {
        false
    }

    /// The end of a packet was taken from a link at an end, by a node or router: its bytes, from
    /// the path on that was left.
    fn packet(&mut self, at: Ps, link: u32, side: Side, channel: u8, bytes: &[u8], end: PacketEnd) {
        let _ = (at, link, side, channel, bytes, end);
    }

    /// A node began to hand a packet of a flow in at its end of a link.
    fn handed_in(&mut self, at: Ps, link: u32, side: Side, channel: u8, packet: PacketHeader) {
        let _ = (at, link, side, channel, packet);
    }

    /// A packet of a flow came to the node it was for, whole and in order.
    fn delivered(&mut self, at: Ps, link: u32, side: Side, channel: u8, packet: PacketHeader) {
        let _ = (at, link, side, channel, packet);
    }

    /// A router threw a packet away.
    fn dropped(&mut self, at: Ps, router: u32, dropped: DiscardedPacket) {
        let _ = (at, router, dropped);
    }

    /// A broadcast message was handed to a link at an end, or taken from it.
    fn broadcast(&mut self, at: Ps, link: u32, side: Side, sent: bool, message: &LinkBroadcast) {
        let _ = (at, link, side, sent, message);
    }

    /// A time-code or interrupt was handed to a link at an end, or taken from it.
    fn code(&mut self, at: Ps, link: u32, side: Side, sent: bool, code: BroadcastCode) {
        let _ = (at, link, side, sent, code);
    }
}

/// Looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// What an end has counted. A word is four characters, with their end marker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndCounters {
    /// Words of data frames, sent for the first time, for each virtual channel: what the link was
    /// used for. SpaceWire: N-Chars on channel 0.
    pub sent_words: Vec<u64>,
    /// The same, received and accepted.
    pub received_words: Vec<u64>,
    /// By name, in a fixed order: frames and control words sent and received, errors, retries, lane
    /// state changes, ...
    pub named: Vec<(&'static str, u64)>,
}

/// One end, as the unit behind it sees it.
///
/// On a SpaceWire link there is one virtual channel, words carry up to four N-Chars as in SpaceFibre
/// (50-11C 5.3.7), and codes take the place of broadcast messages.
pub trait SimulatedEnd {
    /// Virtual channels.
    fn channels(&self) -> usize;

    /// Whether packets and messages can go: the link is initialised and a lane is active.
    fn is_running(&self) -> bool;

    /// Words there is room for; none while the link is being reset.
    fn writable(&self, channel: usize) -> usize;

    /// Takes words of packets; how many.
    fn write(&mut self, channel: usize, words: &[Word]) -> usize;

    /// Words that wait.
    fn readable(&self, channel: usize) -> usize;

    /// Gives words of packets; how many.
    fn read(&mut self, channel: usize, words: &mut [Word]) -> usize;

    /// Channels with words that wait: bit V for virtual channel V.
    fn waiting(&self) -> u32;

    /// Sends a broadcast message. False: too many wait, or the link has none.
    fn send_broadcast(&mut self, message: LinkBroadcast) -> bool;

    /// Whether a broadcast message given now would go with no other before it. A switch marks one
    /// that would not DELAYED (50-11C 5.8). False: the link has none.
    fn broadcasts_at_once(&self) -> bool;

    /// A broadcast message that came.
    fn receive_broadcast(&mut self) -> Option<LinkBroadcast>;

    /// Sends a time-code or interrupt. False: the link has none, or does not run.
    fn send_code(&mut self, code: BroadcastCode) -> bool;

    /// Whether a code can be sent that will not take the place of one that still waits.
    fn takes_code(&self) -> bool {
        self.is_running()
    }

    /// A time-code or interrupt that came.
    fn receive_code(&mut self) -> Option<BroadcastCode>;

    /// A time-slot begins, 0 to 63 (50-11C 5.7.4).
    fn schedule(&mut self, slot: u8);

    /// Quality of service of a channel; false if there is none such.
    fn set_qos(&mut self, channel: usize, parameters: qos::QosParameters) -> bool;

    /// Its quality of service.
    fn qos(&self, channel: usize) -> Option<qos::QosParameters>;

    /// Does as told; false if the link has no such thing.
    fn command(&mut self, command: EndCommand) -> bool;

    /// What it has counted.
    fn counters(&self) -> EndCounters;

    /// The value of an item of the management information base (50-11C 5.9), of a lane or channel.
    fn mib(&mut self, item: mib::MibItem, index: usize) -> Result<u64, mib::Error> {
        let _ = (item, index);
        Err(mib::Error::Absent)
    }

    /// Sets an item.
    fn set_mib(&mut self, item: mib::MibItem, index: usize, value: u64) -> Result<(), mib::Error> {
        let _ = (item, index, value);
        Err(mib::Error::Absent)
    }
}

/// A link.
pub trait SimulatedLink: Send {
    /// Goes on until a time: every word period, or character, that begins before it.
    fn run(&mut self, until: Ps, observer: &mut dyn Observer);

    /// Where it is: nothing before this time will happen any more.
    fn now(&self) -> Ps;

    /// An end.
    fn end(&mut self, side: Side) -> &mut dyn SimulatedEnd;

    /// Something goes wrong in the direction from `from`, at a time that has not been yet. Bit
    /// errors that come at a rate are set with [`SimulatedLink::set_bit_error_rate`]. False: this kind of
    /// link has no such fault.
    fn inject(&mut self, at: Ps, from: Side, fault: WireFault) -> bool;

    /// Probability of an error for each bit in the direction from `from` on a lane, none for all.
    fn set_bit_error_rate(&mut self, from: Side, lane: Option<u8>, rate: f64);

    /// Whether to show words, or characters, to the observer.
    fn show_words(&mut self, on: bool);

    /// Words (SpaceWire: characters) that have been sent in both directions on all lanes.
    fn words(&self) -> u64;

    /// Whether both ends have nothing to send and nothing on its way but idle frames and what keeps
    /// the link: time may be left out.
    fn is_quiet(&self) -> bool;

    /// Leaves out time: the link stands still until then.
    fn skip_to(&mut self, time: Ps);
}
