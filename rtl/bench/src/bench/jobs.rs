//! Runs independent measurements in parallel. Results are in the order of the jobs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

/// Bytes of a thread's stack. A model that starts has copies of its memories there.
const STACK: usize = 64 << 20;

/// Runs all jobs on as many threads as there are processors.
///
/// # Errors
/// Returns the first error in the order of the jobs, after all jobs have ended.
pub fn run<J: Sync, R: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<R, String>>>> =
        jobs.iter().map(|_| Mutex::new(None)).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let thread = Builder::new().stack_size(STACK);
            let started = thread.spawn_scoped(scope, || {
                // Relaxed is enough: threads share only the number, and the end of the scope
                // publishes results.
                while let Some((job, result)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    jobs.get(index).zip(results.get(index))
                } {
                    let value = work(job);
                    if let Ok(mut result) = result.lock() {
                        *result = Some(value);
                    }
                }
            });
            started.map_err(|error| format!("no thread: {error}"))?;
        }
        Ok::<(), String>(())
    })?;
    let done = |result: Mutex<Option<Result<R, String>>>| {
        result.into_inner().ok().flatten().unwrap_or_else(|| Err("a job did not run".to_owned()))
    };
    results.into_iter().map(done).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_the_order_of_the_jobs() {
        let jobs: Vec<u32> = (0..50).collect();
        let squares = super::run(&jobs, |job| Ok(job * job)).expect("no job fails");
        assert_eq!(squares, jobs.iter().map(|job| job * job).collect::<Vec<_>>());
        let error =
            super::run(&jobs, |job| if job % 7 == 3 { Err(job.to_string()) } else { Ok(0) });
        assert_eq!(error.expect_err("several fail"), "3");
    }
}
