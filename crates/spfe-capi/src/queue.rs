//! What all queues have in common: options, waits, descriptors, counters, and closing.

use crate::args::{give, read_sized, write_sized};
use crate::endpoint::EndpointHandle;
use crate::fast::Fast;
use crate::handle::{self, Handle, Object, Spare};
use crate::hold::{Packed, Posted};
use crate::result::{Answer, Fault, run};
use spfe::{
    Broadcast, Canceller, Deadline, InterruptCodes, PackedOptions, PoolOptions, PooledRx, PooledTx,
    QueueOptions, QueueStats, Ready, Rx, Status, Strategy, Threshold, TimeCode, Tx,
};
use std::ffi::c_int;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// A queue, by what it does.
pub enum Queue {
    /// Transmit, posted buffers.
    Tx(Box<Posted<Tx>>),
    /// Receive, posted buffers.
    Rx(Box<Posted<Rx>>),
    /// Transmit, slots.
    PooledTx(Box<Fast<PooledTx>>),
    /// Receive, slots.
    PooledRx(Box<Fast<PooledRx>>),
    /// Receive, packed area.
    Packed(Box<Packed>),
    /// Broadcast messages.
    Broadcast(Box<Broadcast>),
    /// Time-codes.
    TimeCode(Box<TimeCode>),
    /// Distributed interrupts.
    Interrupts(Box<InterruptCodes>),
}

impl Object for Queue {
    const NAME: &'static str = "queue";
    type Head = Canceller;
    fn spare() -> &'static Spare {
        static SPARE: Spare = Spare::new();
        &SPARE
    }
}

/// A queue of a C program.
pub type QueueHandle = Handle<Queue>;

/// Calls the same method of whatever the queue is.
macro_rules! each {
    ($queue:expr, $inner:ident => $body:expr) => {
        match $queue {
            Queue::Tx(posted) => {
                let mut inside = posted.queue.inside();
                let $inner = &mut *inside;
                $body
            }
            Queue::Rx(posted) => {
                let mut inside = posted.queue.inside();
                let $inner = &mut *inside;
                $body
            }
            Queue::PooledTx(pooled) => {
                let mut inside = pooled.inside();
                let $inner = &mut *inside;
                $body
            }
            Queue::PooledRx(pooled) => {
                let mut inside = pooled.inside();
                let $inner = &mut *inside;
                $body
            }
            Queue::Packed(packed) => {
                let mut inside = packed.idle()?;
                let $inner = &mut *inside;
                $body
            }
            Queue::Broadcast($inner) => $body,
            Queue::TimeCode($inner) => $body,
            Queue::Interrupts($inner) => $body,
        }
    };
}

impl Queue {
    fn name(&self) -> &'static str {
        match self {
            Self::Tx(_) => "transmit queue",
            Self::Rx(_) => "receive queue",
            Self::PooledTx(_) => "pooled transmit queue",
            Self::PooledRx(_) => "pooled receive queue",
            Self::Packed(_) => "packed receive queue",
            Self::Broadcast(_) => "queue of broadcast messages",
            Self::TimeCode(_) => "queue of time-codes",
            Self::Interrupts(_) => "queue of interrupts",
        }
    }

    /// The answer to a call that this kind of queue does not have.
    #[cold]
    pub fn wrong(&self, call: &str) -> Fault {
        Fault::new(Status::BadOpcode, format!("{call}: not for a {}", self.name()))
    }

    fn wait(&mut self, threshold: &Threshold, deadline: Deadline) -> Result<Ready, Fault> {
        Ok(match self {
            Self::Tx(posted) => posted.queue.inside().wait_for(threshold, deadline)?,
            Self::Rx(posted) => {
                let offers = posted.queue.is_inline();
                let mut queue = posted.queue.inside();
                if offers {
                    queue.fast_pause();
                }
                queue.wait(threshold, deadline)?
            }
            Self::PooledTx(pooled) => pooled.inside().wait_for(threshold, deadline)?,
            Self::PooledRx(pooled) => pooled.inside().wait(threshold, deadline)?,
            Self::Packed(packed) => packed.idle()?.wait(threshold, deadline)?,
            Self::Broadcast(queue) => queue.wait(threshold, deadline)?,
            Self::TimeCode(queue) => queue.wait(threshold, deadline)?,
            Self::Interrupts(queue) => queue.wait(threshold, deadline)?,
        })
    }

    /// Opens a handle for the queue.
    pub fn open(mut self) -> Result<*mut QueueHandle, Fault> {
        let canceller = each!(&mut self, queue => queue.canceller());
        Ok(handle::open(canceller, self))
    }
}

