//! How virtual channels share a link: the medium access of ECSS-E-ST-50-11C 5.7.4, for amounts of
//! data instead of frames.
//!
//! A channel with bandwidth credit goes before all less urgent ones. A channel that has used up its
//! credit gets its expected share of the link, as urgently as its priority says. What is then left
//! goes to the channels that got least. An exact link does the same with one frame after the other,
//! so shares agree as soon as each channel has sent some frames.

/// Maximum number of virtual channels.
pub const VCS: usize = spfe_contract::VC_MAX as usize;
/// The whole link, in the unit of shares.
const WHOLE: u32 = 1 << 16;

/// A channel with something to send.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waiting {
    /// Virtual channel.
    pub vc: usize,
    /// Priority: 0 is the most urgent.
    pub level: u8,
    /// Expected share of the link, 65536ths; at least 1.
    pub share: u32,
    /// Link time of what is not sent yet, ps.
    pub backlog_ps: u64,
    /// Link time used beyond the share, ps: 0 is full credit.
    pub spent_ps: u64,
}

/// The channels with something to send.
#[derive(Clone, Copy, Debug)]
pub struct Backlog {
    /// First the channels with something to send, then those that have sent all of it.
    list: [Waiting; VCS],
    count: usize,
    known: usize,
    /// [`Waiting::spent_ps`] at which a channel has no credit left.
    credit_ps: u64,
}

fn scaled(time_ps: u64, by: u32, of: u32) -> u64 {
    super::scaled(time_ps, by.into(), of.into())
}

impl Backlog {
    /// No channel.
    pub fn new(credit_ps: u64) -> Self {
        Self { list: [Waiting::default(); VCS], count: 0, known: 0, credit_ps }
    }

    /// Adds a channel. At most [`VCS`] are kept.
    pub fn push(&mut self, channel: Waiting) {
        if let Some(place) = self.list.get_mut(self.known) {
            *place = channel;
            self.list.swap(self.known, self.count);
            self.known += 1;
            self.count += 1;
        }
    }

    /// Adds to the backlog of a channel. False if the channel is not in the list.
    pub fn add(&mut self, vc: usize, time_ps: u64) -> bool {
        let place = self.list[..self.known].iter().position(|channel| channel.vc == vc);
        let Some(place) = place else { return false };
        let channel = &mut self.list[place];
        channel.backlog_ps = channel.backlog_ps.saturating_add(time_ps);
        if place >= self.count {
            self.list.swap(place, self.count);
            self.count += 1;
        }
        true
    }

    /// All channels, also those that have sent everything.
    pub fn all(&self) -> &[Waiting] {
        &self.list[..self.known]
    }

    /// The channels with something to send.
    pub fn channels(&self) -> &[Waiting] {
        &self.list[..self.count]
    }

    /// Sends for `time_ps`.
    pub fn advance(&mut self, mut time_ps: u64) {
        for _ in 0..8 * VCS {
            if time_ps == 0 || self.count == 0 {
                return;
            }
            let rates = self.rates();
            let step = self.next_change(&rates).min(time_ps);
            self.send(&rates, step);
            time_ps -= step;
            self.drop_empty();
        }
    }

    /// Time until all of a channel is sent if nothing is added, ps.
    pub fn time_left(&self, vc: usize) -> u64 {
        let mut after = *self;
        let mut time_ps = 0;
        for _ in 0..8 * VCS {
            let Some(own) = after.channels().iter().position(|channel| channel.vc == vc) else {
                return time_ps;
            };
            if after.count == 1 {
                break;
            }
            let rates = after.rates();
            let step = after.next_change(&rates);
            time_ps += step;
            after.send(&rates, step);
            if after.list[own].backlog_ps == 0 {
                return time_ps;
            }
            after.drop_empty();
        }
        let rest = after.channels().iter().find(|channel| channel.vc == vc);
        time_ps + rest.map_or(0, |channel| channel.backlog_ps)
    }

    /// Shares of the link that the channels get now. Their sum is the whole link.
    fn rates(&self) -> [u32; VCS] {
        let mut rates = [0; VCS];
        let mut rest = WHOLE;
        if self.count == 1 {
            rates[0] = WHOLE;
            return rates;
        }
        let mut levels = self.channels().iter().fold(0u32, |set, one| set | 1 << (one.level & 31));
        while levels != 0 && rest != 0 {
            let level = levels.trailing_zeros() as u8;
            levels &= levels - 1;
            self.give(level, false, &mut rest, &mut rates);
            self.give(level, true, &mut rest, &mut rates);
        }
        self.level_out(rest, &mut rates);
        rates
    }

    /// Gives channels of a level what they are entitled to: all that is left if they have credit,
    /// otherwise their shares.
    fn give(&self, level: u8, credit: bool, rest: &mut u32, rates: &mut [u32; VCS]) {
        let takes = |channel: &&Waiting| {
            channel.level == level && (channel.spent_ps < self.credit_ps) == credit
        };
        let wanted: u32 = self.channels().iter().filter(takes).map(|channel| channel.share).sum();
        if wanted == 0 {
            return;
        }
        let (given, mut left) = if credit { (*rest, *rest) } else { (wanted.min(*rest), *rest) };
        let mut last = 0;
        for (index, channel) in self.channels().iter().enumerate() {
            if takes(&channel) {
                let rate = (u64::from(channel.share) * u64::from(given) / u64::from(wanted)) as u32;
                rates[index] = rate;
                left -= rate;
                last = index;
            }
        }
        if credit {
            // What rounding has left over.
            rates[last] += left;
            left = 0;
        }
        *rest = left;
    }

