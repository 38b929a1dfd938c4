//! Scripts of segments: one or more for each point of conformance.
//!
//! [`script`] reads them, [`run`] plays the peer and the user against an [`endpoint::Endpoint`].

pub mod args;
pub mod caught;
pub mod endpoint;
pub mod run;
pub mod script;
mod set;
pub mod suite;
mod verbs;
pub mod wire;
mod world;

pub use world::pattern;
