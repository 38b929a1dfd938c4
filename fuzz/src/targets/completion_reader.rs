//! The library against a hostile device, which writes any completions, records, lines and times.

use arbitrary::{Arbitrary, Result, Unstructured};
use spfe::{
    Batch, Broadcast, Buf, Deadline, Embedded, End, Endpoint, PackedOptions, PackedRx, PoolOptions,
    PooledRx, PooledTx, QueueOptions, Region, Rx, Threshold, TimeCode, Tx,
};
use spfe_contract::{Completion, RecordHeader};
use spfe_device::Address;
use spfe_device::shared::QueueConfig;
use spfe_host::topology::{LinkModel, PortConfig};
use spfe_host::{LinkRate, Mode, Peer, SharedMemory, Topology};
use spfe_ring::{Ring, Slot};
use std::sync::Arc;
use std::time::Duration;

const OPS_MAX: usize = 200;
const BUFS: usize = 16;
const BUF_BYTES: usize = 256;
/// Bytes of a packed area. The device writes only that much memory.
const AREA_BYTES: u32 = 4096;

/// The queue that the program under test has open.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Kind {
    Tx,
    Rx,
    Packed,
    PooledTx,
    PooledRx,
    Broadcast,
    TimeCode,
}

#[derive(Debug)]
enum Op {
    // Operations of the host.
    Send(u8, u8),
    Group(u8),
    Burst(u8, u32, u8),
    Abandon(u8),
    Poll(u8),
    Take(u8),
    Wait(Wish, Option<u16>),
    Cancel,
    // Operations of the device.
    Complete(Completion),
    Ahead(u8, [u64; 2]),
    Store(u16, u64),
    Area(u16, u64),
    Record(u16, RecordHeader),
    Time(u8, u64),
    State(u32, u32),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Wish {
    count: Option<u16>,
    bytes: Option<u16>,
    after: Option<u32>,
}

fn completion(u: &mut Unstructured<'_>) -> Result<Completion> {
    let small = |u: &mut Unstructured<'_>, most: u32| -> Result<u32> {
        Ok(if u.ratio(7, 8)? { u.int_in_range(0..=most)? } else { u.arbitrary()? })
    };
    Ok(Completion {
        bytes: small(u, 600)?,
        packets: small(u, 8)? as u16,
        vc: u.arbitrary()?,
        status: if u.ratio(3, 4)? { 0 } else { u.arbitrary()? },
        position: small(u, 20)? as u16,
        reserved0: 0,
        flags: if u.ratio(1, 2)? { 0 } else { u.arbitrary()? },
        phase: 0,
    })
}

