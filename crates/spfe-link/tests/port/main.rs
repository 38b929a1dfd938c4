//! Both layers together: two ports with their lanes and cables.

mod bench;
mod early;
mod mib;
mod reset;