/// CQueueOptions of a queue, as C passes them.
#[repr(C)]
pub struct CQueueOptions {
    size: usize,
    depth: u32,
    strategy: u32,
    flags: u32,
    slot_bytes: u32,
    area_bytes: u32,
    reserved: u32,
}

const STAMPS: u32 = 1;
const EVENT: u32 = 2;
const SLOT_BYTES: u32 = 4096;

impl CQueueOptions {
    /// Reads options.
    ///
    /// # Safety
    /// `options` is null or points to as many bytes as its size says.
    pub unsafe fn read(options: *const Self) -> Result<Self, Fault> {
        // SAFETY: the caller's promise; all fields are integers.
        let options = unsafe { read_sized(options)? };
        let Self { strategy, flags, reserved, .. } = options;
        if strategy > 2 || flags & !(STAMPS | EVENT) != 0 || reserved != 0 {
            let what = format!(
                "options of a queue: strategy {strategy}, flags {flags:#x}, reserved {reserved}: \
                 strategy 0 to 2, flags of {:#x} and reserved 0 allowed",
                STAMPS | EVENT
            );
            return Err(Fault::new(Status::BadField, what));
        }
        Ok(options)
    }

    /// CQueueOptions of any queue, with a depth of `depth` unless the program says another.
    pub fn queue(&self, depth: u32) -> QueueOptions {
        let strategy = match self.strategy {
            1 => Strategy::Poll,
            2 => Strategy::Block,
            _ => Strategy::Adaptive,
        };
        QueueOptions::default()
            .depth(if self.depth == 0 { depth } else { self.depth })
            .strategy(strategy)
            .stamps(self.flags & STAMPS != 0)
            .event(self.flags & EVENT != 0)
    }

    fn pool(&self) -> PoolOptions {
        let queue = self.queue(QueueOptions::default().depth);
        let bytes = if self.slot_bytes == 0 { SLOT_BYTES } else { self.slot_bytes };
        PoolOptions::new(queue.depth, bytes).queue(queue)
    }

    fn packed(&self) -> PackedOptions {
        let options = PackedOptions::default();
        let area = if self.area_bytes == 0 { options.area_bytes } else { self.area_bytes };
        options.area(area).queue(self.queue(options.queue.depth))
    }
}

/// Opens one end of a virtual channel.
///
/// # Safety
/// `options` is null or points to as many bytes as its size says; `place` is null or valid for a
/// write.
unsafe fn open_vc(
    endpoint: *mut EndpointHandle,
    (port, vc): (u32, u32),
    options: *const CQueueOptions,
    place: *mut *mut QueueHandle,
    open: impl FnOnce(&spfe::Vc, &CQueueOptions) -> Result<Queue, Fault>,
) -> c_int {
    run(|| {
        let make = || {
            // SAFETY: the caller's promise.
            let options = unsafe { CQueueOptions::read(options)? };
            let vc = handle::with(endpoint, |endpoint| Ok(endpoint.port(port)?.vc(vc)?))?;
            open(&vc, &options)?.open()
        };
        // SAFETY: the caller's promise.
        unsafe { give(place, make) }
    })
}

macro_rules! open_functions {
    ($($(#[$doc:meta])* $function:ident: |$vc:ident, $options:ident| $open:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `options` is null or points to as many bytes as its size says; `queue` is null or valid
        /// for a write.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            endpoint: *mut EndpointHandle,
            port: u32,
            vc: u32,
            options: *const CQueueOptions,
            queue: *mut *mut QueueHandle,
        ) -> c_int {
            // SAFETY: the caller's promise.
            unsafe {
                open_vc(endpoint, (port, vc), options, queue, |$vc, $options| $open)
            }
        }
    )*};
}

open_functions! {
    /// Opens a transmit queue with posted buffers.
    spfe_tx_open: |vc, options| {
        let options = options.queue(QueueOptions::default().depth);
        Ok(Queue::Tx(Box::new(Posted::new(vc.tx_with(options)?, options.depth))))
    };
    /// Opens a receive queue with posted buffers.
    spfe_rx_open: |vc, options| {
        let options = options.queue(QueueOptions::default().depth);
        Ok(Queue::Rx(Box::new(Posted::new(vc.rx_with(options)?, options.depth))))
    };
    /// Opens a pooled transmit queue.
    spfe_pooled_tx_open: |vc, options| {
        Ok(Queue::PooledTx(Box::new(Fast::new(vc.tx_pooled(options.pool())?))))
    };
    /// Opens a pooled receive queue.
    spfe_pooled_rx_open: |vc, options| {
        Ok(Queue::PooledRx(Box::new(Fast::new(vc.rx_pooled(options.pool())?))))
    };
    /// Opens a packed receive queue.
    spfe_packed_rx_open: |vc, options| {
        Ok(Queue::Packed(Box::new(Packed::new(vc.rx_packed(options.packed())?))))
    };
}

