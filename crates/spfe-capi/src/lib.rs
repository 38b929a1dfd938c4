//! The C interface: the functions that `include/spfe/spfe.h` declares and documents.
//!
//! Each function checks its handles, calls the library, and turns the result into a number. Handles
//! outlive what they stand for ([`handle`]), so a closed one is an error and not a crash. A panic of
//! the library, which would be a defect, becomes SPFE_INTERNAL.

mod args;
mod capture;
mod ccsds;
mod endpoint;
mod fabric;
mod fast;
mod handle;
mod hold;
mod inline;
mod message;
mod packed;
mod pooled;
mod posted;
mod queue;
mod rdma;
mod region;
mod result;
mod rmap;
mod target;
