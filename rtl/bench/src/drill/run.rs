//! Runs a script against an endpoint.

use super::caught::caught;
use super::endpoint::{Endpoint, Event, Op};
use super::script::Script;
use super::steps::{Expect, Inject, PeerConnection, Step};
use super::wire::{ACK, Arp, Echo, PSH, SYN, Segment, build, build_arp, build_echo};
use super::world::{StreamPositions, World, pattern};

/// Result of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All steps succeeded.
    Passed,
    /// The build does not have a generic that the script needs.
    Skipped(String),
    /// A step failed.
    Failed {
        /// Line of the step.
        line: usize,
        /// Expected and actual result.
        text: String,
        /// The last packets.
        trace: Vec<String>,
    },
}

/// Resets the endpoint and runs a script.
pub fn run(script: &Script, ep: &mut dyn Endpoint) -> Outcome {
    for need in &script.needs {
        let has = ep.build().get(&need.name).unwrap_or(0);
        if has < need.least || has > need.most {
            return Outcome::Skipped(format!("{} is {has}", need.name));
        }
    }
    if let Err(text) = caught(|| ep.restart(&script.settings)) {
        return Outcome::Failed { line: 0, text, trace: Vec::new() };
    }
    let mut world = World::new(ep, &script.settings);
    let mut last = 0;
    for (line, step) in &script.steps {
        last = *line;
        if let Err(text) = caught(|| world.step(step)).and_then(|done| done) {
            return Outcome::Failed { line: last, text, trace: world.trace.into() };
        }
    }
    match world.rest() {
        Ok(()) => Outcome::Passed,
        Err(text) => Outcome::Failed { line: last, text, trace: world.trace.into() },
    }
}

fn want<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, want: &T) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what} is {got:?}, expected {want:?}")) }
}