    /// Gives the rest to the channels that have least.
    fn level_out(&self, rest: u32, rates: &mut [u32; VCS]) {
        if rest == 0 || self.count == 0 {
            return;
        }
        let mut low = [true; VCS];
        let (mut level, mut first) = (0, 0);
        for _ in 0..self.count {
            let poor = || (0..self.count).filter(|index| low[*index]);
            let sum: u32 = poor().map(|index| rates[index]).sum();
            level = (sum + rest) / poor().count().max(1) as u32;
            first = poor().next().unwrap_or(0);
            let Some(rich) = poor().find(|index| rates[*index] > level) else { break };
            low[rich] = false;
        }
        let mut left = rest;
        for index in (0..self.count).filter(|index| low[*index]) {
            left -= level - rates[index];
            rates[index] = level;
        }
        rates[first] += left;
    }

    /// Time until a channel has sent everything or has used up its credit.
    fn next_change(&self, rates: &[u32; VCS]) -> u64 {
        let mut next = u64::MAX;
        for (channel, rate) in self.channels().iter().zip(rates) {
            if *rate != 0 {
                next = next.min(scaled(channel.backlog_ps, WHOLE, *rate).max(1));
            }
            if *rate > channel.share && channel.spent_ps < self.credit_ps {
                let left = self.credit_ps - channel.spent_ps;
                next = next.min(scaled(left, channel.share, rate - channel.share).max(1));
            }
        }
        next
    }

    fn send(&mut self, rates: &[u32; VCS], time_ps: u64) {
        for (channel, rate) in self.list[..self.count].iter_mut().zip(rates) {
            let sent = scaled(time_ps, *rate, WHOLE);
            // One ps more than the whole backlog has been asked for at most.
            let rest = channel.backlog_ps.saturating_sub(sent);
            channel.backlog_ps = if rest <= 1 { 0 } else { rest };
            let (share, spent) = (channel.share, channel.spent_ps);
            channel.spent_ps = if *rate >= share {
                let more = scaled(time_ps, rate - share, share);
                // A rounding error must not leave a credit that is used up in no time.
                let spent = spent.saturating_add(more).saturating_add(u64::from(*rate > share));
                spent.min(self.credit_ps)
            } else {
                spent.saturating_sub(scaled(time_ps, share - rate, share))
            };
        }
    }

    fn drop_empty(&mut self) {
        let mut index = 0;
        while index < self.count {
            if self.list[index].backlog_ps == 0 {
                self.count -= 1;
                self.list.swap(index, self.count);
            } else {
                index += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDIT: u64 = 1_000_000;

    fn channel(vc: usize, level: u8, share: u32) -> Waiting {
        Waiting { vc, level, share, backlog_ps: u64::MAX / 1_000_000_000, spent_ps: CREDIT }
    }

    fn rates(channels: &[Waiting]) -> Vec<u32> {
        let mut backlog = Backlog::new(CREDIT);
        channels.iter().for_each(|channel| backlog.push(*channel));
        let rates = backlog.rates()[..channels.len()].to_vec();
        assert_eq!(rates.iter().sum::<u32>(), WHOLE, "{rates:?}");
        rates
    }

    #[test]
    fn channels_without_credit_get_their_shares() {
        let whole = [0.5, 0.3, 0.2].map(|share| (f64::from(WHOLE) * share) as u32);
        let all: Vec<_> = (0..3).map(|vc| channel(vc, 15, whole[vc])).collect();
        for (rate, share) in rates(&all).into_iter().zip(whole) {
            assert!(rate.abs_diff(share) <= 2);
        }
        // What nobody has reserved goes to those with least, whatever their priorities.
        let few = [channel(0, 15, WHOLE / 2), channel(1, 0, 256), channel(2, 9, 256)];
        let got = rates(&few);
        assert_eq!(got[0], WHOLE / 2);
        assert!(got[1].abs_diff(got[2]) <= 1);
        // Reserved too often, the urgent ones have theirs.
        let many = [channel(0, 3, 40_000), channel(1, 1, 50_000), channel(2, 7, 60_000)];
        assert_eq!(rates(&many), [WHOLE - 50_000, 50_000, 0]);
    }

    #[test]
    fn a_channel_with_credit_goes_before_less_urgent_ones() {
        let urgent = Waiting { spent_ps: 0, ..channel(0, 2, 256) };
        assert_eq!(rates(&[urgent, channel(1, 3, 60_000)]), [WHOLE, 0]);
        let got = rates(&[urgent, channel(1, 1, 60_000)]);
        assert_eq!(got, [WHOLE - 60_000, 60_000]);
    }

    #[test]
    fn all_backlog_is_sent_in_its_time() {
        let mut backlog = Backlog::new(CREDIT);
        for vc in 0..VCS {
            let share = 1 + 300 * vc as u32;
            backlog.push(Waiting {
                vc,
                level: vc as u8 % 16,
                share,
                backlog_ps: 100_000 * (vc as u64 + 1),
                spent_ps: vc as u64 * CREDIT / 31,
            });
        }
        let sum: u64 = backlog.channels().iter().map(|channel| channel.backlog_ps).sum();
        let last = (0..VCS).map(|vc| backlog.time_left(vc)).max().unwrap();
        assert!(last.abs_diff(sum) < sum / 1000, "{last} {sum}");
        let before = backlog.time_left(7);
        backlog.advance(before / 2);
        assert!(backlog.time_left(7).abs_diff(before - before / 2) < sum / 1000);
        backlog.advance(last);
        assert!(backlog.channels().is_empty());
    }
}
