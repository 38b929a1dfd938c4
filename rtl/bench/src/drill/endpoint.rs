//! The interface of a TCP endpoint for scripts, the peer and the fuzzer: frames and bytes in
//! virtual time.
//!
//! The core (through its pins) and the reference model are endpoints.

use std::net::Ipv4Addr;

/// A frame without preamble and FCS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Bytes from the destination address on.
    pub bytes: Vec<u8>,
    /// Whether the MAC sends it with an invalid FCS, so that no receiver accepts it.
    pub poisoned: bool,
}

/// Information that the user gives at the start of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// None: the core stores the message before it sends it.
    #[default]
    Nothing,
    /// The length.
    Length,
    /// The length and the one's complement sum.
    LengthAndSum,
}

/// Payload of a segment, delivered to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Session of the segment.
    pub session: u16,
    /// Payload.
    pub bytes: Vec<u8>,
    /// Whether the user must discard it (cut-through).
    pub err: bool,
    /// Distance from the next byte in sequence, if the segment is out of sequence.
    pub ahead: Option<u32>,
}

/// An event of the core (`event_e` of `spfe_tcp_pkg.sv`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Number of the kind, see [`kind`].
    pub kind: u8,
    /// Session.
    pub session: u16,
    /// Data of 40 bits. Its meaning depends on the kind.
    pub data: u64,
}

/// Names of the kinds of events in scripts.
pub const EVENT_NAMES: [(&str, u8); 11] = [
    ("opened", 1),
    ("closed", 2),
    ("peer-fin", 3),
    ("credit", 4),
    ("tx-deferred", 5),
    ("tx-aborted", 6),
    ("tx-bad-sum", 7),
    ("tx-refused", 8),
    ("rx-bad", 9),
    ("arp-failed", 10),
    ("status", 11),
];

/// Names of the reasons in the data of a `closed` event, by number.
pub const CLOSE_NAMES: [&str; 6] = ["done", "reset", "timeout", "abort", "refused", "no-route"];

/// Names of states, by the number of `state_e`.
pub const STATE_NAMES: [&str; 12] = [
    "closed",
    "listen",
    "syn-sent",
    "syn-rcvd",
    "established",
    "fin-wait-1",
    "fin-wait-2",
    "close-wait",
    "closing",
    "last-ack",
    "time-wait",
    "resolve",
];

/// A command to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Passive open.
    Listen {
        /// Local port.
        port: u16,
        /// The only peer that is accepted, or `None` for any peer.
        from: Option<Ipv4Addr>,
    },
    /// Active open.
    Connect {
        /// Address of the peer.
        ip: Ipv4Addr,
        /// Port of the peer.
        port: u16,
        /// Local port.
        local_port: u16,
    },
    /// Send FIN after all data.
    Close,
    /// Send RST.
    Abort,
}

/// State of a session in the registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// State, an index of [`STATE_NAMES`].
    pub state: u8,
    /// SND.UNA.
    pub snd_una: u32,
    /// SND.NXT.
    pub snd_nxt: u32,
    /// RCV.NXT.
    pub rcv_nxt: u32,
    /// SND.WND in bytes.
    pub snd_wnd: u32,
    /// Retransmission time-out in ticks.
    pub rto: u16,
    /// Free bytes in the ring.
    pub credit: u32,
}

/// Settings in registers (`tcp_cfg_t`) with one virtual interface. Times are in ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of tcp_cfg_t, described there")]
pub struct Settings {
    pub mac: [u8; 6],
    pub ip: Ipv4Addr,
    pub mask: Ipv4Addr,
    pub gateway: Ipv4Addr,
    /// VLAN tag of all frames (priority, DEI, identifier), if there is one.
    pub vlan: Option<u16>,
    pub rst_silent: bool,
    pub ring_refuse: bool,
    pub fragment: bool,
    pub wscale: Option<u8>,
    pub rcv_wnd: u32,
    pub mss: u16,
    pub iss_key: u128,
    pub rto_min: u16,
    pub rto_max: u16,
    pub rto_init: u16,
    pub syn_tries: u8,
    pub data_tries: u8,
    pub delack: u16,
    pub time_wait: u16,
    pub persist_max: u16,
    pub arp_retry: u16,
    pub arp_tries: u8,
    pub arp_refresh: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mac: [2, 0, 0, 0, 0, 1],
            ip: Ipv4Addr::new(10, 0, 0, 1),
            mask: Ipv4Addr::new(255, 255, 255, 0),
            gateway: Ipv4Addr::new(10, 0, 0, 254),
            vlan: None,
            rst_silent: false,
            ring_refuse: false,
            fragment: false,
            wscale: None,
            rcv_wnd: 65535,
            mss: 1460,
            iss_key: 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100,
            rto_min: 200,
            rto_max: 60000,
            rto_init: 1000,
            syn_tries: 5,
            data_tries: 8,
            delack: 40,
            time_wait: 1000,
            persist_max: 60000,
            arp_retry: 1000,
            arp_tries: 3,
            arp_refresh: 0,
        }
    }
}

/// Generics on which scripts and the model depend.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the parameters of spfe_tcp.sv")]
pub struct Build {
    pub session_count: u16,
    pub mtu: u16,
    pub rx_checksum: bool,
    pub rx_fifo_packets: u16,
    pub user_rx_width: u16,
    pub rx_reordering: bool,
    pub rx_out_of_sequence: bool,
    pub tx_drop_if_not_established: bool,
    pub tx_congestion_control: bool,
    pub tx_push: bool,
    pub tx_mem_addr_bits: u8,
    pub rx_mem_addr_bits: u8,
    pub status_events: bool,
    pub credit_events: bool,
    pub instant_ack: bool,
    pub arp_server: bool,
    pub arp_entries: u16,
    pub arp_gratuitous: bool,
    pub icmp_server: bool,
}

