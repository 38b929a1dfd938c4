//! Quality of service of virtual channels (50-11C 5.7.4): priority, bandwidth, time-slots.
//!
//! Bandwidth credit is counted in rows of the link, which are words on a link of one lane, with
//! eight binary places. It is brought up to date after each data segment, and after
//! [`UPDATE_ROWS`] rows without one. A segment sent again is not paid for twice. Rows are added up
//! for all channels at once, and a channel takes them over when it is looked at: the cost of an
//! update does not depend on the number of channels.

/// Rows after which the credit is brought up to date when no segment ends.
pub const UPDATE_ROWS: u32 = 66;
/// Expected bandwidth of virtual channel 0 after reset: 10 %.
pub const BANDWIDTH_VC0: u16 = 6554;
/// Expected bandwidth of the others after reset, and the smallest useful one: 0.39 %.
pub const BANDWIDTH_MINIMUM: u16 = 256;

const FRACTION: u32 = 8;

/// Parameters of a virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QosParameters {
    /// 0 is the highest; above [`QosLimits::priority_levels`] - 1 counts as the lowest.
    pub priority: u8,
    /// Expected share of the link in 65536ths; 65535 is all of it, 0 bars the channel from sending.
    pub expected_bandwidth: u16,
    /// Bit T: may send in time-slot T.
    pub time_slots: u64,
}

/// Who goes first of two with the same precedence. The standard does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QosTieBreak {
    /// The lowest virtual channel number.
    #[default]
    LowestFirst,
    /// The next one after the last that sent.
    RoundRobin,
}

/// Parameters of the link; constants in many implementations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QosLimits {
    /// Priority levels, 4 to 16.
    pub priority_levels: u8,
    /// Bandwidth credit limit in rows, at most 2^24.
    pub bandwidth_credit_limit: u32,
    /// Minimum bandwidth credit threshold, in tenths of the limit below zero.
    pub minimum_threshold_tenths: u8,
    /// Idle time limit in rows: full credit for longer is under-use.
    pub idle_time_limit: u32,
    /// Who goes first of two with the same precedence.
    pub tie_break: QosTieBreak,
}

impl Default for QosLimits {
    fn default() -> Self {
        Self {
            priority_levels: 16,
            bandwidth_credit_limit: 16384,
            minimum_threshold_tenths: 9,
            // 1 ms at 6.25 Gbit/s.
            idle_time_limit: 0x2625a,
            tie_break: QosTieBreak::LowestFirst,
        }
    }
}

/// Status of the medium access. Bit V is of virtual channel V.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QosStatus {
    /// Bandwidth over-use, sticky: a segment took the credit below the threshold.
    pub bandwidth_over_use: u32,
    /// Bandwidth under-use, sticky; the idle time begins again when it is cleared.
    pub bandwidth_under_use: u32,
    /// Current time-slot.
    pub current_time_slot: u8,
}

#[derive(Clone, Copy, Debug)]
struct Channel {
    parameters: QosParameters,
    /// Rows times 2^8.
    credit: i64,
    /// Price of a row of a segment: 1 / expected bandwidth.
    price: i64,
    /// Rows at full credit.
    idle: u64,
    /// Rows of the link that are in the credit.
    rows: u64,
}

impl Channel {
    /// As it is when the link has sent so many rows.
    #[inline]
    fn at(&self, rows: u64, limit: i64) -> Self {
        let more = rows.wrapping_sub(self.rows);
        let missing = (limit - self.credit) as u64;
        let needed = missing.div_ceil(1 << FRACTION);
        let (credit, idle) = if more >= needed {
            (limit, self.idle.saturating_add(more - needed))
        } else {
            (self.credit + ((more << FRACTION) as i64), 0)
        };
        Self { credit, idle, rows, ..*self }
    }
}

