//! The hostile-network instrument: what happens to whole packets on their way, at random.
//!
//! [`Hostile`] says how often, and [`HostileStream`] does it to the packets of one direction. There is
//! no clock inside: the caller puts packets in and takes those out that have arrived.

use crate::units;
use fastrand::Rng;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Probabilities are in millionths.
const WHOLE: u32 = 1_000_000;

/// What happens to packets. Probabilities are in millionths, and every packet meets each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hostile {
    /// The packet does not arrive.
    pub drop: u32,
    /// It arrives twice.
    pub duplicate: u32,
    /// It is late, and others overtake it.
    pub reorder: u32,
    /// It is late, and so are those after it.
    pub delay: u32,
    /// One to three of its bits change.
    pub damage: u32,
    /// It ends early, with EEP or EOP, or has a byte more.
    pub cut: u32,
    /// Greatest lateness, ns.
    pub late_ns: u64,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// The probabilities with their names.
type Field = (&'static str, fn(&mut Hostile) -> &mut u32);

impl Hostile {
    /// A network that does nothing.
    pub const NONE: Self = Self {
        drop: 0,
        duplicate: 0,
        reorder: 0,
        delay: 0,
        damage: 0,
        cut: 0,
        late_ns: 50_000,
        seed: 1,
    };

    const FIELDS: [Field; 6] = [
        ("drop", |of| &mut of.drop),
        ("duplicate", |of| &mut of.duplicate),
        ("reorder", |of| &mut of.reorder),
        ("delay", |of| &mut of.delay),
        ("damage", |of| &mut of.damage),
        ("cut", |of| &mut of.cut),
    ];

    /// A probability as millionths.
    ///
    /// # Errors
    /// It is not in 0 to 1.
    pub fn millionths(probability: f64) -> Result<u32, String> {
        match (0.0..=1.0).contains(&probability) {
            true => Ok((probability * f64::from(WHOLE)).round() as u32),
            false => Err(format!("probability {probability} is not in 0 to 1")),
        }
    }

    /// The same for another direction: with random numbers of its own.
    #[must_use]
    pub fn of_direction(self, number: u64) -> Self {
        Self { seed: self.seed ^ (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15), ..self }
    }
}

impl FromStr for Hostile {
    type Err = String;

    /// Some of `drop=P`, `duplicate=P`, `reorder=P`, `delay=P`, `damage=P`, `cut=P`, `time=T` and
    /// `seed=N` with commas between: probabilities of 0 to 1, and the greatest lateness.
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = |why: &str| {
            format!(
                "hostile network '{text}': {why}; write some of drop, duplicate, reorder, delay, \
                 damage and cut, such as drop=0.01,reorder=0.02, and time=50us or seed=1"
            )
        };
        let mut hostile = Self::NONE;
        for option in text.split(',') {
            let (name, value) = option.split_once('=').ok_or_else(|| bad("no value"))?;
            let field = Self::FIELDS.iter().find(|(of, _)| *of == name);
            match (field, name) {
                (Some((_, field)), _) => {
                    let number = value.parse::<f64>().map_err(|_| bad("not a number"))?;
                    *field(&mut hostile) = Self::millionths(number).map_err(|what| bad(&what))?;
                }
                (None, "time") => {
                    let ps = units::time_ps(value).map_err(|what| bad(&what))?;
                    hostile.late_ns = (ps / 1000).max(1);
                }
                (None, "seed") => {
                    hostile.seed = value.parse().map_err(|_| bad("the seed is not a number"))?;
                }
                _ => return Err(bad(&format!("unknown option '{name}'"))),
            }
        }
        Ok(hostile)
    }
}

impl fmt::Display for Hostile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut of = *self;
        for (name, field) in Self::FIELDS {
            let share = f64::from(*field(&mut of)) / f64::from(WHOLE);
            if share > 0.0 {
                write!(f, "{name}={share},")?;
            }
        }
        write!(f, "time={}ns,seed={}", self.late_ns, self.seed)
    }
}

/// A packet on its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostilePacket {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// It ends with EEP.
    pub eep: bool,
}

/// How many packets met what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostileCounts {
    /// Packets put in.
    pub packets: u64,
    /// Packets that do not arrive.
    pub dropped: u64,
    /// Packets that arrive twice.
    pub duplicated: u64,
    /// Packets that others may overtake.
    pub reordered: u64,
    /// Packets that are late together with those after them.
    pub delayed: u64,
    /// Packets with changed bits.
    pub damaged: u64,
    /// Packets with another length.
    pub cut: u64,
}

