//! The engine with a packed area: any transmit entries and any RELEASE.
#![no_main]

use spfe_contract::QueueKind;
use spfe_fuzz::lab::{Input, run};

libfuzzer_sys::fuzz_target!(|input: Input| run(input, QueueKind::RxPacked));
