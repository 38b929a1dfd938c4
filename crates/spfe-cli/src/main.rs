//! `spfe`: the library on the command line.

#[macro_use]
mod console;

mod address;
mod answers;
mod assembly;
mod bridge;
mod broadcast;
mod capture;
mod cli;
mod completions;
mod context;
mod decode;
mod error;
mod fabric;
mod fault;
mod frame;
mod info;
mod interrupt;
mod ip;
mod link;
mod list;
mod man;
mod output;
mod packet;
mod parse;
mod perf;
mod ping;
mod ports;
mod post;
mod rdma;
mod recv;
mod rmap;
mod scenario;
mod send;
mod signal;
mod sim;
mod stats;
mod target;
mod timecode;
mod topo;
mod transfer;

fn main() -> std::process::ExitCode {
    cli::main()
}
