//! Parses the lines of a script into steps.

use super::args::{ScriptError, ScriptLine};
use super::endpoint::Mode;
use super::steps::{
    ArpLine, EchoLine, Expect, Inject, MAX_TICKS, PeerConnection, Step, close_reason, event, state,
};
use super::wire::Lies;

type Steps = Vec<(usize, Step)>;

/// Maximum payload of an injected segment.
const MAX_LEN: u64 = 9000;

/// Maximum number of bytes with which a window is filled.
const MAX_FILL: u64 = 4 << 20;

fn session(line: &mut ScriptLine) -> Result<u16, ScriptError> {
    Ok(line.number("session", 255)? as u16)
}

/// Parses a line with its verb.
pub(super) fn parse(
    steps: &mut Steps,
    verb: &str,
    mut line: ScriptLine,
) -> Result<(), ScriptError> {
    let no = line.no;
    let step = match verb {
        ">" => inject(&mut line)?,
        "<" | "<?" => expect(&mut line, verb == "<?")?,
        "flow" => flow(&mut line)?,
        "use" => Step::Use(line.need("a flow")?),
        "open" => {
            let more = open(no, &mut line)?;
            line.end()?;
            steps.extend(more);
            return Ok(());
        }
        "listen" => Step::Listen {
            session: session(&mut line)?,
            port: line.num("port", 65535)?.map(|p| p as u16),
            from: line.ip("from")?,
        },
        "connect" => Step::Connect { session: session(&mut line)? },
        "mss" => {
            let mss = line.number("MSS", 65535)? as u16;
            let refused = match line.word().as_deref() {
                None => false,
                Some("refused") => true,
                Some(other) => return Err(line.error(format!("`{other}`; nothing or `refused`"))),
            };
            Step::Mss { mss, refused }
        }
        "close" => Step::Close { session: session(&mut line)? },
        "abort" => Step::Abort { session: session(&mut line)? },
        "send" => {
            let session = session(&mut line)?;
            let len = line.number("length", MAX_LEN)? as u16;
            let mode = match line.num("mode", 2)? {
                Some(2) => Mode::LengthAndSum,
                Some(1) => Mode::Length,
                _ => Mode::Nothing,
            };
            Step::Send { session, len, mode }
        }
        "read" => {
            let session = session(&mut line)?;
            let len = line.number("length", 1 << 24)?;
            let any = match line.word().as_deref() {
                None => false,
                Some("any") => true,
                Some(other) => return Err(line.error(format!("`{other}`; nothing or `any`"))),
            };
            Step::Read { session, len, any }
        }
        "drain" => Step::ReadAll { session: session(&mut line)? },
        "fill" => Step::Fill {
            len: line.num("len", MAX_LEN)?.unwrap_or(1460) as u16,
            most: line.num("most", MAX_FILL)?.unwrap_or(MAX_FILL) as u32,
        },
        "ahead" => Step::Ahead {
            session: session(&mut line)?,
            ahead: line.number("distance", 1 << 30)? as u32,
            len: line.number("length", MAX_LEN)? as u16,
        },
        "user" => match line.need("stall or run")?.as_str() {
            "stall" => Step::UserReady(false),
            "run" => Step::UserReady(true),
            other => return Err(line.error(format!("user is `{other}`; stall or run"))),
        },
        "arp" => match line.need("auto or manual")?.as_str() {
            "auto" => Step::ArpAuto(true),
            "manual" => Step::ArpAuto(false),
            other => return Err(line.error(format!("arp is `{other}`; auto or manual"))),
        },
        "move" => {
            let text = line.need("a MAC address")?;
            let mac = super::args::mac(&text);
            Step::Move(mac.ok_or_else(|| line.error(format!("`{text}`; six bytes a:b:..")))?)
        }
        "frame" => {
            Step::InjectFrame(line.hex("bytes")?.ok_or_else(|| line.error("bytes=HEX is missing"))?)
        }
        "none" => Step::None { ticks: line.num("for", MAX_TICKS)?.unwrap_or(0) },
        "advance" => Step::Advance(line.number("ticks", MAX_TICKS)?),
        "event" => event_line(&mut line)?,
        "absent" => {
            let (session, kind) = (session(&mut line)?, event_kind(&mut line)?);
            Step::Absent { session, kind }
        }
        "state" => {
            let session = session(&mut line)?;
            let name = line.need("a state")?;
            let state =
                state(&name).ok_or_else(|| line.error(format!("`{name}` is not a state")))?;
            Step::State { session, state }
        }
        "remember" => Step::Remember(line.need("a name")?),
        "wraps" => Step::Wraps(line.number("bytes", u64::from(u32::MAX))? as u32),
        "differ" => Step::Differ(line.need("a name")?, line.need("a second name")?),
        _ => return Err(line.error(format!("`{verb}` is not a command"))),
    };
    line.end()?;
    steps.push((no, step));
    Ok(())
}

