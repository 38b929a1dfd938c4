//! Raw mode: transfers with every kind of segment list, and everything that must be refused.

mod common;

use common::{Fabric, Worker};
use spfe_contract::Status;
use spfe_fabric::raw::{FabricBuffer, RawNode, RemoteSegment, SEGMENTS_MAX};
use spfe_fabric::topology::{FabricTopology, NodeNumber};
use spfe_fabric::wire::{FabricChange, WindowRights};
use std::sync::atomic::Ordering;

const ONE: NodeNumber = NodeNumber(1);
const TWO: NodeNumber = NodeNumber(3);

fn pair() -> (Fabric, [Worker; 2], RawNode, RawNode) {
    let fabric = Fabric::preset("dist3-x8");
    let nodes = [fabric.node(1), fabric.node(3)];
    fabric.wait_ready(&[1, 3]);
    let raw = |node| RawNode::open(&fabric.path, node).unwrap();
    let (one, two) = (raw(ONE), raw(TWO));
    (fabric, nodes, one, two)
}

fn part(offset: u64, bytes: usize) -> RemoteSegment {
    RemoteSegment { offset, bytes }
}

#[test]
fn random_segment_lists_move_the_bytes_of_a_model() {
    const BYTES: usize = 40_000;
    let (fabric, _nodes, one, two) = pair();
    let mut buffer = FabricBuffer::new(BYTES).unwrap();
    let (key, _) = one.expose(&mut buffer, &[TWO], WindowRights::ReadWrite).unwrap();
    let window = two.map(key).unwrap();
    assert_eq!((window.owner(), window.bytes()), (ONE, BYTES as u64));
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut model = vec![0u8; BYTES];
    let mut moved = 0;
    for _ in 0..200 {
        let remote: Vec<RemoteSegment> = (0..random.usize(1..20))
            .map(|_| {
                let offset = random.usize(..BYTES);
                part(offset as u64, random.usize(..(BYTES - offset).min(3000)))
            })
            .collect();
        let total: usize = remote.iter().map(|part| part.bytes).sum();
        let content: Vec<u8> = (0..total).map(|_| random.u8(..)).collect();
        let (mut local, mut rest) = (Vec::new(), &content[..]);
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(random.usize(1..=rest.len()));
            local.push(head);
            rest = tail;
        }
        local.truncate(SEGMENTS_MAX);
        window.put(&local, &remote).unwrap();
        let mut at = 0;
        for part in &remote {
            let offset = part.offset as usize;
            model[offset..offset + part.bytes].copy_from_slice(&content[at..at + part.bytes]);
            at += part.bytes;
        }
        let mut read = vec![0; total];
        let cut = random.usize(..=total);
        let (head, tail) = read.split_at_mut(cut);
        window.get(&remote, &mut [head, tail]).unwrap();
        let due: Vec<u8> = remote
            .iter()
            .flat_map(|part| model[part.offset as usize..][..part.bytes].to_vec())
            .collect();
        assert_eq!(read, due);
        moved += total as u64;
    }
    let mut whole = vec![0; BYTES];
    buffer.read(0, &mut whole).unwrap();
    assert!(whole == model, "seed {seed}");
    window.pio_write(5, b"pio").unwrap();
    let mut back = [0; 3];
    window.pio_read(5, &mut back).unwrap();
    assert_eq!(&back, b"pio");
    let status = fabric.status();
    let counters = &status.traffic.iter().find(|one| one.node == TWO).unwrap().counters;
    assert_eq!((counters["put_jobs"], counters["put_bytes"]), (200, moved));
    assert_eq!((counters["get_jobs"], counters["get_bytes"]), (200, moved));
    assert_eq!((counters["pio_written_bytes"], counters["pio_read_bytes"]), (3, 3));
}

