//! Processor time of the device thread.

use spfe_host::{LinkRate, Mode, Topology, os};
use spfe_plane::links::LinkDriver;
use spfe_plane::{DeviceThread, Network};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Processor time of one turn, ns.
const TURN_NS: u64 = 200_000;

/// Links that are always busy and need long turns, as exact links do.
struct Busy(Arc<AtomicU64>);

impl LinkDriver for Busy {
    fn turn(&mut self, _: u64) -> bool {
        let start = os::thread_cpu_ns();
        while os::thread_cpu_ns() - start < TURN_NS {}
        self.0.fetch_add(1, Ordering::Relaxed);
        true
    }
    fn due_ns(&self) -> Option<u64> {
        None
    }
    fn wake_due(&mut self) -> Option<u64> {
        None
    }
    fn set_need_doorbell(&mut self, _: bool) {}
    fn is_current(&self) -> bool {
        true
    }
}

#[test]
fn time_is_up_to_date_however_long_a_turn_takes() {
    let topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
    let network = Network::new(topology).unwrap();
    let turns = Arc::new(AtomicU64::new(0));
    let busy = Busy(turns.clone());
    let device = DeviceThread::start_with(&network, |_| Some(Box::new(busy))).unwrap();
    while turns.load(Ordering::Relaxed) < 20 {
        std::thread::yield_now();
    }
    let done = turns.load(Ordering::Relaxed) * TURN_NS;
    assert!(device.cpu_ns() >= done, "{} ns for turns of {done} ns", device.cpu_ns());
}
