//! The two measurements, each between this process and a forked child.

use std::io;
use std::time::Duration;

use serde::Serialize;
use spfe_measure::{Stats, now_ns, pin_to};

use crate::channel::{ChannelEnd, ChannelKind};

/// Parameters of a measurement.
pub struct Job {
    pub kind: ChannelKind,
    /// Bytes per message.
    pub size: usize,
    /// Duration of the measurement.
    pub time: Duration,
    /// CPU of the sender or reflecting side, and CPU of the measuring side.
    pub cpus: (usize, usize),
}

/// Result of a throughput run.
#[derive(Debug, Serialize)]
pub struct Bandwidth {
    /// Payload received, in Gbit/s (10^9 bits per second).
    pub rate_gbps: f64,
    /// Messages received per second.
    pub packets_per_s: f64,
    /// Messages received.
    pub messages: u64,
}

/// Result of a ping-pong run: half of each round trip, in nanoseconds.
#[derive(Debug, Serialize)]
pub struct Latency {
    pub mean: f64,
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
    /// Round trips measured.
    pub round_trips: usize,
}

impl Job {
    /// Measures the rate of messages that the child sends as fast as it can,
    /// from the first to the last.
    pub fn bandwidth(&self) -> io::Result<Bandwidth> {
        let (child, mut end) = Child::start(self, send_for)?;
        let mut message = vec![0u8; self.size];
        pin_to(self.cpus.1);
        let mut messages = 0u64;
        let (mut first, mut last) = (0, 0);
        while end.receive(&mut message)? {
            messages += 1;
            if messages == 1 {
                first = now_ns();
            } else if messages.is_multiple_of(16) {
                last = now_ns();
            }
        }
        // The time is taken after every 16 messages, so up to 15 are not counted.
        let counted = (messages / 16 * 16).saturating_sub(1);
        child.wait()?;
        if counted == 0 {
            return Err(io::Error::other("too few messages for a rate"));
        }
        let per_s = counted as f64 * 1e9 / (last - first).max(1) as f64;
        Ok(Bandwidth {
            rate_gbps: per_s * self.size as f64 * 8.0 / 1e9,
            packets_per_s: per_s,
            messages,
        })
    }

    /// Measures round trips: the child returns every message.
    pub fn latency(&self) -> io::Result<Latency> {
        const WARM_UP: usize = 50;
        let (child, mut end) = Child::start(self, reflect)?;
        let mut message = vec![0u8; self.size];
        pin_to(self.cpus.1);
        let mut samples = Vec::with_capacity(1 << 16);
        let mut deadline = u64::MAX;
        for round in 0usize.. {
            if round == WARM_UP {
                deadline = now_ns() + self.time.as_nanos() as u64;
            }
            let from = now_ns();
            end.send(&message)?;
            if !end.receive(&mut message)? {
                return Err(io::Error::other("the other process went away"));
            }
            let to = now_ns();
            if round >= WARM_UP {
                samples.push((to - from) as f64 / 2.0);
            }
            if to >= deadline {
                break;
            }
        }
        drop(end);
        child.wait()?;
        let stats = Stats::from(samples);
        Ok(Latency {
            mean: stats.mean(),
            p50: stats.median(),
            p99: stats.percentile(99.0),
            max: stats.max(),
            round_trips: stats.len(),
        })
    }
}

fn send_for(job: &Job, mut end: ChannelEnd) -> io::Result<()> {
    let message = vec![0x5au8; job.size];
    let deadline = now_ns() + job.time.as_nanos() as u64;
    while now_ns() < deadline {
        for _ in 0..16 {
            end.send(&message)?;
        }
    }
    Ok(())
}

fn reflect(job: &Job, mut end: ChannelEnd) -> io::Result<()> {
    let mut message = vec![0u8; job.size];
    while end.receive(&mut message)? {
        end.send(&message)?;
    }
    Ok(())
}

/// A forked child process. [`Child::wait`] waits for it.
struct Child(libc::pid_t);

impl Child {
    /// Forks, and gives each process its end of a channel. The child pins itself,
    /// does `work` and exits. The parent must not be pinned yet: a child that
    /// starts on the CPU of a spinning real-time parent never runs.
    fn start(
        job: &Job,
        work: fn(&Job, ChannelEnd) -> io::Result<()>,
    ) -> io::Result<(Self, ChannelEnd)> {
        let (mine, theirs) = ChannelEnd::pair(job.kind, job.size)?;
        let limit = job.time.as_secs() as libc::c_uint + 10;
        // SAFETY: this process has a single thread, so the child may call any
        // function. It leaves through `_exit` and never returns.
        let pid = unsafe { libc::fork() };
        // If the measurement hangs, the default action of SIGALRM ends the process.
        // SAFETY: the argument is a plain value, and no handler is installed.
        unsafe { libc::alarm(limit) };
        match pid {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                // Otherwise this process would keep the channel open itself.
                drop(mine);
                pin_to(job.cpus.0);
                let code = match work(job, theirs) {
                    Ok(()) => 0,
                    Err(error) => {
                        eprintln!("spfe-ipc: {error}");
                        1
                    }
                };
                // SAFETY: `_exit` ends the child at once, without the parent's cleanup.
                unsafe { libc::_exit(code) }
            }
            pid => Ok((Self(pid), mine)),
        }
    }

    fn wait(self) -> io::Result<()> {
        let mut status = 0;
        // SAFETY: the process is a child of this one, and is waited for once.
        let rc = unsafe { libc::waitpid(self.0, &mut status, 0) };
        if rc == self.0 && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
            Ok(())
        } else {
            Err(io::Error::other("the other process failed"))
        }
    }
}
