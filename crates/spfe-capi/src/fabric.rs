//! Raw mode of the PCIe fabric.

use crate::args::{give, read_bytes, read_text, write};
use crate::handle::{self, Handle, Object, Spare};
use crate::result::{Answer, Fault, run};
use spfe::Status;
use spfe_fabric::node::default_socket;
use spfe_fabric::raw::{
    FabricBuffer, LocalSegment, RawMailbox, RawNode, RawWindow, RemoteSegment, SEGMENTS_MAX,
};
use spfe_fabric::topology::{NODES_MAX, NodeNumber};
use spfe_fabric::wire::{FabricError, WindowInfo, WindowRights};
use std::ffi::{c_char, c_int};
use std::path::PathBuf;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Access to the fabric, kept open by the buffers that it has exposed.
#[derive(Clone)]
pub struct OpenFabric(Arc<Mutex<RawNode>>);

impl OpenFabric {
    fn lock(&self) -> MutexGuard<'_, RawNode> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A buffer, and the node that exposes it.
pub struct Exposable {
    buffer: FabricBuffer,
    node: OpenFabric,
}

/// Makes a type one that handles can stand for.
macro_rules! object {
    ($kind:ty, $name:literal) => {
        impl Object for $kind {
            const NAME: &'static str = $name;
            type Head = ();
            fn spare() -> &'static Spare {
                static SPARE: Spare = Spare::new();
                &SPARE
            }
        }
    };
}

object!(OpenFabric, "fabric");
object!(Exposable, "fabric buffer");
object!(RawWindow, "fabric window");
object!(RawMailbox, "fabric mailbox");

type FabricHandle = Handle<OpenFabric>;
type BufferHandle = Handle<Exposable>;
type WindowHandle = Handle<RawWindow>;
type MailboxHandle = Handle<RawMailbox>;

const READ: u32 = 1;
const WRITE: u32 = 2;

/// struct spfe_fabric_window_info.
#[repr(C)]
pub struct CWindowInfo {
    key: u64,
    address: u64,
    bytes: u64,
    nodes: u64,
    owner: u32,
    rights: u32,
}

/// struct spfe_fabric_part.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CPart {
    data: *mut u8,
    bytes: usize,
}

/// struct spfe_fabric_segment.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CSegment {
    offset: u64,
    bytes: usize,
}

impl From<FabricError> for Fault {
    fn from(error: FabricError) -> Self {
        Self::new(error.status, error.what)
    }
}

fn node(number: u32) -> Result<NodeNumber, Fault> {
    let node = u8::try_from(number).ok().map(NodeNumber);
    node.filter(|node| node.index().is_some()).ok_or_else(|| {
        Fault::new(Status::NotFound, format!("node {number} of a fabric: 1 to {NODES_MAX}"))
    })
}

fn read_rights(rights: u32) -> Result<WindowRights, Fault> {
    match rights {
        READ => Ok(WindowRights::Read),
        WRITE => Ok(WindowRights::Write),
        3 => Ok(WindowRights::ReadWrite),
        _ => Err(Fault::new(
            Status::BadField,
            format!("rights {rights} of a window: 1 read, 2 write, 3 both"),
        )),
    }
}

fn number_of(rights: WindowRights) -> u32 {
    u32::from(rights.can_read()) * READ + u32::from(rights.can_write()) * WRITE
}

