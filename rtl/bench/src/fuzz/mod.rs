//! Fuzzes an endpoint with frames that are almost valid.
//!
//! Three oracles: the endpoint must still serve a probe session, it must deliver only the right
//! bytes in order, and (with [`crate::reference::lockstep`]) it must agree with the model.

mod mutate;
pub mod runs;
mod target;

use crate::drill::caught::caught;
use crate::drill::endpoint::{Endpoint, Op, Settings};
use crate::drill::wire::{Arp, Echo, Lies, build_arp, build_echo};
use crate::random::Random;
use runs::FuzzRun;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use target::Target;

/// Number of frames between two probes.
pub const PROBE_EVERY: u64 = 1000;

/// Number of sessions in use, with that of the probe.
const SESSIONS: u16 = 5;

/// Settings of a run, chosen by its seed: short times, so that all timers expire often, and windows
/// of any size with and without scaling.
#[must_use]
pub fn settings(seed: u64) -> Settings {
    let mut r = Random::new(seed ^ 0x5e77);
    let wscale = [None, Some(0), Some(2), Some(7), Some(14)][r.below(5) as usize];
    let most = 65535 << wscale.unwrap_or(0);
    let rcv_wnd = [65535, 65535, 3000, 20_000, 300_000, 1 << 22][r.below(6) as usize];
    Settings {
        wscale,
        rcv_wnd: rcv_wnd.min(most),
        mss: [1460, 1460, 1000, 536][r.below(4) as usize],
        iss_key: u128::from(r.bits()) << 64 | u128::from(r.bits()),
        rto_min: 5,
        rto_init: 10,
        rto_max: 40,
        syn_tries: 3,
        data_tries: 4,
        delack: 3,
        time_wait: 10,
        persist_max: 40,
        arp_retry: 5,
        arp_tries: 2,
        ..Settings::default()
    }
}

/// Injects `frames` frames. After each frame it calls `difference`, which returns a difference from
/// the model, if there is one.
pub fn run<E: Endpoint + ?Sized>(
    ep: &mut E,
    frames: u64,
    seed: u64,
    difference: impl Fn(&E) -> Option<String>,
) -> FuzzRun {
    let mut record = FuzzRun { seed, result: "passed".into(), ..FuzzRun::default() };
    let result = caught(|| {
        let mut settings = settings(seed);
        // The order in which sessions share the FIFO depends on the clock, which the model lacks.
        settings.rcv_wnd = settings.rcv_wnd.min(ep.build().free_window(SESSIONS.into()));
        ep.restart(&settings);
        fuzz(ep, frames, &settings, &mut record, difference)
    });
    if let Err(text) = result.and_then(|done| done) {
        record.result = "failed".into();
        record.detail = text;
    }
    record
}

fn fuzz<E: Endpoint + ?Sized>(
    ep: &mut E,
    frames: u64,
    settings: &Settings,
    record: &mut FuzzRun,
    difference: impl Fn(&E) -> Option<String>,
) -> Result<(), String> {
    let mut r = Random::new(record.seed);
    let count = ep.build().session_count.min(SESSIONS) - 1;
    let mut targets: Vec<Target> = (0..count).map(|id| Target::new(id, settings)).collect();
    let probe = count;
    while record.frames < frames {
        let at = record.frames;
        record.frames += 1;
        match r.below(40) {
            0 => ep.inject(&arp(&mut r), false),
            1 => echo(ep, &mut r),
            2 => ep.advance_ticks(1 + r.below(12)),
            3 => noise(ep, &mut r),
            _ => {
                let t = &mut targets[r.below(count.into()) as usize];
                record.valid_frames += u64::from(t.shoot(ep, &mut r)?);
            }
        }
        collect(ep, &mut targets, record).map_err(|e| format!("frame {at}: {e}"))?;
        if let Some(text) = difference(ep) {
            return Err(format!("frame {at}: {text}"));
        }
        if at % PROBE_EVERY == PROBE_EVERY - 1 {
            record.probes += 1;
            target::probe(ep, probe, at as u32).map_err(|e| format!("probe, frame {at}: {e}"))?;
            collect(ep, &mut targets, record).map_err(|e| format!("frame {at}: {e}"))?;
            if let Some(text) = difference(ep) {
                return Err(format!("probe, frame {at}: {text}"));
            }
        }
    }
    Ok(())
}

