//! The test cases, their execution and their record.

use super::bed::PeerBench;
use super::channel::Impair;
use super::plant::{PLANTS, Plant};
use super::transfer::{Connection, Job};
use crate::drill::caught::caught;
use crate::drill::endpoint::{Endpoint, Settings};
use crate::random::Random;
use serde::{Deserialize, Serialize};

/// A test case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name in the report.
    pub name: String,
    /// Number of sessions in use at the same time.
    pub sessions: u16,
    /// Total number of connections.
    pub connections: u32,
    /// Job of each connection.
    pub job: Job,
    /// Whether the roles, and the side that closes first, change from one connection to the next.
    pub mix: bool,
    /// Longest IP packet of the peer in bytes.
    pub mtu: u16,
    /// Impairments of the line in both directions.
    pub impair: Impair,
    /// Number of ticks in 1000 in which the endpoint's user accepts nothing.
    pub stall: u32,
    /// Generic that must be 1 for this case.
    pub needs: Option<&'static str>,
    /// Maximum number of ticks.
    pub ticks: u64,
}

/// Result of a case. `peer.json` is a list with the latest result of each case.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default)]
#[expect(missing_docs, reason = "fields of the record, named after what they count")]
pub struct CaseResult {
    /// Build of the core, or `reference`.
    pub endpoint: String,
    /// Hash of the core's sources ([`crate::builds::sources`]).
    pub core: String,
    /// Factor for bytes and connections. 1 is the short form.
    pub scale: u32,
    pub case: String,
    pub seed: u64,
    pub connections: u32,
    pub bytes: u64,
    pub ticks: u64,
    pub frames_out: u64,
    pub frames_in: u64,
    pub sent_again_out: u64,
    pub sent_again_in: u64,
    pub impaired_frames: u64,
    /// Segments of the endpoint, and bytes of both directions, that were checked by the rules.
    pub checked_segments: u64,
    pub checked_bytes: u64,
    /// `passed`, `skipped` or `failed`.
    pub result: String,
    pub detail: String,
}

/// Settings of all cases. A tick is a millisecond.
#[must_use]
pub fn settings() -> Settings {
    Settings {
        rto_min: 200,
        rto_init: 1000,
        rto_max: 4000,
        time_wait: 200,
        syn_tries: 20,
        data_tries: 20,
        delack: 20,
        persist_max: 1000,
        arp_retry: 100,
        arp_tries: 50,
        ..Settings::default()
    }
}

/// Runs a case.
pub fn run(case: &Case, ep: &mut dyn Endpoint, seed: u64) -> CaseResult {
    run_with(case, ep, seed, None)
}

/// Runs a case with a fault planted into its trace.
pub fn run_with(case: &Case, ep: &mut dyn Endpoint, seed: u64, plant: Option<Plant>) -> CaseResult {
    let mut row = CaseResult {
        case: case.name.clone(),
        seed,
        connections: case.connections,
        bytes: u64::from(case.connections) * u64::from(case.job.up + case.job.down),
        result: "passed".into(),
        ..CaseResult::default()
    };
    let build = ep.build();
    let lacks = case.needs.filter(|n| build.get(n) != Some(1));
    if lacks.is_some() || build.session_count < case.sessions {
        row.result = "skipped".into();
        row.detail = lacks.map_or_else(|| "too few sessions".into(), |n| format!("{n} is 0"));
        return row;
    }
    let clean = case.impair.is_clean() && case.stall == 0 && !ep.races();
    let mut bed = PeerBench::new(ep, &settings(), case.mtu, case.impair, seed);
    if let Some(plant) = plant {
        bed.watch.plant(plant);
    }
    let result = caught(|| drive(case, &mut bed, seed)).and_then(|done| done);
    row.ticks = bed.now;
    row.frames_out = bed.line.out.frames;
    row.frames_in = bed.line.inward.frames;
    row.sent_again_out = bed.line.out.again;
    row.sent_again_in = bed.line.inward.again;
    row.impaired_frames = bed.hits();
    let again = bed.line.out.again + bed.line.inward.again;
    row.checked_segments = bed.watch.segments;
    row.checked_bytes = bed.watch.bytes;
    let result = result.and_then(|()| match clean && again != 0 {
        true => Err(format!("{again} segments retransmitted although none was lost")),
        false => Ok(()),
    });
    if let Err(text) = result {
        row.result = "failed".into();
        row.detail = text;
    }
    row
}

/// Runs the first case once with each planted fault.
///
/// # Errors
/// Names the faults that no rule, or the wrong one, has found.
pub fn plants(ep: &mut dyn Endpoint, seed: u64) -> Result<usize, String> {
    let cases = all(1);
    let case = cases.first().ok_or("there is no case")?;
    let mut wrong = Vec::new();
    for (plant, rules) in PLANTS {
        let row = run_with(case, ep, seed, Some(plant));
        if !rules.iter().any(|rule| row.detail.contains(&format!("{rule:?}: "))) {
            wrong.push(format!("{plant:?}: {} {}, not {rules:?}", row.result, row.detail));
        }
    }
    if wrong.is_empty() { Ok(PLANTS.len()) } else { Err(wrong.join("\n")) }
}