impl World<'_> {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Flow(flow) => self.add_flow(flow.clone()),
            Step::Use(name) => {
                let at = self.tracks.iter().position(|t| t.flow.name == *name);
                self.current = at.ok_or_else(|| format!("no flow `{name}`"))?;
            }
            Step::Listen { session, port, from } => {
                let port = port.unwrap_or(self.track().flow.local);
                self.begin(*session);
                self.op(*session, Op::Listen { port, from: *from })?;
            }
            Step::Connect { session } => {
                let PeerConnection { peer, port, local, .. } = self.track().flow.clone();
                self.begin(*session);
                self.op(*session, Op::Connect { ip: peer, port, local_port: local })?;
            }
            Step::Mss { mss, refused } => {
                want("the write is refused", &!self.ep.set_mss(*mss), refused)?;
            }
            Step::Close { session } => self.op(*session, Op::Close)?,
            Step::Abort { session } => self.op(*session, Op::Abort)?,
            Step::Send { session, len, mode } => {
                let stream = self.streams.entry(*session).or_default();
                let at = stream.sent;
                stream.sent = at.wrapping_add(u32::from(*len));
                let bytes = fill(stream.salt, false, at, *len);
                self.ep.send(*session, &bytes, *mode);
                self.settle()?;
            }
            Step::Read { session, len, any } => self.read(*session, *len, *any)?,
            Step::ReadAll { session } => {
                let read = self.streams.get(session).map_or(0, |s| s.read);
                let sent = self.track().next.wrapping_sub(1).wrapping_sub(read);
                self.read(*session, sent.into(), false)?;
            }
            Step::Fill { len, most } => self.fill(*len, *most)?,
            Step::Ahead { session, ahead, len } => self.ahead(*session, *ahead, *len)?,
            Step::UserReady(ready) => {
                self.ep.user_ready(*ready);
                self.settle()?;
            }
            Step::Move(mac) => self.track().flow.mac = *mac,
            Step::ArpAuto(on) => self.arp_auto = *on,
            Step::Inject(i) => self.inject_segment(i)?,
            Step::Expect(e) => self.expect(e)?,
            Step::InjectArp(a) => {
                let frame = build_arp(&self.arp_of_peer(a));
                self.inject(&frame, false)?;
            }
            Step::ExpectArp(a) => {
                let got = self.wait(a.after, a.within, "an ARP packet", |w| w.arps.pop_front())?;
                self.compare_arp(a, &got)?;
            }
            Step::InjectEcho(e) => {
                let frame = build_echo(&self.echo_of_peer(e), &e.lies);
                self.inject(&frame, e.bad_fcs)?;
            }
            Step::ExpectEcho(e) => {
                let got = self.echoes.pop_front().ok_or("no echo reply")?;
                want("reply", &got.reply, &true)?;
                want("identifier", &got.ident, &e.ident)?;
                want("sequence number", &got.seq, &e.seq)?;
                want("data", &got.data, &fill(0, true, 0, e.len))?;
            }
            Step::InjectFrame(bytes) => self.inject(bytes, false)?,
            Step::None { ticks } => {
                self.quiet()?;
                for _ in 0..*ticks {
                    self.tick()?;
                    self.quiet()?;
                }
            }
            Step::Advance(ticks) => {
                for _ in 0..*ticks {
                    self.tick()?;
                }
            }
            Step::Event { session, kind, reason, within } => {
                let found = |w: &mut Self| {
                    let at = w.events.iter().position(|e| e.session == *session && e.kind == *kind);
                    at.and_then(|i| w.events.remove(i))
                };
                let event = self.wait(0, *within, "that event", found)?;
                if let Some(reason) = reason {
                    want("reason", &event.data, &u64::from(*reason))?;
                }
            }
            Step::Absent { session, kind } => {
                let same = |e: &&Event| e.session == *session && e.kind == *kind;
                if let Some(event) = self.events.iter().find(same) {
                    return Err(format!("unexpected {event:?}"));
                }
            }
            Step::State { session, state } => {
                let name = |s: u8| super::endpoint::STATE_NAMES.get(usize::from(s)).copied();
                want("state", &name(self.ep.view(*session).state), &name(*state))?;
            }
            Step::Remember(name) => {
                let iss = self.track().iss;
                self.names.insert(name.clone(), iss);
            }
            Step::Wraps(bytes) => {
                let iss = self.track().iss;
                if iss.wrapping_neg() > *bytes || iss == 0 {
                    return Err(format!("the initial sequence number is {iss}"));
                }
            }
            Step::Differ(a, b) => {
                let (a, b) = (self.names.get(a), self.names.get(b));
                if a.is_none() || b.is_none() || a == b {
                    return Err(format!("initial sequence numbers {a:?} and {b:?}"));
                }
            }
        }
        Ok(())
    }

    /// Checks after the last step that there is no unexpected output.
    fn rest(&mut self) -> Result<(), String> {
        self.quiet()?;
        self.deliveries.retain(|d| !d.err);
        match self.deliveries.front() {
            Some(d) => Err(format!("{} bytes for session {} not read", d.bytes.len(), d.session)),
            None => Ok(()),
        }
    }

    fn begin(&mut self, session: u16) {
        let track = self.track();
        track.next = 0;
        let salt = track.salt;
        self.streams.insert(session, StreamPositions { salt, read: 0, sent: 0 });
    }

    fn op(&mut self, session: u16, op: Op) -> Result<(), String> {
        self.log(format!("  session {session}: {op:?}"));
        self.ep.op(session, op);
        self.settle()
    }

    /// Checks that the endpoint has sent nothing.
    fn quiet(&self) -> Result<(), String> {
        if let Some(seg) = self.tracks.iter().find_map(|t| t.queue.front()) {
            return Err(format!("unexpected segment: {}", seg.text()));
        }
        if let Some(arp) = self.arps.front() {
            return Err(format!("unexpected ARP packet: {arp:?}"));
        }
        if let Some(echo) = self.echoes.front() {
            return Err(format!("unexpected echo: seq {}", echo.seq));
        }
        Ok(())
    }

    /// Waits for something that must come after `after` and within `within` ticks.
    fn wait<T>(
        &mut self,
        after: u64,
        within: u64,
        what: &str,
        mut take: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<T, String> {
        for tick in 0..=within {
            if tick != 0 {
                self.tick()?;
            }
            if let Some(found) = take(self) {
                if tick < after {
                    return Err(format!(
                        "{what} came after {tick} ticks, expected not before {after}"
                    ));
                }
                return Ok(found);
            }
        }
        Err(format!("{what} did not come within {within} ticks"))
    }

    fn read(&mut self, session: u16, len: u64, any: bool) -> Result<(), String> {
        let mut got = Vec::new();
        self.deliveries.retain(|d| {
            let mine = d.session == session && d.ahead.is_none();
            if mine && !d.err {
                got.extend_from_slice(&d.bytes);
            }
            !mine
        });
        want("length of the delivered data", &(got.len() as u64), &len)?;
        let stream = self.streams.entry(session).or_default();
        let at = stream.read;
        stream.read = at.wrapping_add(got.len() as u32);
        let salt = stream.salt;
        let wrong =
            (0u32..).zip(&got).find(|(i, b)| **b != pattern(salt, true, at.wrapping_add(*i)));
        match wrong {
            Some((i, _)) if !any => Err(format!("byte {i} of the delivered data is wrong")),
            _ => Ok(()),
        }
    }

    /// The peer sends until the window it was offered has no room, but at most `most` bytes. All of
    /// it must be acknowledged.
    fn fill(&mut self, len: u16, most: u32) -> Result<(), String> {
        let mut sent = 0;
        while sent < most {
            let track = self.track();
            track.queue.clear();
            let at = track.flow.iss.wrapping_add(track.next);
            let room = track.edge.map_or(0, |edge| edge.wrapping_sub(at) as i32).max(0) as u32;
            let len = room.min(len.into()).min(most - sent) as u16;
            if len == 0 {
                // An acknowledgement may be delayed.
                if self.track().acked == Some(at) || !self.opens(100)? {
                    break;
                }
                continue;
            }
            sent += u32::from(len);
            self.inject_segment(&Inject { flags: ACK, len, ..Inject::default() })?;
        }
        self.opens(100)?;
        let track = self.track();
        track.queue.clear();
        let lost = track.acked.map_or(track.next, |a| track.flow.iss.wrapping_add(track.next) - a);
        self.log(format!("  the peer has filled the window with {sent} bytes"));
        if lost == 0 { Ok(()) } else { Err(format!("{lost} bytes are not acknowledged")) }
    }

    /// Waits up to this number of ticks for the window to open. Returns whether it has.
    fn opens(&mut self, ticks: u64) -> Result<bool, String> {
        let edge = self.track().edge;
        for _ in 0..ticks {
            self.tick()?;
            if self.track().edge != edge {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn ahead(&mut self, session: u16, ahead: u32, len: u16) -> Result<(), String> {
        let at = self.deliveries.iter().position(|d| d.session == session && d.ahead.is_some());
        let got = at
            .and_then(|i| self.deliveries.remove(i))
            .ok_or("no payload was delivered out of sequence")?;
        want("distance", &got.ahead, &Some(ahead))?;
        let stream = self.streams.entry(session).or_default();
        let bytes = fill(stream.salt, true, stream.read.wrapping_add(ahead), len);
        want("payload out of sequence", &got.bytes, &bytes)
    }

    fn inject_segment(&mut self, i: &Inject) -> Result<(), String> {
        let seq = match i.seq {
            Some(seq) => self.ours(seq),
            None => self.track().flow.iss.wrapping_add(self.track().next),
        };
        let ack = match i.ack {
            Some(ack) => self.theirs(ack),
            None if i.flags & ACK != 0 => self.track().top.unwrap_or(0),
            None => 0,
        };
        let (vlan, ip, mac) = (self.settings.vlan, self.settings.ip, self.settings.mac);
        let track = self.track();
        let rel = seq.wrapping_sub(track.flow.iss);
        let data_at = rel.wrapping_add(u32::from(i.flags & SYN != 0)).wrapping_sub(1);
        let payload = match i.fill {
            Some(byte) => vec![byte; usize::from(i.len)],
            None => fill(track.salt, true, data_at, i.len),
        };
        let seg = Segment {
            src_mac: i.smac.unwrap_or(track.flow.mac),
            dst_mac: i.dmac.unwrap_or(mac),
            vlan: if i.untagged { None } else { i.vlan.or(vlan) },
            src: i.src.unwrap_or(track.flow.peer),
            dst: i.dst.unwrap_or(ip),
            ttl: i.ttl.unwrap_or(64),
            id: 0x4711,
            sport: track.flow.port,
            dport: track.flow.local,
            seq,
            ack,
            flags: i.flags,
            window: i.win.unwrap_or(65535),
            urgent: i.urgent,
            df: true,
            options: i.options.clone(),
            payload,
        };
        if seg.flags & SYN != 0 {
            track.scales = seg.wscale().is_some();
            track.settle_scale(seg.flags & ACK != 0);
        }
        let end = rel.wrapping_add(seg.seq_len());
        if (end.wrapping_sub(track.next) as i32) > 0 {
            track.next = end;
        }
        self.log(format!("> {}", seg.text()));
        self.inject(&build(&seg, &i.lies), i.bad_fcs)
    }

    fn expect(&mut self, e: &Expect) -> Result<(), String> {
        let fits = |seg: &Segment| {
            let mask = if e.psh.is_some() { 0xff } else { !PSH };
            let flags = e.flags | if e.psh == Some(true) { PSH } else { 0 };
            seg.flags & mask == flags
        };
        if e.optional {
            for tick in 0..=e.within {
                if tick != 0 {
                    self.tick()?;
                }
                if let Some(front) = self.track().queue.front() {
                    if fits(front) {
                        self.track().queue.pop_front();
                    }
                    return Ok(());
                }
            }
            return Ok(());
        }
        let seg = self.wait(e.after, e.within, "that segment", |w| w.track().queue.pop_front())?;
        let check =
            |name: &str, span: Option<super::args::NumberRange>, got: Option<u64>| match span {
                Some(span) if !got.is_some_and(|g| span.has(g)) => {
                    Err(format!("{name} is {got:?}, expected {}..{}", span.lo, span.hi))
                }
                _ => Ok(()),
            };
        let body = || -> Result<(), String> {
            if !fits(&seg) {
                return Err("expected other control bits".into());
            }
            if let Some(seq) = e.seq {
                want("seq", &seg.seq, &self.theirs(seq))?;
            }
            if let Some(ack) = e.ack {
                want("ack", &seg.ack, &self.ours(ack))?;
            }
            want("destination", &seg.dst_mac, &self.tracks[self.current].flow.mac)?;
            check("window", e.win, Some(seg.window.into()))?;
            check("length", e.len, Some(seg.payload.len() as u64))?;
            check("MSS", e.mss, seg.mss().map(u64::from))?;
            check("window scale", e.ws, seg.wscale().map(u64::from))?;
            if e.no_ws {
                want("window scale", &seg.wscale(), &None)?;
            }
            Ok(())
        };
        body().map_err(|text| format!("{text}, in {}", seg.text()))
    }

    fn arp_of_peer(&mut self, a: &super::steps::ArpLine) -> Arp {
        let (ip, mac, vlan) = (self.settings.ip, self.settings.mac, self.settings.vlan);
        let flow = &self.track().flow;
        let sha = a.sha.unwrap_or(flow.mac);
        Arp {
            src_mac: sha,
            dst_mac: a.dmac.unwrap_or(if a.request { [0xff; 6] } else { mac }),
            vlan,
            request: a.request,
            sha,
            spa: a.spa.unwrap_or(flow.peer),
            tha: a.tha.unwrap_or(if a.request { [0; 6] } else { mac }),
            tpa: a.tpa.unwrap_or(ip),
        }
    }

    fn compare_arp(&self, a: &super::steps::ArpLine, got: &Arp) -> Result<(), String> {
        want("request", &got.request, &a.request)?;
        want("sender address", &got.sha, &self.settings.mac)?;
        want("sender protocol address", &got.spa, &a.spa.unwrap_or(self.settings.ip))?;
        a.tpa.map_or(Ok(()), |tpa| want("target protocol address", &got.tpa, &tpa))?;
        a.tha.map_or(Ok(()), |tha| want("target address", &got.tha, &tha))?;
        a.dmac.map_or(Ok(()), |dmac| want("destination", &got.dst_mac, &dmac))
    }

    fn echo_of_peer(&mut self, e: &super::steps::EchoLine) -> Echo {
        let (ip, mac, vlan) = (self.settings.ip, self.settings.mac, self.settings.vlan);
        let flow = &self.track().flow;
        Echo {
            src_mac: flow.mac,
            dst_mac: mac,
            vlan,
            src: flow.peer,
            dst: e.dst.unwrap_or(ip),
            reply: false,
            ident: e.ident,
            seq: e.seq,
            data: fill(0, true, 0, e.len),
        }
    }
}

fn fill(salt: u32, to_endpoint: bool, at: u32, len: u16) -> Vec<u8> {
    (0..u32::from(len)).map(|i| pattern(salt, to_endpoint, at.wrapping_add(i))).collect()
}
