//! Sets up the core through its registers and reads the state of sessions.

use std::net::Ipv4Addr;

use crate::drill::endpoint::{Op, Settings, View};
use crate::registers as reg;
use crate::station::Station;

/// Maximum number of polls of a busy flag.
const POLLS: u32 = 1000;

/// Shifts a value to its position in a register.
fn field(shift: u32, value: impl Into<u32>) -> u32 {
    value.into() << shift
}

/// Extracts the field of a register that a mask covers.
fn part(value: u32, mask: u32) -> u32 {
    (value & mask) >> mask.trailing_zeros()
}

impl Station {
    /// Sets up the core with virtual interface 0 and enables it.
    pub fn configure(&mut self, settings: &Settings) {
        self.write(reg::CONTROL, 0);
        let scale = settings.wscale.map_or(0, |shift| {
            field(reg::CONTROL_WSCALE_EN_SHIFT, 1_u32) | field(reg::CONTROL_WSCALE_SHIFT, shift)
        });
        for (register, value) in [
            (reg::RCV_WND, settings.rcv_wnd),
            (reg::MSS, settings.mss.into()),
            (reg::ISS_KEY_0, settings.iss_key as u32),
            (reg::ISS_KEY_1, (settings.iss_key >> 32) as u32),
            (reg::ISS_KEY_2, (settings.iss_key >> 64) as u32),
            (reg::ISS_KEY_3, (settings.iss_key >> 96) as u32),
            (reg::RTO_MIN, settings.rto_min.into()),
            (reg::RTO_MAX, settings.rto_max.into()),
            (reg::RTO_INIT, settings.rto_init.into()),
            (
                reg::TRIES,
                field(reg::TRIES_SYN_SHIFT, settings.syn_tries)
                    | field(reg::TRIES_DATA_SHIFT, settings.data_tries),
            ),
            (reg::DELACK, settings.delack.into()),
            (reg::TIME_WAIT, settings.time_wait.into()),
            (reg::PERSIST_MAX, settings.persist_max.into()),
            (reg::ARP_RETRY, settings.arp_retry.into()),
            (reg::ARP_TRIES, settings.arp_tries.into()),
            (reg::ARP_REFRESH, settings.arp_refresh),
        ] {
            self.write(register, value);
        }
        self.configure_interface(0, settings);
        self.write(
            reg::CONTROL,
            field(reg::CONTROL_ENABLE_SHIFT, 1_u32)
                | field(reg::CONTROL_RST_SILENT_SHIFT, settings.rst_silent)
                | field(reg::CONTROL_RING_REFUSE_SHIFT, settings.ring_refuse)
                | field(reg::CONTROL_FRAGMENT_SHIFT, settings.fragment)
                | scale,
        );
    }

    /// Sets up a virtual interface with the addresses of `settings`.
    pub fn configure_interface(&mut self, vif: u8, settings: &Settings) {
        let [m0, m1, m2, m3, m4, m5] = settings.mac;
        self.write(reg::VIF_SELECT, vif.into());
        self.write(reg::VIF_CONTROL, 0);
        self.write(reg::VIF_MAC_HIGH, u32::from_be_bytes([0, 0, m0, m1]));
        self.write(reg::VIF_MAC_LOW, u32::from_be_bytes([m2, m3, m4, m5]));
        self.write(reg::VIF_IP, settings.ip.into());
        self.write(reg::VIF_MASK, settings.mask.into());
        self.write(reg::VIF_GATEWAY, settings.gateway.into());
        let tag = settings.vlan.map_or(0, |tag| {
            field(reg::VIF_CONTROL_VLAN_SHIFT, 1_u32) | field(reg::VIF_CONTROL_TAG_SHIFT, tag)
        });
        self.write(reg::VIF_CONTROL, field(reg::VIF_CONTROL_ENABLE_SHIFT, 1_u32) | tag);
    }

    /// Starts an operation on a session of interface 0, and waits until the core has accepted it.
    pub fn operate(&mut self, sid: u16, op: Op) {
        self.settled(sid);
        self.write(reg::SESSION_SELECT, sid.into());
        self.write(reg::SESSION_VIF, 0);
        let (code, ip, port, local) = match op {
            Op::Listen { port, from } => (1, from.unwrap_or(Ipv4Addr::UNSPECIFIED), 0, port),
            Op::Connect { ip, port, local_port } => (2, ip, port, local_port),
            Op::Close => (3, Ipv4Addr::UNSPECIFIED, 0, 0),
            Op::Abort => (4, Ipv4Addr::UNSPECIFIED, 0, 0),
        };
        if code <= 2 {
            self.write(reg::SESSION_PEER_IP, ip.into());
            self.write(
                reg::SESSION_PORTS,
                field(reg::SESSION_PORTS_LOCAL_SHIFT, local)
                    | field(reg::SESSION_PORTS_PEER_SHIFT, port),
            );
        }
        self.write(reg::SESSION_OPERATION, field(reg::SESSION_OPERATION_CODE_SHIFT, code as u32));
        self.settled(sid);
        self.stir();
    }

    /// Reads the state of a session.
    pub fn view(&mut self, sid: u16) -> View {
        self.settled(sid);
        self.write(reg::SESSION_SELECT, sid.into());
        self.write(reg::SESSION_SNAPSHOT, 1);
        self.settled(sid);
        View {
            state: part(self.read(reg::VIEW_STATE), reg::VIEW_STATE_STATE_MASK) as u8,
            snd_una: self.read(reg::VIEW_SND_UNA),
            snd_nxt: self.read(reg::VIEW_SND_NXT),
            rcv_nxt: self.read(reg::VIEW_RCV_NXT),
            snd_wnd: self.read(reg::VIEW_SND_WND),
            rto: part(self.read(reg::VIEW_TIMES), reg::VIEW_TIMES_RTO_MASK) as u16,
            credit: self.read(reg::VIEW_CREDIT),
        }
    }

    fn settled(&mut self, sid: u16) {
        let busy = (0..POLLS).all(|_| self.read(reg::SESSION_STATUS) != 0);
        assert!(!busy, "session {sid}: the core has not accepted an operation after {POLLS} polls");
    }
}
