//! The completions that the results of the model make, as the contract says.

use crate::pins::Job;
use spfe_contract::{Status, completion_flags};
use spfe_rdma::{Execution, RdmaInitiator, WorkCompletion};
use std::collections::VecDeque;

#[derive(Default)]
pub struct Results {
    /// Position and bytes of each request that the model has.
    outstanding: VecDeque<(u16, u32)>,
    /// Requests and bytes that succeeded and are not reported, and the position of the last one.
    pending: (u16, u64, u16),
    pub jobs: VecDeque<Job>,
}

impl Results {
    pub fn post(&mut self, position: u16, bytes: u32) {
        self.outstanding.push_back((position, bytes));
    }

    fn succeed(&mut self, (position, bytes): (u16, u32), signal: bool) {
        self.pending = (self.pending.0 + 1, self.pending.1 + u64::from(bytes), position);
        if signal {
            self.report();
        }
    }

    fn report(&mut self) {
        let (requests, bytes, position) = std::mem::take(&mut self.pending);
        if requests > 0 {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            let (status, flags) = (Status::Ok.raw(), 0);
            self.jobs.push_back(Job { position, status, requests, bytes, flags, urgent: false });
        }
    }

    pub fn fail(&mut self, position: u16, status: Status, detail: u32, unknown: bool) {
        self.report();
        let flags = if unknown { completion_flags::UNKNOWN } else { 0 };
        let status = status.raw();
        let job = Job { position, status, requests: 1, bytes: detail, flags, urgent: true };
        self.jobs.push_back(job);
    }

    /// Takes what the model has finished.
    pub fn collect(&mut self, model: &mut RdmaInitiator) {
        while let Some(done) = model.poll() {
            self.take(&done);
        }
        while self.outstanding.len() > model.outstanding() {
            let oldest = self.outstanding.pop_front().expect("is there");
            self.succeed(oldest, false);
        }
    }

    fn take(&mut self, done: &WorkCompletion) {
        while let Some(oldest) = self.outstanding.pop_front() {
            if u64::from(oldest.0) != done.id {
                self.succeed(oldest, false);
                continue;
            }
            match done.result {
                Ok(()) => self.succeed(oldest, true),
                Err(error) => {
                    let unknown = error.execution() == Execution::Unknown;
                    self.fail(oldest.0, error.status(), error.refusal().0.into(), unknown);
                }
            }
            return;
        }
    }
}
