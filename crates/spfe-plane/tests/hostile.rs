//! Clients that write invalid data into their rings: each gets a status, and others are not
//! affected.

#[path = "raw/mod.rs"]
mod raw;

use fastrand::Rng;
use proptest::prelude::*;
use raw::{
    Client, DATA, Queue, SIZE, buffer, burst, data, end, entry, flags, network, release, status,
};
use spfe_contract::{
    BURST_MAX, EndMarker, EntryType, InlineSubmission, Message, MessageKind, PACKET_MAX_BYTES,
    QueueKind, QueueSetup, Release, Status, access, submit_flags as sf,
};
use spfe_device::memory::{Address, RegionKey};
use spfe_host::{Mode, QueueRequest, SharedMemory};
use spfe_plane::{CHAIN_MAX, DeviceThread, Network, Placement, Runner};
use spfe_ring::ring::RingEntry;
use std::sync::Arc;
use std::time::Instant;

const OFFSET_MAX: u64 = (1 << 48) - 1;

/// A sender, the receiver of what it sends, and the engine between them.
struct Lab {
    network: Arc<Network>,
    a: Client,
    b: Client,
    tx: Queue,
    rx: Queue,
    runner: Runner,
}

impl Lab {
    fn new() -> Self {
        let network = network(Mode::Inline);
        let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
        let (tx, rx) = (a.queue(QueueKind::Tx, 0), b.queue(QueueKind::Rx, 0));
        let runner = a.runner(0, true);
        Self { network, a, b, tx, rx, runner }
    }

    fn run(&mut self) {
        self.runner.run(10_000).expect("the seat is free");
    }

    /// Checks that a correct packet arrives whole.
    fn works(&mut self, number: u8) {
        let bytes = [number; 100];
        self.a.write(DATA + 2000, &bytes);
        self.rx.push(buffer(self.b.address(DATA), 128));
        self.tx.push(data(self.a.address(DATA + 2000), 100));
        self.run();
        let sent = self.tx.pop().expect("sent");
        assert_eq!((status(&sent), sent.packets, sent.bytes), (Status::Ok, 1, 100));
        let got = self.rx.pop().expect("received");
        assert_eq!((status(&got), got.bytes), (Status::Ok, 100));
        assert_eq!(self.b.read(DATA, 100), bytes);
        assert!(self.tx.pop().is_none() && self.rx.pop().is_none());
    }
}

