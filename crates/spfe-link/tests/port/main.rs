//! Both layers together: two ports, their lanes and cables.

mod bench;
mod mib;
mod reset;
