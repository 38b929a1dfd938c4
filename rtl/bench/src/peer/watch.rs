//! Checks every connection of the endpoint over the trace of its frames and its users' bytes.
//!
//! The rules hold for any traffic, also while both directions, timers and back-pressure overlap,
//! so they need no model of the endpoint. Where a rule depends on what the endpoint has seen, the
//! watch knows a frame as soon as it is under way to the endpoint, which only makes it milder.

use std::collections::{BTreeMap, HashMap};

use super::plant::{Plant, Planted};
use super::rule::Rule;
use crate::drill::wire::{ACK, FIN, Packet, RST, SYN, Segment, parse};

/// Ticks by which a time-out may seem early, because the endpoint counts whole ticks.
const TICK_SLACK: u64 = 2;
/// Duplicate acknowledgements that call for a retransmission (RFC 5681, 3.2).
const DUPLICATES: u32 = 3;
/// Longest segment in bytes, to find what overlaps a sequence number.
const LONGEST: u32 = 65_536;

/// The ports of a connection: the endpoint's and the peer's.
pub type Key = (u16, u16);

/// A violation of a rule, as text for a message.
fn violated<T>(rule: Rule, text: String) -> Result<T, String> {
    Err(format!("{rule:?}: {text}"))
}

/// What the endpoint sends. Offsets are relative to its initial sequence number: 0 is SYN.
#[derive(Debug, Default)]
struct Sending {
    iss: Option<u32>,
    wscale: Option<u8>,
    /// Tick of the last SYN, and whether a SYN of the peer has arrived since.
    syn_at: u64,
    syn_asked: bool,
    /// Bytes of the user.
    given: Vec<u8>,
    /// End of what was sent.
    top: u32,
    /// Tick of the last transmission of segments that are not acknowledged, by begin: (end, tick).
    sent: BTreeMap<u32, (u32, u64)>,
    /// Acknowledged by the peer, and duplicate acknowledgements since.
    una: u32,
    duplicates: u32,
    /// End of what may be sent again in a recovery.
    recover: Option<u32>,
    /// Right edge of the widest window of the peer.
    edge: u32,
    /// Whether a byte beyond the window was sent as a probe.
    probed: bool,
    mss: Option<u16>,
}

/// What the endpoint receives. Offsets are relative to the peer's initial sequence number.
#[derive(Debug, Default)]
struct Receiving {
    irs: Option<u32>,
    wscale: Option<u8>,
    /// Bytes without a gap, and those after a gap by offset.
    stream: Vec<u8>,
    ahead: BTreeMap<u32, Vec<u8>>,
    /// Offset of FIN.
    fin: Option<u32>,
    /// Acknowledged by the endpoint, and the right edge of its window.
    acked: u32,
    edge: u32,
    /// Number of bytes that the user has got.
    delivered: usize,
}

impl Receiving {
    /// The ACK number after everything that has arrived, as an offset.
    fn next(&self) -> u32 {
        let data = 1 + self.stream.len() as u32;
        data + u32::from(self.fin == Some(data))
    }

    /// Adds payload of the peer.
    fn add(&mut self, start: u32, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.ahead.entry(start).or_insert_with(|| bytes.to_vec());
        }
        while let Some(first) = self.ahead.first_entry() {
            let (start, end) = (*first.key(), 1 + self.stream.len() as u32);
            if start > end {
                break;
            }
            let bytes = first.remove();
            self.stream.extend(bytes.iter().skip((end - start) as usize));
        }
    }
}

#[derive(Debug, Default)]
struct Flow {
    out: Sending,
    inward: Receiving,
    reset: bool,
}

/// Watches all connections of an endpoint.
#[derive(Debug)]
pub struct Watch {
    flows: HashMap<Key, Flow>,
    rto_min: u64,
    planted: Option<Planted>,
    /// Number of segments of the endpoint that were checked.
    pub segments: u64,
    /// Number of bytes that were compared.
    pub bytes: u64,
}

impl Watch {
    /// Starts to watch an endpoint whose retransmission timer has this minimum in ticks.
    #[must_use]
    pub fn new(rto_min: u16) -> Self {
        let rto_min = u64::from(rto_min);
        Self { flows: HashMap::new(), rto_min, planted: None, segments: 0, bytes: 0 }
    }

    /// Falsifies the trace once, to see that the rules find it.
    pub fn plant(&mut self, plant: Plant) {
        self.planted = Some(Planted::new(plant));
    }

