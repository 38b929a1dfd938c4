//! RMAP initiator and target of the library: against each other, against the instrument, and
//! against packets made by the test.

use spfe::rmap::{
    Access, Allow, Backing, Error, Initiator, InitiatorOptions, Memory, MemoryFault, Remote,
    RmapRequest, Target, TargetConfig, TargetDiscard, TargetOutcome, Window, Write,
};
use spfe::{Deadline, Endpoint, LinkRate, Mode, PoolOptions, PooledRx, PooledTx, Threshold};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MODES: [Mode; 3] = [Mode::Inline, Mode::Coop, Mode::Thread];

fn soon(endpoint: &Endpoint) -> Deadline {
    endpoint.deadline_after(Duration::from_secs(20))
}

fn pair(mode: Mode) -> (Endpoint, Endpoint) {
    Endpoint::pair(LinkRate::Unlimited, mode).unwrap()
}

fn initiator(endpoint: &Endpoint, options: InitiatorOptions) -> Initiator {
    Initiator::open(&endpoint.port(0).unwrap().vc(0).unwrap(), options).unwrap()
}

fn options(key: u8) -> InitiatorOptions {
    InitiatorOptions::new(Remote { key, initiator: 0x67, ..Remote::default() })
}

fn target(endpoint: &Endpoint, config: TargetConfig, max_data: u32) -> Target {
    Target::open(&endpoint.port(0).unwrap().vc(0).unwrap(), config, max_data).unwrap()
}

