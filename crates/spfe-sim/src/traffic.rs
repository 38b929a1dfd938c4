//! Generates the times and lengths of a traffic stream's packets.

use crate::results::PacketTally;
use crate::rng;
use crate::scenario::{self, PacketPace, PacketSize};
use crate::time::Ps;
use fastrand::Rng;

const BIT_PS: u128 = 1_000_000_000_000;

/// A packet that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuePacket {
    /// Time since which it is due.
    pub at_ps: Ps,
    pub bytes: u32,
}

/// The packets of a traffic stream.
#[derive(Clone, Debug)]
pub struct PacketSource {
    pace: PacketPace,
    size: PacketSize,
    continuous: bool,
    stop: Ps,
    left: u64,
    rng: Rng,
    /// The next packet. While babbling, the packet that would be next.
    next: Option<DuePacket>,
    /// Start of the period, and the number of its packets that are still to come.
    period_ps: Ps,
    burst_left: u32,
    babbles: bool,
    offered: PacketTally,
    dropped: PacketTally,
}

impl PacketSource {
    /// The packets of a stream. Random numbers depend on the seed and the stream's name.
    pub fn new(flow: &scenario::TrafficStream, seed: u64) -> Self {
        let mut source = Self {
            pace: flow.pace,
            size: flow.size,
            continuous: flow.continuous,
            stop: flow.stop.map_or(Ps::MAX, |stop| stop.0),
            left: flow.count.unwrap_or(u64::MAX),
            rng: rng::stream(seed, &format!("flow {}", flow.name)),
            next: None,
            period_ps: flow.start.0,
            burst_left: match flow.pace {
                PacketPace::Period { burst, .. } => burst,
                _ => 0,
            },
            babbles: false,
            offered: PacketTally::default(),
            dropped: PacketTally::default(),
        };
        let bytes = source.draw();
        let at_ps = flow.start.0 + source.jitter();
        source.next = Some(DuePacket { at_ps, bytes });
        source.end();
        source
    }

    /// Draws the length of a packet.
    fn draw(&mut self) -> u32 {
        let bytes = match self.size {
            PacketSize::Fixed(bytes) => bytes,
            PacketSize::Uniform { min, max } => self.rng.u64(min..=max.max(min)),
            PacketSize::Exponential { mean, min, max } => {
                let bytes = -(1.0 - self.rng.f64()).ln() * mean as f64;
                (bytes.round() as u64).clamp(min, max.max(min))
            }
        };
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }

    fn jitter(&mut self) -> Ps {
        match self.pace {
            PacketPace::Period { jitter, .. } => rng::below(&mut self.rng, jitter.0),
            _ => 0,
        }
    }

    /// Ends the stream.
    fn end(&mut self) {
        if self.left == 0 || self.next.is_some_and(|due| due.at_ps >= self.stop) {
            self.next = None;
        }
    }

    /// The next packet, if it is due.
    pub fn due(&self, now: Ps) -> Option<DuePacket> {
        let due = self.next.filter(|_| !self.babbles || now < self.stop)?;
        if self.babbles || self.pace == PacketPace::Saturate && due.at_ps <= now {
            return Some(DuePacket { at_ps: now, ..due });
        }
        (due.at_ps <= now).then_some(due)
    }

    /// Removes the packet that is due, when its transmission begins.
    pub fn take(&mut self, now: Ps) {
        let Some(due) = self.next else { return };
        self.offered.add(u64::from(due.bytes));
        self.left -= 1;
        let at_ps = match self.pace {
            _ if self.babbles => now,
            PacketPace::Saturate => now,
            PacketPace::Rate(rate) => {
                let bits = u128::from(due.bytes) * 8;
                due.at_ps + bits.saturating_mul(BIT_PS).div_ceil(rate.0.max(1).into()) as Ps
            }
            PacketPace::Period { period, burst, .. } => {
                self.burst_left = self.burst_left.saturating_sub(1);
                if self.burst_left == 0 {
                    self.burst_left = burst;
                    self.period_ps = self.period_ps.saturating_add(period.0.max(1));
                }
                // Packets of a stream keep their order.
                (self.period_ps + self.jitter()).max(due.at_ps)
            }
        };
        let bytes = self.draw();
        self.next = Some(DuePacket { at_ps, bytes });
        self.end();
    }

    /// Whether packets that find no room are dropped, as by an instrument that cannot wait.
    pub fn drops(&self) -> bool {
        self.continuous && self.pace != PacketPace::Saturate
    }

    /// Drops packets that are due, if [`PacketSource::drops`].
    pub fn drop_due(&mut self, now: Ps) {
        while self.drops()
            && !self.babbles
            && let Some(due) = self.due(now)
        {
            self.dropped.add(u64::from(due.bytes));
            self.take(now);
        }
    }

    /// Time of the next packet.
    pub fn next_ps(&self) -> Option<Ps> {
        self.next.map(|due| if self.babbles { 0 } else { due.at_ps })
    }

