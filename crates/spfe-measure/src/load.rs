//! Load of the machine and of this process, as the kernel counts it.

use std::fs;

use serde::{Deserialize, Serialize};

/// Processor times and interrupts of all processors together, since the machine started.
///
/// Most kernels sample these times at timer ticks (every 1 to 10 ms), so they are accurate over
/// seconds only. The times of a process are exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineTimes {
    /// Time with work, ns: user programs (virtual machines included), kernel, and interrupts.
    pub busy_ns: u64,
    /// Part of it in handlers of interrupts, immediate and deferred (softirq), ns.
    pub interrupt_ns: u64,
    /// Time that the hypervisor gave to other machines, ns. It is neither work nor idle.
    pub stolen_ns: u64,
    /// Interrupts of devices and timers, and those that processors sent each other.
    pub interrupts: u64,
}

impl MachineTimes {
    /// Reads `/proc/stat`; `None` where it cannot be read.
    pub fn now() -> Option<Self> {
        // SAFETY: the call takes and returns numbers only.
        let ticks_per_s = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        let tick_ns = 1_000_000_000 / u64::try_from(ticks_per_s).ok().filter(|ticks| *ticks > 0)?;
        Self::parse(&fs::read_to_string("/proc/stat").ok()?, tick_ns)
    }

    /// Reads the text of `/proc/stat` (proc_stat(5)).
    fn parse(text: &str, tick_ns: u64) -> Option<Self> {
        let numbers = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            let numbers = line.split_ascii_whitespace().map(|word| word.parse().unwrap_or(0));
            Some(numbers.collect::<Vec<u64>>())
        };
        let times = numbers("cpu ")?;
        let ns = |index: usize| times.get(index).copied().unwrap_or(0).saturating_mul(tick_ns);
        // user, nice, system, idle, iowait, irq, softirq, steal; guests are counted in user and nice.
        let interrupt_ns = ns(5) + ns(6);
        Some(Self {
            busy_ns: ns(0) + ns(1) + ns(2) + interrupt_ns,
            interrupt_ns,
            stolen_ns: ns(7),
            interrupts: numbers("intr ")?.first().copied()?,
        })
    }

    /// What was added since `before`.
    pub fn since(&self, before: &Self) -> Self {
        // The kernel's sums over processors may step back by a little.
        Self {
            busy_ns: self.busy_ns.saturating_sub(before.busy_ns),
            interrupt_ns: self.interrupt_ns.saturating_sub(before.interrupt_ns),
            stolen_ns: self.stolen_ns.saturating_sub(before.stolen_ns),
            interrupts: self.interrupts.saturating_sub(before.interrupts),
        }
    }
}

/// Processor time of all threads of this process, since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessTimes {
    /// Time in the program, ns.
    pub user_ns: u64,
    /// Time in the kernel on behalf of the program, ns.
    pub system_ns: u64,
}

impl ProcessTimes {
    /// Reads `getrusage`.
    pub fn now() -> Self {
        // SAFETY: all-zero bytes are a valid rusage.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is valid for the call.
        unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
        let ns =
            |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        Self { user_ns: ns(usage.ru_utime), system_ns: ns(usage.ru_stime) }
    }

    /// What was added since `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
        }
    }

    /// Both times together, ns.
    pub fn total_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process_cpu_ns;

    #[test]
    fn work_interrupts_and_stolen_time_are_told_apart() {
        let text = "cpu  10 20 30 1000 500 1 2 4 8 9\ncpu0 1 2 3\nintr 77 1 2 3\nctxt 5\n";
        let expected =
            MachineTimes { busy_ns: 630, interrupt_ns: 30, stolen_ns: 40, interrupts: 77 };
        assert_eq!(MachineTimes::parse(text, 10), Some(expected));
        assert_eq!(MachineTimes::parse("ctxt 5\n", 10), None);
        // Old kernels have fewer columns.
        let old = MachineTimes::parse("cpu  1 1 1 1\nintr 3\n", 10);
        assert_eq!(old.map(|times| (times.busy_ns, times.stolen_ns)), Some((30, 0)));
    }

    #[test]
    fn a_difference_is_never_negative() {
        let later = MachineTimes { busy_ns: 5, interrupts: 9, ..MachineTimes::default() };
        let before = MachineTimes { busy_ns: 6, interrupts: 2, ..MachineTimes::default() };
        assert_eq!(later.since(&before).busy_ns, 0);
        assert_eq!(later.since(&before).interrupts, 7);
    }

    #[test]
    fn the_process_time_is_that_of_all_threads() {
        let (before, clock) = (ProcessTimes::now(), process_cpu_ns());
        std::thread::spawn(|| {
            let start = crate::thread_cpu_ns();
            while crate::thread_cpu_ns() - start < 20_000_000 {}
        })
        .join()
        .unwrap();
        let used = ProcessTimes::now().since(&before).total_ns();
        assert!(used >= 19_000_000, "{used}");
        assert!(used <= process_cpu_ns() - clock + 2_000_000, "{used}");
    }

    #[test]
    fn this_machine_counts_interrupts() {
        let now = MachineTimes::now().expect("/proc/stat");
        assert!(now.busy_ns > 0 && now.interrupts > 0);
        assert!(now.interrupt_ns <= now.busy_ns);
    }
}
