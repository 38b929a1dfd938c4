//! The target: executes commands on local memory.

use super::window::{Backing, Window, Windows, permit};
use crate::cancel::Canceller;
use crate::endpoint::Vc;
use crate::pooled::{PoolOptions, PooledRx, PooledTx};
use crate::tx::End;
use crate::wait::{Deadline, Threshold};
use crate::{Error, Result};
use spfe_contract::Status as QueueStatus;
use spfe_proto::PacketEnd;
use spfe_proto::rmap::target::{REPLY_OVERHEAD, TargetCounters, TargetOutcome};
use spfe_proto::rmap::{CommandStream, LENGTH_MAX, RmapTargetConfig};

/// Number of slots of each queue that the target opens itself.
const SLOTS: u32 = 16;

/// Gives other nodes access to local memory.
///
/// [`Target::serve_once`] and [`Target::serve_until`] execute commands in the caller's thread.
/// Verified writes can have up to `verify_bytes` of the configuration; data of unverified writes of
/// any length goes to memory as it arrives. A read longer than a slot of the transmit queue gets
/// status 10. Every command that is not executed gets a reply or is counted.
///
/// ```
/// use spfe::rmap::{Initiator, InitiatorOptions, Remote, Target, TargetConfig, Window};
/// use spfe::{Deadline, Endpoint, LinkRate, Mode};
/// let (near, far) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline)?;
/// let mut target = Target::open(&far.port(0)?.vc(0)?, TargetConfig::default(), 4096)?;
/// target.add(Window::new(0x4000_0000, far.alloc(4096)?.buf(0..4096)?).key(0x20))?;
/// let canceller = target.canceller();
/// let server = std::thread::spawn(move || target.serve_until(Deadline::NEVER).map(drop));
///
/// let remote = Remote { key: 0x20, ..Remote::default() };
/// let mut initiator = Initiator::open(&near.port(0)?.vc(0)?, InitiatorOptions::new(remote))?;
/// initiator.write(0x4000_0000, b"hello", Deadline::NEVER)?;
/// let error = initiator.write(0x5000_0000, b"nothing there", Deadline::NEVER).unwrap_err();
/// assert_eq!(error.rmap_status().map(|status| status.0), Some(10));
/// canceller.cancel();
/// assert!(server.join().unwrap().unwrap_err().is_cancelled());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Target {
    core: spfe_proto::rmap::RmapTarget,
    stream: CommandStream<Box<[u8]>>,
    windows: Windows,
    tx: PooledTx,
    rx: PooledRx,
}

impl Target {
    /// A target without windows on two queues. A slot of the transmit queue needs at least 25 bytes.
    ///
    /// # Errors
    /// TOO_LONG if the slots are too short for the smallest reply.
    pub fn new(tx: PooledTx, rx: PooledRx, config: RmapTargetConfig) -> Result<Self> {
        if tx.slot_bytes() < REPLY_OVERHEAD {
            let what = format!(
                "RMAP target: transmit slots of {} bytes, {REPLY_OVERHEAD} needed",
                tx.slot_bytes()
            );
            return Err(Error::device(QueueStatus::TooLong, what));
        }
        let verify = config.verify_bytes.min(LENGTH_MAX) as usize;
        let stream = CommandStream::new(vec![0; verify + 2].into_boxed_slice());
        let core = spfe_proto::rmap::RmapTarget::new(config);
        Ok(Self { core, stream, windows: Windows::default(), tx, rx })
    }

    /// Opens a target on a virtual channel, with queues for commands and replies of up to `max_data`
    /// data bytes.
    ///
    /// # Errors
    /// BUSY if another client has the virtual channel open.
    pub fn open(vc: &Vc, config: RmapTargetConfig, max_data: u32) -> Result<Self> {
        let pool = PoolOptions::new(SLOTS, max_data.clamp(1, LENGTH_MAX) + 128);
        Self::new(vc.tx_pooled(pool)?, vc.rx_pooled(pool)?, config)
    }

    /// Adds a window and returns its number, counted from 0.
    ///
    /// # Errors
    /// BAD_FIELD if the window is empty, exceeds 40-bit addresses or overlaps another window.
    pub fn add(&mut self, window: Window) -> Result<usize> {
        self.windows.add(window).map_err(|what| Error::device(QueueStatus::BadField, what))
    }