/// The medium access controller's accounts.
#[derive(Clone, Debug)]
pub struct MediumAccess<const V: usize> {
    channels: [Channel; V],
    /// Channels there are, `V` at most.
    count: usize,
    limits: QosLimits,
    /// Rows that went by on the link.
    rows: u64,
    /// Channels that may send in this time-slot.
    allowed: u32,
    last: u32,
    status: QosStatus,
}

impl<const V: usize> MediumAccess<V> {
    /// After Interface Reset, with `V` virtual channels.
    pub fn new(limits: QosLimits) -> Self {
        Self::with_channels(limits, V)
    }

    /// After Interface Reset, with so many virtual channels, `V` at most.
    pub fn with_channels(limits: QosLimits, count: usize) -> Self {
        let mut limits = limits;
        limits.priority_levels = limits.priority_levels.clamp(4, 16);
        limits.bandwidth_credit_limit = limits.bandwidth_credit_limit.clamp(1, 1 << 24);
        limits.minimum_threshold_tenths = limits.minimum_threshold_tenths.min(10);
        let channel = |vc| {
            let expected_bandwidth = if vc == 0 { BANDWIDTH_VC0 } else { BANDWIDTH_MINIMUM };
            let parameters = QosParameters {
                priority: limits.priority_levels - 1,
                expected_bandwidth,
                time_slots: u64::MAX,
            };
            Channel { parameters, credit: 0, price: price(expected_bandwidth), idle: 0, rows: 0 }
        };
        let channels = core::array::from_fn(channel);
        let mut this = Self {
            channels,
            count: count.min(V),
            limits,
            rows: 0,
            allowed: 0,
            last: 0,
            status: QosStatus::default(),
        };
        this.allow();
        this
    }

    /// Parameters of a virtual channel.
    pub fn parameters(&self, vc: usize) -> Option<QosParameters> {
        self.existing().get(vc).map(|channel| channel.parameters)
    }

    #[inline(always)]
    fn existing(&self) -> &[Channel] {
        self.channels.get(..self.count).unwrap_or(&self.channels)
    }

    /// Sets the parameters of a virtual channel. False if there is none of that number.
    pub fn set_parameters(&mut self, vc: usize, parameters: QosParameters) -> bool {
        if vc >= self.count {
            return false;
        }
        let Some(channel) = self.channels.get_mut(vc) else { return false };
        channel.parameters = parameters;
        channel.price = price(parameters.expected_bandwidth);
        self.allow();
        true
    }

    /// Parameters of the link.
    pub const fn limits(&self) -> QosLimits {
        self.limits
    }

    /// Sets the idle time limit in rows.
    pub fn set_idle_time_limit(&mut self, rows: u32) {
        self.limits.idle_time_limit = rows;
    }

    /// Status.
    pub fn status(&self) -> QosStatus {
        let mut status = self.status;
        for (vc, channel) in self.existing().iter().enumerate() {
            let idle = channel.at(self.rows, self.limit()).idle;
            status.bandwidth_under_use |= u32::from(self.is_under_use(idle)) << (vc & 31);
        }
        status
    }

    fn is_under_use(&self, idle: u64) -> bool {
        idle > u64::from(self.limits.idle_time_limit)
    }

    /// Clears the sticky bits.
    pub fn clear_errors(&mut self) {
        let (rows, limit) = (self.rows, self.limit());
        for channel in &mut self.channels {
            *channel = Channel { idle: 0, ..channel.at(rows, limit) };
        }
        self.status.bandwidth_over_use = 0;
        self.status.bandwidth_under_use = 0;
    }

    /// Bandwidth credit of a virtual channel in rows.
    pub fn credit(&self, vc: usize) -> Option<i64> {
        let channel = self.existing().get(vc)?;
        Some(channel.at(self.rows, self.limit()).credit >> FRACTION)
    }

    /// SCHEDULE.request (6.3.4): a time-slot begins, 0 to 63.
    pub fn schedule(&mut self, slot: u8) {
        self.status.current_time_slot = slot & 63;
        self.allow();
    }

