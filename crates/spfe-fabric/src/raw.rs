//! Raw mode: from user memory to user memory.
//!
//! A program on a node exposes memory to other nodes, which map it and move bytes there and back. The
//! processor that asks for a transfer copies; one copy is all there is. Nothing is guaranteed about
//! the other program: it learns of a transfer by a flag, a doorbell or a scratchpad.
//!
//! Two things protect memory. The kernel lets only the nodes that the owner named map a window, and
//! only for reading if the owner said so. And each transfer is checked against the directory that the
//! backplane alone writes: a window that was revoked, or whose owner is not reached, is refused with
//! a status, and counted.

mod buffer;
mod mailbox;
mod window;

pub use buffer::FabricBuffer;
pub use mailbox::RawMailbox;
pub use window::{LocalSegment, RawWindow, RemoteSegment, SEGMENTS_MAX};

use crate::client::FabricClient;
use crate::memory::{Directory, Mailbox, NodePage};
use crate::node::open_shared;
use crate::topology::NodeNumber;
use crate::wire::{
    FABRIC_PROTOCOL, FabricError, FabricReply, FabricRequest, WindowInfo, WindowRights,
};
use rustix::fd::OwnedFd;
use spfe_contract::Status;
use std::path::Path;
use std::sync::Arc;

/// A program's access to the fabric on a node.
pub struct RawNode {
    client: FabricClient,
    node: NodeNumber,
    page: Arc<NodePage>,
    directory: Arc<Directory>,
}

impl RawNode {
    /// Opens raw mode on a node that is up.
    ///
    /// # Errors
    /// NOT_FOUND without fabric or node; LINK_DOWN if no process runs the node.
    pub fn open(socket: &Path, node: NodeNumber) -> Result<Self, FabricError> {
        let client = FabricClient::connect(socket)?;
        let request = FabricRequest::JoinRaw { version: FABRIC_PROTOCOL, node };
        let (reply, fds) = client.call(&request, &[])?;
        if !matches!(reply, FabricReply::Joined { .. }) {
            return Err(FabricError::unexpected(&reply));
        }
        let (page, directory) = open_shared(fds)?;
        Ok(Self { client, node, page: Arc::new(page), directory: Arc::new(directory) })
    }

    /// The node.
    pub fn node(&self) -> NodeNumber {
        self.node
    }

    /// The nodes that are READY for this one: bit n - 1 for node n.
    pub fn ready(&self) -> u64 {
        let node = self.node.index().unwrap_or(0);
        self.directory.reach(node).load(std::sync::atomic::Ordering::Acquire)
    }

    /// Shows a buffer to nodes. Returns the key that they need and the address in the fabric. A buffer
    /// is exposed once at a time.
    ///
    /// # Errors
    /// BUSY if it is exposed; QUOTA_EXCEEDED beyond the node's memory window; NO_RESOURCES beyond the
    /// windows of the fabric; ACCESS_DENIED to let peers write what peers could only read before.
    pub fn expose(
        &self,
        buffer: &mut FabricBuffer,
        peers: &[NodeNumber],
        rights: WindowRights,
    ) -> Result<(u64, u64), FabricError> {
        buffer.prepare(rights)?;
        let mut mask = 0u64;
        for peer in peers {
            let Some(index) = peer.index() else {
                return Err(FabricError::new(Status::NotFound, format!("expose: no node {peer}")));
            };
            mask |= 1 << index;
        }
        let request = FabricRequest::Expose { bytes: buffer.bytes() as u64, peers: mask, rights };
        let (reply, _) = self.client.call(&request, &[buffer.fd()])?;
        let FabricReply::Exposed { key, address } = reply else {
            return Err(FabricError::unexpected(&reply));
        };
        buffer.set_key(Some(key));
        Ok((key, address))
    }

    /// Ends the exposure of a buffer. When this returns, no peer can read or write it: it lies in
    /// fresh memory, at the same address in this process, with the same bytes. What peers have mapped
    /// is memory that nobody else uses. Bytes that arrive during the call may be lost.
    ///
    /// # Errors
    /// BAD_REGION if it is not exposed; NO_RESOURCES if there is no memory for the copy.
    pub fn revoke(&self, buffer: &mut FabricBuffer) -> Result<(), FabricError> {
        let Some(key) = buffer.key() else {
            return Err(FabricError::new(Status::BadRegion, "revoke: the buffer is not exposed"));
        };
        let (reply, _) = self.client.call(&FabricRequest::Revoke { key }, &[])?;
        if reply != FabricReply::Done {
            return Err(FabricError::unexpected(&reply));
        }
        buffer.set_key(None);
        buffer.renew()
    }

    /// Maps a window of another node.
    ///
    /// # Errors
    /// BAD_REGION if there is no such window; ACCESS_DENIED if it is not for this node; LINK_DOWN if
    /// its owner is not READY.
    pub fn map(&self, key: u64) -> Result<RawWindow, FabricError> {
        let (reply, fds) = self.client.call(&FabricRequest::Map { key }, &[])?;
        let (FabricReply::Mapped { owner, bytes, rights, port }, Some(fd)) =
            (&reply, fds.into_iter().next())
        else {
            return Err(FabricError::unexpected(&reply));
        };
        let shared = (Arc::clone(&self.page), Arc::clone(&self.directory));
        RawWindow::open(shared, self.node, key, (*owner, *bytes, *rights), *port, fd)
    }

    /// Doorbells and scratchpads between this node and a peer.
    ///
    /// # Errors
    /// LINK_DOWN if the peer is not READY.
    pub fn mailbox(&self, peer: NodeNumber) -> Result<RawMailbox, FabricError> {
        let (reply, fds) = self.client.call(&FabricRequest::Mailboxes { peer }, &[])?;
        let [inward, outward]: [OwnedFd; 2] =
            fds.try_into().map_err(|_| FabricError::unexpected(&reply))?;
        let failed = |error: std::io::Error| FabricError::io("mailbox", &error);
        let inward = Mailbox::open_to_read(&inward).map_err(failed)?;
        let outward = Mailbox::open(outward).map_err(failed)?;
        Ok(RawMailbox::new(Arc::clone(&self.page), peer, inward, outward))
    }

    /// The windows that this node exposes or may map, as every node sees them.
    ///
    /// # Errors
    /// DEVICE_GONE if the backplane is gone.
    pub fn windows(&self) -> Result<Vec<WindowInfo>, FabricError> {
        self.client.document(&FabricRequest::Windows)
    }
}
