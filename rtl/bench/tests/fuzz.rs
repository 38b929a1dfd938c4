//! Runs the fuzzer against the reference endpoint, and against endpoints with faults.

use spfe_tcp_bench::drill::endpoint::{
    Build, Delivery, Endpoint, Event, Frame, Mode, Op, Settings, View,
};
use spfe_tcp_bench::fuzz::run;
use spfe_tcp_bench::reference::Reference;
use spfe_tcp_bench::reference::lockstep::Lockstep;

const SEED: u64 = 0x5eed_0002;

#[test]
fn the_reference_passes() {
    for rx_checksum in [true, false] {
        let build = Build { rx_checksum, ..Build::default() };
        let r = run(&mut Reference::new(build), 30_000, SEED, |_| None);
        assert_eq!(r.result, "passed", "seed {SEED:#x}: {}", r.detail);
        assert!(r.delivered_bytes > 1_000_000 && r.opened > 50 && r.closed > 50, "{r:?}");
        assert!(r.valid_frames > 5000 && r.probes == 30, "{r:?}");
    }
}

#[test]
fn two_reference_endpoints_agree() {
    let mut ep = Reference::new(Build::default());
    let mut both = Lockstep::new(&mut ep);
    let r = run(&mut both, 20_000, SEED, |b| b.difference().map(String::from));
    assert_eq!(r.result, "passed", "seed {SEED:#x}: {}", r.detail);
    assert!(both.agreed > 5000);
}

/// The reference endpoint with a fault.
struct Faulty {
    inner: Reference,
    fault: Fault,
    frames: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// Ignores a wrong FCS.
    Fcs,
    /// Accepts nothing after many frames.
    Hang,
    /// Delivers a wrong byte.
    Byte,
    /// Does not send some frames.
    Silent,
}

impl Endpoint for Faulty {
    fn build(&self) -> &Build {
        self.inner.build()
    }
    fn restart(&mut self, settings: &Settings) {
        self.inner.restart(settings);
    }
    fn inject(&mut self, frame: &[u8], bad_fcs: bool) {
        self.frames += 1;
        if self.fault != Fault::Hang || self.frames < 5000 {
            self.inner.inject(frame, bad_fcs && self.fault != Fault::Fcs);
        }
    }
    fn advance_ticks(&mut self, n: u64) {
        self.inner.advance_ticks(n);
    }
    fn run_idle(&mut self) {
        self.inner.run_idle();
    }
    fn frames(&mut self) -> Vec<Frame> {
        let mut out = self.inner.frames();
        if self.fault == Fault::Silent && self.frames.is_multiple_of(97) {
            out.pop();
        }
        out
    }
    fn send(&mut self, session: u16, bytes: &[u8], mode: Mode) {
        self.inner.send(session, bytes, mode);
    }
    fn backlog(&self) -> usize {
        self.inner.backlog()
    }
    fn delivered(&mut self) -> Vec<Delivery> {
        let mut out = self.inner.delivered();
        if self.fault == Fault::Byte && self.frames > 3000 {
            for d in out.iter_mut().filter(|d| d.bytes.len() > 700) {
                d.bytes[700] ^= 1;
            }
        }
        out
    }
    fn user_ready(&mut self, ready: bool) {
        self.inner.user_ready(ready);
    }
    fn events(&mut self) -> Vec<Event> {
        self.inner.events()
    }
    fn op(&mut self, session: u16, op: Op) {
        self.inner.op(session, op);
    }
    fn set_mss(&mut self, mss: u16) -> bool {
        self.inner.set_mss(mss)
    }
    fn view(&mut self, session: u16) -> View {
        self.inner.view(session)
    }
}

#[test]
fn the_fuzzer_finds_every_fault() {
    for (fault, lockstep) in
        [(Fault::Hang, false), (Fault::Byte, false), (Fault::Fcs, true), (Fault::Silent, true)]
    {
        let inner = Reference::new(Build::default());
        let mut ep = Faulty { inner, fault, frames: 0 };
        let r = if lockstep {
            let mut both = Lockstep::new(&mut ep);
            run(&mut both, 20_000, SEED, |b| b.difference().map(String::from))
        } else {
            run(&mut ep, 20_000, SEED, |_| None)
        };
        assert_eq!(r.result, "failed", "fault {}", fault as u8);
    }
}
