//! Sending and receiving make no allocation per packet. A global allocator counts them, after the
//! first rounds have filled the pools.

use spfe::{Endpoint, LinkRate, Mode, PackedOptions, PoolOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local!(static COUNT: Cell<u64> = const { Cell::new(0) });

// SAFETY: passes every call to the system's allocator and only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of 1000 rounds, after 10 rounds that are not counted.
fn allocations(mut round: impl FnMut()) -> u64 {
    (0..10).for_each(|_| round());
    let before = COUNT.with(Cell::get);
    (0..1000).for_each(|_| round());
    COUNT.with(Cell::get) - before
}

fn pair() -> (spfe::Vc, spfe::Vc, Endpoint, Endpoint) {
    let (a, b) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline).unwrap();
    let vc = |end: &Endpoint| end.port(0).unwrap().vc(0).unwrap();
    (vc(&a), vc(&b), a, b)
}

#[test]
fn the_counter_counts() {
    assert!(allocations(|| drop(std::hint::black_box(Box::new(1)))) >= 1000);
}

#[test]
fn buffers_move_without_allocation() {
    let (from, to, a, b) = pair();
    let (mut tx, mut rx) = (from.tx().unwrap(), to.rx().unwrap());
    rx.post_all(&mut b.alloc(1 << 16).unwrap().split(512, 128).unwrap());
    let mut group = a.alloc(1 << 16).unwrap().split(512, 16).unwrap();
    let mut used = Vec::with_capacity(128);
    let count = allocations(|| {
        assert_eq!(tx.send_group(&mut group), 16);
        while tx.poll().is_some() {}
        while let Some(buf) = tx.take() {
            group.push(buf);
        }
        let one = group.pop().unwrap();
        tx.send(one).unwrap();
        tx.poll().unwrap();
        group.push(tx.take().unwrap());
        while let Some(received) = rx.poll() {
            used.push(received.buf);
        }
        assert_eq!(rx.post_all(&mut used), 17);
    });
    assert_eq!(count, 0);
}

#[test]
fn pools_and_bursts_move_without_allocation() {
    let (from, to, _a, _b) = pair();
    let mut tx = from.tx_pooled(PoolOptions::new(64, 256)).unwrap();
    let mut rx = to.rx_pooled(PoolOptions::new(64, 256)).unwrap();
    let count = allocations(|| {
        (0..16).for_each(|_| tx.stage(100).unwrap());
        tx.submit();
        while rx.peek().is_some() {
            rx.release();
        }
        assert_eq!(tx.poll().unwrap().packets, 16);
    });
    assert_eq!(count, 0);
    drop((tx, rx));

    let (mut tx, mut rx) = (from.tx().unwrap(), to.rx_packed(PackedOptions::default()).unwrap());
    let region = _a.alloc(1 << 16).unwrap();
    let mut burst = Some(region.buf(0..6400).unwrap());
    let count = allocations(|| {
        tx.send_burst(burst.take().unwrap(), 64, 64, 100).unwrap();
        tx.poll().unwrap();
        burst = tx.take();
        let mut records = 0;
        while let Some(run) = rx.poll() {
            records += run.records().count();
        }
        assert_eq!(records, 100);
    });
    assert_eq!(count, 0);
}
