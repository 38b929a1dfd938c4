//! A virtual PCIe fabric: processors on a backplane that see each other through non-transparent
//! bridges.
//!
//! | module | content |
//! | --- | --- |
//! | [`topology`] | nodes, switches, links and rates as data; a checker |
//! | [`backplane`] | knows who is there and gives each pair its memory; carries no payload |
//! | [`node`] | the process of a node: frames between its interface and its peers |
//! | [`ether`] | Ethernet addresses of nodes, and answers to questions for them |
//! | [`memory`], [`ring`] | shared memory of pairs, which the other side may fill with anything |
//! | [`raw`] | transfers from user memory to user memory, doorbells, scratchpads |
//! | [`stream`] | rings of bytes under TCP connections |
//! | [`pace`] | limits of links |
//! | [`status`] | the state of a fabric as data and as tables |
//!
//! docs/fabric.md explains how to use it.

pub mod backplane;
pub mod client;
pub mod ether;
pub mod memory;
pub mod node;
pub mod pace;
mod peer;
pub mod raw;
pub mod ring;
pub mod status;
pub mod stream;
pub mod topology;
pub mod wire;