impl Default for Build {
    fn default() -> Self {
        Self {
            session_count: 16,
            mtu: 1500,
            rx_checksum: true,
            rx_fifo_packets: 64,
            user_rx_width: 64,
            rx_reordering: false,
            rx_out_of_sequence: false,
            tx_drop_if_not_established: false,
            tx_congestion_control: false,
            tx_push: false,
            tx_mem_addr_bits: 16,
            rx_mem_addr_bits: 15,
            status_events: false,
            credit_events: false,
            instant_ack: false,
            arp_server: true,
            arp_entries: 32,
            arp_gratuitous: true,
            icmp_server: true,
        }
    }
}

impl Build {
    /// Size of the ring of a session in bytes.
    #[must_use]
    pub fn ring_bytes(&self) -> u32 {
        let slots = u32::from(self.session_count).next_power_of_two();
        (16u32 << self.tx_mem_addr_bits) / slots
    }

    /// Size of a beat to the user in bytes.
    #[must_use]
    pub fn beat_bytes(&self) -> u32 {
        u32::from(self.user_rx_width) / 8
    }

    /// Size of the receive FIFO in bytes.
    #[must_use]
    pub fn fifo_bytes(&self) -> u32 {
        let beats =
            u32::from(self.rx_fifo_packets) * u32::from(self.mtu).div_ceil(self.beat_bytes());
        beats.next_power_of_two() * self.beat_bytes()
    }

    /// Number of bytes that each session has set aside in the receive FIFO.
    #[must_use]
    pub fn least_window(&self) -> u32 {
        let share = self.fifo_bytes() / (4 * u32::from(self.session_count));
        (1 << share.ilog2()).min(32768)
    }

    /// The largest window with which this number of sessions never have to share.
    #[must_use]
    pub fn free_window(&self, sessions: u32) -> u32 {
        if !self.rx_checksum {
            return u32::MAX;
        }
        let left = self.fifo_bytes() - 2 * self.least_window() * u32::from(self.session_count);
        // Two frames may be in the FIFO.
        (left - 2 * u32::from(self.mtu)) / (2 * sessions)
    }

    /// Number of bytes that reordering can hold for a session.
    #[must_use]
    pub fn kept_bytes(&self) -> u32 {
        let slots = u32::from(self.session_count).next_power_of_two();
        (16u32 << self.rx_mem_addr_bits) / slots
    }

    /// Finds a generic by its name in scripts.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u64> {
        let value = match name {
            "session_count" => u64::from(self.session_count),
            "mtu" => u64::from(self.mtu),
            "rx_checksum" => u64::from(self.rx_checksum),
            "rx_fifo_packets" => u64::from(self.rx_fifo_packets),
            "rx_reordering" => u64::from(self.rx_reordering),
            "rx_out_of_sequence" => u64::from(self.rx_out_of_sequence),
            "tx_drop_if_not_established" => u64::from(self.tx_drop_if_not_established),
            "tx_congestion_control" => u64::from(self.tx_congestion_control),
            "tx_push" => u64::from(self.tx_push),
            "status_events" => u64::from(self.status_events),
            "credit_events" => u64::from(self.credit_events),
            "instant_ack" => u64::from(self.instant_ack),
            "arp_server" => u64::from(self.arp_server),
            "arp_gratuitous" => u64::from(self.arp_gratuitous),
            "icmp_server" => u64::from(self.icmp_server),
            _ => return None,
        };
        Some(value)
    }
}

/// A TCP endpoint that exchanges frames and bytes in virtual time.
pub trait Endpoint {
    /// The generics of the endpoint.
    fn build(&self) -> &Build;
    /// Resets the endpoint, applies the settings and enables it. Drops earlier output.
    fn restart(&mut self, settings: &Settings);
    /// Gives a frame (without FCS) to the endpoint as a whole.
    fn inject(&mut self, frame: &[u8], bad_fcs: bool);
    /// Gives `n` ticks, and runs the endpoint until it is idle after each.
    fn advance_ticks(&mut self, n: u64);
    /// Runs the endpoint until it is idle.
    fn run_idle(&mut self);
    /// Takes the frames that it has sent since the last call.
    fn frames(&mut self) -> Vec<Frame>;
    /// Sends a message of the user. Without room in the ring, the message waits in the user stream
    /// or is refused with an event, depending on the settings.
    fn send(&mut self, session: u16, bytes: &[u8], mode: Mode);
    /// Number of messages given to `send` that the endpoint has not accepted yet.
    fn backlog(&self) -> usize;
    /// Takes the payload delivered since the last call.
    fn delivered(&mut self) -> Vec<Delivery>;
    /// Sets whether the user accepts payload (store-and-forward only).
    fn user_ready(&mut self, ready: bool);
    /// Takes the events since the last call.
    fn events(&mut self) -> Vec<Event>;
    /// Gives a command to a session.
    fn op(&mut self, session: u16, op: Op);
    /// Writes the register `MSS`. Returns whether the endpoint took the value.
    fn set_mss(&mut self, mss: u16) -> bool;
    /// Reads the state of a session.
    fn view(&mut self, session: u16) -> View;
    /// Whether it works on while frames come and go, with random pauses of its interfaces. It may
    /// then drop and defer more than on a quiet line.
    fn races(&self) -> bool {
        false
    }
    /// Reads all counters with their names. An endpoint may have none.
    fn counters(&mut self) -> Vec<(&'static str, u32)> {
        Vec::new()
    }
}