fn event_kind(line: &mut ScriptLine) -> Result<u8, ScriptError> {
    let name = line.need("an event")?;
    event(&name).ok_or_else(|| line.error(format!("`{name}` is not an event")))
}

fn event_line(line: &mut ScriptLine) -> Result<Step, ScriptError> {
    let (session, kind) = (session(line)?, event_kind(line)?);
    let reason = match line.key("reason") {
        Some(text) => Some(
            close_reason(&text).ok_or_else(|| line.error(format!("`{text}` is not a reason")))?,
        ),
        None => None,
    };
    let within = line.num("within", MAX_TICKS)?.unwrap_or(0);
    Ok(Step::Event { session, kind, reason, within })
}

fn flow(line: &mut ScriptLine) -> Result<Step, ScriptError> {
    let d = PeerConnection::default();
    Ok(Step::Flow(PeerConnection {
        name: line.need("a name")?,
        peer: line.ip("peer")?.unwrap_or(d.peer),
        mac: line.mac("mac")?.unwrap_or(d.mac),
        port: line.num("port", 65535)?.map_or(d.port, |v| v as u16),
        local: line.num("local", 65535)?.map_or(d.local, |v| v as u16),
        iss: line.num("iss", u64::from(u32::MAX))?.map_or(d.iss, |v| v as u32),
    }))
}

/// Expands `open SID passive|active` into the steps of a handshake.
fn open(no: usize, line: &mut ScriptLine) -> Result<Steps, ScriptError> {
    let session = session(line)?;
    let how = line.need("passive or active")?;
    let win = line.num("win", 65535)?.unwrap_or(65535);
    let mss = line.num("mss", 65535)?.unwrap_or(1460);
    let ws = line.num("ws", 255)?.map_or(String::new(), |v| format!(" ws={v}"));
    let first = format!("win={win} mss={mss}{ws}");
    let lines = match how.as_str() {
        "passive" => [
            format!("listen {session}"),
            format!("> SYN seq=0 {first}"),
            "< SYN ACK seq=0 ack=1".into(),
            format!("> ACK seq=1 ack=1 win={win}"),
        ],
        "active" => [
            format!("connect {session}"),
            "< SYN seq=0".into(),
            format!("> SYN ACK seq=0 ack=1 {first}"),
            "< ACK seq=1 ack=1 len=0".into(),
        ],
        other => return Err(line.error(format!("open is `{other}`; passive or active"))),
    };
    let mut steps = Vec::new();
    let tail = [format!("event {session} opened"), format!("state {session} established")];
    for text in lines.iter().chain(&tail) {
        let Some(mut l) = ScriptLine::new(no, text) else { continue };
        let verb = l.need("a command")?;
        parse(&mut steps, &verb, l)?;
    }
    Ok(steps)
}

fn inject(line: &mut ScriptLine) -> Result<Step, ScriptError> {
    let first = line.need("control bits, arp or icmp")?;
    match first.as_str() {
        "arp" => return Ok(Step::InjectArp(arp(line)?)),
        "icmp" => return Ok(Step::InjectEcho(echo(line)?)),
        _ => {}
    }
    let mut flags = super::wire::FLAG_NAMES.iter().find(|(n, _)| *n == first).map_or(0, |f| f.1);
    if flags == 0 && first != "none" {
        return Err(line.error(format!("`{first}` is not a control bit, arp or icmp")));
    }
    flags |= line.flags()?;
    let vlan = line.key("vlan");
    let untagged = vlan.as_deref() == Some("no");
    let vlan = match vlan.filter(|v| v != "no") {
        Some(v) => Some(
            super::args::number(&v)
                .and_then(|v| u16::try_from(v).ok())
                .ok_or_else(|| line.error(format!("vlan is `{v}`; a tag or `no`")))?,
        ),
        None => None,
    };
    Ok(Step::Inject(Box::new(Inject {
        flags,
        seq: line.seq("seq")?,
        ack: line.seq("ack")?,
        win: line.num("win", 65535)?.map(|v| v as u16),
        len: line.num("len", MAX_LEN)?.unwrap_or(0) as u16,
        fill: line.num("fill", 255)?.map(|v| v as u8),
        options: options(line)?,
        urgent: line.num("urgent", 65535)?.unwrap_or(0) as u16,
        ttl: line.num("ttl", 255)?.map(|v| v as u8),
        src: line.ip("src")?,
        dst: line.ip("dst")?,
        smac: line.mac("smac")?,
        dmac: line.mac("dmac")?,
        vlan,
        untagged,
        bad_fcs: line.choice("fcs", &["good", "bad"])? == Some(1),
        lies: lies(line)?,
    })))
}

