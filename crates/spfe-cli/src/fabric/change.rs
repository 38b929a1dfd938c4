//! `spfe fabric change`: changes a running fabric.

use super::{FabricSocket, node_number};
use crate::context::Context;
use crate::error::Failure;
use clap::{Args, Subcommand};
use spfe_fabric::topology::NodeNumber;
use spfe_fabric::wire::{FabricChange, FabricRequest};

/// Change a running fabric.
#[derive(Clone, Debug, Args)]
pub struct ChangeArgs {
    #[command(flatten)]
    socket: FabricSocket,
    #[command(subcommand)]
    what: ChangeCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum ChangeCommand {
    /// Add a node, with links like those of another node.
    Add {
        /// The new node.
        #[arg(value_parser = node_number)]
        node: NodeNumber,
        /// The node whose links and partition it gets.
        #[arg(long, value_name = "NODE", value_parser = node_number)]
        like: NodeNumber,
    },
    /// Remove a node; its processes end.
    Remove {
        /// The node.
        #[arg(value_parser = node_number)]
        node: NodeNumber,
    },
    /// Move a node to an isolated network; without a name, back to the common one.
    Partition {
        /// The node.
        #[arg(value_parser = node_number)]
        node: NodeNumber,
        /// Name of the network.
        #[arg(default_value = "")]
        name: String,
    },
    /// Take a link down.
    LinkDown {
        /// One end: 4A, or the name of a switch.
        a: String,
        /// The other end.
        b: String,
    },
    /// Let a link work again.
    LinkUp {
        /// One end.
        a: String,
        /// The other end.
        b: String,
    },
    /// Let the links limit the rate of transfers, or not.
    Rate {
        /// pcie: as fast as the links; unlimited: as fast as memory.
        #[arg(value_parser = ["pcie", "unlimited"])]
        limit: String,
    },
}

/// Changes the fabric.
pub fn run(args: &ChangeArgs, _: &Context) -> Result<(), Failure> {
    let link = |a: &str, b: &str, up| FabricChange::Link { ends: [a.to_owned(), b.to_owned()], up };
    let change = match &args.what {
        ChangeCommand::Add { node, like } => FabricChange::Add { node: *node, like: *like },
        ChangeCommand::Remove { node } => FabricChange::Remove { node: *node },
        ChangeCommand::Partition { node, name } => {
            FabricChange::Partition { node: *node, name: name.clone() }
        }
        ChangeCommand::LinkDown { a, b } => link(a, b, false),
        ChangeCommand::LinkUp { a, b } => link(a, b, true),
        ChangeCommand::Rate { limit } => FabricChange::Rate { limited: limit == "pcie" },
    };
    args.socket.connect()?.call(&FabricRequest::Change(change), &[])?;
    Ok(())
}
