//! The engine with posted buffers: any entries, which the hosts may change at any time.

use spfe_contract::QueueKind;
use crate::lab::{Input, run};

crate::target!(|input: Input| run(input, QueueKind::Rx));
