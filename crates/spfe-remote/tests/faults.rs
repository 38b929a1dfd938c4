//! Remote memory over an exact link with bit errors, link resets and packets that are cut.
//!
//! A model of the memory knows for each byte which values it may have: what completed with OK was
//! written, and of what failed each byte may be the old or the new one. Other bytes never change.

use spfe::{Embedded, Endpoint, LinkModel, Mode, Topology};
use spfe_rdma::{RdmaTargetOptions, TargetFile, TargetNode};
use spfe_remote::{RdmaError, RdmaQueue, RdmaQueueOptions, RdmaServer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(120);
const KEY: u32 = 0xabc;
const GUARD: u32 = 0x1123;
const BYTES: usize = 1 << 16;
const FILE: &str = r#"
logical_address = 0x42
[[region]]
name = "data"
size = 65536
generation = 0xabc
[[region]]
name = "guard"
size = 4096
generation = 0x123
"#;

/// Runs a program against a server at the other end of an exact link.
fn with_server(seed: u64, timeout: Duration, program: impl FnOnce(&Arc<Embedded>, &mut RdmaQueue)) {
    fastrand::seed(seed);
    let topology = Topology::pairs(2, "2x2.5G".parse().unwrap(), Mode::Inline);
    let network = Embedded::new(topology.with_model(LinkModel::Exact)).unwrap();
    let near = Endpoint::attach(&network, 0, "near").unwrap();
    let far = Endpoint::attach(&network, 1, "far").unwrap();
    let node = TargetNode::new(&TargetFile::parse(FILE).unwrap()).unwrap();
    assert_eq!(node.target.options().segment_bytes, RdmaTargetOptions::default().segment_bytes);
    let mut server = RdmaServer::open(&far.port(0).unwrap().vc(0).unwrap(), node).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                server.serve(far.deadline_after(Duration::from_millis(10))).unwrap();
            }
        });
        let mut options = RdmaQueueOptions::default();
        options.initiator.target = 0x42;
        options.initiator.timeout_ns = timeout.as_nanos() as u64;
        options.initiator.retries = 10;
        let mut queue = RdmaQueue::open(&near.port(0).unwrap().vc(0).unwrap(), options).unwrap();
        // The server's thread also ends when the program panics.
        let run = std::panic::AssertUnwindSafe(|| program(&network, &mut queue));
        let outcome = std::panic::catch_unwind(run);
        stop.store(true, Ordering::Relaxed);
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
    });
}

/// A fault that one of 6 operations meets.
fn disturb(network: &Embedded, rng: &mut fastrand::Rng) {
    let fault = match rng.u32(..18) {
        0 => "what = \"eep\"\nnode = \"0.0\"\n",
        1 => "what = \"eep\"\nnode = \"1.0\"\n",
        2 => "what = \"link-reset\"\nlink = \"0.0-1.0\"\nend = \"a\"\n",
        _ => return,
    };
    network.add_fault(fault).unwrap();
}

/// Connects after a failure.
fn connected(queue: &mut RdmaQueue) {
    for _ in 0..5 {
        match queue.connect(PATIENCE) {
            Ok(()) => return,
            Err(RdmaError::TimedOut { .. } | RdmaError::Refused { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("never connected: {}", queue.why());
}

#[test]
fn random_operations_agree_with_a_model() {
    for seed in 1..=3 {
        // Short, so that messages are also repeated that were only slow.
        with_server(seed, Duration::from_millis(50), |network, queue| {
            let mut rng = fastrand::Rng::with_seed(seed);
            let errors = "what = \"bit-errors\"\nlink = \"0.0-1.0\"\nrate = 1e-5\n";
            network.add_fault(errors).unwrap();
            // Values that each byte may have.
            let mut model = vec![(0u8, 0u8); BYTES];
            let (mut written, mut failed) = (0, 0);
            connected(queue);
            for number in 0..40u8 {
                disturb(network, &mut rng);
                let length = rng.usize(..6000);
                let at = rng.usize(..=BYTES - length);
                let range = at..at + length;
                if rng.bool() {
                    match queue.write(KEY, at as u64, vec![number; length], PATIENCE) {
                        Ok(()) => model[range].fill((number, number)),
                        Err(error) => {
                            assert!(matches!(error, RdmaError::Work { .. }), "{seed}: {error}");
                            for byte in &mut model[range] {
                                byte.1 = number;
                            }
                            failed += 1;
                            connected(queue);
                            continue;
                        }
                    }
                    written += 1;
                } else if let Ok(data) = queue.read(KEY, at as u64, length, PATIENCE) {
                    for (found, allowed) in data.iter().zip(&mut model[range]) {
                        assert!([allowed.0, allowed.1].contains(found), "seed {seed} at {at}");
                        *allowed = (*found, *found);
                    }
                } else {
                    failed += 1;
                    connected(queue);
                }
            }
            network.end_faults("").ok();
            connected(queue);
            let all = queue.read(KEY, 0, BYTES, PATIENCE).unwrap();
            let wrong =
                all.iter().zip(&model).position(|(byte, (old, new))| byte != old && byte != new);
            assert_eq!(wrong, None, "seed {seed}, {written} written, {failed} failed");
            assert!(written > 0, "seed {seed}");
            assert_eq!(queue.read(GUARD, 0, 4096, PATIENCE).unwrap(), [0; 4096]);
        });
    }
}

/// The link repairs bit errors, so every byte arrives and nothing fails.
#[test]
fn a_file_survives_bit_errors() {
    with_server(7, Duration::from_secs(20), |network, queue| {
        let errors = "what = \"bit-errors\"\nlink = \"0.0-1.0\"\nrate = 3e-6\n";
        network.add_fault(errors).unwrap();
        let data: Vec<u8> =
            (0..BYTES as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        connected(queue);
        queue.write(KEY, 0, data.clone(), PATIENCE).unwrap();
        assert!(queue.read(KEY, 0, BYTES, PATIENCE).unwrap() == data);
        assert_eq!(queue.counts().resent, 0);
    });
}
