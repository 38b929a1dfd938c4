//! Inputs and outputs of the top spfe_sim_initiator.

use crate::memory::{Asked, DOMAIN};
use spfe_link::Word;
use spfe_rdma::RdmaInitiatorOptions;
use spfe_rtl_sim::{Axi, Packer, Unpacker};

/// Inputs of a cycle, the memory aside.
#[derive(Default)]
pub struct Inputs {
    pub rst: bool,
    pub on: bool,
    pub seed: u64,
    pub time: u64,
    pub entry: Option<[u64; 2]>,
    pub dry: bool,
    pub job_ready: bool,
    /// Status, address, bytes.
    pub translation: Option<(u8, u64, u64)>,
    pub word: Option<Word>,
    pub word_ready: bool,
    /// Word of the counters to read.
    pub read: Option<u8>,
}

fn bytes(path: &[u8]) -> u64 {
    path.iter().enumerate().map(|(at, byte)| u64::from(*byte) << (8 * at)).sum()
}

pub fn pack(bits: &mut Packer, inputs: &Inputs, options: &RdmaInitiatorOptions, axi: &Axi) {
    bits.clear();
    axi.put(bits);
    bits.flag(inputs.read.is_some()).put(inputs.read.unwrap_or(0).into(), 7);
    bits.flag(inputs.word_ready).flag(inputs.word.is_some()).word(inputs.word.unwrap_or_default());
    let (status, address, length) = inputs.translation.unwrap_or_default();
    bits.flag(inputs.translation.is_some()).put(length, 32).put(address, 64).put(status.into(), 8);
    bits.flag(true).flag(inputs.job_ready).flag(inputs.dry).flag(inputs.entry.is_some());
    let entry = inputs.entry.unwrap_or_default();
    bits.put(entry[0], 64).put(entry[1], 64).put(inputs.time, 64).put(inputs.seed, 48);
    bits.flag(inputs.on);
    let reply = options.reply_path.as_bytes();
    bits.put(bytes(reply), 64).put(reply.len() as u64, 4);
    bits.put(bytes(&options.path), 64).put(options.path.len() as u64, 4);
    bits.put(options.timeout_ns, 64).put(options.not_ready_retries.into(), 8);
    bits.put(options.retries.into(), 5).put(options.segment_bytes.ilog2().into(), 4);
    bits.put(options.protocol.into(), 8).put(options.target.into(), 8);
    bits.put(options.address.into(), 8).put(options.target_queue.into(), 16);
    bits.put(options.queue.into(), 16).put(DOMAIN.into(), 16).flag(inputs.rst);
}

/// A completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    pub position: u16,
    pub status: u8,
    pub requests: u16,
    pub bytes: u32,
    pub flags: u16,
    pub urgent: bool,
}

/// What the core has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Post,
    Bad,
    Ring,
    Taken,
    Stale,
    Invalid,
    Timer,
    Connect,
    Tick,
    Starve,
    Send,
    Stop,
}

/// Outputs of a cycle, the memory aside.
#[derive(Default)]
pub struct Outputs {
    pub idle: bool,
    pub entry_ready: bool,
    pub job: Option<Job>,
    pub state: u8,
    pub waits: u8,
    pub step: Option<Step>,
    pub step_time: u64,
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
    assert!(!asks || read != write && !remote_read && !remote_write);
    let (domain, length) = (bits.get(16) as u16, bits.get(48));
    let (offset, region) = (bits.get(48), bits.get(16) as u16);
    let (failed, step_time) = (bits.flag(), bits.get(64));
    let step = match bits.get(5) {
        0 => None,
        1 => Some(Step::Post),
        2 => Some(Step::Bad),
        3 => Some(Step::Ring),
        4 | 13 => Some(Step::Taken),
        5 => Some(Step::Stale),
        6 => Some(Step::Invalid),
        7 => Some(Step::Timer),
        8 | 16 => Some(Step::Connect),
        9 => Some(Step::Tick),
        10 => Some(Step::Starve),
        11 | 14 | 15 => Some(Step::Send),
        _ => Some(Step::Stop),
    };
    let (waits, state) = (bits.get(8) as u8, bits.get(8) as u8);
    let job_valid = bits.flag();
    bits.get(4);
    let (urgent, bytes, requests) = (bits.flag(), bits.get(32) as u32, bits.get(16) as u16);
    let (status, position) = (bits.get(8) as u8, bits.get(16) as u16);
    let (flags, index) = (bits.get(16) as u16, bits.get(16));
    assert!(!job_valid || index == 5, "queue {index}");
    let job = Job { position, status, requests, bytes, flags, urgent };
    let (entry_ready, idle) = (bits.flag(), bits.flag());
    Outputs {
        idle,
        entry_ready,
        job: job_valid.then_some(job),
        state,
        waits,
        step,
        step_time,
        failed,
        asked: asks.then_some(Asked { region, offset, length, domain, write }),
        word_ready,
        word: word_valid.then_some(word),
        count,
    }
}
