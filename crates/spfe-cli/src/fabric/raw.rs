//! `spfe fabric raw`: memory of nodes on the command line.

use super::{FabricSocket, node_number};
use crate::context::Context;
use crate::error::Failure;
use crate::output::table;
use crate::signal;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use spfe_fabric::raw::{FabricBuffer, RawNode, RawWindow, RemoteSegment};
use spfe_fabric::topology::NodeNumber;
use spfe_fabric::wire::{WindowInfo, WindowRights};
use spfe_host::topology::units;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes that one transfer of a command moves.
const BLOCK: usize = 1 << 20;

/// Use the memory of nodes: expose some, write and read that of others, ring doorbells.
///
/// Every command runs as a program on a node, which must be up.
#[derive(Clone, Debug, Args)]
pub struct RawArgs {
    #[command(flatten)]
    socket: FabricSocket,
    /// The node on which the command works.
    #[arg(long, value_name = "NODE", env = "SPFE_FABRIC_NODE", value_parser = node_number)]
    node: NodeNumber,
    #[command(subcommand)]
    command: RawCommand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rights {
    Read,
    Write,
    Both,
}

#[derive(Clone, Debug, Subcommand)]
enum RawCommand {
    /// Expose memory to other nodes until a signal arrives; prints its key.
    Expose {
        /// Bytes, for example 64K.
        #[arg(value_parser = units::size)]
        bytes: u64,
        /// Nodes that may use it.
        #[arg(long, value_name = "NODE", value_parser = node_number, required = true, num_args = 1..)]
        to: Vec<NodeNumber>,
        /// What they may do.
        #[arg(long, value_enum, default_value = "both")]
        rights: Rights,
        /// Fill it with the start of this file.
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Write it to this file at the end; - for standard output.
        #[arg(long, value_name = "FILE")]
        save: Option<PathBuf>,
    },
    /// List the windows that the node exposes or may use.
    Windows,
    /// Write a file into a window.
    Put {
        /// Key of the window.
        #[arg(value_parser = key)]
        key: u64,
        /// The file.
        file: PathBuf,
        /// Where in the window.
        #[arg(long, value_name = "BYTES", default_value = "0", value_parser = units::size)]
        offset: u64,
    },
    /// Read a window into a file.
    Get {
        /// Key of the window.
        #[arg(value_parser = key)]
        key: u64,
        /// The file; - for standard output.
        file: PathBuf,
        /// Where in the window.
        #[arg(long, value_name = "BYTES", default_value = "0", value_parser = units::size)]
        offset: u64,
        /// How much [default: to its end].
        #[arg(long, value_name = "BYTES", value_parser = units::size)]
        bytes: Option<u64>,
    },
    /// Ring a doorbell of a peer: 0 to 63.
    Ring {
        /// The peer.
        #[arg(value_parser = node_number)]
        peer: NodeNumber,
        /// The doorbell.
        number: usize,
    },
    /// Wait until a peer has rung a doorbell more often than so many times; prints the count.
    Wait {
        /// The peer.
        #[arg(value_parser = node_number)]
        peer: NodeNumber,
        /// The doorbell.
        number: usize,
        /// Count that is known already.
        #[arg(default_value_t = 0)]
        seen: u64,
        /// Longest wait.
        #[arg(long, value_name = "TIME", default_value = "10s", value_parser = crate::parse::time)]
        deadline: Duration,
    },
    /// Print the scratchpad that a peer has written, or write one for it: 0 to 15.
    Scratchpad {
        /// The peer.
        #[arg(value_parser = node_number)]
        peer: NodeNumber,
        /// The scratchpad.
        number: usize,
        /// The value to write.
        value: Option<u64>,
    },
}

/// Parses the key of a window, decimal or with 0x.
fn key(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| format!("'{text}' is no key of a window such as 0x1000"))
}

/// Runs the command.
pub fn run(args: &RawArgs, context: &Context) -> Result<(), Failure> {
    let node = RawNode::open(&args.socket.path(), args.node)?;
    match &args.command {
        RawCommand::Expose { bytes, to, rights, from, save } => {
            let files = (from.as_deref(), save.as_deref());
            expose(&node, *bytes, (to, *rights), files, context)
        }
        RawCommand::Windows => windows(&node, context),
        RawCommand::Put { key, file, offset } => put(&node.map(*key)?, file, *offset, context),
        RawCommand::Get { key, file, offset, bytes } => {
            get(&node.map(*key)?, file, *offset, *bytes, context)
        }
        RawCommand::Ring { peer, number } => Ok(node.mailbox(*peer)?.ring(*number)?),
        RawCommand::Wait { peer, number, seen, deadline } => {
            let mailbox = node.mailbox(*peer)?;
            let ns = u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX);
            let Some(count) = mailbox.wait(*number, *seen, ns)? else {
                let what = format!("doorbell {number} of node {peer}: not rung");
                return Err(Failure::timed_out(what));
            };
            print_number("rings", count, context);
            Ok(())
        }
        RawCommand::Scratchpad { peer, number, value } => {
            let mailbox = node.mailbox(*peer)?;
            match value {
                Some(value) => mailbox.write_scratchpad(*number, *value)?,
                None => print_number("value", mailbox.read_scratchpad(*number)?, context),
            }
            Ok(())
        }
    }
}

