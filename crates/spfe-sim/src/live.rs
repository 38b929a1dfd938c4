//! Faults that are given to a running network.
//!
//! [`LiveFaults`] knows when a fault begins, repeats and ends. Whoever runs the links asks it before
//! each step, and applies what is due.

use crate::fault::{FaultKind, WireFault};
use crate::link::{Side, SimulatedLink};
use crate::rng;
use crate::scenario::{FaultAction, FaultTiming, ScenarioFault};
use crate::time::Ps;
use fastrand::Rng;

/// Maximum number of faults that wait, repeat or last at the same time.
pub const FAULTS_MAX: usize = 64;
/// Maximum length of the name of a fault in bytes.
const NAME_MAX: usize = 100;

/// A fault that waits, repeats or lasts.
#[derive(Clone, Debug)]
pub struct LiveFault {
    /// Its number in this network.
    pub number: u32,
    /// The fault.
    pub fault: ScenarioFault,
    /// Whether it is in effect now.
    pub is_active: bool,
    /// How often it has occurred.
    pub times: u64,
    /// Time of the next occurrence.
    pub next_ps: Option<Ps>,
    /// End of the effect.
    pub end_ps: Option<Ps>,
    /// No occurrence from this time on.
    until: Ps,
    left: u64,
    rng: Rng,
}

/// Selects faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultChoice {
    /// All of them.
    All,
    /// The fault with this number.
    Number(u32),
    /// All faults of this link, flow or node.
    Place(String),
}

impl FaultChoice {
    /// A number, the name of a place, or nothing for all faults.
    pub fn of(text: &str) -> Self {
        match text.parse() {
            _ if text.is_empty() => Self::All,
            Ok(number) => Self::Number(number),
            Err(_) => Self::Place(text.to_owned()),
        }
    }
}

/// What happens to a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultChange {
    /// The fault.
    pub fault: ScenarioFault,
    /// It begins or occurs; otherwise it ends.
    pub begins: bool,
}

/// The faults of a running network.
#[derive(Clone, Debug)]
pub struct LiveFaults {
    list: Vec<LiveFault>,
    last: u32,
    seed: u64,
    /// Changes of faults at the ports of applications, for [`LiveFaults::take_port_changes`].
    ports: Vec<FaultChange>,
}

/// The link, flow or node that a fault concerns.
pub fn place(fault: &ScenarioFault) -> &str {
    match &fault.what {
        FaultAction::Words { link, .. }
        | FaultAction::BitErrorRate { link, .. }
        | FaultAction::Command { link, .. } => link,
        FaultAction::Babble { flow } => flow,
        FaultAction::Block { node, .. }
        | FaultAction::BabblePort { node, .. }
        | FaultAction::Eep { node, .. }
        | FaultAction::TimeCodeLoss { node } => &node.unit,
    }
}

impl LiveFaults {
    /// No faults. The seed is that of faults at random times.
    pub const fn new(seed: u64) -> Self {
        Self { list: Vec::new(), last: 0, seed, ports: Vec::new() }
    }

    /// The faults that wait, repeat or last.
    pub fn list(&self) -> &[LiveFault] {
        &self.list
    }

