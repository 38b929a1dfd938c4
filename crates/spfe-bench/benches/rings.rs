//! Time of the ring operations for each entry, in one thread.
#![allow(missing_docs, reason = "criterion_group! makes an undocumented function")]

use criterion::{Criterion, Throughput, black_box, criterion_group, criterion_main};
use spfe_ring::{Consumer, EntryBatch, Producer, Ring, Slot};
use std::ptr::NonNull;

fn ring(log2: u32) -> Ring {
    let slots: &'static mut [Slot] =
        (0..1 << log2).map(|_| Slot::default()).collect::<Vec<_>>().leak();
    // SAFETY: the slots are leaked, so they stay mapped, and their number is the given one.
    unsafe { Ring::new(NonNull::new_unchecked(slots.as_mut_ptr()), log2) }
}

fn rings(c: &mut Criterion) {
    let mut group = c.benchmark_group("ring");
    group.throughput(Throughput::Elements(1));
    let one = ring(8);
    let (mut producer, mut consumer) = (Producer::new(one), Consumer::new(one));
    group.bench_function("push and pop one", |b| {
        b.iter(|| {
            producer.push(black_box([1, 2]));
            black_box(consumer.pop())
        });
    });
    group.throughput(Throughput::Elements(128));
    let many = ring(8);
    let (mut producer, mut consumer) = (Producer::new(many), Consumer::new(many));
    group.bench_function("batch of 128", |b| {
        b.iter(|| {
            let mut batch = EntryBatch::new(&producer, 128);
            while batch.push(&producer, black_box([1, 2])) {}
            batch.publish(&mut producer);
            while let Some(entry) = consumer.pop() {
                black_box(entry);
            }
        });
    });
    group.finish();
}

criterion_group!(benches, rings);
criterion_main!(benches);