/// A wrong submission, published as one batch, and the status it must get.
type Wrong = (&'static str, Vec<RingEntry>, Status);

fn wrong_transmits(lab: &Lab) -> Vec<Wrong> {
    let (at, most) = (lab.a.address(DATA), PACKET_MAX_BYTES as u32);
    let key = |key: u16| Address::new(RegionKey(key), 0).0;
    let typed = |kind: u16| vec![entry(at, 8, kind | sf::SIGNAL)];
    let data_with = |bits: u16| vec![entry(at, 8, flags(EntryType::Data, bits))];
    let chain = |count: usize| -> Vec<RingEntry> {
        let link = entry(at, 8, flags(EntryType::Data, sf::CHAIN));
        (1..count).map(|_| link).chain([data(at, 8)]).collect()
    };
    let inline = |count: u8| {
        let flags = flags(EntryType::Inline, sf::SIGNAL);
        vec![InlineSubmission { count, flags, ..Default::default() }.to_words()]
    };
    let link = |bits: u16| entry(at, 8, flags(EntryType::Data, sf::CHAIN | bits));
    vec![
        ("no such region", vec![data(key(0x1234), 8)], Status::BadRegion),
        ("index past the table", vec![data(key(0x0fff), 8)], Status::BadRegion),
        ("next generation", vec![data(lab.a.address(DATA) + (1 << 60), 8)], Status::BadRegion),
        ("past the end", vec![data(lab.a.address(raw::BYTES as u64 - 7), 8)], Status::OutOfBounds),
        ("offset of 2^48 - 1", vec![data(lab.a.address(OFFSET_MAX), most)], Status::OutOfBounds),
        ("no bytes", vec![data(at, 0)], Status::Empty),
        ("over the limit", vec![data(at, most + 1)], Status::TooLong),
        ("all the length there is", vec![data(at, u32::MAX)], Status::TooLong),
        ("type 0", typed(0), Status::BadOpcode),
        ("type 15", typed(15), Status::BadOpcode),
        ("a buffer", typed(flags(EntryType::Buffer, 0)), Status::BadOpcode),
        ("a release", typed(flags(EntryType::Release, 0)), Status::BadOpcode),
        ("a message", typed(flags(EntryType::Message, 0)), Status::BadOpcode),
        ("half a burst", typed(flags(EntryType::BurstExt, 0)), Status::BadOpcode),
        ("reserved bit 10", data_with(1 << 10), Status::BadField),
        ("reserved bit 15", data_with(1 << 15), Status::BadField),
        ("end marker 3", data_with(3 << sf::END_SHIFT), Status::BadField),
        ("a chain of one too many", chain(CHAIN_MAX + 1), Status::ChainTooLong),
        ("a chain of no end", vec![link(0); SIZE as usize], Status::ChainTooLong),
        ("a chain that stops", vec![link(0), link(0)], Status::BadField),
        ("a chain with a buffer", vec![link(0), buffer(at, 8)], Status::BadOpcode),
        ("a chain with reserved bits", vec![link(0), link(1 << 11), data(at, 8)], Status::BadField),
        ("a chain to nowhere", vec![link(0), data(key(0x777), 8)], Status::BadRegion),
        ("no inline bytes", inline(0), Status::BadField),
        ("12 inline bytes", inline(12), Status::BadField),
        ("255 inline bytes", inline(255), Status::BadField),
    ]
}

fn wrong_bursts(lab: &Lab) -> Vec<Wrong> {
    let at = lab.a.address(DATA);
    let burst_with = |change: &dyn Fn(&mut [RingEntry; 2])| {
        let mut entries = burst(at, 8, 8, 4);
        change(&mut entries);
        entries.to_vec()
    };
    vec![
        ("a burst of none", burst(at, 8, 8, 0).to_vec(), Status::BadField),
        ("a burst of empty packets", burst(at, 0, 8, 4).to_vec(), Status::Empty),
        ("a burst of 4 GiB", burst(at, 70_000, 0, BURST_MAX as u16).to_vec(), Status::TooLong),
        ("a burst past the end", burst(at, 8, 1 << 20, 4).to_vec(), Status::OutOfBounds),
        ("a burst of all strides", burst(at, 8, u32::MAX, 65535).to_vec(), Status::OutOfBounds),
        (
            "a burst of pieces",
            burst_with(&|e| e[0][1] |= u64::from(end(EndMarker::None)) << 32),
            Status::BadField,
        ),
        (
            "a chained burst",
            burst_with(&|e| e[0][1] |= u64::from(sf::CHAIN) << 32),
            Status::BadField,
        ),
        ("a burst with reserved bits", burst_with(&|e| e[0][1] |= 1 << 44), Status::BadField),
        ("a burst with reserved fields", burst_with(&|e| e[1][0] |= 1 << 50), Status::BadField),
        ("a burst without its half", burst(at, 8, 8, 4)[..1].to_vec(), Status::BadField),
    ]
}

#[test]
fn a_wrong_submission_affects_only_itself() {
    let all = |lab: &Lab| [wrong_transmits(lab), wrong_bursts(lab)].concat();
    for index in 0..all(&Lab::new()).len() {
        let mut lab = Lab::new();
        let (what, entries, expected) = all(&lab).swap_remove(index);
        lab.works(1);
        lab.rx.push(buffer(lab.b.address(DATA), 128));
        lab.tx.push_all(&entries);
        lab.run();
        let done = lab.tx.pop().unwrap_or_else(|| panic!("{what}: no completion"));
        assert_eq!((status(&done), done.packets, done.bytes), (expected, 0, 0), "{what}");
        let last = entries.len() as u16;
        assert_eq!(done.position, last, "{what}: frees its entries");
        assert!(lab.tx.pop().is_none(), "{what}: more than one completion");
        assert!(lab.rx.pop().is_none(), "{what}: the receiver got something");
        assert_eq!(lab.a.counters(0).0[2], 1, "{what}: errors");
        // The buffer posted above takes the next packet.
        lab.rx.sq.position -= 1;
        lab.works(2);
        let (tx, rx) = (lab.a.counters(0).0, lab.b.counters(0).1);
        assert_eq!((tx[0], tx[1], tx[2]), (2, 200, 1), "{what}");
        assert_eq!((rx[0], rx[1], rx[2]), (2, 200, 0), "{what}");
        assert!(lab.tx.is_guarded() && lab.rx.is_guarded(), "{what}");
    }
}

#[test]
fn a_wrong_buffer_affects_only_itself() {
    let lab = Lab::new();
    let (at, most) = (lab.b.address(DATA), PACKET_MAX_BYTES as u32);
    let wrong = [
        ("no such region", buffer(Address::new(RegionKey(0x1234), 0).0, 8), Status::BadRegion),
        ("next generation", buffer(at + (1 << 60), 8), Status::BadRegion),
        ("past the end", buffer(lab.b.address(raw::BYTES as u64 - 7), 8), Status::OutOfBounds),
        ("offset of 2^48 - 1", buffer(lab.b.address(OFFSET_MAX), most), Status::OutOfBounds),
        ("no bytes", buffer(at, 0), Status::Empty),
        ("over the limit", buffer(at, most + 1), Status::TooLong),
        ("type 0", entry(at, 8, 0), Status::BadOpcode),
        ("data", entry(at, 8, flags(EntryType::Data, 0)), Status::BadOpcode),
        ("a release", release(8, 1), Status::BadOpcode),
        ("reserved bits", entry(at, 8, flags(EntryType::Buffer, 1 << 12)), Status::BadField),
    ];
    for (what, wrong, expected) in wrong {
        let mut lab = Lab::new();
        lab.works(1);
        lab.rx.push(wrong);
        lab.rx.push(buffer(lab.b.address(DATA), 128));
        lab.tx.push(data(lab.a.address(DATA + 2000), 100));
        lab.run();
        let done = lab.rx.pop().unwrap_or_else(|| panic!("{what}: no completion"));
        assert_eq!((status(&done), done.bytes, done.position), (expected, 0, 1), "{what}");
        let got = lab.rx.pop().unwrap_or_else(|| panic!("{what}: the packet is lost"));
        assert_eq!((status(&got), got.bytes, got.position), (Status::Ok, 100, 2), "{what}");
        assert_eq!(status(&lab.tx.pop().unwrap()), Status::Ok, "{what}");
        lab.works(2);
        let (tx, rx) = (lab.a.counters(0).0, lab.b.counters(0).1);
        assert_eq!((tx[0], tx[2], rx[0], rx[2]), (3, 0, 3, 1), "{what}");
    }
}

#[test]
fn a_ring_of_wrong_buffers_delays_only_its_own_sender() {
    let mut lab = Lab::new();
    lab.tx.push(data(lab.a.address(DATA), 100));
    for _ in 0..SIZE {
        lab.rx.push(entry(0, 0, 0));
    }
    lab.run();
    for position in 0..SIZE {
        let done = lab.rx.pop().unwrap();
        assert_eq!((status(&done), u32::from(done.position)), (Status::BadOpcode, position));
    }
    assert!(lab.tx.pop().is_none());
    lab.rx.push(buffer(lab.b.address(DATA), 128));
    lab.run();
    assert_eq!(lab.rx.pop().unwrap().bytes, 100);
    assert_eq!(status(&lab.tx.pop().unwrap()), Status::Ok);
}

#[test]
fn a_region_is_bound_to_its_client_access_and_lifetime() {
    let mut lab = Lab::new();
    let other = Client::new(&lab.network, 0);
    let memory = || Arc::new(SharedMemory::create("part", 4096).unwrap());
    let network = lab.network.clone();
    let add = |client: &Client, access| network.add_region(client.at, memory(), access).unwrap();
    let (write_only, read_only) =
        (add(&lab.a, access::LOCAL_WRITE), add(&lab.b, access::LOCAL_READ));
    let gone = add(&lab.a, access::LOCAL_READ);
    network.remove_region(lab.a.at, gone).unwrap();
    assert_eq!(network.remove_region(lab.a.at, other.key).unwrap_err().status(), Status::BadRegion);
    let domain = Placement { domain: 1, index: None };
    let elsewhere =
        network.add_region_at(lab.a.at, memory().into(), access::LOCAL_READ, domain).unwrap();
    let cases = [
        (other.key, Status::BadRegion),
        (gone, Status::BadRegion),
        (elsewhere, Status::BadRegion),
        (write_only, Status::AccessDenied),
    ];
    lab.rx.push(buffer(lab.b.address(DATA), 128));
    for (key, expected) in cases {
        lab.tx.push(data(Address::new(key, 0).0, 8));
        lab.run();
        assert_eq!(status(&lab.tx.pop().unwrap()), expected);
    }
    lab.rx.sq.position -= 1;
    lab.works(1);
    lab.rx.push(buffer(Address::new(read_only, 0).0, 8));
    lab.rx.push(buffer(lab.b.address(DATA), 128));
    lab.tx.push(data(lab.a.address(DATA), 8));
    lab.run();
    assert_eq!(status(&lab.rx.pop().unwrap()), Status::AccessDenied);
    assert_eq!(lab.rx.pop().unwrap().bytes, 8);
    assert_eq!(lab.a.counters(0).0[2], cases.len() as u64);
    assert_eq!(lab.b.counters(0).1[2], 1);
}

#[test]
fn a_region_revoked_in_the_middle_of_a_burst_ends_it() {
    let mut lab = Lab::new();
    let memory = Arc::new(SharedMemory::create("burst", 4096).unwrap());
    let key = lab.network.add_region(lab.a.at, memory, access::LOCAL_READ).unwrap();
    for _ in 0..3 {
        lab.rx.push(buffer(lab.b.address(DATA), 60));
    }
    lab.tx.push_all(&burst(Address::new(key, 0).0, 100, 32, 10));
    lab.run();
    // One packet and half of the next one have filled the buffers.
    let parts: Vec<u32> = (0..3).map(|_| lab.rx.pop().unwrap().bytes).collect();
    assert_eq!(parts, [60, 40, 60]);
    lab.network.remove_region(lab.a.at, key).unwrap();
    lab.rx.push(buffer(lab.b.address(DATA), 60));
    lab.run();
    let done = lab.tx.pop().unwrap();
    assert_eq!((status(&done), done.packets), (Status::BadRegion, 1), "one packet was sent");
    let cut = lab.rx.pop().unwrap();
    assert_eq!((status(&cut), cut.bytes), (Status::PacketCut, 0));
    lab.works(1);
}

#[test]
fn a_wrong_piece_cuts_its_packet() {
    let mut lab = Lab::new();
    for _ in 0..3 {
        lab.rx.push(buffer(lab.b.address(DATA), 128));
    }
    let piece = flags(EntryType::Data, sf::SIGNAL | end(EndMarker::None));
    lab.tx.push(entry(lab.a.address(DATA), 50, piece));
    lab.tx.push(data(Address::new(RegionKey(0x777), 0).0, 50));
    lab.run();
    assert_eq!(status(&lab.tx.pop().unwrap()), Status::Ok);
    assert_eq!(status(&lab.tx.pop().unwrap()), Status::BadRegion);
    let cut = lab.rx.pop().unwrap();
    assert_eq!((status(&cut), cut.bytes, cut.flags & 3), (Status::PacketCut, 50, 1));
    lab.rx.sq.position -= 2;
    lab.works(1);
}

#[test]
fn a_host_that_reads_no_completions_loses_no_completions() {
    let mut lab = Lab::new();
    for index in 0..SIZE {
        lab.rx.push(buffer(lab.b.address(DATA + 64 * u64::from(index)), 64));
        lab.tx.push(data(lab.a.address(DATA), index + 1));
    }
    for _ in 0..3 {
        lab.run();
    }
    for index in 0..SIZE {
        let (sent, got) = (lab.tx.pop().unwrap(), lab.rx.pop().unwrap());
        assert_eq!((sent.bytes, got.bytes), (index + 1, index + 1));
        assert_eq!((u32::from(sent.position), u32::from(got.position)), (index, index));
    }
    assert!(lab.tx.pop().is_none() && lab.rx.pop().is_none());
}

#[test]
fn a_host_that_posts_without_credit_harms_only_its_own_rings() {
    let mut lab = Lab::new();
    for _ in 0..40 {
        for _ in 0..SIZE {
            lab.rx.push(buffer(lab.b.address(DATA), 64));
            lab.tx.push(data(lab.a.address(DATA), 8));
        }
        lab.run();
    }
    assert!(lab.tx.is_guarded() && lab.rx.is_guarded());
    assert_eq!(lab.a.counters(0).0[0], 40 * u64::from(SIZE));
}

/// Number of 16-byte records in the completions so far.
fn drain(rx: &mut Queue) -> u32 {
    std::iter::from_fn(|| rx.pop()).map(|run| run.bytes / 16).sum()
}

#[test]
fn a_packed_host_that_releases_nothing_stops_its_sender() {
    let network = network(Mode::Inline);
    let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
    let (mut tx, mut rx) = (a.queue(QueueKind::Tx, 0), b.queue(QueueKind::RxPacked, 0));
    let mut runner = a.runner(0, true);
    let behind = DATA + 4096;
    b.write(behind, &[0x55; 64]);
    // 4096 bytes hold 256 records of 16 bytes; 40 bursts of 100 packets are far more.
    let mut sent = 0;
    for _ in 0..40 {
        if sent - tx.cq.position < SIZE / 2 {
            tx.push_all(&burst(a.address(DATA), 8, 8, 100));
            sent += 1;
        }
        runner.run(10_000);
        while tx.pop().is_some() {}
    }
    assert!(sent < 40, "the sender never waited");
    let records = drain(&mut rx);
    assert!((200..=256).contains(&records), "{records} records in an area for 256");
    assert_eq!(b.read(behind, 64), [0x55; 64]);
    // Invalid entries release nothing, and are counted.
    let nonsense = [
        release(u32::MAX, 1),
        release(5000, 1),
        release(8, u32::MAX),
        release(8, SIZE + 1),
        entry(0, 0, 0),
        data(b.address(DATA), 8),
    ];
    for entry in nonsense {
        rx.push(entry);
    }
    runner.run(10_000);
    assert_eq!(drain(&mut rx), 0, "an invalid entry released memory");
    assert_eq!(b.counters(0).1[2], nonsense.len() as u64);
    assert!(rx.is_guarded() && tx.is_guarded());
}

#[test]
fn wrong_releases_keep_a_packed_queue_in_its_area() {
    let network = network(Mode::Inline);
    let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
    let (mut tx, mut rx) = (a.queue(QueueKind::Tx, 0), b.queue(QueueKind::RxPacked, 0));
    let mut runner = a.runner(0, true);
    let behind = DATA + 4096;
    b.write(behind, &[0x55; 1024]);
    let mut random = Rng::with_seed(1);
    for _ in 0..3000 {
        if tx.sq.position - tx.cq.position < SIZE / 2 {
            let length = 1 + random.u64(..) as u32 % 1000;
            tx.push(data(a.address(DATA), length));
        }
        // Odd numbers of bytes, and as many completions as were read.
        let runs = std::iter::from_fn(|| rx.pop()).count() as u32;
        if runs != 0 {
            rx.push(release(random.u64(..) as u32 % 3000, runs));
        }
        runner.run(100);
        while tx.pop().is_some() {}
    }
    assert_eq!(b.read(behind, 1024), [0x55; 1024]);
    assert!(rx.is_guarded() && tx.is_guarded());
}

#[test]
fn a_receiver_that_reads_nothing_loses_only_messages() {
    let network = network(Mode::Inline);
    let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
    let (mut tx, mut deaf) = (a.queue(QueueKind::MessageTx, 0), b.queue(QueueKind::MessageRx, 0));
    let mut listener = Client::new(&network, 1);
    let mut good = listener.queue(QueueKind::MessageRx, 0);
    let mut runner = a.message_runner(0);
    for number in 0..100u64 {
        let flags = flags(EntryType::Message, sf::SIGNAL);
        let kind = MessageKind::Broadcast.raw();
        tx.push(Message { data: number, kind, flags, ..Message::default() }.to_words());
        runner.run(100);
        assert_eq!(status(&tx.pop().unwrap()), Status::Ok);
        assert_eq!(Message::from_words(good.cq.pop().unwrap()).data, number);
        good.push(release(0, 1));
    }
    for number in 0..u64::from(SIZE) {
        assert_eq!(Message::from_words(deaf.cq.pop().unwrap()).data, number);
    }
    assert!(deaf.cq.pop().is_none());
    for nonsense in [release(0, SIZE + 1), entry(0, 0, 0), release(0, u32::MAX)] {
        deaf.push(nonsense);
    }
    let messages = network.port_info(1, 0).unwrap().messages;
    assert_eq!((messages.sent, messages.received), (0, 100 + u64::from(SIZE)));
    assert_eq!(messages.dropped, 100 - u64::from(SIZE));
    assert!(deaf.is_guarded() && good.is_guarded() && tx.is_guarded());
}

#[test]
fn a_wrong_message_gets_its_status() {
    let network = network(Mode::Inline);
    let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
    let (mut tx, mut rx) = (a.queue(QueueKind::MessageTx, 0), b.queue(QueueKind::MessageRx, 0));
    let mut runner = a.message_runner(0);
    let message = |kind: u8, data, bits: u16| Message {
        kind,
        data,
        flags: flags(EntryType::Message, bits),
        ..Default::default()
    };
    let (broadcast, time) = (MessageKind::Broadcast.raw(), MessageKind::TimeCode.raw());
    let wrong = [
        (entry(0, 0, 0), Status::BadOpcode),
        (data(a.address(DATA), 8), Status::BadOpcode),
        (release(0, 1), Status::BadOpcode),
        (message(0, 0, 0).to_words(), Status::BadField),
        (message(77, 0, 0).to_words(), Status::BadField),
        (message(broadcast, 0, 1 << 13).to_words(), Status::BadField),
        (message(time, 0, 1 << 13).to_words(), Status::BadField),
        (message(time, 256, 0).to_words(), Status::BadField),
    ];
    for (index, (wrong, expected)) in wrong.into_iter().enumerate() {
        tx.push(wrong);
        runner.run(100);
        assert_eq!(status(&tx.pop().unwrap()), expected, "message {index}");
        assert!(rx.cq.pop().is_none(), "message {index} was delivered");
        tx.push(message(broadcast, 5, sf::SIGNAL).to_words());
        runner.run(100);
        assert_eq!(status(&tx.pop().unwrap()), Status::Ok);
        assert_eq!(Message::from_words(rx.cq.pop().unwrap()).data, 5);
        rx.push(release(0, 1));
    }
}

/// Port 0 is SpaceFibre, port 1 SpaceWire; each carries only messages of its own kind.
#[test]
fn a_port_refuses_messages_of_the_other_kind() {
    let network = network(Mode::Inline);
    for (port, good, wrong) in [
        (0, MessageKind::Broadcast, MessageKind::TimeCode),
        (1, MessageKind::TimeCode, MessageKind::Broadcast),
    ] {
        let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
        let open = |client: &mut Client, kind| {
            let (request, base) = client.request(kind, 0);
            network.create_queue(client.at, QueueRequest { port, ..request }).unwrap();
            client.queue_at(base)
        };
        let mut tx = open(&mut a, QueueKind::MessageTx);
        let mut rx = open(&mut b, QueueKind::MessageRx);
        let mut runner = a.message_runner(port);
        let flags = flags(EntryType::Message, sf::SIGNAL);
        for (kind, expected) in [(wrong, Status::BadOpcode), (good, Status::Ok)] {
            tx.push(Message { kind: kind.raw(), data: 7, flags, ..Default::default() }.to_words());
            runner.run(100);
            assert_eq!(status(&tx.pop().unwrap()), expected, "port {port}: {kind:?}");
            assert_eq!(rx.cq.pop().is_some(), kind == good, "port {port}: {kind:?}");
        }
        let (request, _) = b.request(QueueKind::MessageRx, 0);
        for filter in [1 << 16 | 5, 1 << 17 | 5 << 8, 1 << 18, 1 << 19] {
            let done = network.create_queue(
                b.at,
                QueueRequest { port, setup: QueueSetup { filter, ..request.setup }, ..request },
            );
            // Channels and types are of SpaceFibre, interrupts of SpaceWire.
            let fits = if port == 0 { filter < 1 << 18 } else { filter == 1 << 18 };
            if fits {
                done.unwrap();
                network.destroy_queue(b.at, port, 0, QueueKind::MessageRx.raw()).unwrap();
                continue;
            }
            let error = done.unwrap_err();
            assert_eq!(error.status(), Status::BadField, "port {port}: {filter:#x}");
            assert!(error.what.contains(&format!("port {port} speaks SPACE")), "{error}");
        }
        let uneven = QueueRequest {
            port,
            setup: QueueSetup { sq_log2: raw::LOG2 - 1, ..request.setup },
            ..request
        };
        let error = network.create_queue(b.at, uneven).unwrap_err();
        assert_eq!(error.status(), Status::BadRing, "{error}");
        drop((tx, rx));
        [a, b].iter().for_each(|client| network.detach(client.at, false).unwrap());
    }
}

/// Random bytes that sometimes look like ring entries, with the phase that the device expects.
fn noise(random: &mut Rng, key: RegionKey) -> Vec<u8> {
    let mut words: Vec<u64> = (0..128).map(|_| random.u64(..)).collect();
    for pair in words.chunks_mut(2) {
        let choice = random.u64(..);
        if choice & 1 == 0 {
            pair[0] = Address::new(key, pair[0] % (2 * raw::BYTES as u64)).0;
        }
        if choice & 2 == 0 {
            // A length that may fit and a type that may exist.
            pair[1] = (pair[1] % 3000) | (((pair[1] >> 20) & 0x0fff) << 32);
        }
        let phase = 1 + choice % 3;
        pair[1] = pair[1] & ((1 << 48) - 1) | phase << 48;
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A client on its own channel, which must not be affected: it sends a packet to itself and checks
/// it.
struct Victim {
    a: Client,
    b: Client,
    tx: Queue,
    rx: Queue,
}

impl Victim {
    fn new(network: &Arc<Network>, vc: u32) -> Self {
        let (mut a, mut b) = (Client::new(network, 0), Client::new(network, 1));
        let (tx, rx) = (a.queue(QueueKind::Tx, vc), b.queue(QueueKind::Rx, vc));
        Self { a, b, tx, rx }
    }

    fn packet<T>(&mut self, number: u8, run: impl FnOnce() -> T) {
        let bytes = [number; 200];
        self.a.write(DATA, &bytes);
        self.rx.push(buffer(self.b.address(DATA), 256));
        self.tx.push(data(self.a.address(DATA), 200));
        run();
        let (got, sent) = (self.rx.wait(), self.tx.wait());
        assert_eq!((status(&got), got.bytes), (Status::Ok, 200));
        assert_eq!((status(&sent), sent.packets), (Status::Ok, 1));
        assert_eq!(self.b.read(DATA, 200), bytes);
    }
}

/// Two clients that write random bytes over all memory they share with the device.
fn attackers(network: &Arc<Network>, packed: bool) -> (Client, Client, [Queue; 2]) {
    let (mut a, mut b) = (Client::new(network, 0), Client::new(network, 1));
    let kind = if packed { QueueKind::RxPacked } else { QueueKind::Rx };
    let queues = [a.queue(QueueKind::Tx, 0), b.queue(kind, 0)];
    (a, b, queues)
}

#[test]
fn random_bytes_in_the_rings_do_no_harm() {
    for packed in [false, true] {
        let network = network(Mode::Inline);
        let (a, b, queues) = attackers(&network, packed);
        let mut victim = Victim::new(&network, 1);
        let (mut attacked, mut runner) = (a.runner(0, true), victim.a.runner(1, true));
        let mut random = Rng::with_seed(if packed { 5 } else { 4 });
        for turn in 0..500u32 {
            queues[0].scribble(&noise(&mut random, a.key));
            queues[1].scribble(&noise(&mut random, b.key));
            attacked.run(200).expect("the seat is free");
            victim.packet(turn as u8, || runner.run(100));
        }
        assert!(queues.iter().all(Queue::is_guarded));
        assert_eq!(victim.a.counters(1).0[..3], [500, 100_000, 0]);
        for client in [a, b] {
            network.detach(client.at, false).unwrap();
        }
        victim.packet(7, || runner.run(100));
    }
}

#[test]
fn random_bytes_while_the_device_runs_do_no_harm() {
    let network = network(Mode::Thread);
    let device = DeviceThread::start(&network).unwrap();
    let (a, b, queues) = attackers(&network, true);
    let mut victim = Victim::new(&network, 1);
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let attack = {
        let (stop, keys) = (stop.clone(), [a.key, b.key]);
        std::thread::spawn(move || {
            let mut random = Rng::with_seed(9);
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for (queue, key) in queues.iter().zip(keys) {
                    queue.scribble(&noise(&mut random, key));
                }
            }
            queues.iter().all(Queue::is_guarded)
        })
    };
    for turn in 0..300u32 {
        victim.packet(turn as u8, || network.ring());
        if turn % 50 == 0 {
            let extra = Client::new(&network, 0);
            network.detach(extra.at, turn % 100 == 0).unwrap();
        }
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(attack.join().unwrap(), "the device wrote past the rings");
    let start = Instant::now();
    for client in [a, b] {
        network.detach(client.at, true).unwrap();
    }
    assert!(start.elapsed() < raw::SOON);
    victim.packet(1, || network.ring());
    drop(device);
}

/// The device handles more refusals than fit in one of its turns.
#[test]
fn a_device_thread_completes_many_refusals_without_a_doorbell() {
    let network = network(Mode::Thread);
    let _device = DeviceThread::start(&network).unwrap();
    let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
    let (mut tx, mut rx) = (a.queue(QueueKind::Tx, 0), b.queue(QueueKind::Rx, 0));
    for turn in 0..200 {
        for _ in 0..SIZE - 1 {
            tx.push(entry(0, 0, 0));
        }
        tx.push(data(a.address(DATA), 8));
        rx.push(buffer(b.address(DATA), 8));
        network.ring();
        for _ in 0..SIZE - 1 {
            assert_eq!(status(&tx.wait()), Status::BadOpcode, "turn {turn}");
        }
        assert_eq!(status(&tx.wait()), Status::Ok);
        assert_eq!(rx.wait().bytes, 8);
    }
}

fn requests() -> impl Strategy<Value = QueueRequest> {
    let word = || prop_oneof![Just(0u32), 0u32..20, any::<u32>(), Just(u32::MAX)];
    let place = || (any::<u64>(), any::<u8>(), 0u64..1 << 19);
    let shape = (word(), word(), any::<u8>(), word(), word(), word(), word());
    (shape, (place(), place(), place(), place(), place()), word(), word()).prop_map(
        |((port, vc, kind, options, vector, sq_log2, cq_log2), at, area_bytes, filter)| {
            // The client's key is 0x1000: index 0, generation 1.
            let place = |(any, choice, near): (u64, u8, u64)| match choice % 4 {
                0 => any,
                1 => 0x1000 << 48 | near & !63,
                2 => 0x1000 << 48 | near,
                _ => 0x1000 << 48 | any & OFFSET_MAX,
            };
            let setup = QueueSetup {
                kind: u32::from(kind % 9),
                options,
                vector,
                sq_log2,
                cq_log2,
                sq: place(at.0),
                cq: place(at.1),
                stamp: place(at.2),
                lines: place(at.3),
                area: place(at.4),
                area_bytes,
                filter,
                domain: 0,
                pair: u64::from(filter) << 32 | u64::from(filter),
                limits: u64::from(options),
                path: 0,
                reply: 0,
            };
            QueueRequest { port: port % 3, vc: vc % 9, setup }
        },
    )
}

proptest! {
// PROPTEST_RNG_SEED repeats a run; there is no file of failed cases.
    #![proptest_config(ProptestConfig {
        failure_persistence: None, cases: 300, ..ProptestConfig::default()
    })]

/// A request for a queue is refused with a status, or the queue can run and be destroyed.
    #[test]
fn a_random_queue_is_refused_or_harmless(request in requests(), seed in any::<u64>()) {
        let network = network(Mode::Inline);
        let client = Client::new(&network, 0);
        prop_assert_eq!(client.key, RegionKey(0x1000));
        let mut victim = Victim::new(&network, 7);
        match network.create_queue(client.at, request) {
            Ok(()) => {
                let key = network.remove_region(client.at, client.key).map_err(|e| e.status());
                prop_assert_eq!(key, Err(Status::Busy), "its rings would have no memory");
                let mut bytes = vec![0; raw::BYTES];
                let mut random = Rng::with_seed(seed);
                bytes.fill_with(|| random.u64(..) as u8);
                client.write(0, &bytes);
                for vc in 0..2 {
                    client.runner(vc, true).run(300);
                    client.runner(vc, false).run(300);
                }
                client.message_runner(0).run(300);
            }
            Err(error) => prop_assert!(!error.what.is_empty()),
        }
        let mut runner = victim.a.runner(7, true);
        victim.packet(3, || runner.run(100));
        network.detach(client.at, false).unwrap();
        prop_assert_eq!(network.clients().len(), 2);
    }
}

#[test]
fn a_release_with_reserved_bits_is_an_error() {
    let network = network(Mode::Inline);
    let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
    let (mut tx, mut rx) = (a.queue(QueueKind::Tx, 0), b.queue(QueueKind::RxPacked, 0));
    let mut runner = a.runner(0, true);
    for _ in 0..SIZE {
        tx.push(data(a.address(DATA), 900));
    }
    runner.run(100);
    let first = rx.pop().unwrap();
    let reserved = Release {
        bytes: first.bytes,
        completions: 1,
        reserved0: 1,
        flags: flags(EntryType::Release, 0),
        ..Release::default()
    };
    let bits = Release { reserved0: 0, flags: flags(EntryType::Release, 1 << 14), ..reserved };
    rx.push(reserved.to_words());
    rx.push(bits.to_words());
    runner.run(100);
    assert_eq!(b.counters(0).1[2], 2, "both are errors");
    rx.push(release(first.bytes, 1));
    runner.run(100);
    assert_eq!(b.counters(0).1[2], 2);
}