    /// Adds a checked fault, whose times count from `now`, and returns its number.
    ///
    /// # Errors
    ///
    /// There are [`FAULTS_MAX`] faults already, or its name is too long.
    pub fn add(&mut self, now: Ps, fault: ScenarioFault) -> Result<u32, String> {
        if self.list.len() >= FAULTS_MAX {
            return Err(format!("{FAULTS_MAX} faults wait, repeat or last, the most there can be"));
        }
        if fault.name.len() > NAME_MAX {
            return Err(format!("a name of a fault longer than {NAME_MAX} bytes"));
        }
        self.last = self.last.wrapping_add(1).max(1);
        let number = self.last;
        let mut rng = rng::stream(self.seed, &format!("live fault {number}"));
        let (mut until, mut left) = (Ps::MAX, 1);
        let next = match fault.when {
            FaultTiming::At(at) => now.saturating_add(at.0),
            FaultTiming::Every { period, random, from, until: end, count } => {
                until = end.map_or(Ps::MAX, |end| now.saturating_add(end.0));
                left = count.unwrap_or(u64::MAX);
                let gap = if random { rng::interval(&mut rng, period.0) } else { 0 };
                now.saturating_add(from.0).saturating_add(gap)
            }
            FaultTiming::During { from, .. } => now.saturating_add(from.0),
        };
        let (next_ps, end_ps) = ((left != 0 && next < until).then_some(next), None);
        let (is_active, times) = (false, 0);
        let fault =
            LiveFault { number, fault, is_active, times, next_ps, end_ps, until, left, rng };
        self.list.push(fault);
        Ok(number)
    }

    /// Time of the next change.
    pub fn next_ps(&self) -> Option<Ps> {
        self.list.iter().flat_map(|fault| [fault.next_ps, fault.end_ps]).flatten().min()
    }

    /// Takes a change that is due.
    pub fn due(&mut self, now: Ps) -> Option<FaultChange> {
        let is_due = |at: Option<Ps>| at.is_some_and(|at| at <= now);
        let index =
            self.list.iter().position(|fault| is_due(fault.next_ps) || is_due(fault.end_ps))?;
        let one = self.list.get_mut(index)?;
        let begins = !is_due(one.end_ps);
        if begins {
            let at = one.next_ps.take().unwrap_or(now);
            one.times += 1;
            one.left -= 1;
            let lasts = one.fault.lasts_ps();
            one.is_active = lasts.is_some();
            one.end_ps = lasts.and_then(|ps| at.checked_add(ps)).filter(|end| *end != Ps::MAX);
            if let FaultTiming::Every { period, random, .. } = one.fault.when {
                let gap = if random { rng::interval(&mut one.rng, period.0) } else { period.0 };
                let next = at.saturating_add(gap.max(1));
                one.next_ps = (one.left != 0 && next < one.until).then_some(next);
            }
        } else {
            one.end_ps = None;
            one.is_active = false;
        }
        let change = FaultChange { fault: one.fault.clone(), begins };
        if one.next_ps.is_none() && !one.is_active {
            self.list.remove(index);
        }
        self.note(&change);
        Some(change)
    }

    /// Removes faults. Returns those that are in effect, which have to be undone.
    pub fn end(&mut self, which: &FaultChoice) -> (usize, Vec<FaultChange>) {
        let (gone, kept) =
            std::mem::take(&mut self.list).into_iter().partition(|one| match which {
                FaultChoice::All => true,
                FaultChoice::Number(number) => one.number == *number,
                FaultChoice::Place(name) => place(&one.fault) == *name,
            });
        self.list = kept;
        let gone: Vec<LiveFault> = gone;
        let active = gone.iter().filter(|one| one.is_active);
        let changes: Vec<_> =
            active.map(|one| FaultChange { fault: one.fault.clone(), begins: false }).collect();
        changes.iter().for_each(|change| self.note(change));
        (gone.len(), changes)
    }

    fn note(&mut self, change: &FaultChange) {
        let at_port = matches!(
            change.fault.what,
            FaultAction::Block { .. } | FaultAction::BabblePort { .. } | FaultAction::Eep { .. }
        );
        if at_port && self.ports.len() < FAULTS_MAX {
            self.ports.push(change.clone());
        }
    }

    /// Takes the changes that concern the ports of applications.
    pub fn take_port_changes(&mut self) -> Vec<FaultChange> {
        std::mem::take(&mut self.ports)
    }
}

/// The fault that undoes a change of a wire, if it needs one.
const fn inverse(kind: FaultKind) -> Option<FaultKind> {
    match kind {
        FaultKind::PolaritySwap => Some(FaultKind::PolaritySwap),
        FaultKind::Skew { bits } => Some(FaultKind::Skew { bits: -bits }),
        FaultKind::Delay { delay_ps } => Some(FaultKind::Delay { delay_ps: -delay_ps }),
        _ => None,
    }
}

