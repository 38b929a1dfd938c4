//! Inputs and outputs of the top spfe_sim_queues.

use spfe_link::Word;
use spfe_rtl_sim::{Packer, Unpacker};

use crate::memory::{Asked, Axi};

/// A queue context.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    pub kind: u8,
    pub stamp: bool,
    pub domain: u16,
    pub vector: u16,
    pub sq_log2: u32,
    pub cq_log2: u32,
    /// Submission ring, completion ring, times, lines, area: region and offset.
    pub at: [(u16, u64); 5],
    pub area_bytes: u32,
}

/// Inputs of a cycle, the memory aside.
#[derive(Default)]
pub struct Inputs {
    pub rst: bool,
    pub context: Context,
    pub start_queue: usize,
    pub start: [bool; 2],
    pub stop: [u64; 2],
    pub doorbell: Option<(usize, usize, u8)>,
    pub time: u64,
    pub event_ready: bool,
    pub fence: [bool; 2],
    pub translation: [Option<(u8, u64, u64)>; 2],
    pub hold: u64,
    pub line: Option<Word>,
}

pub fn pack(bits: &mut Packer, inputs: &Inputs, axi: &[Axi; 2], queues: usize) {
    bits.clear();
    bits.flag(inputs.line.is_some()).word(inputs.line.unwrap_or_default());
    for axi in axi {
        let (id, answer) = axi.b.unwrap_or_default();
        bits.flag(axi.b.is_some()).put(answer, 2).put(id, 3);
        bits.flag(axi.w_ready).flag(axi.aw_ready);
        let (data, id, answer, last) = axi.r.unwrap_or_default();
        bits.flag(axi.r.is_some()).flag(last).put(answer, 2).put(id, 3);
        bits.put(data as u64, 64).put((data >> 64) as u64, 64).flag(axi.ar_ready);
    }
    bits.put(inputs.hold, queues);
    for translation in &inputs.translation {
        bits.flag(translation.is_some());
    }
    for translation in &inputs.translation {
        let (status, address, bytes) = translation.unwrap_or_default();
        bits.put(bytes, 32).put(address, 64).put(status.into(), 8);
    }
    bits.put(3, 2);
    for fence in inputs.fence {
        bits.flag(fence);
    }
    bits.put(if inputs.event_ready { 3 } else { 0 }, 2).put(inputs.time, 64);
    let (engine, queue, kind) = inputs.doorbell.unwrap_or_default();
    for rung in 0..2 {
        bits.flag(inputs.doorbell.is_some() && engine == rung);
    }
    bits.put(kind.into(), 8).put(queue as u64, 16);
    for stop in inputs.stop {
        bits.put(stop, queues);
    }
    for start in inputs.start {
        bits.flag(start);
    }
    bits.put(inputs.start_queue as u64, queues.ilog2() as usize);
    let context = &inputs.context;
    bits.put(0, 32).put(context.area_bytes.into(), 32);
    for (region, offset) in context.at.iter().rev() {
        bits.put(*offset, 48).put((*region).into(), 16);
    }
    bits.put(context.cq_log2.into(), 4).put(context.sq_log2.into(), 4);
    bits.put(context.vector.into(), 16).put(context.domain.into(), 16);
    bits.flag(context.stamp).put(context.kind.into(), 8).flag(inputs.rst);
}

/// Counts of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub queue: u64,
    pub packets: u64,
    pub error: bool,
    pub wake: bool,
}

/// Outputs of a cycle, the memory aside.
pub struct Outputs {
    pub initialised: bool,
    pub start_ready: [bool; 2],
    pub stopped: [u64; 2],
    pub waits: [Vec<u8>; 2],
    pub error: [Option<(u64, u8)>; 2],
    pub counts: [Option<Counts>; 2],
    pub event: [Option<u16>; 2],
    pub fence_ready: [bool; 2],
    pub asked: [Option<Asked>; 2],
    pub line: Option<Word>,
}

pub fn unpack(bits: &mut Unpacker<'_>, axi: &mut [Axi; 2], queues: usize) -> Outputs {
    let line_on = bits.flag();
    let line = bits.word();
    for axi in axi {
        bits.flag();
        let (w_valid, w_last, w_strb) = (bits.flag(), bits.flag(), bits.get(16) as u16);
        let w_data = u128::from(bits.get(64)) | u128::from(bits.get(64)) << 64;
        let (aw_valid, aw_len, aw_id, aw_addr) =
            (bits.flag(), bits.get(8), bits.get(3), bits.get(64));
        bits.flag();
        let (ar_valid, ar_len, ar_id, ar_addr) =
            (bits.flag(), bits.get(8), bits.get(3), bits.get(64));
        if ar_valid && axi.ar_ready {
            axi.read(ar_addr, ar_id, ar_len + 1);
        }
        if aw_valid && axi.aw_ready {
            assert!(aw_len < 16, "burst of {} beats", aw_len + 1);
            axi.write(aw_addr, aw_id);
        }
        if w_valid && axi.w_ready {
            axi.beats.push((w_data, w_strb));
            if w_last {
                let beats = std::mem::take(&mut axi.beats);
                axi.whole.push_back(beats);
            }
        }
        axi.join();
    }
    let asked_valid = [bits.flag(), bits.flag()];
    let asked = asked_valid.map(|valid| {
        let (read, _, _, write) = (bits.flag(), bits.flag(), bits.flag(), bits.flag());
        let (domain, length) = (bits.get(16) as u16, bits.get(48));
        let (offset, region) = (bits.get(48), bits.get(16) as u16);
        valid.then_some(Asked { region, offset, length, domain, read, write })
    });
    let fence_ready = [bits.flag(), bits.flag()];
    let event_valid = [bits.flag(), bits.flag()];
    let event = event_valid.map(|valid| {
        let vector = bits.get(16) as u16;
        valid.then_some(vector)
    });
    let counts_valid = [bits.flag(), bits.flag()];
    let counts = counts_valid.map(|valid| {
        bits.flag();
        let (wake, _stall, error) = (bits.flag(), bits.flag(), bits.flag());
        let (_bytes, packets, queue) = (bits.get(32), bits.get(16), bits.get(16));
        valid.then_some(Counts { queue, packets, error, wake })
    });
    let error_valid = [bits.flag(), bits.flag()];
    let error = error_valid.map(|valid| {
        let (status, queue) = (bits.get(8) as u8, bits.get(16));
        valid.then_some((queue, status))
    });
    let waits = [(); 2].map(|()| (0..queues).map(|_| bits.get(3) as u8).collect());
    let stopped = [bits.get(queues), bits.get(queues)];
    let start_ready = [bits.flag(), bits.flag()];
    let initialised = bits.flag();
    let line = line_on.then_some(line);
    Outputs {
        initialised,
        start_ready,
        stopped,
        waits,
        error,
        counts,
        event,
        fence_ready,
        asked,
        line,
    }
}