    fn allow(&mut self) {
        self.allowed = 0;
        for (vc, channel) in self.channels.iter().enumerate().take(self.count.min(32)) {
            let p = &channel.parameters;
            let slot = p.time_slots >> self.status.current_time_slot & 1 != 0;
            self.allowed |= u32::from(slot && p.expected_bandwidth != 0) << vc;
        }
    }

    fn limit(&self) -> i64 {
        i64::from(self.limits.bandwidth_credit_limit) << FRACTION
    }

    fn threshold(&self) -> i64 {
        -self.limit() * i64::from(self.limits.minimum_threshold_tenths) / 10
    }

    /// Rows have gone by on the link; the last ones, if `used` says so, with a segment of a
    /// virtual channel of that many rows, SDF and EDF with it.
    pub fn update(&mut self, rows: u32, used: Option<(usize, u32)>) {
        let before = self.rows;
        self.rows = before.wrapping_add(u64::from(rows));
        if let Some((vc, segment)) = used {
            self.charge(vc, before, segment);
        }
    }

    /// A virtual channel pays for a segment out of the rows up to now, of which `before` went by
    /// before the last update.
    fn charge(&mut self, vc: usize, before: u64, segment: u32) {
        let (limit, threshold, rows) = (self.limit(), self.threshold(), self.rows);
        let Some(channel) = self.existing().get(vc) else { return };
        let last = channel.at(before, limit);
        let gain = (rows.wrapping_sub(before) as i64) << FRACTION;
        let credit = last.credit + gain - i64::from(segment) * last.price;
        let over = ((credit - limit).max(0) >> FRACTION) as u64;
        let credit = credit.clamp(-limit, limit);
        if self.is_under_use(last.idle) {
            self.status.bandwidth_under_use |= 1 << (vc & 31);
        }
        if credit < threshold {
            self.status.bandwidth_over_use |= 1 << (vc & 31);
        }
        let idle = if credit < limit { 0 } else { last.idle + over };
        if let Some(channel) = self.channels.get_mut(vc) {
            *channel = Channel { credit, idle, rows, ..last };
        }
    }

    /// The precedence of a virtual channel: bands for the priorities, and the credit inside.
    fn precedence(&self, channel: &Channel) -> i64 {
        let limit = self.limit();
        let credit = channel.at(self.rows, limit).credit;
        if credit < self.threshold() {
            return credit;
        }
        let levels = self.limits.priority_levels - 1;
        let rank = i64::from(levels - channel.parameters.priority.min(levels));
        2 * limit * rank + limit + credit
    }

    /// Channels of a mask that may send now.
    #[inline(always)]
    pub const fn competing(&self, ready: u32) -> u32 {
        ready & self.allowed
    }

    /// The one of the channels with a segment ready (bit V for virtual channel V) that sends next.
    pub fn select(&self, ready: u32) -> Option<usize> {
        let competing = self.competing(ready);
        if competing & competing.wrapping_sub(1) == 0 {
            return (competing != 0).then(|| competing.trailing_zeros() as usize);
        }
        let turn = match self.limits.tie_break {
            QosTieBreak::LowestFirst => 0,
            QosTieBreak::RoundRobin => (self.last + 1) & 31,
        };
        let mut rest = competing.rotate_right(turn);
        let mut best: Option<(i64, usize)> = None;
        while rest != 0 {
            let vc = ((rest.trailing_zeros() + turn) & 31) as usize;
            rest &= rest - 1;
            let Some(channel) = self.existing().get(vc) else { continue };
            let precedence = self.precedence(channel);
            if best.is_none_or(|(most, _)| precedence > most) {
                best = Some((precedence, vc));
            }
        }
        best.map(|(_, vc)| vc)
    }

    /// The selected channel begins to send.
    pub fn selected(&mut self, vc: usize) {
        self.last = vc as u32 & 31;
    }
}

fn price(share: u16) -> i64 {
    match share {
        0 => 0,
        u16::MAX => 1 << FRACTION,
        _ => (1 << (16 + FRACTION)) / i64::from(share),
    }
}
