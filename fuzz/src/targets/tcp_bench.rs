//! The bench of the TCP core: scripts that people write, and frames that a device sends.

use arbitrary::Arbitrary;
use spfe_tcp_bench::drill::script::{self, MAX_STEPS};
use spfe_tcp_bench::drill::wire::{self, Lies, Packet, Segment};
use std::net::Ipv4Addr;

#[derive(Arbitrary, Debug)]
enum Input {
    Script(String),
    /// Lines of a script: number of a form, and what follows.
    Lines(Vec<(u8, String)>),
    Frame(Vec<u8>),
    /// A frame of a segment, with deviations.
    Built(Built),
}

#[derive(Arbitrary, Debug)]
struct Built {
    vlan: Option<u16>,
    ports: [u16; 2],
    numbers: [u32; 2],
    flags: u8,
    words: [u16; 3],
    options: Vec<u8>,
    payload: Vec<u8>,
    /// Whether the frame is that of the segment.
    honest: bool,
    ip_len: Option<u16>,
    doff: Option<u8>,
    version: Option<u8>,
    frag: u16,
    ip_options: Vec<u8>,
    cut: Option<u16>,
    trailer: u8,
    /// Bytes to change.
    changes: Vec<(u16, u8)>,
}

const HEAD: &str = "point C1\nclause RFC 9293, 3.10.7.1\ntitle t\n";

/// Beginnings of lines.
const FORMS: [&str; 40] = [
    "need mtu>=", "need ", "set ", "set rto_init ", "set mac ", "set ip ", "set mss ", "flow a ",
    "use a", "open 0 passive ", "open 0 active ", "listen ", "connect ", "close ", "abort ", "send ",
    "read ", "ahead ", "user stall", "arp auto", "move ", "frame ", "none for=", "advance ",
    "repeat ", "end", "event ", "state ", "remember x", "wraps ", "differ x y", "> SYN ", "> ACK ",
    "> FIN ACK ", "> RST ", "> arp ", "> icmp ", "< SYN ACK ", "< ACK ", "< arp ",
];

fn check_script(text: &str) {
    match script::parse(text) {
        Ok(script) => {
            assert!(!script.steps.is_empty() && script.steps.len() <= MAX_STEPS);
            assert!(![&script.point, &script.clause, &script.title].iter().any(|s| s.is_empty()));
        }
        Err(error) => {
            assert!(error.line <= text.lines().count().max(1) && !error.text.is_empty());
        }
    }
}

/// A frame is parsed or refused with a reason; a segment of it can be built again.
fn check_frame(frame: &[u8]) {
    match wire::parse(frame) {
        Ok(Packet::Tcp(segment)) => {
            assert!(!segment.text().is_empty());
            let again = wire::parse(&wire::build(&segment, &Lies::default()));
            assert_eq!(again, Ok(Packet::Tcp(segment)));
        }
        Ok(_) => {}
        Err(reason) => assert!(!reason.is_empty()),
    }
}

impl Built {
    fn segment(&self) -> Segment {
        let mut options = self.options[..self.options.len().min(40)].to_vec();
        options.resize(options.len().div_ceil(4) * 4, 0);
        Segment {
            src_mac: [2, 0, 0, 0, 0, 1],
            dst_mac: [2, 0, 0, 0, 0, 2],
            vlan: self.vlan,
            src: Ipv4Addr::new(10, 0, 0, 1),
            dst: Ipv4Addr::new(10, 0, 0, 2),
            ttl: 64,
            df: true,
            id: self.words[2],
            sport: self.ports[0].max(1),
            dport: self.ports[1].max(1),
            seq: self.numbers[0],
            ack: self.numbers[1],
            flags: self.flags & 0x3f,
            window: self.words[0],
            urgent: self.words[1],
            options,
            payload: self.payload[..self.payload.len().min(1400)].to_vec(),
        }
    }

    fn lies(&self) -> Lies {
        let mut ip_options = self.ip_options[..self.ip_options.len().min(40)].to_vec();
        ip_options.resize(ip_options.len().div_ceil(4) * 4, 0);
        Lies {
            ip_len: self.ip_len,
            doff: self.doff,
            version: self.version,
            mf: self.frag & 1 != 0,
            frag: self.frag & 0xfff8,
            ip_options,
            cut: self.cut.map(usize::from),
            trailer: self.trailer.into(),
            ..Lies::default()
        }
    }

    fn check(&self) {
        let segment = self.segment();
        if self.honest {
            let frame = wire::build(&segment, &Lies::default());
            assert_eq!(wire::parse(&frame), Ok(Packet::Tcp(segment)));
            return;
        }
        let mut frame = wire::build(&segment, &self.lies());
        for (at, value) in &self.changes {
            if let Some(byte) = frame.get_mut(usize::from(*at)) {
                *byte = *value;
            }
        }
        check_frame(&frame);
    }
}

crate::target!(|input: Input| {
    match input {
        Input::Script(text) => check_script(&text),
        Input::Lines(lines) => {
            let mut text = HEAD.to_owned();
            for (form, rest) in lines {
                let form = FORMS[usize::from(form) % FORMS.len()];
                text += &format!("{form}{}\n", rest.replace('\n', " "));
            }
            check_script(&text);
        }
        Input::Frame(frame) => check_frame(&frame),
        Input::Built(built) => built.check(),
    }
});
