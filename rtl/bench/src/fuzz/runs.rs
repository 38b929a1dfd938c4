//! `fuzz.json`: the runs of the fuzzer, and their sums for each build.

use serde::{Deserialize, Serialize};

/// Maximum number of runs in the record. Older runs are removed.
pub const MOST_RUNS: usize = 256;

/// A run of the fuzzer.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the record, named after what they count")]
pub struct FuzzRun {
    /// Name of the build, or `reference`.
    pub endpoint: String,
    /// State of the core ([`crate::builds::Build::state`]), empty for the reference.
    pub core: String,
    /// Whether the run compared the endpoint with the model.
    pub lockstep: bool,
    pub seed: u64,
    pub frames: u64,
    pub valid_frames: u64,
    pub probes: u64,
    pub answers: u64,
    /// Number of frames, deliveries and events that agreed with the model.
    pub agreed: u64,
    pub delivered_bytes: u64,
    pub opened: u64,
    pub closed: u64,
    /// `passed` or `failed`.
    pub result: String,
    pub detail: String,
}

/// Sum of all runs of the latest core of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "sums of the fields of the runs")]
pub struct Sum {
    pub endpoint: String,
    pub core: String,
    pub runs: u64,
    pub frames: u64,
    /// Number of frames that were compared with the model.
    pub lockstep_frames: u64,
    pub probes: u64,
    pub answers: u64,
    pub delivered_bytes: u64,
    pub opened: u64,
    /// Seeds of the failed runs.
    pub failed: Vec<u64>,
}

/// Adds a run. It replaces a run with the same build, kind and seed, and removes runs with older
/// states of this build's core.
pub fn add(runs: &mut Vec<FuzzRun>, new: FuzzRun) {
    runs.retain(|old| {
        let same = old.lockstep == new.lockstep && old.seed == new.seed;
        old.endpoint != new.endpoint || old.core == new.core && !same
    });
    runs.push(new);
    let extra = runs.len().saturating_sub(MOST_RUNS);
    runs.drain(..extra);
}

/// Computes the sums for each build, in the order of names.
#[must_use]
pub fn sums(runs: &[FuzzRun]) -> Vec<Sum> {
    let mut all = std::collections::BTreeMap::<&str, Sum>::new();
    for run in runs {
        let newest = runs.iter().rev().find(|r| r.endpoint == run.endpoint);
        if newest.is_none_or(|newest| newest.core != run.core) {
            continue;
        }
        let sum = all.entry(&run.endpoint).or_default();
        sum.endpoint.clone_from(&run.endpoint);
        sum.core.clone_from(&run.core);
        sum.runs += 1;
        sum.frames += run.frames;
        sum.lockstep_frames += if run.lockstep { run.frames } else { 0 };
        sum.probes += run.probes;
        sum.answers += run.answers;
        sum.delivered_bytes += run.delivered_bytes;
        sum.opened += run.opened;
        if run.result != "passed" {
            sum.failed.push(run.seed);
        }
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(endpoint: &str, core: &str, seed: u64, result: &str) -> FuzzRun {
        let (endpoint, core, result) = (endpoint.into(), core.into(), result.into());
        FuzzRun { endpoint, core, seed, frames: 100, result, ..FuzzRun::default() }
    }

    #[test]
    fn only_runs_of_the_latest_core_count() {
        let mut runs = Vec::new();
        add(&mut runs, run("sf64", "a", 1, "failed"));
        add(&mut runs, run("ct64", "x", 1, "passed"));
        add(&mut runs, run("sf64", "b", 1, "passed"));
        add(&mut runs, run("sf64", "b", 2, "failed"));
        add(&mut runs, run("sf64", "b", 1, "passed"));
        let sums = sums(&runs);
        let seen: Vec<_> = sums.iter().map(|s| (&*s.endpoint, s.frames, &*s.failed)).collect();
        assert_eq!(seen, [("ct64", 100, &[][..]), ("sf64", 200, &[2][..])]);
    }

    #[test]
    fn the_record_has_a_maximum_length() {
        let mut runs = Vec::new();
        for seed in 0..MOST_RUNS as u64 + 5 {
            add(&mut runs, run("sf64", "a", seed, "passed"));
        }
        assert_eq!(runs.len(), MOST_RUNS);
        assert_eq!(runs.first().map(|r| r.seed), Some(5));
    }
}