fn options(line: &mut ScriptLine) -> Result<Vec<u8>, ScriptError> {
    let mut options = Vec::new();
    if let Some(mss) = line.num("mss", 65535)? {
        options.extend([2, 4, (mss >> 8) as u8, mss as u8]);
    }
    if let Some(ws) = line.num("ws", 255)? {
        options.extend([1, 3, 3, ws as u8]);
    }
    options.extend(line.hex("opts")?.unwrap_or_default());
    if options.len() > 40 {
        return Err(line.error(format!("{} bytes of options; at most 40", options.len())));
    }
    Ok(options)
}

fn lies(line: &mut ScriptLine) -> Result<Lies, ScriptError> {
    let sum = line.choice("sum", &["good", "bad", "zero", "ffff"])?;
    let ip_options = line.hex("ipopts")?.unwrap_or_default();
    if ip_options.len() > 40 {
        return Err(line.error(format!("{} bytes of IP options; at most 40", ip_options.len())));
    }
    Ok(Lies {
        ip_len: line.num("iplen", 65535)?.map(|v| v as u16),
        doff: line.num("doff", 15)?.map(|v| v as u8),
        bad_ip_sum: line.choice("ipsum", &["good", "bad"])? == Some(1),
        bad_sum: sum == Some(1),
        zero_sum: sum.and_then(|s| (s >= 2).then_some(s == 3)),
        mf: line.num("mf", 1)? == Some(1),
        frag: line.num("frag", 65528)?.unwrap_or(0) as u16,
        ip_options,
        version: line.num("version", 15)?.map(|v| v as u8),
        cut: line.num("cut", 9100)?.map(|v| v as usize),
        trailer: line.num("trailer", 2000)?.unwrap_or(0) as usize,
        no_pad: line.choice("pad", &["yes", "no"])? == Some(1),
    })
}

fn expect(line: &mut ScriptLine, optional: bool) -> Result<Step, ScriptError> {
    let first = line.need("control bits, arp or icmp")?;
    match first.as_str() {
        "arp" => return Ok(Step::ExpectArp(arp(line)?)),
        "icmp" => return Ok(Step::ExpectEcho(echo(line)?)),
        _ => {}
    }
    let flags = super::wire::FLAG_NAMES.iter().find(|(n, _)| *n == first).map(|f| f.1);
    let flags = flags.ok_or_else(|| line.error(format!("`{first}` is not a control bit")))?;
    let flags = flags | line.flags()?;
    let ws = line.key("ws");
    let no_ws = ws.as_deref() == Some("none");
    let ws = match ws.filter(|w| w != "none").map(|w| super::args::number(&w)) {
        Some(Some(v)) => Some(super::args::NumberRange { lo: v, hi: v }),
        Some(None) => return Err(line.error("ws is a number or `none`")),
        None => None,
    };
    Ok(Step::Expect(Box::new(Expect {
        flags,
        optional,
        seq: line.seq("seq")?,
        ack: line.seq("ack")?,
        win: line.span("win")?,
        len: line.span("len")?,
        mss: line.span("mss")?,
        ws,
        no_ws,
        psh: line.num("psh", 1)?.map(|v| v == 1),
        within: line.num("within", MAX_TICKS)?.unwrap_or(0),
        after: line.num("after", MAX_TICKS)?.unwrap_or(0),
    })))
}

fn arp(line: &mut ScriptLine) -> Result<ArpLine, ScriptError> {
    let request = match line.need("request or reply")?.as_str() {
        "request" => true,
        "reply" => false,
        other => return Err(line.error(format!("arp is `{other}`; request or reply"))),
    };
    Ok(ArpLine {
        request,
        sha: line.mac("sha")?,
        spa: line.ip("spa")?,
        tha: line.mac("tha")?,
        tpa: line.ip("tpa")?,
        dmac: line.mac("dmac")?,
        within: line.num("within", MAX_TICKS)?.unwrap_or(0),
        after: line.num("after", MAX_TICKS)?.unwrap_or(0),
    })
}

fn echo(line: &mut ScriptLine) -> Result<EchoLine, ScriptError> {
    Ok(EchoLine {
        ident: line.num("id", 65535)?.unwrap_or(1) as u16,
        seq: line.num("seq", 65535)?.unwrap_or(1) as u16,
        len: line.num("len", MAX_LEN)?.unwrap_or(56) as u16,
        dst: line.ip("dst")?,
        bad_fcs: line.choice("fcs", &["good", "bad"])? == Some(1),
        lies: lies(line)?,
    })
}
