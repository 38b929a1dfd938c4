//! Quality of service of virtual channels (50-11C 5.7.4): priority, bandwidth, time-slots.
//!
//! Bandwidth credit is counted in rows of the link with eight binary places. On a link of one lane
//! a row is a word. The credit is updated after each data segment, and after [`UPDATE_ROWS`] rows
//! without a segment. A resend is free.
//!
//! Rows are counted once for all channels, and each channel is brought up to date when its credit
//! is needed. The cost of an update therefore does not depend on the number of channels.

/// Rows after which the credits are updated if no segment ends.
pub const UPDATE_ROWS: u32 = 66;
/// Expected bandwidth of virtual channel 0 after reset: 10 %.
pub const BANDWIDTH_VC0: u16 = 6554;
/// Expected bandwidth of the other channels after reset, and the smallest useful value: 0.39 %.
pub const BANDWIDTH_MINIMUM: u16 = 256;

const FRACTION: u32 = 8;

/// Parameters of a virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QosParameters {
    /// 0 is the highest priority. Values above [`QosLimits::priority_levels`] - 1 count as the
    /// lowest.
    pub priority: u8,
    /// Expected share of the link in 65536ths. 65535 is the whole link; 0 stops the channel.
    pub expected_bandwidth: u16,
    /// Mask of the time-slots in which the channel may send.
    pub time_slots: u64,
}

/// Choice between two channels of the same precedence, which the standard leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QosTieBreak {
    /// The channel with the lowest number goes first.
    #[default]
    LowestFirst,
    /// The channels take turns.
    RoundRobin,
}

/// Parameters of the link. In many implementations they are constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QosLimits {
    /// Number of priority levels, 4 to 16.
    pub priority_levels: u8,
    /// Bandwidth credit limit in rows, at most 2^24.
    pub bandwidth_credit_limit: u32,
    /// Minimum bandwidth credit threshold, in tenths of the limit, below zero.
    pub minimum_threshold_tenths: u8,
    /// Idle time limit in rows: full credit for longer counts as under-use.
    pub idle_time_limit: u32,
    /// Choice between two channels of the same precedence.
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

/// Status of the medium access. In masks, bit V stands for virtual channel V.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QosStatus {
    /// Bandwidth over-use: a segment took the credit below the threshold. Stays set until cleared.
    pub bandwidth_over_use: u32,
    /// Bandwidth under-use. Stays set until cleared; the idle time then starts again.
    pub bandwidth_under_use: u32,
    /// Current time-slot.
    pub current_time_slot: u8,
}

#[derive(Clone, Copy, Debug)]
struct Channel {
    parameters: QosParameters,
    /// Credit in 1/256 rows.
    credit: i64,
    /// Price of a row of a segment: 1 / expected bandwidth.
    price: i64,
    /// Rows spent at full credit.
    idle: u64,
    /// Rows of the link that the credit accounts for.
    rows: u64,
}

impl Channel {
    /// The account after the link has sent `rows` rows.
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

/// Medium access controller: keeps the bandwidth credits and selects the next channel to send.
#[derive(Clone, Debug)]
pub struct MediumAccess<const V: usize> {
    channels: [Channel; V],
    /// Virtual channels in use, up to `V`.
    count: usize,
    limits: QosLimits,
    /// Rows of the link so far.
    rows: u64,
    /// Mask of channels that may send in this time-slot.
    allowed: u32,
    last: u32,
    status: QosStatus,
}

impl<const V: usize> MediumAccess<V> {
    /// State after Interface Reset, with `V` virtual channels.
    pub fn new(limits: QosLimits) -> Self {
        Self::with_channels(limits, V)
    }

    /// State after Interface Reset, with `count` virtual channels, at most `V`.
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

    /// Parameters of a virtual channel, if it exists.
    pub fn parameters(&self, vc: usize) -> Option<QosParameters> {
        self.existing().get(vc).map(|channel| channel.parameters)
    }

    #[inline(always)]
    fn existing(&self) -> &[Channel] {
        self.channels.get(..self.count).unwrap_or(&self.channels)
    }

    /// Sets the parameters of a virtual channel. Returns false if the channel does not exist.
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

    /// Clears the error flags.
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

    /// SCHEDULE.request (6.3.4): starts time-slot `slot`, 0 to 63.
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

    /// Accounts for rows of the link. `used`: the last of them carried a segment of this virtual
    /// channel, with this number of rows including SDF and EDF.
    pub fn update(&mut self, rows: u32, used: Option<(usize, u32)>) {
        let before = self.rows;
        self.rows = before.wrapping_add(u64::from(rows));
        if let Some((vc, segment)) = used {
            self.charge(vc, before, segment);
        }
    }

    /// Charges a segment to a virtual channel. `before`: rows that passed before the last update.
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

    /// Precedence of a virtual channel: one band per priority, ordered by credit within the band.
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

    /// Channels of the mask that may send now.
    #[inline(always)]
    pub const fn competing(&self, ready: u32) -> u32 {
        ready & self.allowed
    }

    /// Selects the channel to send next. `ready`: mask of channels with a segment to send.
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

    /// Records that the selected channel starts to send.
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