/// The segment lists of a transfer.
///
/// # Safety
/// Each list is null or has as many entries; the entries name memory of the program.
unsafe fn lists(
    parts: *const CPart,
    part_count: u32,
    segments: *const CSegment,
    segment_count: u32,
) -> Result<(Vec<LocalSegment>, Vec<RemoteSegment>), Fault> {
    for (what, count, missing) in
        [("parts", part_count, parts.is_null()), ("segments", segment_count, segments.is_null())]
    {
        if count as usize > SEGMENTS_MAX {
            let what = format!("{count} {what} of a transfer: at most {SEGMENTS_MAX}");
            return Err(Fault::new(Status::ChainTooLong, what));
        }
        if missing && count > 0 {
            return Err(Fault::new(Status::BadField, format!("{count} {what}: NULL")));
        }
    }
    let part = |index: u32| {
        // SAFETY: the caller's promise; the list is not null.
        let part = unsafe { *parts.add(index as usize) };
        if part.data.is_null() && part.bytes > 0 {
            let what = format!("part {index}: NULL, with {} bytes", part.bytes);
            return Err(Fault::new(Status::BadField, what));
        }
        Ok(LocalSegment { at: part.data, bytes: part.bytes })
    };
    let segment = |index: u32| {
        // SAFETY: the caller's promise; the list is not null.
        let segment = unsafe { *segments.add(index as usize) };
        RemoteSegment { offset: segment.offset, bytes: segment.bytes }
    };
    let local = (0..part_count).map(part).collect::<Result<_, _>>()?;
    Ok((local, (0..segment_count).map(segment).collect()))
}

/// Opens raw mode on a node that is up.
///
/// # Safety
/// `socket` is null or a string; `fabric` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_open(
    socket: *const c_char,
    number: u32,
    fabric: *mut *mut FabricHandle,
) -> c_int {
    run(|| {
        let make = || {
            let path = if socket.is_null() {
                default_socket()
            } else {
                // SAFETY: the caller's promise.
                PathBuf::from(unsafe { read_text(socket, "socket of a fabric")? })
            };
            let node = RawNode::open(&path, node(number)?)?;
            Ok(handle::open((), OpenFabric(Arc::new(Mutex::new(node)))))
        };
        // SAFETY: the caller's promise.
        unsafe { give(fabric, make) }
    })
}

/// Closes raw mode.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fabric_close(fabric: *mut FabricHandle) -> c_int {
    run(|| handle::close(fabric, |_| Ok(())).map(|()| 0))
}

/// The nodes that are READY.
///
/// # Safety
/// `nodes` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_ready(fabric: *mut FabricHandle, nodes: *mut u64) -> c_int {
    run(|| {
        let ready = handle::with(fabric, |fabric| Ok(fabric.lock().ready()))?;
        // SAFETY: the caller's promise.
        unsafe { write(nodes, ready) }
    })
}

/// Lists windows.
///
/// # Safety
/// `list` is null or has room for as many entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_windows(
    fabric: *mut FabricHandle,
    list: *mut CWindowInfo,
    room: u32,
) -> c_int {
    run(|| {
        if list.is_null() && room > 0 {
            let what = format!("list of {room} windows: NULL");
            return Err(Fault::new(Status::BadField, what));
        }
        let windows = handle::with(fabric, |fabric| Ok(fabric.lock().windows()?))?;
        for (index, window) in windows.iter().take(room as usize).enumerate() {
            let WindowInfo { key, owner, address, bytes, peers, rights } = *window;
            let (owner, rights) = (u32::from(owner.0), number_of(rights));
            let info = CWindowInfo { key, address, bytes, nodes: peers, owner, rights };
            // SAFETY: the caller's promise; the index is below `room`.
            unsafe { list.add(index).write(info) };
        }
        Ok(c_int::try_from(windows.len()).unwrap_or(c_int::MAX))
    })
}

/// A buffer of zeroes.
///
/// # Safety
/// `buffer` and `data` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_buffer_alloc(
    fabric: *mut FabricHandle,
    bytes: usize,
    buffer: *mut *mut BufferHandle,
    data: *mut *mut u8,
) -> c_int {
    run(|| {
        let make = || {
            let node = handle::with(fabric, |fabric| Ok(fabric.clone()))?;
            let made = FabricBuffer::new(bytes)?;
            // SAFETY: the caller's promise.
            unsafe { write(data, made.as_ptr())? };
            Ok(handle::open((), Exposable { buffer: made, node }))
        };
        // SAFETY: the caller's promise.
        unsafe { give(buffer, make) }
    })
}