/// Counts the output of the endpoint and checks its payload.
fn collect<E: Endpoint + ?Sized>(
    ep: &mut E,
    targets: &mut [Target],
    record: &mut FuzzRun,
) -> Result<(), String> {
    ep.run_idle();
    for f in ep.frames().iter().filter(|f| !f.poisoned) {
        record.answers += 1;
        crate::drill::wire::parse(&f.bytes)?;
    }
    for e in ep.events() {
        record.opened += u64::from(e.kind == 1);
        record.closed += u64::from(e.kind == 2);
    }
    // With reordering the endpoint may deliver several pieces at once.
    let mut whole = BTreeMap::<u16, Vec<u8>>::new();
    for d in ep.delivered().iter().filter(|d| !d.err && d.ahead.is_none()) {
        whole.entry(d.session).or_default().extend(&d.bytes);
    }
    for (session, bytes) in whole {
        record.delivered_bytes += bytes.len() as u64;
        if let Some(t) = targets.get_mut(usize::from(session)) {
            let nxt = ep.view(session).rcv_nxt;
            t.delivered(&bytes, nxt)?;
        }
    }
    Ok(())
}

fn arp(r: &mut Random) -> Vec<u8> {
    let any = |r: &mut Random| Ipv4Addr::from([10, 0, 0, r.below(6) as u8]);
    let mac = [2, 0, 0, 0, 0, 2];
    let mut frame = build_arp(&Arp {
        src_mac: mac,
        dst_mac: if r.chance(500) { [0xff; 6] } else { [2, 0, 0, 0, 0, 1] },
        vlan: None,
        request: r.chance(700),
        sha: mac,
        spa: any(r),
        tha: [0; 6],
        tpa: any(r),
    });
    if r.chance(500) {
        // Change a fixed field. Keep the addresses, so that the endpoint learns no other peer.
        let at = 14 + r.below(8) as usize;
        frame[at] = r.bits() as u8;
    }
    if r.chance(200) {
        frame.truncate(r.below(60) as usize);
    }
    frame
}

fn echo<E: Endpoint + ?Sized>(ep: &mut E, r: &mut Random) {
    let len = [0, 1, 17, 18, 56, 500, 1471, 1472, 1473][r.below(9) as usize];
    let e = Echo {
        src_mac: [2, 0, 0, 0, 0, 2],
        dst_mac: [2, 0, 0, 0, 0, 1],
        vlan: None,
        src: Ipv4Addr::new(10, 0, 0, 2),
        dst: Ipv4Addr::new(10, 0, 0, 1 + r.below(2) as u8),
        reply: r.chance(100),
        ident: r.bits() as u16,
        seq: r.bits() as u16,
        data: vec![r.bits() as u8; len],
    };
    let whole = 42 + len as u64;
    let lies = Lies {
        bad_sum: r.chance(100),
        bad_ip_sum: r.chance(100),
        mf: r.chance(100),
        frag: if r.chance(100) { 64 } else { 0 },
        ip_len: r.chance(100).then(|| r.below(2000) as u16),
        cut: r.chance(100).then(|| r.below(whole) as usize),
        ..Lies::default()
    };
    ep.inject(&build_echo(&e, &lies), r.chance(50));
}

/// Sends random bytes to the endpoint's address.
fn noise<E: Endpoint + ?Sized>(ep: &mut E, r: &mut Random) {
    let len = r.below(200) as usize;
    let mut frame: Vec<u8> = (0..len).map(|_| r.bits() as u8).collect();
    if r.chance(700) && len > 14 {
        frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
        let kind: [u8; 2] = [[8, 0], [8, 6], [0x81, 0], [0x86, 0xdd]][r.below(4) as usize];
        frame[12..14].copy_from_slice(&kind);
    }
    ep.inject(&frame, false);
    if r.chance(20) {
        // Session 200 does not exist.
        ep.op(200, Op::Close);
    }
}
