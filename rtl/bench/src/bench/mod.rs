//! Measurements in virtual time, and their records.

pub mod bandwidth;
pub mod bed;
pub mod contention;
pub mod generics;
pub mod jobs;
pub mod latency;
pub mod meta;
pub mod modes;
pub mod partner;
pub mod record;
pub mod synthesis;