fn print_number(name: &str, number: u64, context: &Context) {
    if context.json {
        println!("{}", json!({ name: number }));
    } else {
        println!("{number}");
    }
}

fn expose(
    node: &RawNode,
    bytes: u64,
    (peers, rights): (&[NodeNumber], Rights),
    (from, save): (Option<&Path>, Option<&Path>),
    context: &Context,
) -> Result<(), Failure> {
    let too_long = || Failure::usage(format!("{bytes} bytes: more than this machine addresses"));
    let size = usize::try_from(bytes).map_err(|_| too_long())?;
    let mut buffer = FabricBuffer::new(size)?;
    if let Some(path) = from {
        let mut content = vec![0; size];
        let failed = |error| Failure::io(format_args!("file '{}'", path.display()), &error);
        let mut file = std::fs::File::open(path).map_err(failed)?;
        let mut filled = 0;
        while filled < size {
            match file.read(&mut content[filled..]).map_err(failed)? {
                0 => break,
                read => filled += read,
            }
        }
        buffer.write(0, &content[..filled])?;
    }
    let rights = match rights {
        Rights::Read => WindowRights::Read,
        Rights::Write => WindowRights::Write,
        Rights::Both => WindowRights::ReadWrite,
    };
    let (key, address) = node.expose(&mut buffer, peers, rights)?;
    if context.json {
        println!("{}", json!({ "key": key, "address": address, "bytes": bytes }));
    } else {
        println!("{key:#x}");
        context.say(&format!("window {key:#x}: {bytes} bytes at {address:#x}"));
    }
    while signal::sleep(Duration::from_secs(1)) {}
    node.revoke(&mut buffer)?;
    if let Some(path) = save {
        let mut content = vec![0; size];
        buffer.read(0, &mut content)?;
        store(path, &content)?;
    }
    Ok(())
}

fn store(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let failed = |error| Failure::io(format_args!("file '{}'", path.display()), &error);
    if path.as_os_str() == "-" {
        let mut out = std::io::stdout().lock();
        return out.write_all(content).and_then(|()| out.flush()).map_err(failed);
    }
    std::fs::write(path, content).map_err(failed)
}

fn windows(node: &RawNode, context: &Context) -> Result<(), Failure> {
    let windows = node.windows()?;
    if context.json {
        println!("{}", json!(windows));
        return Ok(());
    }
    let row = |one: &WindowInfo| {
        let peers = (1..=64u8).filter(|number| one.peers >> (number - 1) & 1 == 1);
        let peers: Vec<String> = peers.map(|number| number.to_string()).collect();
        let rights = match one.rights {
            WindowRights::Read => "read",
            WindowRights::Write => "write",
            WindowRights::ReadWrite => "both",
        };
        vec![
            format!("{:#x}", one.key),
            one.owner.to_string(),
            format!("{:#x}", one.address),
            rights.to_owned(),
            peers.join(","),
            one.bytes.to_string(),
        ]
    };
    let rows: Vec<_> = windows.iter().map(row).collect();
    print!("{}", table(&["KEY", "OWNER", "ADDRESS", "RIGHTS", "FOR", "BYTES"], 5, &rows));
    Ok(())
}

fn put(window: &RawWindow, path: &Path, offset: u64, context: &Context) -> Result<(), Failure> {
    let content = std::fs::read(path)
        .map_err(|error| Failure::io(format_args!("file '{}'", path.display()), &error))?;
    let mut at = offset;
    for block in content.chunks(BLOCK) {
        window.put(&[block], &[RemoteSegment { offset: at, bytes: block.len() }])?;
        at += block.len() as u64;
    }
    context.say(&format!("{} bytes written to node {}", content.len(), window.owner()));
    Ok(())
}

fn get(
    window: &RawWindow,
    path: &Path,
    offset: u64,
    bytes: Option<u64>,
    context: &Context,
) -> Result<(), Failure> {
    let bytes = bytes.unwrap_or(window.bytes().saturating_sub(offset));
    let outside = offset.checked_add(bytes).is_none_or(|end| end > window.bytes());
    if outside || bytes == 0 {
        let what = format!(
            "{bytes} bytes at {offset}: the window has {} bytes (OUT_OF_BOUNDS)",
            window.bytes()
        );
        return Err(Failure::failed(what));
    }
    // Not longer than the window, which is mapped.
    let mut content = vec![0; bytes as usize];
    let mut at = offset;
    for block in content.chunks_mut(BLOCK) {
        let part = RemoteSegment { offset: at, bytes: block.len() };
        at += block.len() as u64;
        window.get(&[part], &mut [block])?;
    }
    store(path, &content)?;
    context.say(&format!("{bytes} bytes read from node {}", window.owner()));
    Ok(())
}
