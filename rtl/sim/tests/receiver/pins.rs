//! Inputs and outputs of the top spfe_sim_receiver.

use crate::memory::{Asked, DOMAIN};
use spfe_link::Word;
use spfe_rdma::RdmaTargetOptions;
use spfe_rtl_sim::{Axi, Packer, Unpacker};

/// Inputs of a cycle, the memory aside.
#[derive(Default)]
pub struct Inputs {
    pub rst: bool,
    pub on: bool,
    pub open: bool,
    /// Region and offset of the side array.
    pub words: (u16, u64),
    pub cq_log2: u8,
    pub time: u64,
    pub entry: Option<[u64; 2]>,
    pub job_ready: bool,
    /// Status, address, bytes.
    pub translation: Option<(u8, u64, u64)>,
    pub word: Option<Word>,
    pub word_ready: bool,
    /// Word of the counters to read.
    pub read: Option<u8>,
}

pub fn pack(bits: &mut Packer, inputs: &Inputs, own: u16, options: &RdmaTargetOptions, axi: &Axi) {
    bits.clear();
    axi.put(bits);
    bits.flag(inputs.read.is_some()).put(inputs.read.unwrap_or(0).into(), 7);
    bits.flag(inputs.word_ready).flag(inputs.word.is_some()).word(inputs.word.unwrap_or_default());
    let (status, address, length) = inputs.translation.unwrap_or_default();
    bits.flag(inputs.translation.is_some()).put(length, 32).put(address, 64).put(status.into(), 8);
    bits.flag(true).flag(inputs.job_ready).flag(inputs.entry.is_some());
    let entry = inputs.entry.unwrap_or_default();
    bits.put(entry[0], 64).put(entry[1], 64).put(inputs.time, 64).put(inputs.cq_log2.into(), 4);
    bits.put(inputs.words.1, 48).put(inputs.words.0.into(), 16);
    bits.flag(inputs.open).flag(inputs.on);
    // Of the queue pair only its own end matters: paths, time-out and repetitions do not.
    bits.put(0, 64).put(0, 4).put(0, 64).put(0, 4).put(0, 64).put(0, 8).put(0, 5);
    bits.put(options.segment_bytes.ilog2().into(), 4).put(options.protocol.into(), 8);
    bits.put(0, 8).put(options.logical_address.into(), 8).put(0, 16);
    bits.put(own.into(), 16).put(DOMAIN.into(), 16).flag(inputs.rst);
}

/// A completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    pub position: u16,
    pub status: u8,
    pub packets: u16,
    pub bytes: u32,
    pub flags: u16,
    pub urgent: bool,
}

/// What became of a packet: why it was discarded, status, repeated, opcode.
pub type Outcome = (u8, u8, bool, u8);

/// Outputs of a cycle, the memory aside.
#[derive(Default)]
pub struct Outputs {
    pub idle: bool,
    pub silent: bool,
    pub entry_ready: bool,
    pub job: Option<Job>,
    /// An entry was taken; true if it is a buffer.
    pub kept: Option<bool>,
    pub judged: bool,
    pub handled: Option<Outcome>,
    pub fault: bool,
    pub failed: bool,
    pub asked: Option<Asked>,
    pub word_ready: bool,
    pub word: Option<Word>,
    /// The word that was to be read in the cycle before.
    pub count: u32,
}

pub fn unpack(bits: &mut Unpacker<'_>, axi: &mut Axi) -> Outputs {
    axi.take(bits);
    let count = bits.get(32) as u32;
    let word_valid = bits.flag();
    let word = bits.word();
    let word_ready = bits.flag();
    let asks = bits.flag();
    let (read, remote_read, remote_write, write) =
        (bits.flag(), bits.flag(), bits.flag(), bits.flag());
    assert!(!asks || write && !read && !remote_read && !remote_write);
    let (domain, length) = (bits.get(16) as u16, bits.get(48));
    let (offset, region) = (bits.get(48), bits.get(16) as u16);
    let (failed, fault) = (bits.flag(), bits.flag());
    let handled = bits.flag();
    let (code, repeated) = (bits.get(8) as u8, bits.flag());
    let (status, drop) = (bits.get(8) as u8, bits.get(4) as u8);
    assert!(!bits.flag() || !handled, "RMAP");
    let judged = bits.flag();
    let (good, kept) = (bits.flag(), bits.flag());
    let job_valid = bits.flag();
    bits.get(4);
    let (urgent, bytes, packets) = (bits.flag(), bits.get(32) as u32, bits.get(16) as u16);
    let (job_status, position) = (bits.get(8) as u8, bits.get(16) as u16);
    let (flags, index) = (bits.get(16) as u16, bits.get(16));
    assert!(!job_valid || index == 5, "queue {index}");
    let job = Job { position, status: job_status, packets, bytes, flags, urgent };
    let (entry_ready, silent, idle) = (bits.flag(), bits.flag(), bits.flag());
    Outputs {
        idle,
        silent,
        entry_ready,
        job: job_valid.then_some(job),
        kept: kept.then_some(good),
        judged,
        handled: handled.then_some((drop, status, repeated, code)),
        fault,
        failed,
        asked: asks.then_some(Asked { region, offset, length, domain, write }),
        word_ready,
        word: word_valid.then_some(word),
        count,
    }
}
