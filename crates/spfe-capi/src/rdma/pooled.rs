//! The pooled form of a queue pair: requests that repeat.

use super::{CRequest, Pair, RdmaHandle, refuse, result};
use crate::args::{found, read_sized, write};
use crate::handle;
use crate::queue::deadline;
use crate::result::{Fault, run};
use spfe::{Ready, Status, Threshold};
use spfe_remote::engine::{Execution, WorkRequest};
use spfe_remote::{PooledPair, RdmaQueue};
use std::ffi::c_int;

impl Pair {
    /// Turns the queue into its pooled form. Returns the number of requests.
    fn pool(&mut self, request: &WorkRequest, local: u32, remote: u64) -> Result<u32, Fault> {
        self.queue()?.can_pool(request, local)?;
        let Self::Queue(queue) = std::mem::replace(self, Self::Lost) else {
            return Err(Self::lost());
        };
        let pooled = queue.pooled(request, local, remote)?;
        let requests = pooled.requests();
        *self = Self::Pooled(Box::new(pooled));
        Ok(requests)
    }

    /// Turns it into an ordinary queue.
    fn unpool(&mut self) -> Result<(), Fault> {
        self.pooled()?;
        if let Self::Pooled(pooled) = std::mem::replace(self, Self::Lost) {
            *self = Self::Queue(RdmaQueue::from_pooled(*pooled));
        }
        Ok(())
    }

    fn pooled(&mut self) -> Result<&mut PooledPair, Fault> {
        match self {
            Self::Pooled(pooled) => Ok(pooled),
            Self::Queue(_) => Err(refuse("RDMA queue: not pooled: spfe_rdma_pool() first".into())),
            Self::Lost => Err(Self::lost()),
        }
    }
}

fn with<R>(
    queue: *mut RdmaHandle,
    body: impl FnOnce(&mut PooledPair) -> Result<R, Fault>,
) -> Result<R, Fault> {
    handle::with(queue, |pair| body(pair.pooled()?))
}

/// Waits for completions of groups. A time-out says what the queue waits for.
pub fn wait(pooled: &mut PooledPair, goal: &Threshold, timeout_ns: u64) -> Result<Ready, Fault> {
    let until = deadline(pooled.now_ns().saturating_add(timeout_ns));
    pooled.wait_for(goal, until).map_err(|error| match error.is_timeout() {
        true => Fault::timed_out(pooled.why()),
        false => error.into(),
    })
}

/// struct spfe_rdma_group.
#[repr(C)]
pub struct CGroup {
    first: u32,
    requests: u32,
    bytes: u32,
    status: i32,
    not_executed: u32,
    reserved: u32,
}

/// Number of requests of the pooled form.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_pool_requests(queue: *mut RdmaHandle) -> c_int {
    run(|| {
        handle::with(queue, |pair| {
            let requests = match pair {
                Pair::Pooled(pooled) => pooled.requests(),
                pair => pair.queue()?.pooled_requests(),
            };
            Ok(requests as c_int)
        })
    })
}

/// Turns a queue into its pooled form.
///
/// # Safety
/// `request` is null or points to as many bytes as its size says, and its lists are as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_pool(
    queue: *mut RdmaHandle,
    request: *const CRequest,
    local_stride: u32,
    remote_stride: u64,
) -> c_int {
    run(|| {
        if request.is_null() {
            return Err(refuse("RDMA request: NULL".to_owned()));
        }
        // SAFETY: the caller's promise; integers and pointers may be zero.
        let request = unsafe { read_sized(request)?.request()? };
        handle::with(queue, |pair| Ok(pair.pool(&request, local_stride, remote_stride)? as c_int))
    })
}

/// Turns it into an ordinary queue.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_unpool(queue: *mut RdmaHandle) -> c_int {
    run(|| handle::with(queue, Pair::unpool).map(|()| 0))
}

/// Local bytes of a request.
///
/// # Safety
/// `data` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_pooled_data(
    queue: *mut RdmaHandle,
    request: u32,
    data: *mut *mut u8,
) -> c_int {
    run(|| {
        let at = with(queue, |pooled| {
            let requests = pooled.requests();
            if request >= requests {
                return Err(refuse(format!("request {request} of a pooled queue of {requests}")));
            }
            let what = || format!("request {request} of a pooled queue: it is outstanding");
            let bytes = pooled.bytes(request).ok_or_else(|| Fault::new(Status::Busy, what()))?;
            Ok(bytes.as_mut_ptr())
        })?;
        // SAFETY: the caller's promise.
        unsafe { write(data, at) }
    })
}

/// Adds the next requests to the group.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_stage(queue: *mut RdmaHandle, count: u32) -> c_int {
    run(|| {
        with(queue, |pooled| {
            let staged = (0..count).take_while(|_| pooled.stage()).count();
            // A ring has fewer.
            Ok(staged as c_int)
        })
    })
}

/// Posts the group.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_submit(queue: *mut RdmaHandle) -> c_int {
    run(|| {
        with(queue, |pooled| {
            pooled.submit();
            Ok(0)
        })
    })
}

/// Takes the next completion of a group.
///
/// # Safety
/// `group` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_group_poll(queue: *mut RdmaHandle, group: *mut CGroup) -> c_int {
    run(|| {
        if group.is_null() {
            return Err(refuse("place for the completion of a group: NULL".to_owned()));
        }
        let ended = with(queue, |pooled| {
            let first = pooled.oldest_request();
            Ok(pooled.poll().map(|done| {
                let error = done.error();
                let untouched = |error: spfe_remote::engine::WorkError| {
                    error.execution() == Execution::NotExecuted
                };
                CGroup {
                    first,
                    requests: done.requests,
                    bytes: if error.is_none() { done.bytes } else { 0 },
                    status: error.map_or(0, result),
                    not_executed: error.is_some_and(untouched).into(),
                    reserved: 0,
                }
            }))
        })?;
        match ended {
            // SAFETY: the caller's promise.
            Some(ended) => unsafe { found(group, ended) },
            None => Ok(0),
        }
    })
}