#[test]
fn what_is_not_allowed_is_refused_and_counted() {
    let (fabric, _nodes, one, two) = pair();
    let _third = fabric.node(5);
    fabric.wait_ready(&[1, 3, 5]);
    let three = RawNode::open(&fabric.path, NodeNumber(5)).unwrap();
    let status = |result: Result<(), spfe_fabric::wire::FabricError>| result.unwrap_err().status;
    let mut buffer = FabricBuffer::new(8192).unwrap();
    let (key, _) = one.expose(&mut buffer, &[TWO], WindowRights::ReadWrite).unwrap();
    let again = one.expose(&mut buffer, &[TWO], WindowRights::Read);
    assert_eq!(again.unwrap_err().status, Status::Busy);
    assert_eq!(three.map(key).unwrap_err().status, Status::AccessDenied, "not for node 5");
    assert_eq!(two.map(key + 4096).unwrap_err().status, Status::BadRegion);
    let window = two.map(key).unwrap();
    let put = |parts: &[RemoteSegment], bytes: &[u8]| status(window.put(&[bytes], parts));
    assert_eq!(put(&[part(8190, 3)], b"abc"), Status::OutOfBounds);
    assert_eq!(put(&[part(u64::MAX, 3)], b"abc"), Status::OutOfBounds);
    assert_eq!(put(&[part(0, 4)], b"abc"), Status::BadField, "lengths differ");
    assert_eq!(put(&[part(0, 0); SEGMENTS_MAX + 1], b""), Status::ChainTooLong);
    assert_eq!(status(window.put_with_flag(&[b"a"], &[part(0, 1)], 4, 1)), Status::BadField);
    assert_eq!(status(window.put_with_flag(&[b"a"], &[part(0, 1)], 8192, 1)), Status::OutOfBounds);
    let status_now = fabric.status();
    let counters = &status_now.traffic.iter().find(|one| one.node == TWO).unwrap().counters;
    assert_eq!(counters["refused"], 6);
    let mut first = [0; 4];
    buffer.read(0, &mut first).unwrap();
    assert_eq!(first, [0; 4], "nothing was written");

    let mut shown = FabricBuffer::new(4096).unwrap();
    shown.write(0, b"look").unwrap();
    let (key, _) = one.expose(&mut shown, &[TWO], WindowRights::Read).unwrap();
    let window = two.map(key).unwrap();
    let mut seen = [0; 4];
    window.get(&[part(0, 4)], &mut [&mut seen]).unwrap();
    assert_eq!(&seen, b"look");
    assert_eq!(status(window.put(&[b"x"], &[part(0, 1)])), Status::AccessDenied);
    shown.write(0, b"more").unwrap();
    window.get(&[part(0, 4)], &mut [&mut seen]).unwrap();
    assert_eq!(&seen, b"more", "the owner still writes");
    let mut sink = FabricBuffer::new(4096).unwrap();
    let (key, _) = one.expose(&mut sink, &[TWO], WindowRights::Write).unwrap();
    let window = two.map(key).unwrap();
    assert_eq!(status(window.get(&[part(0, 1)], &mut [&mut [0]])), Status::AccessDenied);
}

#[test]
fn revocation_is_complete_when_it_returns() {
    let (_fabric, _nodes, one, two) = pair();
    let mut buffer = FabricBuffer::new(4096).unwrap();
    buffer.write(0, b"kept").unwrap();
    let (key, _) = one.expose(&mut buffer, &[TWO], WindowRights::ReadWrite).unwrap();
    let window = two.map(key).unwrap();
    window.put(&[b"new"], &[part(100, 3)]).unwrap();
    one.revoke(&mut buffer).unwrap();
    assert_eq!(window.put(&[b"x"], &[part(0, 1)]).unwrap_err().status, Status::BadRegion);
    assert_eq!(two.map(key).unwrap_err().status, Status::BadRegion);
    // A plain store goes where nobody looks.
    // SAFETY: inside the mapped window.
    unsafe { window.as_ptr().write_volatile(0x55) };
    let mut bytes = [0; 103];
    buffer.read(0, &mut bytes).unwrap();
    assert_eq!((&bytes[..4], &bytes[100..]), (&b"kept"[..], &b"new"[..]));
    assert_eq!(one.revoke(&mut buffer).unwrap_err().status, Status::BadRegion);
    let (next, _) = one.expose(&mut buffer, &[TWO], WindowRights::ReadWrite).unwrap();
    assert_ne!(next, key);
    assert_eq!(window.put(&[b"x"], &[part(0, 1)]).unwrap_err().status, Status::BadRegion);
    two.map(next).unwrap().put(&[b"KEPT"], &[part(0, 4)]).unwrap();
    buffer.read(0, &mut bytes).unwrap();
    assert_eq!(&bytes[..4], b"KEPT");
}

