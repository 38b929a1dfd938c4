//! Windows: memory that a node shows to others, and the mailboxes between nodes.

use super::clients::{Client, ClientRole};
use super::{Backplane, no_node};
use crate::memory::{self, Mailbox, WINDOWS_MAX};
use crate::topology::{FabricTopology, NodeNumber};
use crate::wire::{FabricError, FabricReply, WindowInfo, WindowRights};
use rustix::fd::OwnedFd;
use rustix::fs::{SealFlags, fcntl_get_seals, fstat};
use spfe_contract::Status;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::sync::atomic::Ordering;

/// Addresses of windows are multiples of this.
const WINDOW_ALIGN: u64 = 4096;

/// A window.
#[derive(Debug)]
pub struct WindowEntry {
    /// Owner.
    pub owner: NodeNumber,
    /// The client that exposed it.
    pub client: u64,
    fd: OwnedFd,
    bytes: u64,
    peers: u64,
    rights: WindowRights,
    /// Offset in the memory window of the owner.
    offset: u64,
}

/// Every window and mailbox.
#[derive(Debug, Default)]
pub struct WindowTable {
    windows: BTreeMap<u64, WindowEntry>,
    /// Memory of (owner, writer).
    mailboxes: BTreeMap<(NodeNumber, NodeNumber), OwnedFd>,
    generation: u64,
}

impl WindowTable {
    /// Drops the mailboxes of a node: its next life gets new ones.
    pub fn drop_mailboxes(&mut self, node: NodeNumber) {
        self.mailboxes.retain(|(owner, writer), _| *owner != node && *writer != node);
    }

    /// Number of windows of a node, and their bytes.
    pub fn of(&self, owner: NodeNumber) -> (usize, u64) {
        let own = self.windows.values().filter(|window| window.owner == owner);
        own.fold((0, 0), |(count, bytes), window| (count + 1, bytes + window.bytes))
    }

    /// A free place of so many bytes in the memory window of a node.
    fn place(&self, owner: NodeNumber, bytes: u64, limit: u64) -> Option<u64> {
        let mut used: Vec<(u64, u64)> = self
            .windows
            .values()
            .filter(|window| window.owner == owner)
            .map(|window| (window.offset, window.offset + window.bytes))
            .collect();
        used.sort_unstable();
        let mut at = 0u64;
        for (start, end) in used {
            if at.checked_add(bytes)? <= start {
                return Some(at);
            }
            at = at.max(end.next_multiple_of(WINDOW_ALIGN));
        }
        (at.checked_add(bytes)? <= limit).then_some(at)
    }
}

impl FabricTopology {
    /// Address of a node's memory window in the fabric.
    pub fn memory_window(&self, node: NodeNumber) -> u64 {
        let step = self.window.next_power_of_two().max(WINDOW_ALIGN);
        MEMORY_START + u64::from(node.0.saturating_sub(1)) * step
    }

    /// Address and size of a node's control window: the control page and the ring of a peer.
    pub fn control_window(&self, node: NodeNumber) -> (u64, u64) {
        let bytes = memory::PairMemory::bytes(self.ring as usize) as u64;
        let step = bytes.next_power_of_two();
        (CONTROL_START + u64::from(node.0.saturating_sub(1)) * step, bytes)
    }
}

/// Address of the first memory window: above what processors use for memory.
const MEMORY_START: u64 = 0x4000_0000_0000;
/// Address of the first control window.
const CONTROL_START: u64 = 0x3000_0000_0000;