/// Closes a queue.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_queue_close(queue: *mut QueueHandle) -> c_int {
    run(|| {
        let allow = |queue: &mut Queue| match queue {
            Queue::Tx(posted) => posted.take_back_to_close(),
            Queue::Rx(posted) => posted.take_back_to_close(),
            _ => Ok(()),
        };
        handle::close(queue, allow).map(|()| 0)
    })
}

/// A threshold, as C passes it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CThreshold {
    count: u32,
    reserved: u32,
    bytes: u64,
    after_first_ns: u64,
}

/// Reads a threshold; null, or nothing but zeros, means one packet.
///
/// # Safety
/// `threshold` is null or valid for a read.
pub unsafe fn read_threshold(threshold: *const CThreshold) -> Result<Threshold, Fault> {
    // SAFETY: the caller's promise.
    let Some(of) = (unsafe { threshold.as_ref() }) else { return Ok(Threshold::ONE) };
    if of.reserved != 0 {
        return Err(Fault::new(
            Status::BadField,
            format!("threshold: reserved {}: 0", of.reserved),
        ));
    }
    let none = of.count == 0 && of.bytes == 0 && of.after_first_ns == 0;
    Ok(Threshold {
        count: if none { Some(1) } else { (of.count != 0).then_some(of.count) },
        bytes: (of.bytes != 0).then_some(of.bytes),
        after_first: (of.after_first_ns != 0).then(|| Duration::from_nanos(of.after_first_ns)),
    })
}

/// A deadline: 0 is now, the largest number never.
pub fn deadline(ns: u64) -> Deadline {
    if ns == u64::MAX { Deadline::NEVER } else { Deadline::at_ns(ns) }
}

/// enum spfe_ready.
pub fn ready(ready: Ready) -> c_int {
    match ready {
        Ready::Threshold => 1,
        Ready::AfterFirst => 2,
        Ready::Attention => 3,
    }
}

/// Waits for a threshold.
///
/// # Safety
/// `threshold` is null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_queue_wait(
    queue: *mut QueueHandle,
    threshold: *const CThreshold,
    deadline_ns: u64,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let threshold = unsafe { read_threshold(threshold)? };
        handle::with(queue, |queue| Ok(ready(queue.wait(&threshold, deadline(deadline_ns))?)))
    })
}

/// Ends a wait of another thread.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_queue_cancel(queue: *mut QueueHandle) -> c_int {
    run(|| {
        handle::head(queue, Canceller::cancel)?;
        Ok(0)
    })
}

/// The descriptor of a queue.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_queue_fd(queue: *mut QueueHandle) -> c_int {
    let raw = |fd: BorrowedFd<'_>| fd.as_raw_fd();
    run(|| handle::with(queue, |queue| Ok(each!(queue, queue => raw(queue.fd()?)))))
}

/// Makes the descriptor of a queue readable when a threshold is met.
///
/// # Safety
/// `threshold` is null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_queue_request_event(
    queue: *mut QueueHandle,
    threshold: *const CThreshold,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let threshold = unsafe { read_threshold(threshold)? };
        handle::with(queue, |queue| {
            Ok(each!(queue, queue => queue.request_event(&threshold)?).into())
        })
    })
}

/// Counters of a queue, as C reads them.
#[repr(C)]
pub struct CStats {
    size: usize,
    polls: u64,
    empty_polls: u64,
    doorbells: u64,
    sleeps: u64,
    full: u64,
    yields: u64,
}

/// Counters of a queue.
///
/// # Safety
/// `stats` is null or points to as many bytes as its size says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_queue_stats(queue: *mut QueueHandle, stats: *mut CStats) -> c_int {
    run(|| -> Answer {
        let of: QueueStats = handle::with(queue, |queue| Ok(each!(queue, queue => queue.stats())))?;
        let QueueStats { polls, empty_polls, doorbells, sleeps, full, yields } = of;
        let size = size_of::<CStats>();
        let of = CStats { size, polls, empty_polls, doorbells, sleeps, full, yields };
        // SAFETY: the caller's promise.
        unsafe { write_sized(stats, of) }
    })
}
