//! Data that keeps a link busy while messages are measured.

use spfe::{
    Deadline, Endpoint, Error, PoolOptions, QueueOptions, Result, Status, Strategy, Threshold,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Length of a packet, bytes.
const PACKET: u32 = 16 << 10;
/// Packets under way, and buffers to receive them.
const UNDER_WAY: u32 = 32;
const BUFFERS: u32 = 64;
/// Longest wait before the thread looks whether it shall stop.
const PATIENCE: Duration = Duration::from_millis(20);
/// Longest time until the first packet arrives.
const FIRST_PATIENCE: Duration = Duration::from_secs(5);

/// A thread that sends packets from one end to the other until it is dropped.
pub struct Saturation {
    stop: Arc<AtomicBool>,
    bytes: Arc<AtomicU64>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Saturation {
    /// Starts sending on channel 0 of a port, on this processor.
    pub fn start(near: &Endpoint, far: &Endpoint, port: u32, cpu: Option<usize>) -> Result<Self> {
        let options = |slots| {
            let queue = QueueOptions::default().strategy(Strategy::Block);
            PoolOptions::new(slots, PACKET).queue(queue)
        };
        let mut rx = far.port(port)?.vc(0)?.rx_pooled(options(BUFFERS))?;
        let mut tx = near.port(port)?.vc(0)?.tx_pooled(options(UNDER_WAY))?;
        let (stop, bytes) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, received) = (stop.clone(), bytes.clone());
        let run = move || {
            if let Some(cpu) = cpu {
                spfe_measure::pin_to(cpu);
            }
            while !stopped.load(Ordering::Relaxed) {
                while tx.slot().is_some() {
                    tx.stage(PACKET as usize)?;
                    if tx.free() % 8 == 0 {
                        tx.submit();
                    }
                }
                tx.submit();
                while rx.peek().is_some() {
                    rx.release();
                    received.fetch_add(u64::from(PACKET), Ordering::Relaxed);
                }
                match tx.wait_for(&Threshold::count(2), Deadline::after(PATIENCE)) {
                    Err(error) if !error.is_timeout() => return Err(error),
                    _ => {}
                }
                while tx.poll().is_some() {}
            }
            Ok(())
        };
        let thread = std::thread::Builder::new().name("perf-data".into()).spawn(run)?;
        Ok(Self { stop, bytes, thread: Some(thread) })
    }

    /// Waits until the first packets have arrived.
    pub fn wait_for_packets(&self) -> Result<()> {
        let until = Instant::now() + FIRST_PATIENCE;
        while self.bytes() == 0 {
            if Instant::now() > until {
                let what = format!("no data arrived within {} s", FIRST_PATIENCE.as_secs());
                return Err(Error::device(Status::LinkDown, what));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Bytes received so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Drop for Saturation {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