    /// The memory of a window, by number.
    pub fn window(&mut self, number: usize) -> Option<&mut Backing> {
        self.windows.backing(number)
    }

    /// Counters: commands by kind, refused commands by status, discarded packets by reason.
    pub fn counters(&self) -> &TargetCounters {
        self.core.counters()
    }

    /// A handle with which other threads end waits for commands.
    pub fn canceller(&mut self) -> Canceller {
        self.rx.canceller()
    }

    /// Waits for a packet, executes its command and posts the reply.
    ///
    /// # Errors
    /// Timed out or cancelled, without taking a packet; or why no more packets will arrive.
    pub fn serve_once(&mut self, deadline: Deadline) -> Result<TargetOutcome> {
        loop {
            self.reclaim()?;
            if let Some(outcome) = self.take()? {
                return Ok(outcome);
            }
            if self.tx.free() == 0 {
                self.tx.wait(deadline)?;
                continue;
            }
            // If this thread is the engine, polling moves the replies.
            match self.tx.wait(Deadline::NOW) {
                Err(error) if !error.is_timeout() => return Err(error),
                _ => self.reclaim()?,
            }
            self.rx.wait(&Threshold::ONE, deadline)?;
        }
    }

    /// Executes commands until the deadline and returns the number of packets taken.
    ///
    /// # Errors
    /// Cancelled, or why no more packets will arrive.
    pub fn serve_until(&mut self, deadline: Deadline) -> Result<u64> {
        let mut packets = 0;
        loop {
            match self.serve_once(deadline) {
                Ok(_) => packets += 1,
                Err(error) if error.is_timeout() => return Ok(packets),
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until all replies have been sent.
    ///
    /// # Errors
    /// Timed out, or why a reply was not sent.
    pub fn flush(&mut self, deadline: Deadline) -> Result<()> {
        self.reclaim()?;
        while self.tx.outstanding() != 0 {
            self.tx.wait(deadline)?;
            self.reclaim()?;
        }
        Ok(())
    }

    /// Takes parts up to the end of a packet, if they are there. The end of a packet stays in the
    /// receive queue until a transmit slot is free, so that no reply is dropped.
    fn take(&mut self) -> Result<Option<TargetOutcome>> {
        let (rules, mut memory) = self.windows.split();
        while let Some(packet) = self.rx.peek() {
            if !matches!(packet.status, QueueStatus::Ok | QueueStatus::PacketCut) {
                let what = format!("a command was not received: {}", packet.status.doc());
                return Err(Error::device(packet.status, what));
            }
            let allow = |header: &_| permit(rules, header);
            if packet.end == End::More {
                self.core.piece(&mut self.stream, packet.bytes, &mut memory, allow);
                self.rx.release();
                continue;
            }
            let Some(out) = self.tx.slot() else { return Ok(None) };
            let end = if packet.end == End::Eep { PacketEnd::Eep } else { PacketEnd::Eop };
            let outcome = if self.stream.is_open() {
                self.core.piece(&mut self.stream, packet.bytes, &mut memory, allow);
                self.core.end(&mut self.stream, end, &mut memory, out)
            } else {
                self.core.handle(packet.bytes, end, &mut memory, allow, out)
            };
            // `new` checked that a slot has room for the smallest reply.
            let outcome =
                outcome.map_err(|room| Error::device(QueueStatus::TooLong, room.to_string()))?;
            self.rx.release();
            if outcome.reply_bytes() != 0 {
                self.tx.send(outcome.reply_bytes())?;
            }
            return Ok(Some(outcome));
        }
        Ok(None)
    }

    /// Takes the completions of replies. A reply whose receiver is gone is not an error.
    fn reclaim(&mut self) -> Result<()> {
        while let Some(sent) = self.tx.poll() {
            if !matches!(sent.status, QueueStatus::Ok | QueueStatus::PeerGone) {
                let what = format!("a reply was not sent: {}", sent.status.doc());
                return Err(Error::device(sent.status, what));
            }
        }
        Ok(())
    }
}