/// Ends the effect of a fault on the wires of a link.
pub fn undo_on_wires(link: &mut dyn SimulatedLink, now: Ps, what: &FaultAction) {
    let FaultAction::Words { direction, lane, target, kind, .. } = what else { return };
    for from in direction.from() {
        link.restore(*from, *lane);
        if let Some(kind) = inverse(*kind) {
            link.inject(now, *from, WireFault { lane: *lane, target: *target, kind });
        }
    }
}

/// Ends the cuts, stuck signals and planned faults of a link.
pub fn restore(link: &mut dyn SimulatedLink) {
    Side::BOTH.into_iter().for_each(|side| link.restore(side, None));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MS;

    fn fault(text: &str) -> ScenarioFault {
        ScenarioFault::live(text).unwrap()
    }

    fn changes(faults: &mut LiveFaults, until: Ps) -> Vec<(Ps, bool)> {
        let mut seen = Vec::new();
        while let Some(at) = faults.next_ps().filter(|at| *at <= until) {
            while let Some(change) = faults.due(at) {
                seen.push((at / MS, change.begins));
            }
        }
        seen
    }

    #[test]
    fn times_count_from_now() {
        let mut faults = LiveFaults::new(1);
        faults.add(5 * MS, fault("what='cut'\nlink='a'\nduration='2ms'")).unwrap();
        assert_eq!(changes(&mut faults, 100 * MS), [(5, true), (7, false)]);
        let every = "what='cut'\nlink='a'\nduration='1ms'\nevery='4ms'\nfrom='1ms'\nuntil='9ms'";
        faults.add(10 * MS, fault(every)).unwrap();
        let cuts = [(11, true), (12, false), (15, true), (16, false)];
        assert_eq!(changes(&mut faults, 100 * MS), cuts);
        let rate = "what='bit-errors'\nlink='a'\nrate=1e-6\nuntil='3ms'";
        faults.add(20 * MS, fault(rate)).unwrap();
        assert_eq!(changes(&mut faults, 100 * MS), [(20, true), (23, false)]);
        faults.add(30 * MS, fault("what='bit-error'\nlink='a'\nat='1ms'")).unwrap();
        assert_eq!(changes(&mut faults, 100 * MS), [(31, true)]);
        assert!(faults.list().is_empty());
    }

    #[test]
    fn a_cut_without_a_duration_lasts_until_it_is_ended() {
        let mut faults = LiveFaults::new(1);
        let number = faults.add(MS, fault("what='cut'\nlink='a'")).unwrap();
        assert_eq!(changes(&mut faults, Ps::MAX), [(1, true)]);
        assert!(faults.list()[0].is_active);
        assert_eq!(faults.end(&FaultChoice::Place("b".into())).0, 0);
        let (count, undone) = faults.end(&FaultChoice::Number(number));
        assert_eq!((count, undone.len(), undone[0].begins), (1, 1, false));
        assert!(faults.list().is_empty());
    }

    #[test]
    fn wrong_faults_say_what_is_wrong() {
        let refused = |text: &str| ScenarioFault::live(text).unwrap_err();
        assert!(refused("what='cut'").contains("\"cut\" has no link"));
        assert!(refused("what='cut'\nlink='a'\nrate=1").contains("no use for rate"));
        assert!(refused("what='melt'\nlink='a'").contains("unknown variant `melt`"));
        assert!(refused("what='stuck'\nlink='a'\nlevel=2").contains("level 2 is not 0 or 1"));
        let mut faults = LiveFaults::new(1);
        let cut = fault("what='cut'\nlink='a'");
        for number in 1..=FAULTS_MAX {
            assert_eq!(faults.add(0, cut.clone()), Ok(number as u32));
        }
        assert!(faults.add(0, cut).unwrap_err().starts_with("64 faults"));
    }
}
