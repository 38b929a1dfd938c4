//! The engine with a packed area: any transmit entries and any RELEASE.

use spfe_contract::QueueKind;
use crate::lab::{Input, run};

crate::target!(|input: Input| run(input, QueueKind::RxPacked));