    /// A frame under way to the endpoint, at a tick.
    pub fn incoming(&mut self, frame: &[u8], bad_fcs: bool) {
        let Ok(Packet::Tcp(mut seg)) = parse(frame) else { return };
        if bad_fcs {
            return;
        }
        if let Some(planted) = &mut self.planted {
            planted.incoming(&mut seg);
        }
        let flow = self.flows.entry((seg.dport, seg.sport)).or_default();
        if seg.flags & RST != 0 {
            flow.reset = true;
            return;
        }
        if seg.flags & SYN != 0 {
            if flow.inward.irs != Some(seg.seq) {
                let out = if seg.flags & ACK == 0 {
                    Sending::default()
                } else {
                    std::mem::take(&mut flow.out)
                };
                *flow = Flow { out, ..Flow::default() };
            }
            flow.inward.irs = Some(seg.seq);
            flow.inward.wscale = seg.wscale();
            flow.out.mss = seg.mss();
            flow.out.syn_asked = true;
        }
        let Some(irs) = flow.inward.irs else { return };
        let start = seg.seq.wrapping_sub(irs) + u32::from(seg.flags & SYN != 0);
        if start > i32::MAX as u32 {
            return;
        }
        flow.inward.add(start, &seg.payload);
        if seg.flags & FIN != 0 {
            flow.inward.fin = Some(start + seg.payload.len() as u32);
        }
        if seg.flags & ACK != 0 {
            flow.acknowledged(&seg);
        }
    }

    /// A frame that the endpoint has sent, at a tick.
    ///
    /// # Errors
    /// It violates a rule.
    pub fn outgoing(&mut self, now: u64, frame: &[u8], poisoned: bool) -> Result<(), String> {
        if poisoned {
            return Ok(());
        }
        let frames = match &mut self.planted {
            Some(planted) => planted.outgoing(frame),
            None => vec![frame.to_vec()],
        };
        for frame in frames {
            let packet = parse(&frame);
            let packet = packet.or_else(|error| violated(Rule::WellFormed, error))?;
            let Packet::Tcp(seg) = packet else { continue };
            if seg.flags & RST != 0 {
                continue;
            }
            self.segments += 1;
            self.bytes += seg.payload.len() as u64;
            self.segment(now, &seg).map_err(|error| format!("tick {now}: {error}"))?;
        }
        Ok(())
    }

    fn segment(&mut self, now: u64, seg: &Segment) -> Result<(), String> {
        let key = (seg.sport, seg.dport);
        if seg.flags & SYN != 0 {
            self.flows.entry(key).or_default().syn(now, seg, self.rto_min)?;
        }
        let Some(flow) = self.flows.get_mut(&key) else {
            return violated(Rule::Known, seg.text());
        };
        if seg.flags & ACK != 0 {
            flow.acknowledges(seg)?;
        }
        flow.sends(now, seg, self.rto_min)
    }

    /// Bytes that a user of the endpoint gives it to send.
    pub fn given(&mut self, key: Key, bytes: &[u8]) {
        self.flows.entry(key).or_default().out.given.extend(bytes);
    }

    /// Bytes in sequence that the endpoint delivers to its user.
    ///
    /// # Errors
    /// They are not the next ones of the peer.
    pub fn delivered(&mut self, key: Key, bytes: &[u8]) -> Result<(), String> {
        let times = self.planted.as_mut().map_or((0, 1), |planted| planted.delivered(bytes.len()));
        let (cut, times) = times;
        let flow = self.flows.entry(key).or_default();
        for _ in 0..times {
            let bytes = &bytes[..bytes.len() - cut];
            let at = flow.inward.delivered;
            let expected = flow.inward.stream.get(at..at + bytes.len());
            if expected != Some(bytes) {
                let have = flow.inward.stream.len();
                let text = format!("{key:?}: {} bytes at {at} of {have}", bytes.len());
                return violated(Rule::Delivery, text);
            }
            flow.inward.delivered += bytes.len();
            self.bytes += bytes.len() as u64;
        }
        Ok(())
    }

    /// A connection has ended with FINs in both directions.
    ///
    /// # Errors
    /// Acknowledged bytes have not reached the user.
    pub fn ended(&mut self, key: Key) -> Result<(), String> {
        let Some(flow) = self.flows.remove(&key) else {
            return violated(Rule::Known, format!("{key:?}"));
        };
        let inward = &flow.inward;
        let fin = u32::from(inward.fin.is_some_and(|fin| inward.acked > fin));
        let acked = inward.acked.saturating_sub(1 + fin) as usize;
        if !flow.reset && inward.delivered != acked {
            let text =
                format!("{key:?}: {acked} bytes acknowledged, {} delivered", inward.delivered);
            return violated(Rule::Lost, text);
        }
        Ok(())
    }
}

impl Flow {
    /// The peer acknowledges and offers a window.
    fn acknowledged(&mut self, seg: &Segment) {
        let out = &mut self.out;
        let Some(iss) = out.iss else { return };
        let ack = seg.ack.wrapping_sub(iss);
        if out.probed && ack == out.top + 1 {
            out.top = ack;
        }
        if ack > out.top {
            return;
        }
        let shift = match seg.flags & SYN {
            0 => out.wscale.and(self.inward.wscale).unwrap_or(0).min(14),
            _ => 0,
        };
        out.edge = out.edge.max(ack + (u32::from(seg.window) << shift));
        if ack > out.una {
            out.una = ack;
            out.duplicates = 0;
            out.probed = false;
            out.recover = out.recover.filter(|recover| *recover > ack);
            out.sent.retain(|_, (end, _)| *end > ack);
        } else if ack == out.una && seg.seq_len() == 0 {
            out.duplicates += 1;
        }
    }