#[test]
fn a_window_ends_with_its_owner_and_with_the_path() {
    let (fabric, mut nodes, one, two) = pair();
    let mut buffer = FabricBuffer::new(4096).unwrap();
    let (key, _) = one.expose(&mut buffer, &[TWO], WindowRights::ReadWrite).unwrap();
    let window = two.map(key).unwrap();
    let put = || window.put(&[b"x"], &[part(0, 1)]).map_err(|error| error.status);
    assert_eq!(put(), Ok(()));
    let (node, name) = (ONE, "apart".to_owned());
    fabric.change(FabricChange::Partition { node, name }).unwrap();
    assert_eq!(put(), Err(Status::LinkDown));
    fabric.change(FabricChange::Partition { node, name: String::new() }).unwrap();
    fabric.wait_ready(&[1, 3]);
    assert_eq!(put(), Ok(()));
    let [first, _second] = &mut nodes;
    *first = fabric.node(5);
    fabric.wait_ready(&[3, 5]);
    assert_eq!(put(), Err(Status::BadRegion), "the owner's node is gone");
    assert!(one.windows().is_err());
}

#[test]
fn all_nodes_see_the_same_table_and_its_limits() {
    let mut topology = FabricTopology::preset("dist2-x8").unwrap();
    topology.window = 64 << 10;
    let fabric = Fabric::new(topology);
    let _nodes = [fabric.node(1), fabric.node(3)];
    fabric.wait_ready(&[1, 3]);
    let raw = |node| RawNode::open(&fabric.path, node).unwrap();
    let (one, two) = (raw(ONE), raw(TWO));
    let mut buffers: Vec<_> = (0..4).map(|_| FabricBuffer::new(16 << 10).unwrap()).collect();
    let mut addresses = Vec::new();
    for buffer in &mut buffers {
        addresses.push(one.expose(buffer, &[TWO], WindowRights::ReadWrite).unwrap().1);
        assert_eq!(one.windows().unwrap(), two.windows().unwrap());
    }
    let base = fabric.status().nodes[0].memory_window.base;
    assert_eq!(addresses, [0, 1, 2, 3].map(|index| base + (index << 14)));
    let mut more = FabricBuffer::new(4096).unwrap();
    let error = one.expose(&mut more, &[TWO], WindowRights::ReadWrite).unwrap_err();
    assert_eq!(error.status, Status::QuotaExceeded);
    assert!(error.what.contains("65536 of 65536 bytes in 4 windows"), "{error}");
    one.revoke(&mut buffers[1]).unwrap();
    let (_, address) = one.expose(&mut more, &[TWO], WindowRights::ReadWrite).unwrap();
    assert_eq!(address, base + (1 << 14), "the free place");
    drop(one);
    fabric.wait("no windows of a client that is gone", |status| status.windows.is_empty());
}

#[test]
fn flags_doorbells_and_scratchpads_synchronise_two_programs() {
    let (fabric, _nodes, one, two) = pair();
    let mut buffer = FabricBuffer::new(64 << 10).unwrap();
    let (key, _) = one.expose(&mut buffer, &[TWO], WindowRights::ReadWrite).unwrap();
    let boxes = (one.mailbox(TWO).unwrap(), two.mailbox(ONE).unwrap());
    boxes.0.write_scratchpad(3, key).unwrap();
    let sender = std::thread::spawn(move || {
        let (_, mailbox) = (&two, &boxes.1);
        let window = two.map(mailbox.read_scratchpad(3).unwrap()).unwrap();
        for round in 1..=100u64 {
            let content = vec![round as u8; 4096];
            window.put_with_flag(&[&content], &[part(8, 4096)], 0, round).unwrap();
            mailbox.ring(7).unwrap();
            let seen = mailbox.wait(9, round - 1, 20_000_000_000).unwrap();
            assert_eq!(seen, Some(round), "the answer");
        }
    });
    for round in 1..=100u64 {
        assert_eq!(boxes.0.wait(7, round - 1, 20_000_000_000).unwrap(), Some(round));
        assert_eq!(buffer.word(0).unwrap().load(Ordering::Acquire), round);
        let mut content = vec![0; 4096];
        buffer.read(8, &mut content).unwrap();
        assert!(content.iter().all(|byte| *byte == round as u8));
        boxes.0.ring(9).unwrap();
    }
    sender.join().unwrap();
    assert_eq!(boxes.0.wait(8, 0, 1_000_000).unwrap(), None, "nobody rang");
    assert_eq!(boxes.0.ring(64).unwrap_err().status, Status::OutOfBounds);
    assert_eq!(boxes.0.read_scratchpad(16).unwrap_err().status, Status::OutOfBounds);
    let _third = fabric.node(5);
    fabric.wait_ready(&[1, 3, 5]);
    let three = RawNode::open(&fabric.path, NodeNumber(5)).unwrap();
    assert_eq!(three.mailbox(ONE).unwrap().read_scratchpad(3).unwrap(), 0, "pairs are apart");
}
