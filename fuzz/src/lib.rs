//! Fuzz targets of spfe: everything that reads what somebody else wrote.
//!
//! Each module of [`targets`] is a target: a function that runs one input. `fuzz_targets/` makes a
//! libFuzzer program of each; `replay/` runs the inputs of `seeds/` through the same
//! functions with any compiler. The other modules are a small network, hostile clients, and memory
//! that must not be touched:
//!
//! | module | content |
//! | --- | --- |
//! | [`account`] | limits of a step, checks of counters |
//! | [`entry`] | ring entries from fuzz input |
//! | [`memory`] | memory with a pattern that must not change |
//! | [`ring`] | the host side of a queue, honest or hostile |
//! | [`link`] | words of a SpaceFibre line |
//! | [`lab`] | two clients, their neighbours and the engine |

use arbitrary::{Arbitrary, Unstructured};

pub mod account;
pub mod entry;
pub mod lab;
pub mod link;
pub mod memory;
pub mod ring;

// Modules of the programs, which cannot be named from outside. They find each other, and the errors
// of the library, at the root of the crate.
#[allow(dead_code, unused_imports)]
#[path = "../../crates/spfe-cli/src"]
mod cli {
    pub mod assembly;
    pub mod context;
    pub mod decode;
    pub mod error;
    pub mod frame;
    #[path = "ip/inbound.rs"]
    pub mod inbound;
    pub mod output;
    pub mod parse;
    pub mod signal;
    #[path = "bridge/ssdtp2.rs"]
    pub mod ssdtp2;
}
#[allow(dead_code)]
#[path = "../../crates/spfe/src/uri.rs"]
mod uri;
use cli::{assembly, context, decode, error, frame, inbound, output, parse, signal, ssdtp2};
use spfe::{Error, Result};

/// Defines `fuzz`, which runs one input of a target. False if the bytes are no input of it.
macro_rules! target {
    (|$input:ident: $type:ty| $run:expr) => {
        /// Runs one input. False if the bytes are no input of this target.
        pub fn fuzz(data: &[u8]) -> bool {
            fn one($input: $type) {
                $run
            }
            crate::input(data).map(one).is_some()
        }
    };
}
pub(crate) use target;

/// Declares the targets and their list.
macro_rules! targets {
    ($($name:ident)*) => {
        /// The targets.
        pub mod targets {
            $(pub mod $name;)*
        }

        /// Names and functions of the targets.
        pub const TARGETS: &[(&str, fn(&[u8]) -> bool)] =
            &[$((stringify!($name), targets::$name::fuzz),)*];
    };
}
targets! {
    board
    cli_parse
    completion_reader
    decode
    device_packed_ring
    device_tx_ring
    driver_registers
    ethernet
    fabric_request
    fabric_ring
    fabric_stream
    fabric_topology
    foreign_stream
    guest_memory
    link_data
    link_lane
    link_multilane
    link_router
    message_ring
    pcapng
    proto
    rdma_ring
    registers
    report_json
    scenario
    session_request
    session_server
    sfrp_initiator
    sfrp_packet
    sfrp_target
    spacewire_port
    tcp_bench
    trace
    uri
    vfio_user
}

/// The input that bytes stand for, decoded as libFuzzer's macro does it.
fn input<'a, T: Arbitrary<'a>>(data: &'a [u8]) -> Option<T> {
    if data.len() < T::size_hint(0).0 {
        return None;
    }
    T::arbitrary_take_rest(Unstructured::new(data)).ok()
}