fn drive(case: &Case, bed: &mut PeerBench<'_>, seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed ^ 0x3333);
    let mut slots: Vec<Option<Connection>> = (0..case.sessions).map(|_| None).collect();
    let (mut opened, mut done) = (0, 0);
    while done < case.connections {
        for session in 0..case.sessions {
            let slot = &mut slots[usize::from(session)];
            if slot.is_none() && opened < case.connections {
                *slot = Some(Connection::open(bed, session, opened, job(case, opened))?);
                opened += 1;
            }
        }
        if case.stall != 0 {
            bed.ep.user_ready(!random.chance(case.stall));
        }
        bed.tick()?;
        for e in bed.ep.events() {
            if let Some(Some(c)) = slots.get_mut(usize::from(e.session)) {
                c.event(e.kind, e.data)?;
            }
        }
        for d in bed.ep.delivered() {
            match slots.get_mut(usize::from(d.session)) {
                Some(Some(c)) if !d.err && d.ahead.is_none() => c.delivered(bed, &d.bytes)?,
                Some(Some(_)) => {}
                _ => return Err(format!("payload for session {}, which is closed", d.session)),
            }
        }
        for slot in &mut slots {
            let Some(c) = slot else { continue };
            c.work(bed, &mut random)?;
            if c.done(bed) {
                done += 1;
                if let Some(c) = slot.take() {
                    c.remove(bed)?;
                }
            }
        }
        if bed.now > case.ticks {
            let stuck = slots.iter().flatten().next();
            let text = stuck.map_or_else(String::new, |c| c.text(bed));
            return Err(format!("{done} of {} after {} ticks: {text}", case.connections, bed.now));
        }
    }
    Ok(())
}

fn job(case: &Case, n: u32) -> Job {
    let mut job = case.job;
    if case.mix {
        job.active = n & 1 != 0;
        job.endpoint_first = n & 2 != 0;
    }
    job
}

/// All cases. `scale` multiplies the bytes and connections of the long ones, 1 to 100.
#[must_use]
pub fn all(scale: u32) -> Vec<Case> {
    let scale = scale.clamp(1, 100);
    let job = Job {
        active: false,
        up: 100_000 * scale,
        down: 100_000 * scale,
        buffer: 65535,
        lazy: 0,
        endpoint_first: false,
    };
    let base = Case {
        name: String::new(),
        sessions: 1,
        connections: 1,
        job,
        mix: false,
        mtu: 1500,
        impair: Impair::default(),
        stall: 0,
        needs: None,
        ticks: 400_000 * u64::from(scale),
    };
    let mut cases = Vec::new();
    for active in [false, true] {
        let role = if active { "active" } else { "passive" };
        for delay in [0, 10] {
            cases.push(Case {
                name: format!("{role}, both ways, delay {delay}"),
                job: Job { active, ..job },
                impair: Impair { delay, ..Impair::default() },
                ..base.clone()
            });
        }
    }
    for (name, up, down) in [("up only", 200_000, 0), ("down only", 0, 200_000), ("empty", 0, 0)] {
        cases.push(Case { name: name.into(), job: Job { up, down, ..job }, ..base.clone() });
    }
    cases.push(Case {
        name: "16 sessions, both ways".into(),
        sessions: 16,
        connections: 16,
        job: Job { up: 50_000, down: 50_000, ..job },
        mix: true,
        ..base.clone()
    });
    cases.push(Case {
        name: "16 sessions, MSS 536 and small windows".into(),
        sessions: 16,
        connections: 16,
        job: Job { up: 20_000, down: 5_000, buffer: 2048, ..job },
        mix: true,
        mtu: 576,
        ..base.clone()
    });
    cases.push(Case {
        name: "reader sleeps: zero windows".into(),
        job: Job { buffer: 4096, lazy: 700, up: 60_000, down: 10_000, ..job },
        ..base.clone()
    });
    cases.push(Case {
        name: "user of the core stalls".into(),
        needs: Some("rx_checksum"),
        stall: 500,
        ..base.clone()
    });
    cases.extend(impaired(&base));
    cases.extend(cycles(&base, scale));
    cases
}

fn impaired(base: &Case) -> Vec<Case> {
    let mut cases = Vec::new();
    for permille in [10, 100] {
        let z = Impair { delay: 2, ..Impair::default() };
        let kinds = [
            ("drop", Impair { drop: permille, ..z }),
            ("burst of 4", Impair { burst: permille / 4 + 1, burst_len: 4, ..z }),
            ("duplicate", Impair { duplicate: permille, ..z }),
            ("reorder by 3", Impair { reorder: permille, reorder_by: 3, ..z }),
            ("truncate", Impair { truncate: permille, ..z }),
            ("corrupt, FCS wrong", Impair { corrupt: permille, ..z }),
            ("corrupt, FCS good", Impair { corrupt_unseen: permille, ..z }),
            (
                "all together",
                Impair {
                    drop: permille / 4,
                    duplicate: permille / 4,
                    reorder: permille / 4,
                    reorder_by: 5,
                    truncate: permille / 8,
                    corrupt: permille / 4,
                    ..z
                },
            ),
        ];
        for (name, impair) in kinds {
            let checksum = impair.corrupt_unseen != 0 || impair.truncate != 0;
            cases.push(Case {
                name: format!("{name}, {} %", permille / 10),
                sessions: 4,
                connections: 4,
                job: Job { up: 40_000, down: 40_000, ..base.job },
                mix: true,
                impair,
                needs: checksum.then_some("rx_checksum"),
                ..base.clone()
            });
        }
    }
    cases
}

fn cycles(base: &Case, scale: u32) -> Vec<Case> {
    let job = Job { up: 100, down: 100, ..base.job };
    let lines = [
        ("no loss", Impair::default()),
        ("each 5th SYN, FIN and ACK lost", Impair { control_nth: 5, ..Impair::default() }),
        ("10 % lost", Impair { drop: 100, ..Impair::default() }),
    ];
    lines
        .into_iter()
        .map(|(name, impair)| Case {
            name: format!("{} openings and closings, {name}", 100 * scale),
            sessions: 16,
            connections: 100 * scale,
            job,
            mix: true,
            impair,
            ticks: 2_000_000,
            ..base.clone()
        })
        .collect()
}