impl Backplane {
    pub(super) fn join_raw(
        &mut self,
        number: u64,
        node: NodeNumber,
    ) -> Result<(FabricReply, Vec<OwnedFd>), FabricError> {
        let Some(entry) = self.nodes.get(&node).filter(|entry| entry.client.is_some()) else {
            if self.topology.node(node).is_none() {
                return Err(no_node(&self.topology, node));
            }
            let what = format!("node {node}: no process runs it; start `spfe fabric node {node}`");
            return Err(FabricError::new(Status::LinkDown, what));
        };
        if self.clients.get(&number).map(Client::role) != Some(ClientRole::New) {
            return Err(FabricError::new(Status::Busy, "this client has joined before"));
        }
        let refused = |error: io::Error| FabricError::io("memory of a node", &error);
        let page = entry.page.fd().try_clone_to_owned().map_err(refused)?;
        let directory = self.directory.fd().try_clone_to_owned().map_err(refused)?;
        let joined = self.joined(node, entry.epoch);
        if let Some(client) = self.clients.get_mut(&number) {
            client.join(ClientRole::Raw(node));
        }
        Ok((joined, vec![page, directory]))
    }

    fn raw_client(&self, number: u64) -> Result<NodeNumber, FabricError> {
        self.raw_of(number).ok_or_else(|| {
            FabricError::new(Status::AccessDenied, "this client does not use raw mode")
        })
    }

    pub(super) fn expose(
        &mut self,
        number: u64,
        fd: Option<OwnedFd>,
        bytes: u64,
        peers: u64,
        rights: WindowRights,
    ) -> Result<(FabricReply, Vec<OwnedFd>), FabricError> {
        let owner = self.raw_client(number)?;
        let fd = fd.ok_or_else(|| FabricError::new(Status::BadRegion, "expose: no memory"))?;
        let size = fstat(&fd).map_or(0, |stat| stat.st_size.unsigned_abs());
        let seals = fcntl_get_seals(&fd).unwrap_or(SealFlags::empty());
        if !seals.contains(SealFlags::SHRINK) {
            let what = "expose: the memory is no memfd that is sealed against shrinking";
            return Err(FabricError::new(Status::BadRegion, what));
        }
        if !rights.can_write() && !seals.contains(SealFlags::FUTURE_WRITE) {
            let what = "expose: memory that peers only read must have the seal F_SEAL_FUTURE_WRITE";
            return Err(FabricError::new(Status::BadRegion, what));
        }
        if bytes == 0 || bytes > size {
            let what = format!("expose: {bytes} bytes of memory of {size} bytes");
            return Err(FabricError::new(Status::OutOfBounds, what));
        }
        let limit = self.topology.window;
        let Some(offset) = self.windows.place(owner, bytes, limit) else {
            let (count, used) = self.windows.of(owner);
            let what = format!(
                "expose: {bytes} bytes do not fit: node {owner} exposes {used} of {limit} bytes in \
                 {count} windows; revoke some, or raise `window` in the topology"
            );
            return Err(FabricError::new(Status::QuotaExceeded, what));
        };
        let free =
            (0..WINDOWS_MAX).find(|slot| self.directory.window(*slot).load(Ordering::Relaxed) == 0);
        let Some(slot) = free else {
            let what = format!("expose: the fabric has {WINDOWS_MAX} windows, the most");
            return Err(FabricError::new(Status::NoResources, what));
        };
        self.windows.generation += 1;
        let key = self.windows.generation * WINDOWS_MAX as u64 + slot as u64;
        let client = number;
        let window = WindowEntry { owner, client, fd, bytes, peers, rights, offset };
        self.windows.windows.insert(key, window);
        // Release pairs with the acquire in `RawWindow::check`.
        self.directory.window(slot).store(key, Ordering::Release);
        let address = self.topology.memory_window(owner) + offset;
        Ok((FabricReply::Exposed { key, address }, Vec::new()))
    }

    pub(super) fn revoke(&mut self, number: u64, key: u64) -> Result<(), FabricError> {
        let owner = self.raw_client(number)?;
        let own = self.windows.windows.get(&key);
        if own.is_none_or(|window| window.client != number) {
            let what = format!("revoke: window {key:#x} is none of this client's at node {owner}");
            return Err(FabricError::new(Status::BadRegion, what));
        }
        self.forget(key);
        Ok(())
    }