    /// The endpoint sends a SYN.
    fn syn(&mut self, now: u64, seg: &Segment, rto_min: u64) -> Result<(), String> {
        let out = &mut self.out;
        if out.iss != Some(seg.seq) {
            let (mss, given) = (out.mss, std::mem::take(&mut out.given));
            let (iss, wscale) = (Some(seg.seq), seg.wscale());
            *out = Sending { iss, wscale, mss, given, top: 1, syn_at: now, ..Sending::default() };
        } else if !out.syn_asked {
            // An answer to another SYN of the peer does not restart the timer.
            if now + TICK_SLACK < out.syn_at + rto_min {
                return violated(Rule::Unjustified, seg.text());
            }
            out.syn_at = now;
        }
        out.syn_asked = false;
        Ok(())
    }

    /// The endpoint acknowledges and offers a window.
    fn acknowledges(&mut self, seg: &Segment) -> Result<(), String> {
        let next = self.inward.next();
        let (inward, out) = (&mut self.inward, &self.out);
        let Some(irs) = inward.irs else { return violated(Rule::Known, seg.text()) };
        let ack = seg.ack.wrapping_sub(irs);
        if ack > next && ack <= i32::MAX as u32 {
            return violated(Rule::AckAhead, format!("{}: {next} has arrived", seg.text()));
        }
        if ack < inward.acked || ack > next {
            let text = format!("{}: {ack} after {}", seg.text(), inward.acked);
            return violated(Rule::AckRegressed, text);
        }
        inward.acked = ack;
        let shift = match seg.flags & SYN {
            0 => inward.wscale.and(out.wscale).unwrap_or(0).min(14),
            _ => 0,
        };
        let edge = ack + (u32::from(seg.window) << shift);
        // A scaled window is rounded down.
        if edge + ((1 << shift) - 1) < inward.edge && inward.fin.is_none() {
            let text = format!("{}: edge {edge} after {}", seg.text(), inward.edge);
            return violated(Rule::WindowShrank, text);
        }
        inward.edge = inward.edge.max(edge);
        Ok(())
    }

    /// The endpoint sends data or FIN.
    fn sends(&mut self, now: u64, seg: &Segment, rto_min: u64) -> Result<(), String> {
        let out = &mut self.out;
        let Some(iss) = out.iss else { return violated(Rule::Known, seg.text()) };
        let start = seg.seq.wrapping_sub(iss) + u32::from(seg.flags & SYN != 0);
        let fin = seg.flags & FIN != 0;
        if start > out.top && !(out.probed && start == out.top + 1) {
            // A sequence number before the first one counts as a large offset: a keep-alive.
            return if start > i32::MAX as u32 && seg.payload.is_empty() {
                Ok(())
            } else {
                violated(Rule::SequenceGap, format!("{}: {start} after {}", seg.text(), out.top))
            };
        }
        if seg.payload.is_empty() && !fin {
            return Ok(());
        }
        let end = start + seg.payload.len() as u32;
        let user = out.given.get(start as usize - 1..end as usize - 1);
        if user != Some(&seg.payload) || fin && end as usize - 1 != out.given.len() {
            let text = format!("{}: {start} of {} bytes", seg.text(), out.given.len());
            return violated(Rule::Content, text);
        }
        if out.mss.is_some_and(|mss| seg.payload.len() > usize::from(mss)) {
            return violated(Rule::TooLong, format!("{}: MSS {:?}", seg.text(), out.mss));
        }
        if end > out.edge {
            // One byte at the edge of a closed window is a probe, which does not count as sent.
            if seg.payload.len() == 1 && start == out.una && start == out.edge {
                out.probed = true;
                return Ok(());
            }
            if !seg.payload.is_empty() {
                let text = format!("{}: {end} beyond {}", seg.text(), out.edge);
                return violated(Rule::WindowExceeded, text);
            }
        }
        if start < out.top {
            out.justify(now, start, rto_min)
                .or_else(|why| violated(Rule::Unjustified, format!("{}: {why}", seg.text())))?;
        }
        let end = end + u32::from(fin);
        out.sent.insert(start, (end, now));
        out.top = out.top.max(end);
        Ok(())
    }
}

impl Sending {
    /// Whether what begins here may be sent again now.
    fn justify(&mut self, now: u64, start: u32, rto_min: u64) -> Result<(), String> {
        let near = self.sent.range(start.saturating_sub(LONGEST)..=start);
        let last = near.filter(|(_, (end, _))| *end > start).map(|(_, (_, at))| *at).max();
        let late = last.is_none_or(|last| now + TICK_SLACK >= last + rto_min);
        let recovers = self.recover.is_some_and(|recover| start < recover);
        if !(late || recovers || self.duplicates >= DUPLICATES) {
            let age = now - last.unwrap_or(now);
            return Err(format!("sent {age} ticks ago, {} duplicate ACKs", self.duplicates));
        }
        if !recovers {
            self.recover = Some(self.top);
        }
        Ok(())
    }
}
