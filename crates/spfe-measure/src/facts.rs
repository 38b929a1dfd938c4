//! Facts about the machine from `/proc` and `/sys`.

use std::fs;

use serde::{Deserialize, Serialize};

use crate::thread::parse_cpu_list;

/// Facts for judging a measurement. A size of 0 means "not reported".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineFacts {
    /// CPU model as the processor reports it.
    pub cpu_model: String,
    /// Number of CPUs online.
    pub cpus_online: usize,
    /// Kernel release.
    pub kernel: String,
    /// Main memory in bytes.
    pub memory_bytes: u64,
    /// Whether the processor reports a hypervisor.
    pub hypervisor: bool,
    /// First-level data cache of CPU 0 in bytes.
    pub l1d_bytes: u64,
    /// Second-level cache of CPU 0 in bytes.
    pub l2_bytes: u64,
    /// Third-level cache of CPU 0 in bytes (often shared with other machines).
    pub l3_bytes: u64,
    /// Revision of the source (`SPFE_GIT_REV` at build time), or `unknown`.
    pub git_revision: String,
    /// Load average over 1, 5 and 15 minutes.
    pub load_average: [f64; 3],
}

/// Reads the facts from `/proc` and `/sys`.
pub fn machine_facts() -> MachineFacts {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = field(&cpuinfo, "model name").or_else(|| field(&cpuinfo, "Model"));
    let flags = field(&cpuinfo, "flags").unwrap_or_default();
    let [l1d_bytes, l2_bytes, l3_bytes] = cache_sizes();
    MachineFacts {
        cpu_model: model.unwrap_or("unknown").to_owned(),
        cpus_online: parse_cpu_list(&read("/sys/devices/system/cpu/online")).len().max(1),
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        memory_bytes: memory_bytes(&read("/proc/meminfo")),
        hypervisor: flags.split_whitespace().any(|flag| flag == "hypervisor"),
        l1d_bytes,
        l2_bytes,
        l3_bytes,
        git_revision: env!("SPFE_GIT_REV").to_owned(),
        load_average: load_average(&read("/proc/loadavg")),
    }
}

/// The value of the first line `name : value`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

fn memory_bytes(meminfo: &str) -> u64 {
    let kib = field(meminfo, "MemTotal").and_then(|v| v.split_whitespace().next()?.parse().ok());
    kib.unwrap_or(0u64) * 1024
}

fn load_average(text: &str) -> [f64; 3] {
    let mut loads = text.split_whitespace().map(|v| v.parse().unwrap_or(0.0));
    std::array::from_fn(|_| loads.next().unwrap_or(0.0))
}

/// Data cache sizes of CPU 0, levels 1 to 3, in bytes.
fn cache_sizes() -> [u64; 3] {
    let mut sizes = [0; 3];
    for index in 0..8 {
        let read = |name: &str| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
            fs::read_to_string(path).unwrap_or_default()
        };
        let level: usize = read("level").trim().parse().unwrap_or(0);
        if (1..=3).contains(&level) && read("type").trim() != "Instruction" {
            sizes[level - 1] = parse_size(read("size").trim());
        }
    }
    sizes
}

/// Parses a size such as `48K` or `32M`.
fn parse_size(text: &str) -> u64 {
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, 1 << 10),
        Some(digits) if text.ends_with('M') => (digits, 1 << 20),
        Some(digits) => (digits, 1 << 30),
        None => (text, 1),
    };
    digits.parse::<u64>().unwrap_or(0) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_units() {
        assert_eq!(parse_size("48K"), 48 << 10);
        assert_eq!(parse_size("32M"), 32 << 20);
        assert_eq!(parse_size("512"), 512);
        assert_eq!(parse_size(""), 0);
    }

    #[test]
    fn proc_files() {
        assert_eq!(memory_bytes("MemTotal:  16 kB\nMemFree: 1 kB"), 16384);
        assert_eq!(load_average("0.50 1.25 2.00 3/99 1234"), [0.5, 1.25, 2.0]);
        assert_eq!(load_average(""), [0.0; 3]);
        assert_eq!(field("a : b\nc\t: d e", "c"), Some("d e"));
    }

    #[test]
    fn this_machine_has_a_kernel_and_memory() {
        let facts = machine_facts();
        assert!(facts.cpus_online >= 1);
        assert!(!facts.kernel.is_empty() && facts.memory_bytes > 0);
        assert!(!facts.git_revision.is_empty());
    }
}
