//! A core with a queue pair and, on another channel of the same port, a target: both work at once.
//! It is a model of its own, so this runs with the planted bugs.

use super::*;
use spfe_rdma::{Local, RdmaInitiatorOptions, WorkRequest};

/// The channel of the target.
pub const VC: usize = VCS - 1;
/// The entry that is there from power-up on: key, address, bytes; its memory begins at 0.
const FIXED: (u32, u64, u64) = (0xabc, 0x1000, 0x1_0000);

/// An initiator that writes to the target and reads what it wrote, over and over.
pub struct Side {
    initiator: RdmaInitiator,
    memory: Vec<Vec<u8>>,
    out: VecDeque<Word>,
    bytes: Vec<u8>,
    /// Bytes of the round, and requests of it that have not completed.
    length: u32,
    left: u32,
    rounds: usize,
}

impl Side {
    fn new() -> Self {
        let mut initiator = RdmaInitiator::new(RdmaInitiatorOptions {
            target: 0x42,
            address: 0x60,
            segment_bytes: 4096,
            timeout_ns: 1_000_000,
            ..RdmaInitiatorOptions::default()
        });
        initiator.connect();
        let memory = vec![vec![0; 0x4000]; 2];
        let (out, bytes) = (VecDeque::new(), Vec::new());
        Self { initiator, memory, out, bytes, length: 0, left: 0, rounds: 0 }
    }

    /// Checks the round that has ended, and begins the next one.
    fn next(&mut self, rng: &mut fastrand::Rng) {
        let bytes = self.length as usize;
        assert_eq!(self.memory[0][..bytes], self.memory[1][..bytes], "round {}", self.rounds);
        self.length = LENGTHS[self.rounds % LENGTHS.len()];
        self.rounds += 1;
        let (key, base, size) = FIXED;
        rng.fill(&mut self.memory[0][..self.length as usize]);
        let at = base + rng.u64(..=size - u64::from(self.length));
        let local = |memory| Local { memory, offset: 0, length: self.length };
        for request in
            [WorkRequest::write(1, local(0), key, at), WorkRequest::read(2, local(1), key, at)]
        {
            self.initiator.post(request, &self.memory).expect("has room");
        }
        self.initiator.ring();
        self.left = 2;
    }

    pub fn step(&mut self, port: &mut Port, now: u64, rng: &mut fastrand::Rng) {
        while let Some(done) = self.initiator.poll() {
            assert_eq!(done.result, Ok(()), "round {}: {} bytes", self.rounds, self.length);
            self.left -= 1;
        }
        if self.left == 0 {
            self.next(rng);
        }
        if self.out.is_empty() {
            let mut packet = vec![0; self.initiator.packet_bytes_max()];
            if let Some(bytes) = self.initiator.transmit(now, &self.memory, &mut packet) {
                self.out.extend(words(&packet[..bytes]));
            }
            self.initiator.tick(now);
        }
        if let Some(word) = self.out.front().copied()
            && rng.u8(..4) != 0
            && port.link.write(VC, &[word]) == 1
        {
            self.out.pop_front();
        }
        let mut one = [Word::default()];
        if rng.u8(..4) == 0 || port.link.read(VC, &mut one) == 0 {
            return;
        }
        for (index, symbol) in one[0].symbols().into_iter().enumerate() {
            match (one[0].k >> index & 1 != 0, symbol) {
                (false, byte) => self.bytes.push(byte),
                (true, k::FILL) => {}
                (true, end) => {
                    assert_eq!(end, k::EOP, "a response was cut");
                    let packet = std::mem::take(&mut self.bytes);
                    self.initiator.handle(&packet, PacketEnd::Eop, now, &mut self.memory);
                }
            }
        }
    }
}

#[cfg_attr(feature = "planted", test)]
#[cfg_attr(not(feature = "planted"), expect(dead_code))]
fn a_target_beside_the_queue_pair() {
    let mut bed = Bed::with(5, 4);
    assert_ne!(bed.device.read(global::CAPABILITY) & capability::TARGET, 0);
    bed.start(0);
    bed.far.borrow_mut().side = Some(Side::new());
    for errors in [0, 2000] {
        bed.far.borrow_mut().errors = errors;
        for length in LENGTHS {
            bed.write_and_read(length);
        }
    }
    let rounds = |bed: &Bed| bed.far.borrow().side.as_ref().expect("is there").rounds;
    let before = rounds(&bed);
    assert!(before > LENGTHS.len(), "{before} rounds at the target meanwhile");
    // The target needs no queue pair.
    bed.stop();
    bed.device.run(100_000);
    assert!(rounds(&bed) > before + 2, "{} rounds, {before} before", rounds(&bed));
    bed.start(0);
    bed.write_and_read(4096);
}
