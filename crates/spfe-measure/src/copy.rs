//! Rates of the C library's `memcpy` on one and on two cores.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use crate::{Stats, measurement_cpus, now_ns, pin_to};

const PAGE: usize = 4096;
/// Duration of a rate sample in ns.
const SAMPLE_NS: u64 = 500_000;
/// Minimum number of bytes copied between two reads of the clock.
const BATCH_BYTES: usize = 64 * 1024;

/// Payload rate of `memcpy` in Gbit/s (10^9 bits per second), measured for
/// about 50 ms.
///
/// Chunks of `chunk_bytes` are copied one after the other from a source of
/// `working_set_src` bytes to a destination of `working_set_dst` bytes, both
/// walked through in circles and both raised to the chunk size if smaller.
/// With `cores` 2 both measurement CPUs copy at once, each in buffers of its
/// own, and the sum of both rates is returned.
pub fn memcpy_gbps(
    chunk_bytes: usize,
    working_set_src: usize,
    working_set_dst: usize,
    cores: usize,
) -> f64 {
    let budget = Duration::from_millis(50);
    memcpy_gbps_within(chunk_bytes, working_set_src, working_set_dst, cores, budget)
}

/// Like [`memcpy_gbps`] with another duration, which does not include filling the buffers.
pub fn memcpy_gbps_within(
    chunk_bytes: usize,
    working_set_src: usize,
    working_set_dst: usize,
    cores: usize,
    budget: Duration,
) -> f64 {
    let chunk = chunk_bytes.max(1);
    let (cpu_a, cpu_b) = measurement_cpus();
    let cpus = if cores >= 2 { vec![cpu_a, cpu_b] } else { vec![cpu_a] };
    let start = Barrier::new(cpus.len());
    let budget_ns = budget.as_nanos() as u64;
    thread::scope(|scope| {
        let copiers: Vec<_> = cpus
            .iter()
            .map(|&cpu| {
                let start = &start;
                scope.spawn(move || {
                    pin_to(cpu);
                    let mut job = Job::new(chunk, working_set_src, working_set_dst);
                    job.pass();
                    start.wait();
                    job.run(now_ns() + budget_ns)
                })
            })
            .collect();
        copiers.into_iter().map(|copier| copier.join().unwrap_or(f64::NAN)).sum()
    })
}

/// A pair of buffers with the next source and destination offsets.
struct Job {
    chunk: usize,
    src: Buffer,
    dst: Buffer,
    src_at: usize,
    dst_at: usize,
}

impl Job {
    fn new(chunk: usize, src_bytes: usize, dst_bytes: usize) -> Self {
        Self {
            chunk,
            src: Buffer::new(src_bytes.max(chunk), 0x5a),
            dst: Buffer::new(dst_bytes.max(chunk), 0xa5),
            src_at: 0,
            dst_at: 0,
        }
    }

    /// Copies `count` chunks.
    #[inline(never)]
    fn copy(&mut self, count: usize) {
        for _ in 0..count {
            // SAFETY: `next` keeps both offsets at least one chunk from the end of their
            // buffers, and the two buffers are separate allocations.
            unsafe {
                libc::memcpy(
                    self.dst.start.as_ptr().add(self.dst_at).cast(),
                    self.src.start.as_ptr().add(self.src_at).cast(),
                    self.chunk,
                );
            }
            self.src_at = self.src.next(self.src_at, self.chunk);
            self.dst_at = self.dst.next(self.dst_at, self.chunk);
        }
        std::hint::black_box(&mut self.dst);
    }

    /// Copies through the larger buffer once, to warm both.
    fn pass(&mut self) {
        self.copy(self.src.len.max(self.dst.len) / self.chunk);
    }

    /// Copies until `deadline` and returns the median rate in Gbit/s.
    fn run(&mut self, deadline: u64) -> f64 {
        let batch = (BATCH_BYTES / self.chunk).max(1);
        let mut rates = Vec::new();
        loop {
            let from = now_ns();
            let mut bytes = 0usize;
            let mut now = from;
            while now < from + SAMPLE_NS || bytes == 0 {
                self.copy(batch);
                bytes += batch * self.chunk;
                now = now_ns();
            }
            rates.push(bytes as f64 * 8.0 / (now - from).max(1) as f64);
            if now >= deadline {
                return Stats::from(rates).median();
            }
        }
    }
}

/// Page-aligned memory that is written once, so that every page is mapped.
struct Buffer {
    start: NonNull<u8>,
    len: usize,
    layout: Layout,
}

impl Buffer {
    fn new(len: usize, fill: u8) -> Self {
        let layout = Layout::from_size_align(len.max(1), PAGE).expect("buffer size in range");
        // SAFETY: the layout has a size above zero.
        let raw = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(raw) else { handle_alloc_error(layout) };
        // SAFETY: `len` is at most the size just allocated.
        unsafe { start.as_ptr().write_bytes(fill, len) };
        Self { start, len, layout }
    }

    /// The offset after the chunk at `at`, or 0 if no whole chunk fits there.
    fn next(&self, at: usize, chunk: usize) -> usize {
        let next = at + chunk;
        if next + chunk > self.len { 0 } else { next }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new` and not freed since.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_positive_for_odd_sizes() {
        let budget = Duration::from_millis(1);
        for (chunk, src, dst, cores) in [(64, 4096, 8192, 1), (100, 10, 250, 1), (0, 0, 0, 2)] {
            let rate = memcpy_gbps_within(chunk, src, dst, cores, budget);
            assert!(rate.is_finite() && rate > 0.0, "{chunk}: {rate}");
        }
    }

    #[test]
    fn every_copy_stays_inside_and_copies() {
        let mut job = Job::new(3, 10, 7);
        for _ in 0..50 {
            assert!(job.src_at + 3 <= job.src.len && job.dst_at + 3 <= job.dst.len);
            job.copy(1);
        }
        // SAFETY: the buffer holds 7 initialised bytes.
        let dst = unsafe { std::slice::from_raw_parts(job.dst.start.as_ptr(), 7) };
        assert_eq!(dst, [0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0xa5]);
    }
}
