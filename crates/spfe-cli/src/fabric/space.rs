//! Network namespaces of nodes.

use super::{FabricSocket, node_number};
use crate::error::Failure;
use clap::Args;
use spfe_fabric::status::FabricStatus;
use spfe_fabric::topology::NodeNumber;
use spfe_fabric::wire::FabricRequest;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Run a command on a node: in the network namespace of its process.
#[derive(Clone, Debug, Args)]
pub struct ExecArgs {
    #[command(flatten)]
    socket: FabricSocket,
    /// The node.
    #[arg(value_parser = node_number)]
    node: NodeNumber,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Runs the command; returns only if that fails.
pub fn exec(args: &ExecArgs) -> Result<(), Failure> {
    let status: FabricStatus = args.socket.connect()?.document(&FabricRequest::Status)?;
    let node = status.nodes.iter().find(|node| node.node == args.node);
    let Some(process) = node.and_then(|node| node.process) else {
        let what = format!("node {}: no process runs it here", args.node);
        return Err(Failure::not_there(what));
    };
    enter(process)
        .map_err(|error| Failure::io(format_args!("namespaces of process {process}"), &error))?;
    let [program, arguments @ ..] = &args.command[..] else {
        return Err(Failure::usage("a command is missing"));
    };
    let error = Command::new(program).args(arguments).exec();
    Err(Failure::io(format_args!("command {}", program.display()), &error))
}

/// Enters the network namespace of a process, and its user namespace if it has another one.
fn enter(process: i32) -> io::Result<()> {
    let open = |name: &str| File::open(format!("/proc/{process}/ns/{name}"));
    let (user, net) = (open("user")?, open("net")?);
    let is_own = {
        use std::os::unix::fs::MetadataExt;
        File::open("/proc/self/ns/user")?.metadata()?.ino() == user.metadata()?.ino()
    };
    let spaces = if is_own { vec![net] } else { vec![user, net] };
    for space in spaces {
        // SAFETY: no memory is passed. The process has one thread, which a user namespace needs.
        if unsafe { libc::setns(space.as_raw_fd(), 0) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Moves this process into a network namespace of its own. A user without privilege becomes root of a
/// user namespace. The process must have one thread.
pub fn leave() -> io::Result<()> {
    // SAFETY: these calls take and change no memory.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let alone = |flags| {
        // SAFETY: no memory is passed; nothing of this process depends on the namespaces yet.
        if unsafe { libc::unshare(flags) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    if user == 0 && alone(libc::CLONE_NEWNET).is_ok() {
        return Ok(());
    }
    alone(libc::CLONE_NEWUSER | libc::CLONE_NEWNET)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}