fn bytes(count: usize) -> Vec<u8> {
    (0..count as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn status<T: std::fmt::Debug>(result: Result<T, Error>) -> u8 {
    result.unwrap_err().rmap_status().expect("the target refuses").0
}

#[test]
fn long_accesses_are_cut() {
    for mode in ["inline", "coop", "thread"] {
        let endpoint = Endpoint::open(&format!("virtual:?peer=rmap:4M&mode={mode}")).unwrap();
        let options = InitiatorOptions { max_data: 5000, outstanding: 7, ..options(0) };
        let mut initiator = initiator(&endpoint, options);
        let data = bytes(1 << 20);
        initiator.write(0x123, &data, soon(&endpoint)).unwrap();
        let mut back = vec![0; data.len()];
        initiator.read(0x123, &mut back, soon(&endpoint)).unwrap();
        assert!(back == data, "{mode}");
        let packets = initiator.counters().packets;
        // 4992 bytes per command: a multiple of 16.
        assert_eq!((packets.commands, packets.completed), (2 * 211, 2 * 211));
    }
}

#[test]
fn an_access_takes_the_time_of_the_link() {
    let name = "virtual:?peer=rmap:1M&link=1x2.5G&time=virtual";
    let endpoint = Endpoint::open(name).unwrap();
    let mut initiator = initiator(&endpoint, options(0));
    let start = endpoint.now_ns();
    initiator.write(0, &bytes(65536), Deadline::NEVER).unwrap();
    let one = endpoint.now_ns() - start;
    // A single command and its reply, at 1.91 Gbit/s.
    assert!((274_000..276_000).contains(&one), "{one} ns");
}

#[test]
fn initiator_and_target() {
    for mode in MODES {
        let (near, far) = pair(mode);
        let mut target =
            target(&far, TargetConfig { verify_bytes: 4096, ..Default::default() }, 4096);
        let memory = far.alloc(1 << 16).unwrap().buf(0..1 << 16).unwrap();
        target.add(Window::new(0xff_0000_0000, memory).key(0x20)).unwrap();
        let canceller = target.canceller();
        let server = std::thread::spawn(move || {
            let error = target.serve_until(Deadline::NEVER).unwrap_err();
            assert!(error.is_cancelled());
            *target.counters()
        });
        let mut initiator = initiator(&near, InitiatorOptions { max_data: 4096, ..options(0x20) });
        let data = bytes(50_000);
        initiator.write(0xff_0000_0010, &data, soon(&near)).unwrap();
        let mut back = vec![0; data.len()];
        initiator.read(0xff_0000_0010, &mut back, soon(&near)).unwrap();
        assert!(back == data);
        let mut old = [0; 4];
        let change = ([0xff; 4], [0x0f; 4]);
        initiator.modify(0xff_0000_0010, &change.0, &change.1, &mut old, soon(&near)).unwrap();
        assert_eq!(old, data[..4]);
        initiator.read(0xff_0000_0010, &mut old, soon(&near)).unwrap();
        assert_eq!(old.to_vec(), data[..4].iter().map(|byte| byte | 0x0f).collect::<Vec<_>>());
        canceller.cancel();
        let counters = server.join().unwrap();
        assert_eq!((counters.writes, counters.reads, counters.modifies), (13, 14, 1));
        assert_eq!(counters.replies, 28);
    }
}

/// Serves the commands that have arrived, in this thread.
fn serve(target: &mut Target, packets: usize) -> Vec<TargetOutcome> {
    (0..packets).map(|_| target.serve_once(Deadline::NOW).unwrap()).collect()
}

#[test]
fn windows_decide_which_access_is_allowed() {
    let (near, far) = pair(Mode::Inline);
    let config =
        TargetConfig { logical_address: None, accept_default: false, ..Default::default() };
    let mut target = target(&far, config, 4096);
    let memory = far.alloc(1 << 16).unwrap();
    let buf = |n: usize| memory.buf(n * 4096..n * 4096 + 4096).unwrap();
    let read = Allow { read: true, write: false, modify: false };
    target.add(Window::new(0x1000, buf(0)).key(1)).unwrap();
    target.add(Window::new(0x2000, buf(1)).allow(read)).unwrap();
    target.add(Window::new(0x3000, buf(2)).logical_address(0x42)).unwrap();
    for (base, words) in [(0x0fff, "overlaps"), (0x3fff, "overlaps"), (u64::MAX, "up to address")] {
        let error = target.add(Window::new(base, buf(3))).unwrap_err();
        assert_eq!(error.status(), Some(spfe::Status::BadField));
        assert!(error.to_string().contains(words), "{error}");
    }
    target.add(Window::new(0x4000, buf(4))).unwrap();

    let mut initiator = initiator(&near, options(1));
    let mut ask = |key, logical, address, request: &RmapRequest<'_>| {
        initiator.set_remote(Remote { key, target: logical, ..Remote::default() });
        let id = initiator.begin(address, request, Deadline::NEVER).unwrap();
        serve(&mut target, 1);
        let (done, result) = initiator.finish(soon(&near)).unwrap();
        assert_eq!(Some(done), id);
        result.map_or_else(|error| error.rmap_status().unwrap().0, |_| 0)
    };
    let (read, write) = (RmapRequest::read(4), RmapRequest::write(&[1, 2, 3, 4]));
    let modify = RmapRequest::ReadModifyWrite { data: &[1, 2], mask: &[3, 4] };
    for (key, logical, address, request, expected) in [
        (1, 0x40, 0x1000, &read, 0),
        (2, 0x40, 0x1000, &read, 3),
        (9, 0x40, 0x2ffc, &read, 0),
        (9, 0x40, 0x2000, &write, 10),
        (9, 0x40, 0x2000, &modify, 10),
        (9, 0x42, 0x3000, &modify, 0),
        (9, 0x41, 0x3000, &read, 12),
        (9, 0x42, 0x3ffd, &read, 10),
        (9, 0x42, 0x0ffe, &read, 10),
        (9, 0x42, 0x5000, &read, 10),
        (9, 0x42, 0xff_ffff_fffc, &read, 10),
        (9, 0x42, 0x4000, &write, 0),
    ] {
        assert_eq!(ask(key, logical, address, request), expected, "{address:#x} {request:?}");
    }
    let Some(Backing::Bytes(buf)) = target.window(3) else { panic!("no window 3") };
    assert_eq!(buf[..5], [1, 2, 3, 4, 0]);
    let counters = target.counters();
    assert_eq!((counters.not_authorised, counters.invalid_key), (6, 1));
    assert_eq!(counters.invalid_logical_address, 1);
}

/// Commands longer than a slot arrive in pieces; unverified writes may have any length.
#[test]
fn commands_longer_than_a_slot() {
    let (near, far) = pair(Mode::Inline);
    let vc = far.port(0).unwrap().vc(0).unwrap();
    let pool = PoolOptions::new(4, 200);
    let (tx, rx) = (vc.tx_pooled(pool).unwrap(), vc.rx_pooled(pool).unwrap());
    let config = TargetConfig { verify_bytes: 1000, ..Default::default() };
    let mut target = Target::new(tx, rx, config).unwrap();
    target.add(Window::new(0, far.alloc(65536).unwrap().buf(0..65536).unwrap())).unwrap();
    let mut initiator = initiator(&near, options(0));
    let data = bytes(60_000);
    let plain = Write { verify: false, ..Write::default() };
    let server = std::thread::spawn(move || {
        let outcomes: Vec<_> = (0..4).map(|_| target.serve_once(soon(&far)).unwrap()).collect();
        (outcomes, target)
    });
    initiator.write_as(16, plain, &data, soon(&near)).unwrap();
    initiator.write(0, &data[..1000], soon(&near)).unwrap();
    assert_eq!(status(initiator.write(0, &data[..1001], soon(&near))), 9);
    // A reply longer than a slot is refused.
    assert_eq!(status(initiator.read(0, &mut [0; 1000], soon(&near))), 10);
    let (outcomes, mut target) = server.join().unwrap();
    assert!(matches!(outcomes[0], TargetOutcome::Executed { .. }));
    let Some(Backing::Bytes(buf)) = target.window(0) else { panic!("no window 0") };
    assert!(buf[..1000] == data[..1000] && buf[1000..60_016] == data[984..]);
}

#[test]
fn writes_without_reply_and_without_data() {
    let (near, far) = pair(Mode::Inline);
    let mut target = target(&far, TargetConfig::default(), 4096);
    target.add(Window::new(0, far.alloc(4096).unwrap().buf(0..4096).unwrap())).unwrap();
    let mut initiator = initiator(&near, options(0));
    let how = Write { verify: false, reply: false, increment: true };
    initiator.write_as(4, how, &[1, 2, 3, 4], Deadline::NOW).unwrap();
    // Four words to one address: the last one remains.
    let single = Write { verify: false, reply: false, increment: false };
    initiator.write_as(8, single, &bytes(16), Deadline::NOW).unwrap();
    initiator.write_as(0, how, &[], Deadline::NOW).unwrap();
    assert_eq!(initiator.outstanding(), 0);
    for outcome in serve(&mut target, 3) {
        assert!(matches!(outcome, TargetOutcome::Executed { reply_bytes: 0, .. }), "{outcome:?}");
    }
    let Some(Backing::Bytes(buf)) = target.window(0) else { panic!("no window 0") };
    assert_eq!(buf[4..8], [1, 2, 3, 4]);
    assert_eq!(buf[8..12], bytes(16)[12..]);
    assert_eq!((target.counters().writes, target.counters().replies), (3, 0));
    let error = initiator.modify(0, &[1; 2], &[1; 2], &mut [0; 3], Deadline::NOW).unwrap_err();
    assert_eq!(error.to_string(), "RMAP command: data: 3 bytes, 2 expected");
}

#[test]
fn late_replies_are_counted() {
    let (near, far) = pair(Mode::Inline);
    let mut target = target(&far, TargetConfig::default(), 4096);
    target.add(Window::new(0, far.alloc(4096).unwrap().buf(0..4096).unwrap())).unwrap();
    let mut initiator = initiator(&near, options(0));
    let access = Access { kind: "read", address: 0x10, bytes: 4, target: 0xfe };
    let error = initiator.read(0x10, &mut [0; 4], near.deadline_after(Duration::from_millis(5)));
    match error.unwrap_err() {
        Error::TimedOut { access: found, transaction: 0 } => assert_eq!(found, access),
        error => panic!("{error}"),
    }
    assert_eq!(initiator.counters().packets.timed_out, 1);
    // The reply arrives now, and is not taken for the reply of the next read.
    serve(&mut target, 1);
    initiator.begin(0x20, &RmapRequest::read(8), Deadline::NEVER).unwrap();
    serve(&mut target, 1);
    let (transaction, result) = initiator.finish(soon(&near)).unwrap();
    assert_eq!((transaction, result.unwrap()), (1, vec![0; 8]));
    assert_eq!(initiator.counters().packets.unknown, 1);
}

#[test]
fn a_read_is_cancelled() {
    let (near, _far) = pair(Mode::Inline);
    let mut initiator = initiator(&near, options(0));
    let canceller = initiator.canceller();
    canceller.cancel();
    // There is no target at the other end.
    let error = initiator.read(0, &mut [0; 4], Deadline::NEVER).unwrap_err();
    assert!(error.is_cancelled() && !error.is_timeout(), "{error}");
    assert_eq!(initiator.outstanding(), 0);
}

/// The far end of a link, with packets made by the test.
struct Hand {
    tx: PooledTx,
    rx: PooledRx,
}

impl Hand {
    fn open(endpoint: &Endpoint) -> Self {
        let vc = endpoint.port(0).unwrap().vc(0).unwrap();
        let pool = PoolOptions::new(16, 4096);
        Self { tx: vc.tx_pooled(pool).unwrap(), rx: vc.rx_pooled(pool).unwrap() }
    }

    fn receive(&mut self) -> Vec<u8> {
        self.rx.wait(&Threshold::ONE, Deadline::NOW).unwrap();
        let bytes = self.rx.peek().unwrap().bytes.to_vec();
        self.rx.release();
        bytes
    }

    fn send(&mut self, packet: &[u8]) {
        while self.tx.poll().is_some() {}
        self.tx.slot().unwrap()[..packet.len()].copy_from_slice(packet);
        self.tx.send(packet.len()).unwrap();
    }
}

#[test]
fn replies_in_any_order() {
    let (near, far) = pair(Mode::Inline);
    let mut hand = Hand::open(&far);
    let mut memory = bytes(4096);
    let mut target = spfe_proto::rmap::RmapTarget::default();
    let mut initiator = initiator(&near, options(0));
    let ids: Vec<_> = (0..8)
        .map(|n| initiator.begin(n * 16, &RmapRequest::read(16), Deadline::NEVER).unwrap().unwrap())
        .collect();
    let commands: Vec<_> = ids.iter().map(|_| hand.receive()).collect();
    for command in commands.iter().rev() {
        let mut out = [0; 128];
        let mut ram = spfe_proto::rmap::Ram { base: 0, word_bytes: 4, bytes: &mut memory };
        let end = spfe_proto::PacketEnd::Eop;
        let outcome = target.handle(command, end, &mut ram, |_| Ok(()), &mut out).unwrap();
        hand.send(&out[..outcome.reply_bytes()]);
    }
    for n in (0..8).rev() {
        let (id, data) = initiator.finish(soon(&near)).unwrap();
        assert_eq!((id, data.unwrap()), (ids[n], memory[n * 16..n * 16 + 16].to_vec()));
    }
    // Packets that are no replies: another protocol, a damaged header.
    for packet in [&[0x67, 2, 0, 0][..], &[0x67, 1, 0x2c, 0, 0xfe, 0, 0, 0xee]] {
        hand.send(packet);
    }
    let error = initiator.finish(near.deadline_after(Duration::from_millis(2))).unwrap_err();
    assert!(error.is_timeout());
    let packets = initiator.counters().packets;
    assert_eq!((packets.completed, packets.other_protocol, packets.header_errors), (8, 1, 1));
}

#[test]
fn a_blocking_access_keeps_the_results_of_other_commands() {
    let endpoint = Endpoint::open("virtual:?peer=rmap:64K").unwrap();
    let mut initiator = initiator(&endpoint, InitiatorOptions { outstanding: 4, ..options(0) });
    let own = initiator.begin(0, &RmapRequest::read(3), Deadline::NEVER).unwrap().unwrap();
    initiator.write(0x100, &[7; 5], soon(&endpoint)).unwrap();
    let mut old = [0; 2];
    initiator.modify(0x100, &[1; 2], &[1; 2], &mut old, soon(&endpoint)).unwrap();
    assert_eq!(old, [7; 2]);
    let (id, data) = initiator.finish(soon(&endpoint)).unwrap();
    assert_eq!((id, data.unwrap()), (own, vec![0; 3]));
    // As many commands as the options allow.
    for n in 0..5 {
        let begun = initiator.begin(n, &RmapRequest::read(1), Deadline::NEVER);
        assert_eq!(begun.is_ok(), n < 4);
    }
    let error = initiator.begin(0, &RmapRequest::read(1), Deadline::NEVER).unwrap_err();
    let said = "RMAP command: outstanding transactions: 4, the maximum, are in use";
    assert_eq!(error.to_string(), said);
}

/// Discarded packets are counted, and so are packets of other protocols.
#[test]
fn discards_are_counted() {
    let (near, far) = pair(Mode::Inline);
    let mut target = target(&far, TargetConfig::default(), 4096);
    let mut hand = Hand::open(&near);
    for packet in [&[0xfe, 2, 0, 0][..], &[0xfe, 1, 0x4c], &[0x67, 1, 0x2c, 0, 0xfe, 0, 0, 0xed]] {
        hand.send(packet);
    }
    let expected =
        [TargetDiscard::Protocol { pid: 2 }, TargetDiscard::EarlyEop, TargetDiscard::Reply];
    let outcomes = serve(&mut target, 3);
    assert_eq!(outcomes, expected.map(TargetOutcome::Discarded));
    assert!(target.serve_once(Deadline::NOW).unwrap_err().is_timeout());
}

/// A window can be anything that reads and writes.
#[test]
fn a_window_of_registers() {
    #[derive(Clone, Default)]
    struct Register(Arc<Mutex<u32>>);
    impl Memory for Register {
        fn read(&mut self, address: u64, _: bool, data: &mut [u8]) -> Result<(), MemoryFault> {
            let value = self.0.lock().unwrap().to_be_bytes();
            if address != 0x70 || data.len() != 4 {
                return Err(MemoryFault::Failed);
            }
            data.copy_from_slice(&value);
            Ok(())
        }

        fn write(&mut self, _: u64, _: bool, data: &[u8]) -> Result<(), MemoryFault> {
            let value = data.try_into().map_err(|_| MemoryFault::Refused)?;
            *self.0.lock().unwrap() += u32::from_be_bytes(value);
            Ok(())
        }
    }
    let (near, far) = pair(Mode::Inline);
    let mut target = target(&far, TargetConfig::default(), 64);
    let register = Register::default();
    target.add(Window::memory(0x70, 8, Box::new(register.clone()))).unwrap();
    let mut initiator = initiator(&near, options(0));
    for (address, request, expected) in [
        (0x70, RmapRequest::write(&[0, 0, 1, 2]), 0),
        (0x70, RmapRequest::write(&[0, 0, 0, 1]), 0),
        (0x70, RmapRequest::write(&[1]), 10),
        (0x74, RmapRequest::read(4), 1),
        (0x70, RmapRequest::read(4), 0),
    ] {
        initiator.begin(address, &request, Deadline::NEVER).unwrap();
        serve(&mut target, 1);
        let (_, result) = initiator.finish(soon(&near)).unwrap();
        match expected {
            0 => {
                assert!(
                    matches!(request, RmapRequest::Write { .. }) || result.unwrap() == [0, 0, 1, 3]
                )
            }
            expected => assert_eq!(status(result), expected),
        }
    }
    assert_eq!(*register.0.lock().unwrap(), 0x103);
}
