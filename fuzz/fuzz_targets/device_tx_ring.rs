//! The engine with posted buffers: any entries, which the hosts may change at any time.
#![no_main]

use spfe_contract::QueueKind;
use spfe_fuzz::lab::{Input, run};

libfuzzer_sys::fuzz_target!(|input: Input| run(input, QueueKind::Rx));