/// Frees a buffer, and ends its exposure.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fabric_buffer_free(buffer: *mut BufferHandle) -> c_int {
    run(|| {
        let revoke = |Exposable { buffer, node }: &mut Exposable| {
            if buffer.key().is_none() {
                return Ok(());
            }
            match node.lock().revoke(buffer) {
                // Without a backplane nobody can map it any more.
                Err(error) if error.status != Status::DeviceGone => Err(error.into()),
                _ => Ok(()),
            }
        };
        handle::close(buffer, revoke).map(|()| 0)
    })
}

/// Shows a buffer to nodes.
///
/// # Safety
/// `key` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_expose(
    buffer: *mut BufferHandle,
    nodes: u64,
    rights: u32,
    key: *mut u64,
) -> c_int {
    run(|| {
        if key.is_null() {
            return Err(Fault::new(Status::BadField, "place for the key: NULL"));
        }
        let rights = read_rights(rights)?;
        let peers: Vec<NodeNumber> =
            (1..=64u8).filter(|number| nodes >> (number - 1) & 1 == 1).map(NodeNumber).collect();
        let (new, _) = handle::with(buffer, |Exposable { buffer, node }| {
            Ok(node.lock().expose(buffer, &peers, rights)?)
        })?;
        // SAFETY: the caller's promise.
        unsafe { write(key, new) }
    })
}

/// Ends the exposure of a buffer.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fabric_revoke(buffer: *mut BufferHandle) -> c_int {
    run(|| {
        handle::with(buffer, |Exposable { buffer, node }| {
            node.lock().revoke(buffer)?;
            Ok(0)
        })
    })
}

/// Maps a window of another node.
///
/// # Safety
/// `window` and `data` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_map(
    fabric: *mut FabricHandle,
    key: u64,
    window: *mut *mut WindowHandle,
    data: *mut *mut u8,
) -> c_int {
    run(|| {
        let make = || {
            let mapped = handle::with(fabric, |fabric| Ok(fabric.lock().map(key)?))?;
            if !data.is_null() {
                // SAFETY: the caller's promise.
                unsafe { data.write(mapped.as_ptr()) };
            }
            Ok(handle::open((), mapped))
        };
        // SAFETY: the caller's promise.
        unsafe { give(window, make) }
    })
}

/// Unmaps a window.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fabric_unmap(window: *mut WindowHandle) -> c_int {
    run(|| handle::close(window, |_| Ok(())).map(|()| 0))
}

/// Runs a transfer with its lists.
///
/// # Safety
/// As for [`lists`].
unsafe fn transfer(
    window: *mut WindowHandle,
    (parts, part_count): (*const CPart, u32),
    (segments, segment_count): (*const CSegment, u32),
    body: impl FnOnce(&RawWindow, &[LocalSegment], &[RemoteSegment]) -> Result<(), FabricError>,
) -> Answer {
    // SAFETY: the caller's promise.
    let (local, remote) = unsafe { lists(parts, part_count, segments, segment_count)? };
    handle::with(window, |window| Ok(body(window, &local, &remote).map(|()| 0)?))
}

/// Writes to a window.
///
/// # Safety
/// The lists are null or have as many entries, which name readable memory of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_put(
    window: *mut WindowHandle,
    parts: *const CPart,
    part_count: u32,
    segments: *const CSegment,
    segment_count: u32,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        unsafe {
            transfer(window, (parts, part_count), (segments, segment_count), |window, from, to| {
                window.put_from(from, to)
            })
        }
    })
}

/// Writes to a window, and then a word.
///
/// # Safety
/// As for [`spfe_fabric_put`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_put_flag(
    window: *mut WindowHandle,
    parts: *const CPart,
    part_count: u32,
    segments: *const CSegment,
    segment_count: u32,
    flag: u64,
    value: u64,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        unsafe {
            transfer(window, (parts, part_count), (segments, segment_count), |window, from, to| {
                window.put_from_with_flag(from, to, flag, value)
            })
        }
    })
}