    fn forget(&mut self, key: u64) {
        if self.windows.windows.remove(&key).is_some() {
            // After this store no access that begins finds the window.
            self.directory.window(key as usize % WINDOWS_MAX).store(0, Ordering::SeqCst);
        }
    }

    /// Drops the windows for which `is_gone` says true.
    pub(super) fn drop_windows(&mut self, is_gone: impl Fn(&WindowEntry) -> bool) {
        let gone: Vec<u64> = self
            .windows
            .windows
            .iter()
            .filter(|(_, one)| is_gone(one))
            .map(|(key, _)| *key)
            .collect();
        for key in gone {
            self.forget(key);
        }
    }

    /// Ends the mailboxes of two nodes that no longer reach each other.
    pub(super) fn drop_mailboxes_between(&mut self, a: NodeNumber, b: NodeNumber) {
        self.windows.mailboxes.retain(|pair, _| *pair != (a, b) && *pair != (b, a));
    }

    pub(super) fn map(
        &self,
        number: u64,
        key: u64,
    ) -> Result<(FabricReply, Vec<OwnedFd>), FabricError> {
        let node = self.raw_client(number)?;
        let Some(window) = self.windows.windows.get(&key) else {
            let what = format!("map: there is no window {key:#x}; it may have been revoked");
            return Err(FabricError::new(Status::BadRegion, what));
        };
        let owner = window.owner;
        if window.peers & bit(node) == 0 {
            let what = format!("map: node {owner} does not show window {key:#x} to node {node}");
            return Err(FabricError::new(Status::AccessDenied, what));
        }
        if !self.is_ready(node, owner) {
            let what = format!("map: node {owner} is not READY at node {node}");
            return Err(FabricError::new(Status::LinkDown, what));
        }
        let fd = window.fd.try_clone().map_err(|error| FabricError::io("map", &error))?;
        let port = self.port((node.min(owner), node.max(owner)), node);
        let (bytes, rights) = (window.bytes, window.rights);
        Ok((FabricReply::Mapped { owner, bytes, rights, port }, vec![fd]))
    }

    pub(super) fn mailboxes(
        &mut self,
        number: u64,
        peer: NodeNumber,
    ) -> Result<(FabricReply, Vec<OwnedFd>), FabricError> {
        let node = self.raw_client(number)?;
        if !self.is_ready(node, peer) {
            let what = format!("mailbox: node {peer} is not READY at node {node}");
            return Err(FabricError::new(Status::LinkDown, what));
        }
        let mut fds = Vec::new();
        for pair in [(node, peer), (peer, node)] {
            let failed = |error: io::Error| FabricError::io("mailbox", &error);
            let fd = match self.windows.mailboxes.entry(pair) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let fd = memory::create("spfe-fabric-mailbox", Mailbox::BYTES);
                    entry.insert(fd.map_err(failed)?)
                }
            };
            fds.push(fd.try_clone().map_err(failed)?);
        }
        Ok((FabricReply::Mailboxes, fds))
    }

    /// The windows that a client's node owns or may use.
    pub(super) fn windows_of(&self, number: u64) -> Result<Vec<WindowInfo>, FabricError> {
        let node = self.raw_client(number)?;
        let mine = self.list_windows().into_iter();
        Ok(mine.filter(|one| one.owner == node || one.peers & bit(node) != 0).collect())
    }

    /// Every window.
    pub(super) fn list_windows(&self) -> Vec<WindowInfo> {
        let info = |(key, window): (&u64, &WindowEntry)| WindowInfo {
            key: *key,
            owner: window.owner,
            address: self.topology.memory_window(window.owner) + window.offset,
            bytes: window.bytes,
            peers: window.peers,
            rights: window.rights,
        };
        self.windows.windows.iter().map(info).collect()
    }
}

/// The bit of a node in a mask of peers.
pub fn bit(node: NodeNumber) -> u64 {
    node.index().map_or(0, |index| 1 << index)
}