fn op(u: &mut Unstructured<'_>) -> Result<Op> {
    Ok(match u.int_in_range(0..=31u8)? {
        0..=3 => Op::Send(u.arbitrary()?, u.arbitrary()?),
        4 => Op::Group(u.arbitrary()?),
        5 => Op::Burst(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
        6 => Op::Abandon(u.arbitrary()?),
        7..=11 => Op::Poll(u.arbitrary()?),
        12..=14 => Op::Take(u.arbitrary()?),
        15 | 16 => Op::Wait(u.arbitrary()?, u.arbitrary()?),
        17 => Op::Cancel,
        18..=22 => Op::Complete(completion(u)?),
        23 => Op::Ahead(u.arbitrary()?, u.arbitrary()?),
        24 => Op::Store(u.arbitrary()?, u.arbitrary()?),
        25 => Op::Area(u.arbitrary()?, u.arbitrary()?),
        26..=28 => {
            let length = if u.ratio(3, 4)? { u.int_in_range(0..=100)? } else { u.arbitrary()? };
            let (end, flags) = (u.int_in_range(0..=3)?, u.arbitrary()?);
            Op::Record(u.arbitrary()?, RecordHeader { length, end, flags, reserved0: 0 })
        }
        29 | 30 => Op::Time(u.arbitrary()?, u.arbitrary()?),
        _ => Op::State(u.int_in_range(0..=3)?, u.arbitrary()?),
    })
}

#[derive(Debug)]
struct Input {
    kind: Kind,
    log2: u8,
    stamps: bool,
    ops: Vec<Op>,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let (kind, log2, stamps) = (u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
        let mut ops = Vec::new();
        while !u.is_empty() && ops.len() < OPS_MAX {
            ops.push(op(u)?);
        }
        Ok(Self { kind, log2, stamps, ops })
    }
}

enum Open {
    Tx(Tx),
    Rx(Rx),
    Packed(PackedRx),
    PooledTx(PooledTx),
    PooledRx(PooledRx),
    Broadcast(Broadcast),
    TimeCode(TimeCode),
}

struct Lab {
    network: Arc<Embedded>,
    kind: Kind,
    open: Open,
    region: Region,
    /// Buffers that the program holds.
    bufs: Vec<Buf>,
    device: Device,
}

/// Memory that the device writes: of the queue, and of the area if there is one.
struct Device {
    config: QueueConfig,
    memory: Arc<SharedMemory>,
    area: Option<Arc<SharedMemory>>,
    position: u32,
}

fn topology() -> Topology {
    let port = |space_wire| PortConfig {
        space_wire,
        vcs: 1,
        rate: LinkRate::Unlimited,
        model: LinkModel::Packet,
        peer: Peer::None,
    };
    // Virtual time, so that waiting for a time that the device invents takes no real time.
    Topology {
        endpoints: vec![vec![port(false), port(true)]],
        mode: Mode::Thread,
        virtual_time: true,
        ..Topology::default()
    }
}

impl Device {
    fn new(network: &Embedded, kind: Kind) -> Self {
        let arena = network.network().arena();
        // SAFETY: only the control plane writes configurations, and no other thread calls it.
        let config = unsafe {
            match kind {
                Kind::Tx | Kind::PooledTx => *arena.flow_out(0, 0, 0).tx_config.get(),
                Kind::Rx | Kind::PooledRx | Kind::Packed => {
                    *arena.flow_into(0, 0, 0).rx_config.get()
                }
                Kind::Broadcast => arena.messages(0, 0).rx[0].config(),
                Kind::TimeCode => arena.messages(0, 1).rx[0].config(),
            }
        };
        let region = |address: u64| network.network().region_memory(0, Address(address).key());
        let memory = region(config.lines).expect("the queue's region");
        Self { config, memory, area: region(config.area), position: 0 }
    }

    fn ring(&self) -> Ring {
        let offset = Address(self.config.cq).offset() as usize;
        // SAFETY: the ring is in the region, which is kept.
        unsafe { Ring::new(self.memory.base().add(offset).cast::<Slot>(), self.config.cq_log2) }
    }

    fn store(memory: &SharedMemory, word: usize, value: u64) {
        let word = word % (memory.size() / 8);
        // SAFETY: inside the mapping, aligned; this is the only thread.
        unsafe { memory.base().cast::<u64>().add(word).write_volatile(value) };
    }

    fn time(&self, index: u8, value: u64) {
        let first = Address(self.config.stamp).offset() as usize / 8;
        let index = usize::from(index) % (1 << self.config.cq_log2);
        Self::store(&self.memory, first + index, value);
    }

    fn record(&self, word: u16, header: RecordHeader) {
        let value =
            u64::from(header.length) | u64::from(header.end) << 32 | u64::from(header.flags) << 40;
        self.area(usize::from(word) % 64, value);
    }

    fn area(&self, word: usize, value: u64) {
        if let Some(area) = &self.area {
            Self::store(area, word, value);
        }
    }

    fn take(&mut self, op: &Op) {
        match *op {
            Op::Complete(done) => {
                self.ring().write(self.position, done.to_words());
                self.position = self.position.wrapping_add(1);
            }
            Op::Ahead(count, words) => {
                self.ring().write(self.position.wrapping_add(u32::from(count)), words);
            }
            Op::Store(word, value) => Self::store(&self.memory, usize::from(word), value),
            Op::Area(word, value) => self.area(usize::from(word), value),
            Op::Record(word, header) => self.record(word, header),
            Op::Time(index, value) => self.time(index, value),
            Op::State(state, error) => {
                Self::store(&self.memory, (64 + 8) / 8, u64::from(error) << 32 | u64::from(state));
            }
            _ => {}
        }
    }
}

impl Lab {
    fn new(input: &Input) -> Self {
        let network = Embedded::without_device(topology()).expect("a network");
        let endpoint = Endpoint::attach(&network, 0, "fuzz").expect("an endpoint");
        let region = endpoint.alloc(BUFS * BUF_BYTES).expect("a region");
        let bufs = region.split(BUF_BYTES, BUFS).expect("buffers");
        let depth = 4 << (input.log2 % 3);
        let options = QueueOptions::default().depth(depth).stamps(input.stamps);
        let vc = endpoint.port(0).and_then(|port| port.vc(0)).expect("a channel");
        let pool = PoolOptions::new(depth, BUF_BYTES as u32).queue(options);
        let open = match input.kind {
            Kind::Tx => Open::Tx(vc.tx_with(options).expect("tx")),
            Kind::Rx => Open::Rx(vc.rx_with(options).expect("rx")),
            Kind::Packed => {
                let options = PackedOptions::default().area(AREA_BYTES).queue(options);
                Open::Packed(vc.rx_packed(options).expect("packed"))
            }
            Kind::PooledTx => Open::PooledTx(vc.tx_pooled(pool).expect("pooled tx")),
            Kind::PooledRx => Open::PooledRx(vc.rx_pooled(pool).expect("pooled rx")),
            Kind::Broadcast => {
                let port = endpoint.port(0).expect("port 0");
                Open::Broadcast(port.broadcast().expect("messages"))
            }
            Kind::TimeCode => {
                let port = endpoint.port(1).expect("port 1");
                Open::TimeCode(port.time_code().expect("time-codes"))
            }
        };
        let device = Device::new(&network, input.kind);
        Self { network, kind: input.kind, open, region, bufs, device }
    }

    fn take(&mut self, op: &Op) {
        match *op {
            Op::Send(length, end) => self.send(usize::from(length), end),
            Op::Group(count) => self.group(usize::from(count % 8)),
            Op::Burst(length, stride, count) => self.burst(length, stride, count),
            Op::Abandon(count) => self.abandon(count % 4),
            Op::Poll(count) => (0..count % 16).for_each(|_| self.poll()),
            Op::Take(count) => (0..count % 16).for_each(|_| self.take_back()),
            Op::Wait(wish, deadline) => self.wait(wish, deadline),
            Op::Cancel => self.cancel(),
            _ => self.device.take(op),
        }
        self.check();
    }

    fn check(&self) {
        for buf in &self.bufs {
            assert!(buf.capacity() == BUF_BYTES && buf.len() <= BUF_BYTES);
        }
        assert!(self.bufs.len() <= BUFS, "a buffer was returned twice");
    }

    fn keep(&mut self, buf: Buf) {
        let sum = buf.iter().fold(0u32, |sum, byte| sum.wrapping_add(u32::from(*byte)));
        std::hint::black_box(sum);
        self.bufs.push(buf);
    }

    fn send(&mut self, length: usize, end: u8) {
        match &mut self.open {
            Open::Tx(tx) => {
                let Some(mut buf) = self.bufs.pop() else { return };
                buf.set_len(length.clamp(1, BUF_BYTES));
                let end = [End::Eop, End::Eep, End::More][usize::from(end % 3)];
                self.bufs.extend(tx.send_ending(buf, end).err().map(|full| full.0));
            }
            Open::Rx(rx) => {
                let Some(buf) = self.bufs.pop() else { return };
                self.bufs.extend(rx.post(buf).err().map(|full| full.0));
            }
            Open::PooledTx(tx) => {
                if let Some(slot) = tx.slot() {
                    slot.fill(end);
                }
                let _ = if end & 1 == 0 { tx.send(length) } else { tx.stage(length) };
                if end & 6 == 6 {
                    tx.submit();
                }
            }
            Open::Broadcast(messages) => drop(messages.send(end, 0, [end; 8])),
            Open::TimeCode(codes) => drop(codes.send(end % 65, 0)),
            Open::Packed(_) | Open::PooledRx(_) => {}
        }
    }

    fn group(&mut self, count: usize) {
        let rest = self.bufs.len() - count.min(self.bufs.len());
        let mut group = self.bufs.split_off(rest);
        match &mut self.open {
            Open::Tx(tx) => drop(tx.send_group(&mut group)),
            Open::Rx(rx) => drop(rx.post_all(&mut group)),
            _ => {}
        }
        self.bufs.append(&mut group);
    }

    fn burst(&mut self, length: u8, stride: u32, count: u8) {
        let Open::Tx(tx) = &mut self.open else { return };
        let Some(mut buf) = self.bufs.pop() else { return };
        buf.set_len(BUF_BYTES);
        let mut batch = tx.batch();
        match batch.push_burst(buf, u32::from(length), stride % 64, u32::from(count)) {
            Ok(()) => drop(batch.submit()),
            Err(refused) => self.bufs.push(refused.back),
        }
    }

    /// Begins a batch and abandons it.
    fn abandon(&mut self, count: u8) {
        let Open::Tx(tx) = &mut self.open else { return };
        let mut batch: Batch<'_> = tx.batch();
        for _ in 0..count {
            let Some(buf) = self.bufs.pop() else { break };
            if let Err(refused) = batch.push_with_path(&[count; 3], buf) {
                self.bufs.push(refused.back);
                break;
            }
        }
        drop(batch);
        // Pushed buffers have returned to their region.
        self.collect();
    }

    /// Takes all free buffers of the region.
    fn collect(&mut self) {
        for index in 0..BUFS {
            let range = index * BUF_BYTES..(index + 1) * BUF_BYTES;
            self.bufs.extend(self.region.buf(range));
        }
    }

    fn poll(&mut self) {
        let area = self.device.area.clone();
        match &mut self.open {
            Open::Tx(tx) => drop(tx.poll()),
            Open::Rx(rx) => {
                if let Some(received) = rx.poll() {
                    self.keep(received.buf);
                }
            }
            Open::Packed(rx) => {
                let Some(run) = rx.poll() else { return };
                let memory = area.expect("a packed area");
                let area = memory.base().as_ptr() as usize..memory.base().as_ptr() as usize + 4096;
                let mut count = 0;
                for record in run.records() {
                    let bytes = record.bytes.as_ptr_range();
                    let (start, end) = (bytes.start as usize, bytes.end as usize);
                    assert!(area.start <= start && end <= area.end, "a record outside of its area");
                    count += 1;
                }
                assert!(count <= AREA_BYTES / 8, "{count} records in an area");
            }
            Open::PooledTx(tx) => drop(tx.poll()),
            Open::PooledRx(rx) => {
                if let Some(packet) = rx.peek() {
                    assert!(packet.bytes.len() <= BUF_BYTES);
                    std::hint::black_box(packet.bytes.iter().max());
                }
            }
            Open::Broadcast(messages) => drop(messages.poll()),
            Open::TimeCode(codes) => drop(codes.poll()),
        }
    }

    fn take_back(&mut self) {
        match &mut self.open {
            Open::Tx(tx) => {
                if let Some(buf) = tx.take() {
                    self.keep(buf);
                }
            }
            Open::PooledRx(rx) => rx.release(),
            _ => self.poll(),
        }
    }

    fn wait(&mut self, wish: Wish, deadline: Option<u16>) {
        let goal = Threshold {
            count: wish.count.map(u32::from),
            bytes: wish.bytes.map(u64::from),
            after_first: wish.after.map(|ns| Duration::from_nanos(u64::from(ns))),
        };
        let now = self.network.network().clock().now_ns();
        let deadline =
            deadline.map_or(Deadline::NOW, |ns| Deadline::at_ns(now.saturating_add(ns.into())));
        match &mut self.open {
            Open::Tx(tx) => drop(tx.wait_for(&goal, deadline)),
            Open::Rx(rx) => drop(rx.wait(&goal, deadline)),
            Open::Packed(rx) => drop(rx.wait(&goal, deadline)),
            Open::PooledTx(tx) => drop(tx.wait(deadline)),
            Open::PooledRx(rx) => drop(rx.wait(&goal, deadline)),
            Open::Broadcast(messages) => drop(messages.recv(deadline)),
            Open::TimeCode(codes) => drop(codes.recv(deadline)),
        }
    }

    fn cancel(&mut self) {
        match &mut self.open {
            Open::Tx(tx) => {
                let back = tx.cancel().unwrap_or_default();
                self.bufs.extend(back.into_iter().map(|back| back.buf));
            }
            Open::Rx(rx) => {
                let back = rx.cancel().unwrap_or_default();
                self.bufs.extend(back.into_iter().map(|back| back.buf));
            }
            _ => return,
        }
        self.device = Device::new(&self.network, self.kind);
    }
}

crate::target!(|input: Input| {
    let mut lab = Lab::new(&input);
    for op in &input.ops {
        lab.take(op);
    }
    let Lab { open, region, bufs, .. } = lab;
    drop((open, bufs));
    // Every buffer has returned to its region once.
    region.split(BUF_BYTES, BUFS).expect("the whole region is free again");
});