    /// Starts or stops sending as fast as possible. Afterwards packets are due as from now on.
    pub fn babble(&mut self, now: Ps, on: bool) {
        if self.babbles && !on {
            self.period_ps = self.period_ps.max(now);
            if let Some(due) = &mut self.next {
                due.at_ps = due.at_ps.max(now);
            }
        }
        self.babbles = on;
    }

    /// Packets that were due so far.
    pub const fn offered(&self) -> PacketTally {
        self.offered
    }

    /// Packets that were dropped because the buffer was full.
    pub const fn dropped(&self) -> PacketTally {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Addressing, BitRate, Time};
    use crate::time::{NS, US};

    fn flow(pace: PacketPace, size: PacketSize) -> scenario::TrafficStream {
        let place = |text: &str| text.parse().unwrap();
        scenario::TrafficStream {
            name: "f".into(),
            from: place("a"),
            to: vec![place("b")],
            route: Addressing::Auto,
            vc: 0,
            size,
            pace,
            continuous: false,
            start: Time(5 * NS),
            stop: None,
            count: None,
        }
    }

    /// Packets up to a time, for a link that accepts them at once.
    fn packets(source: &mut PacketSource, until: Ps) -> Vec<DuePacket> {
        let mut all = Vec::new();
        for now in (0..until).step_by(NS as usize) {
            while let Some(due) = source.due(now) {
                all.push(due);
                source.take(now);
            }
        }
        all
    }

    #[test]
    fn the_rate_does_not_depend_on_packet_sizes() {
        let pace = PacketPace::Rate(BitRate(1_000_000_000));
        let size = PacketSize::Exponential { mean: 200, min: 20, max: 1000 };
        let mut source = PacketSource::new(&flow(pace, size), 1);
        let bytes: u64 =
            packets(&mut source, 1000 * US).iter().map(|due| u64::from(due.bytes)).sum();
        assert!((bytes as f64 / 125_000.0 - 1.0).abs() < 0.01, "{bytes}");
    }

    #[test]
    fn periods_bursts_and_jitter() {
        let pace = PacketPace::Period { period: Time(US), jitter: Time(100 * NS), burst: 3 };
        let mut source =
            PacketSource::new(&flow(pace, PacketSize::Uniform { min: 50, max: 60 }), 1);
        let all = packets(&mut source, 10 * US);
        assert_eq!(all.len(), 30);
        for (index, due) in all.iter().enumerate() {
            let begin = 5 * NS + (index as u64 / 3) * US;
            assert!((begin..begin + 100 * NS).contains(&due.at_ps), "{due:?}");
            assert!((50..=60).contains(&due.bytes));
        }
        assert!(all.is_sorted_by_key(|due| due.at_ps));
        assert!(all.windows(2).any(|pair| pair[0].at_ps != pair[1].at_ps));
    }

    #[test]
    fn count_and_stop_end_a_stream() {
        let pace = PacketPace::Rate(BitRate(800_000_000));
        let mut some = flow(pace, PacketSize::Fixed(100));
        some.count = Some(4);
        let mut source = PacketSource::new(&some, 1);
        assert_eq!(packets(&mut source, 100 * US).len(), 4);
        assert_eq!(
            (source.next_ps(), source.offered()),
            (None, PacketTally { packets: 4, bytes: 400 })
        );
        let mut some = flow(pace, PacketSize::Fixed(100));
        some.stop = Some(Time(5 * US));
        assert_eq!(packets(&mut PacketSource::new(&some, 1), 100 * US).len(), 5);
    }

    #[test]
    fn an_instrument_that_cannot_wait_drops() {
        let mut some = flow(PacketPace::Rate(BitRate(800_000_000)), PacketSize::Fixed(100));
        some.continuous = true;
        let mut source = PacketSource::new(&some, 1);
        source.drop_due(10 * US);
        assert_eq!((source.dropped().packets, source.due(10 * US)), (10, None));
    }

    #[test]
    fn a_babbling_stream_always_has_a_packet() {
        let mut some = flow(PacketPace::Rate(BitRate(8_000)), PacketSize::Fixed(100));
        some.start = Time(0);
        let mut source = PacketSource::new(&some, 1);
        source.take(0);
        assert_eq!(source.due(US), None);
        source.babble(US, true);
        for _ in 0..10 {
            assert_eq!(source.due(2 * US), Some(DuePacket { at_ps: 2 * US, bytes: 100 }));
            source.take(2 * US);
        }
        source.babble(3 * US, false);
        source.take(3 * US);
        assert_eq!(source.due(4 * US), None);
    }

    #[test]
    fn streams_draw_different_numbers() {
        let size = PacketSize::Uniform { min: 12, max: 1 << 20 };
        let mut other = flow(PacketPace::Saturate, size);
        other.name = "g".into();
        let first = |flow: &scenario::TrafficStream, seed| {
            PacketSource::new(flow, seed).due(US).unwrap().bytes
        };
        let this = flow(PacketPace::Saturate, size);
        assert_ne!(first(&this, 1), first(&other, 1));
        assert_ne!(first(&this, 1), first(&this, 2));
        assert_eq!(first(&this, 1), first(&this, 1));
    }
}