impl HostileCounts {
    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            packets: self.packets + other.packets,
            dropped: self.dropped + other.dropped,
            duplicated: self.duplicated + other.duplicated,
            reordered: self.reordered + other.reordered,
            delayed: self.delayed + other.delayed,
            damaged: self.damaged + other.damaged,
            cut: self.cut + other.cut,
        }
    }
}

/// The packets of one direction.
#[derive(Clone, Debug)]
pub struct HostileStream {
    hostile: Hostile,
    rng: Rng,
    /// By time of arrival and number.
    packets: BTreeMap<(u64, u64), HostilePacket>,
    bytes: usize,
    sent: u64,
    /// No packet in order arrives before this time, ns.
    after_ns: u64,
    counts: HostileCounts,
}

impl HostileStream {
    /// Packets that may be on their way at a time.
    pub const PACKETS_MAX: usize = 64;
    /// Their bytes.
    pub const BYTES_MAX: usize = 16 << 20;

    /// An empty direction.
    pub fn new(hostile: Hostile) -> Self {
        Self {
            hostile,
            rng: Rng::with_seed(hostile.seed),
            packets: BTreeMap::new(),
            bytes: 0,
            sent: 0,
            after_ns: 0,
            counts: HostileCounts::default(),
        }
    }

    /// Changes what happens to the packets that follow.
    pub fn set(&mut self, hostile: Hostile) {
        if hostile.seed != self.hostile.seed {
            self.rng = Rng::with_seed(hostile.seed);
        }
        self.hostile = hostile;
    }

    /// What happened so far.
    pub fn counts(&self) -> HostileCounts {
        self.counts
    }

    /// Whether no packet is on its way.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Whether as many packets are on their way as may be.
    pub fn is_full(&self) -> bool {
        self.packets.len() >= Self::PACKETS_MAX || self.bytes >= Self::BYTES_MAX
    }

    fn hit(&mut self, millionths: u32) -> bool {
        millionths > 0 && self.rng.u32(..WHOLE) < millionths
    }

    fn lateness(&mut self) -> u64 {
        self.rng.u64(1..=self.hostile.late_ns.max(1))
    }

    /// Puts a packet in that would arrive at a time without hostility.
    pub fn put(&mut self, packet: HostilePacket, at_ns: u64) {
        let hostile = self.hostile;
        self.counts.packets += 1;
        if self.hit(hostile.drop) {
            self.counts.dropped += 1;
            return;
        }
        let twice = self.hit(hostile.duplicate);
        self.counts.duplicated += u64::from(twice);
        if twice {
            self.put_one(packet.clone(), at_ns);
        }
        self.put_one(packet, at_ns);
    }

    fn put_one(&mut self, mut packet: HostilePacket, at_ns: u64) {
        let hostile = self.hostile;
        let mut at = at_ns.max(self.after_ns);
        if self.hit(hostile.delay) {
            at += self.lateness();
            self.after_ns = at;
            self.counts.delayed += 1;
        }
        if self.hit(hostile.reorder) {
            at += self.lateness();
            self.counts.reordered += 1;
        }
        if !packet.bytes.is_empty() && self.hit(hostile.damage) {
            for _ in 0..self.rng.u32(1..=3) {
                let bit = self.rng.usize(..packet.bytes.len() * 8);
                packet.bytes[bit / 8] ^= 1 << (bit % 8);
            }
            self.counts.damaged += 1;
        }
        if packet.bytes.len() > 1 && self.hit(hostile.cut) {
            match self.rng.u32(..4) {
                0 => packet.bytes.push(0),
                kind => {
                    packet.eep |= kind > 1;
                    packet.bytes.truncate(self.rng.usize(1..packet.bytes.len()));
                }
            }
            self.counts.cut += 1;
        }
        self.sent += 1;
        self.bytes += packet.bytes.len();
        self.packets.insert((at, self.sent), packet);
    }

    /// When the next packet arrives, ns.
    pub fn next_ns(&self) -> Option<u64> {
        self.packets.first_key_value().map(|((at, _), _)| *at)
    }

    /// The next packet that has arrived.
    pub fn take(&mut self, now_ns: u64) -> Option<HostilePacket> {
        self.next_ns().filter(|at| *at <= now_ns)?;
        let (_, packet) = self.packets.pop_first()?;
        self.bytes -= packet.bytes.len();
        Some(packet)
    }

    /// Loses all packets that are on their way.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests;