/// Reads from a window.
///
/// # Safety
/// The lists are null or have as many entries, which name writable memory of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_get(
    window: *mut WindowHandle,
    segments: *const CSegment,
    segment_count: u32,
    parts: *const CPart,
    part_count: u32,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        unsafe {
            transfer(window, (parts, part_count), (segments, segment_count), |window, to, from| {
                window.get_into(from, to)
            })
        }
    })
}

/// Orders what is before it before what is after it.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fabric_fence() {
    fence(Ordering::SeqCst);
}

/// Writes through the mapping.
///
/// # Safety
/// `data` is null or points to as many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_pio_write(
    window: *mut WindowHandle,
    offset: u64,
    data: *const u8,
    bytes: usize,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let data = unsafe { read_bytes(data, bytes, "bytes to write")? };
        handle::with(window, |window| Ok(window.pio_write(offset, data).map(|()| 0)?))
    })
}

/// Reads through the mapping.
///
/// # Safety
/// `data` is null or valid for as many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_pio_read(
    window: *mut WindowHandle,
    offset: u64,
    data: *mut u8,
    bytes: usize,
) -> c_int {
    run(|| {
        if data.is_null() && bytes > 0 {
            let what = format!("place for {bytes} bytes: NULL");
            return Err(Fault::new(Status::BadField, what));
        }
        let data = match bytes {
            0 => &mut [],
            // SAFETY: the caller's promise.
            _ => unsafe { std::slice::from_raw_parts_mut(data, bytes) },
        };
        handle::with(window, |window| Ok(window.pio_read(offset, data).map(|()| 0)?))
    })
}

/// Opens the doorbells and scratchpads between this node and another one.
///
/// # Safety
/// `mailbox` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_mailbox_open(
    fabric: *mut FabricHandle,
    peer: u32,
    mailbox: *mut *mut MailboxHandle,
) -> c_int {
    run(|| {
        let make = || {
            let peer = node(peer)?;
            let opened = handle::with(fabric, |fabric| Ok(fabric.lock().mailbox(peer)?))?;
            Ok(handle::open((), opened))
        };
        // SAFETY: the caller's promise.
        unsafe { give(mailbox, make) }
    })
}

/// Closes a mailbox.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fabric_mailbox_close(mailbox: *mut MailboxHandle) -> c_int {
    run(|| handle::close(mailbox, |_| Ok(())).map(|()| 0))
}

/// Rings a doorbell of the other node.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fabric_ring(mailbox: *mut MailboxHandle, doorbell: u32) -> c_int {
    run(|| handle::with(mailbox, |mailbox| Ok(mailbox.ring(doorbell as usize).map(|()| 0)?)))
}

/// Waits until a doorbell was rung more often than `seen`.
///
/// # Safety
/// `rings` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_ring_wait(
    mailbox: *mut MailboxHandle,
    doorbell: u32,
    seen: u64,
    timeout_ns: u64,
    rings: *mut u64,
) -> c_int {
    run(|| {
        let number = doorbell as usize;
        let found = handle::with(mailbox, |mailbox| Ok(mailbox.wait(number, seen, timeout_ns)?))?;
        let Some(found) = found else {
            return Err(Fault::timed_out(format!("doorbell {doorbell}: no ring after {seen}")));
        };
        // SAFETY: the caller's promise.
        unsafe { write(rings, found) }
    })
}

/// Writes a scratchpad.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fabric_scratchpad_write(
    mailbox: *mut MailboxHandle,
    number: u32,
    value: u64,
) -> c_int {
    run(|| {
        let number = number as usize;
        handle::with(mailbox, |mailbox| Ok(mailbox.write_scratchpad(number, value).map(|()| 0)?))
    })
}

/// Reads a scratchpad.
///
/// # Safety
/// `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fabric_scratchpad_read(
    mailbox: *mut MailboxHandle,
    number: u32,
    value: *mut u64,
) -> c_int {
    run(|| {
        let number = number as usize;
        let found = handle::with(mailbox, |mailbox| Ok(mailbox.read_scratchpad(number)?))?;
        // SAFETY: the caller's promise.
        unsafe { write(value, found) }
    })
}
