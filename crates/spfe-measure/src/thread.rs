//! Clocks, CPU affinity and scheduling class of the calling thread.

use std::fs;
use std::mem;

/// Priority that [`set_fifo`] sets: above ordinary threads, below kernel threads.
pub const FIFO_PRIORITY: i32 = 10;

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec for the duration of the call.
    let rc = unsafe { libc::clock_gettime(clock, &mut t) };
    if rc != 0 {
        return 0;
    }
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Monotonic time in nanoseconds since an arbitrary start.
pub fn now_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// CPU time (user and system) used by the calling thread, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time (user and system) used by all threads of this process, in nanoseconds.
pub fn process_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Restricts the calling thread to one CPU. Returns `false` if the system refused.
///
/// Threads and processes created afterwards inherit the restriction. If a
/// pinned `SCHED_FIFO` thread creates a child and then spins, the child never
/// runs: create first, and pin afterwards in each thread.
pub fn pin_to(cpu: usize) -> bool {
    if cpu >= libc::CPU_SETSIZE as usize {
        return false;
    }
    // SAFETY: an all-zero cpu_set_t is a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: `cpu` is below CPU_SETSIZE, so the bit is inside the set.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: `set` is a valid set of the size given; 0 is the calling thread.
    unsafe { libc::sched_setaffinity(0, mem::size_of::<libc::cpu_set_t>(), &set) == 0 }
}

/// Moves the calling thread to `SCHED_FIFO` at [`FIFO_PRIORITY`]. Without the
/// right to do so it returns `false` and changes nothing.
pub fn set_fifo() -> bool {
    let param = libc::sched_param { sched_priority: FIFO_PRIORITY };
    // SAFETY: `param` is valid for the call; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &param) == 0 }
}

/// Selects two CPUs for measurements: the first two that the caller may use,
/// or the first two online if it is pinned to one. Both are the same on a
/// machine with a single CPU.
pub fn measurement_cpus() -> (usize, usize) {
    let allowed = allowed_cpus();
    let cpus = if allowed.len() >= 2 {
        allowed
    } else {
        fs::read_to_string("/sys/devices/system/cpu/online")
            .map(|text| parse_cpu_list(&text))
            .unwrap_or_default()
    };
    let first = cpus.first().copied().unwrap_or(0);
    (first, cpus.get(1).copied().unwrap_or(first))
}

fn allowed_cpus() -> Vec<usize> {
    // SAFETY: an all-zero cpu_set_t is a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    let size = mem::size_of::<libc::cpu_set_t>();
    // SAFETY: `set` has room for `size` bytes; 0 is the calling thread.
    if unsafe { libc::sched_getaffinity(0, size, &mut set) } != 0 {
        return Vec::new();
    }
    (0..libc::CPU_SETSIZE as usize)
        // SAFETY: every index is below CPU_SETSIZE.
        .filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) })
        .collect()
}

/// Expands the kernel's list notation, e.g. `0-2,5`.
pub(crate) fn parse_cpu_list(text: &str) -> Vec<usize> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(low), Ok(high)) = (low.parse::<usize>(), high.parse::<usize>()) {
            cpus.extend(low..=high.min(low.saturating_add(65_535)));
        }
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists() {
        assert_eq!(parse_cpu_list("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(parse_cpu_list("3"), [3]);
        assert!(parse_cpu_list("").is_empty());
        assert!(parse_cpu_list("x-y").is_empty());
    }

    #[test]
    fn clocks_do_not_run_backwards() {
        let (wall, thread, process) = (now_ns(), thread_cpu_ns(), process_cpu_ns());
        let mut x = 1u64;
        for i in 1..100_000 {
            x = std::hint::black_box(x.wrapping_mul(i));
        }
        assert!(now_ns() >= wall && wall > 0);
        assert!(thread_cpu_ns() > thread);
        assert!(process_cpu_ns() > process);
    }

    #[test]
    fn pinning_reports_whether_it_worked() {
        let cpu = measurement_cpus().1;
        let pinned = std::thread::spawn(move || (pin_to(cpu), allowed_cpus()));
        let (done, cpus) = pinned.join().unwrap();
        assert!(!done || cpus == [cpu]);
        assert!(!pin_to(usize::MAX));
    }
}
