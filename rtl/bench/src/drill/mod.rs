//! Scripts of segments: at least one for each point of conformance.
//!
//! [`script`] parses them. [`run`] acts as peer and user of an [`endpoint::Endpoint`].

pub mod args;
pub mod caught;
pub mod endpoint;
pub mod run;
pub mod script;
mod set;
pub mod steps;
pub mod suite;
mod verbs;
pub mod wire;
mod world;

pub use world::pattern;
