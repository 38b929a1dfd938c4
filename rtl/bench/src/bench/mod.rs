//! Measurements in virtual time, and the records of them.

pub mod bandwidth;
pub mod bed;
pub mod contention;
pub mod jobs;
pub mod latency;
pub mod modes;
pub mod partner;
pub mod record;
