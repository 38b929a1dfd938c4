//! Queues together with what the program has given to them or holds of them.

use crate::fast::{Fast, FastQueue, Inside};
use crate::region::{self, BufHandle};
use crate::result::{Answer, Fault, code};
use spfe::{Buf, PackedRx, Returned, Run, Rx, Status, Tx};
use std::collections::VecDeque;
use std::ffi::c_int;

/// A queue, and the handles of its buffers.
pub struct Posted<Q: FastQueue> {
    pub queue: Fast<Q>,
    /// Handles of posted buffers, in the order of posting, which is that of completion.
    pub posted: VecDeque<*mut BufHandle>,
    /// Handles of buffers that came back and that the program has not asked for.
    pub back: VecDeque<*mut BufHandle>,
    /// Buffers of a group on their way into the queue.
    pub group: Vec<Buf>,
    most: usize,
}

/// What both directions can do.
pub trait Cancel {
    fn cancel(&mut self) -> spfe::Result<Vec<Returned>>;
}

impl Cancel for Tx {
    fn cancel(&mut self) -> spfe::Result<Vec<Returned>> {
        self.cancel()
    }
}

impl Cancel for Rx {
    fn cancel(&mut self) -> spfe::Result<Vec<Returned>> {
        self.cancel()
    }
}

impl<Q: Cancel + FastQueue> Posted<Q> {
    /// A queue of `depth` entries. Allocates all that it will need.
    pub fn new(queue: Q, depth: u32) -> Self {
        let most = depth.next_power_of_two() as usize;
        let room = || VecDeque::with_capacity(most + 1);
        let (queue, group) = (Fast::new(queue), Vec::with_capacity(most));
        Self { queue, posted: room(), back: room(), group, most }
    }

    /// A buffer came back from the queue.
    pub fn came_back(&mut self, buf: Buf) -> *mut BufHandle {
        let handle = self.posted.pop_front().unwrap_or(std::ptr::null_mut());
        if !handle.is_null() {
            region::put_in(handle, buf);
        }
        handle
    }

    /// Keeps the handle for `spfe_buf_take`. A program that never asks loses the oldest.
    pub fn keep(&mut self, handle: *mut BufHandle) {
        if self.back.len() >= self.most {
            self.back.pop_front();
        }
        self.back.push_back(handle);
    }

    pub fn take_back(&mut self) -> Answer {
        let outcome = self.queue.inside().cancel();
        match outcome {
            Ok(returned) => {
                let count = returned.len();
                for Returned { buf, .. } in returned {
                    let handle = self.came_back(buf);
                    self.keep(handle);
                }
                Ok(count as c_int)
            }
            Err(error) => {
                // BUSY changes nothing. After any other error the queue has dropped its buffers.
                if error.status() != Some(Status::Busy) {
                    self.posted.drain(..).for_each(region::lose);
                }
                Err(error.into())
            }
        }
    }

    /// Gives all buffers back to the program before the queue is closed.
    pub fn take_back_to_close(&mut self) -> Result<(), Fault> {
        match self.take_back() {
            Err(fault) if fault.code == code(Status::Busy) => Err(fault),
            _ => Ok(()),
        }
    }
}

impl Posted<Tx> {
    /// Takes buffers out of their handles into `group`; all or none.
    pub fn gather(&mut self, handles: &[*mut BufHandle]) -> Result<(), Fault> {
        debug_assert!(self.group.is_empty());
        for (index, handle) in handles.iter().enumerate() {
            match region::take_out(*handle, true) {
                Ok(buf) => self.group.push(buf),
                Err(fault) => {
                    let taken = handles.get(..index).unwrap_or_default();
                    self.group.drain(..).zip(taken).for_each(|(buf, to)| region::put_in(*to, buf));
                    return Err(fault);
                }
            }
        }
        Ok(())
    }
}

/// A packed receive queue, and the run that the program holds.
pub struct Packed {
    /// Borrows the queue behind `rx`. Dropped before it, because fields drop in this order.
    pub run: Option<Run<'static>>,
    /// The queue, in memory of its own, so that a run stays valid when this moves.
    rx: *mut Fast<PackedRx>,
}

// SAFETY: the pointer is owned; a run belongs to the queue, which can move to another thread.
unsafe impl Send for Packed {}

impl Packed {
    pub fn new(rx: PackedRx) -> Self {
        Self { run: None, rx: Box::into_raw(Box::new(Fast::new(rx))) }
    }

    /// The queue, while the program holds no run.
    pub fn idle(&mut self) -> Result<Inside<'_, PackedRx>, Fault> {
        Ok(self.fast()?.inside())
    }

    /// The same with its fast path.
    pub fn fast(&mut self) -> Result<&mut Fast<PackedRx>, Fault> {
        if self.run.is_some() {
            return Err(Fault::new(Status::Busy, "packed receive queue: release the run first"));
        }
        // SAFETY: the pointer is of a box that is freed on drop, and no run borrows the queue.
        Ok(unsafe { &mut *self.rx })
    }

    /// Takes the next run and holds it until the program releases it.
    pub fn poll(&mut self) -> Result<Option<&Run<'static>>, Fault> {
        if self.fast()?.is_inline() {
            let what = "packed queue with inline functions: spfe_fast_run";
            return Err(Fault::new(Status::BadOpcode, what));
        }
        // SAFETY: as in `fast`. The run borrows the queue until it is dropped, in `spfe_run_release`
        // or in `drop`, and nothing else touches the queue before.
        let rx: &'static mut Fast<PackedRx> = unsafe { &mut *self.rx };
        self.run = rx.engine().poll();
        Ok(self.run.as_ref())
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        self.run = None;
        // SAFETY: from `Box::into_raw`, and dropped once; the run that borrowed it is gone.
        drop(unsafe { Box::from_raw(self.rx) });
    }
}
