//! Bytes: through the kernel while a direction is on TCP, through the ring afterwards.
//!
//! After both ends have the memory, each sender changes over alone. It says at which byte of TCP its
//! stream goes on in the ring; the reader takes TCP up to there first. The kernel counts these bytes,
//! so it does not matter who read or wrote them. Each store that the other end may sleep on is
//! followed by a full fence and a look at its sleeps; who goes to sleep counts that, and then looks
//! once more.

use crate::conn::{CHANGING, Conn, Count, IN_RING, ON_TCP, Stream, VAIN_MAX};
use crate::offer::advance;
use crate::real;
use crate::settings::settings;
use crate::sys::{self, PartCursor};
use libc::{c_int, c_void, iovec, pollfd};
use spfe_fabric::memory::PeerCounter;
use spfe_fabric::stream::{STREAM_CLOSED, STREAM_ENDED, left_on_tcp};
use std::sync::atomic::{Ordering, fence};

/// Bytes that are copied before the other end sees them.
const CHUNK: usize = 64 << 10;
/// How far a sender may be ahead of the links, ns.
const AHEAD_NS: u64 = 200_000;
/// A full ring is writable again once a quarter of it is free, as sockets are at a third.
const WRITABLE_PART: usize = 4;

/// A number of `struct tcp_info`, which the kernel only lengthens.
fn info(fd: c_int, offsets: [usize; 4]) -> Option<[u64; 4]> {
    let mut info = [0u64; 32];
    let mut bytes = size_of_val(&info) as u32;
    let at = info.as_mut_ptr().cast::<c_void>();
    // SAFETY: the array has this size.
    if unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, at, &mut bytes) } != 0 {
        return None;
    }
    let known = |offset: &usize| offset + 8 <= bytes as usize;
    offsets.iter().all(known).then(|| offsets.map(|offset| info[offset / 8]))
}

/// Bytes that the kernel was given to send: sent, without those sent again, and not sent yet.
fn given_to_tcp(fd: c_int) -> Option<u64> {
    let [sent, again, unsent, acknowledged] = info(fd, [200, 208, 144, 120])?;
    let given = sent.checked_sub(again)? + u64::from(unsent as u32);
    // The acknowledgement of the first segment can count as a byte.
    (acknowledged <= given + 1).then_some(given)
}

/// Bytes that the kernel has received and nobody has read.
fn waiting_on_tcp(fd: c_int) -> Option<u64> {
    let mut bytes: c_int = 0;
    let at = std::ptr::from_mut(&mut bytes) as libc::c_ulong;
    // SAFETY: the call writes this number only.
    (unsafe { real::ioctl(fd, libc::FIONREAD, at) } == 0).then_some(u64::from(bytes.unsigned_abs()))
}

/// Ends a connection whose other end broke a rule.
fn break_off(conn: &Conn, fd: c_int) {
    if conn.shared().broken.swap(1, Ordering::SeqCst) == 0 {
        let saved = sys::errno();
        // SAFETY: no memory is passed.
        unsafe { real::shutdown(fd, libc::SHUT_RDWR) };
        sys::fail(saved);
    }
}

/// Whether the other end has broken a rule.
pub fn is_broken(conn: &Conn) -> bool {
    conn.shared().broken.load(Ordering::Relaxed) != 0
}

/// Rings a bell of the other end if it sleeps there: 0 for data, 1 for room.
fn wake(conn: &Conn, stream: &Stream, which: usize) {
    fence(Ordering::SeqCst);
    let sleeps = match which {
        0 => stream.inward.data_sleeps().load(Ordering::Relaxed),
        _ => stream.inward.room_sleeps().load(Ordering::Relaxed),
    };
    if conn.shared().woken[which].swap(sleeps, Ordering::Relaxed) != sleeps {
        let saved = sys::errno();
        sys::ring(stream.peer_bells[which]);
        sys::fail(saved);
        conn.count(Count::Wakes, 1);
        stream.page.counter(stream.peer, PeerCounter::StreamWakes).fetch_add(1, Ordering::Relaxed);
    }
}

/// Wakes whatever sleeps at the other end: the connection ends.
pub fn wake_all(stream: &Stream) {
    stream.peer_bells.into_iter().for_each(sys::ring);
}

/// Says that this thread is about to sleep: 0 until data comes, 1 until there is room. The caller
/// looks once more before it sleeps.
pub fn sleepy(conn: &Conn, stream: &Stream, which: usize) {
    sys::silence(stream.bells[which]);
    let sleeps = match which {
        0 => stream.outward.data_sleeps(),
        _ => stream.outward.room_sleeps(),
    };
    sleeps.fetch_add(1, Ordering::SeqCst);
    fence(Ordering::SeqCst);
    conn.count(Count::Sleeps, 1);
}

/// Changes the sending direction over to the ring if both ends are ready for it.
fn change_over(conn: &Conn, fd: c_int, stream: &Stream) {
    let shared = conn.shared();
    if stream.inward.listens().load(Ordering::SeqCst) == 0
        || stream.outward.closing().load(Ordering::Relaxed) != 0
    {
        return;
    }
    let Some(_held) = shared.send_lock.take() else { return };
    if shared.sending.load(Ordering::SeqCst) != ON_TCP {
        return;
    }
    shared.sending.store(CHANGING, Ordering::SeqCst);
    // Pairs with the senders: either we see one, or it sees that we change over.
    let alone = shared.kernel_senders.load(Ordering::SeqCst) == 0;
    match given_to_tcp(fd).filter(|_| alone) {
        Some(given) => {
            stream.outward.start().store(given + 1, Ordering::SeqCst);
            shared.sending.store(IN_RING, Ordering::SeqCst);
            wake(conn, stream, 0);
        }
        None => shared.sending.store(ON_TCP, Ordering::SeqCst),
    }
}

/// Whether our stream is in the ring.
pub fn sends_in_ring(conn: &Conn) -> bool {
    conn.shared().sending.load(Ordering::Acquire) == IN_RING
}

/// Sends through the kernel; `None` if the stream is in the ring. Changes over if that is possible.
pub fn send_on_tcp(conn: &Conn, fd: c_int, kernel: &impl Fn() -> isize) -> Option<isize> {
    let shared = conn.shared();
    if shared.sending.load(Ordering::Acquire) == ON_TCP {
        advance(conn, fd);
        if let Some(stream) = conn.stream() {
            change_over(conn, fd, stream);
        }
    }
    // Pairs with `change_over`.
    shared.kernel_senders.fetch_add(1, Ordering::SeqCst);
    let is_on_tcp = shared.sending.load(Ordering::SeqCst) == ON_TCP;
    let sent = is_on_tcp.then(kernel);
    shared.kernel_senders.fetch_sub(1, Ordering::SeqCst);
    conn.count(Count::TcpSent, sent.map_or(0, |sent| sent.max(0) as u64));
    sent
}

/// Sends. `kernel` is the call itself, for what TCP carries and for errors.
///
/// # Safety
/// The parts can be read.
pub unsafe fn send(
    conn: &Conn,
    fd: c_int,
    parts: &[iovec],
    flags: c_int,
    kernel: impl Fn() -> isize,
) -> isize {
    loop {
        if let Some(sent) = send_on_tcp(conn, fd, &kernel) {
            return sent;
        }
        let Some(stream) = conn.stream() else { return kernel() };
        if flags & libc::MSG_OOB != 0 {
            // The ring has no urgent byte.
            return sys::fail(libc::EOPNOTSUPP);
        }
        // SAFETY: the caller's promise.
        if let Some(sent) = unsafe { send_in_ring(conn, fd, stream, parts, flags, &kernel) } {
            return sent;
        }
    }
}

/// Whether the other end can no longer take anything. `look` also asks the kernel.
fn is_deaf(fd: c_int, stream: &Stream, look: bool) -> bool {
    let own = stream.outward.closing().load(Ordering::Relaxed);
    let other = stream.inward.closing().load(Ordering::Acquire);
    if own & STREAM_ENDED != 0 || other & STREAM_CLOSED != 0 {
        return true;
    }
    if !look {
        return false;
    }
    let events = sys::events_now(fd, libc::POLLRDHUP);
    // The kernel says the end of the other stream. If the other end did not, it has died.
    events & (libc::POLLHUP | libc::POLLERR) != 0
        || events & libc::POLLRDHUP != 0
            && stream.inward.closing().load(Ordering::Acquire) & STREAM_ENDED == 0
}

/// `None` if the direction is not in the ring after all.
unsafe fn send_in_ring(
    conn: &Conn,
    fd: c_int,
    stream: &Stream,
    parts: &[iovec],
    flags: c_int,
    kernel: &impl Fn() -> isize,
) -> Option<isize> {
    let shared = conn.shared();
    let total = PartCursor::total(parts);
    let (mut cursor, mut done) = (PartCursor::new(parts), 0usize);
    // A reader that has taken nothing since the last call may be dead.
    let read = stream.inward.consumed().load(Ordering::Relaxed);
    let stalled = shared.seen_consumed.swap(read, Ordering::Relaxed) == read
        && shared.produced.load(Ordering::Relaxed) != read;
    if total == 0 || is_deaf(fd, stream, stalled) {
        // The kernel gives the error and the signal, and the first send after the end succeeds.
        return Some(kernel());
    }
    loop {
        if is_broken(conn) {
            return Some(if done > 0 { done as isize } else { sys::fail(libc::ECONNRESET) });
        }
        let Some(held) = shared.send_lock.take() else { return Some(sys::fail(libc::EAGAIN)) };
        if shared.sending.load(Ordering::Relaxed) != IN_RING {
            return None;
        }
        let mut produced = shared.produced.load(Ordering::Relaxed);
        let before = done;
        let mut shown = produced;
        // The reader sees a call as a whole where it can, as it does on TCP; of a long one it sees
        // parts while the rest is copied.
        let show = |produced: u64| {
            shared.produced.store(produced, Ordering::Relaxed);
            // Release pairs with the acquire in `available`.
            stream.outward.produced().store(produced, Ordering::Release);
            wake(conn, stream, 0);
        };
        let fault = loop {
            let room = match stream.outward.room(&stream.inward, produced) {
                Ok(room) => room,
                Err(_) => break true,
            };
            let Some((from, bytes)) = cursor.piece(room.min(CHUNK)) else { break false };
            pace(stream, bytes);
            let (way, timed) = shared.put_choice.next(bytes);
            let start = if timed { sys::now_ns() } else { 0 };
            // SAFETY: the caller's promise; there is room.
            unsafe { stream.outward.put(way, produced, from, bytes) };
            if timed {
                shared.put_choice.note(way, bytes, sys::now_ns().saturating_sub(start));
            }
            produced += bytes as u64;
            cursor.advance(bytes);
            done += bytes;
            if produced - shown >= CHUNK as u64 {
                show(produced);
                shown = produced;
            }
        };
        if produced != shown {
            show(produced);
        }
        drop(held);
        let moved = (done - before) as u64;
        conn.count(Count::RingSent, moved);
        stream
            .page
            .counter(stream.peer, PeerCounter::StreamSent)
            .fetch_add(moved, Ordering::Relaxed);
        if fault {
            break_off(conn, fd);
            continue;
        }
        if done == total {
            return Some(done as isize);
        }
        match wait_for_room(conn, fd, stream, flags) {
            Ok(true) => {}
            Ok(false) if done == 0 => return Some(kernel()),
            Err(error) if done == 0 => return Some(sys::fail(error)),
            _ => return Some(done as isize),
        }
    }
}

/// Holds a transfer back as long as the links between need for it. Links make up for a late wake-up,
/// so this sleeps rather than polls, and only for times that are worth it.
fn pace(stream: &Stream, bytes: usize) {
    let Some(port) = stream.pace.port else { return };
    let free = stream.page.pacer(usize::from(port.port), false);
    let mut now = sys::now_ns();
    let due = stream.pace.due_ns(free, now);
    while due > now + AHEAD_NS {
        sys::wait(&mut [], Some(due - now));
        now = sys::now_ns();
    }
    stream.pace.book(free, now, bytes as u64);
}

fn has_room(conn: &Conn, stream: &Stream) -> bool {
    let produced = conn.shared().produced.load(Ordering::Relaxed);
    stream.outward.room(&stream.inward, produced).map_or(true, |room| room > 0)
}

/// Waits until the ring has room. False if the other end is gone.
fn wait_for_room(conn: &Conn, fd: c_int, stream: &Stream, flags: c_int) -> Result<bool, c_int> {
    if sys::is_nonblocking(fd, flags) {
        conn.shared().was_full.store(1, Ordering::SeqCst);
        return if is_deaf(fd, stream, true) { Ok(false) } else { Err(libc::EAGAIN) };
    }
    if spin_for(conn, stream, || has_room(conn, stream)) {
        return Ok(true);
    }
    let limit = sys::time_out(fd, libc::SO_SNDTIMEO).map(|ns| sys::now_ns() + ns);
    loop {
        sleepy(conn, stream, 1);
        if has_room(conn, stream) || is_broken(conn) {
            return Ok(true);
        }
        if is_deaf(fd, stream, true) {
            return Ok(false);
        }
        // After the end of the other stream the kernel would say so all the time.
        let ended = stream.inward.closing().load(Ordering::Acquire) & STREAM_ENDED != 0;
        let events = if ended { 0 } else { libc::POLLRDHUP };
        let mut fds = [
            pollfd { fd, events, revents: 0 },
            pollfd { fd: stream.bells[1], events: libc::POLLIN, revents: 0 },
        ];
        sleep(&mut fds, limit)?;
    }
}

/// Polls for as long as the settings say.
fn spin(is_done: impl Fn() -> bool) -> bool {
    let spin_ns = settings().spin_ns;
    if spin_ns == 0 {
        return is_done();
    }
    let start = sys::now_ns();
    loop {
        for _ in 0..64 {
            if is_done() {
                return true;
            }
            std::hint::spin_loop();
        }
        if sys::now_ns() - start >= spin_ns {
            return false;
        }
    }
}

/// Polls unless that is known to be in vain: the other end ran last on this processor, or polling
/// has mostly failed, as it does where processors have other work to do. Then it is tried again
/// from time to time.
pub fn spin_for(conn: &Conn, stream: &Stream, is_done: impl Fn() -> bool) -> bool {
    // SAFETY: no memory is passed.
    let processor = unsafe { libc::sched_getcpu() } as u64 + 1;
    stream.outward.processor().store(processor, Ordering::Relaxed);
    let vain = &conn.shared().vain;
    let failures = vain.load(Ordering::Relaxed);
    if stream.inward.processor().load(Ordering::Relaxed) == processor {
        return is_done();
    }
    if failures > VAIN_MAX / 4 {
        vain.store(failures - 1, Ordering::Relaxed);
        if failures != VAIN_MAX / 4 + 1 {
            return is_done();
        }
    }
    let found = spin(is_done);
    let failures = vain.load(Ordering::Relaxed);
    let next = if found { failures.saturating_sub(1) } else { failures + VAIN_MAX / 8 };
    vain.store(if next > VAIN_MAX / 4 { VAIN_MAX } else { next }, Ordering::Relaxed);
    found
}

/// Sleeps until one of the descriptors has an event.
fn sleep(fds: &mut [pollfd], limit: Option<u64>) -> Result<(), c_int> {
    loop {
        let left = limit.map(|limit| limit.saturating_sub(sys::now_ns()));
        match sys::wait(fds, left) {
            0 => return Err(libc::EAGAIN),
            // With a time-out, the kernel always gives EINTR.
            n if n < 0 && sys::errno() == libc::EINTR && limit.is_none() && sys::restarts() => {}
            n if n < 0 => return Err(sys::errno()),
            _ => return Ok(()),
        }
    }
}

/// What a look at a connection gives.
enum Step {
    Got(usize),
    End,
    Failed(c_int),
    Nothing,
}

/// Notes where the other stream is now. False if the other end broke a rule. The caller holds the
/// lock for receiving.
fn follow(conn: &Conn, fd: c_int, stream: &Stream) -> bool {
    let shared = conn.shared();
    let start = stream.inward.start().load(Ordering::Acquire);
    if start == 0 || shared.receiving.load(Ordering::Relaxed) == IN_RING {
        return true;
    }
    let received = || info(fd, [128; 4]).map(|[received, ..]| received);
    let Some(mut before) = received() else { return false };
    // Bytes that arrive between the two calls would count as read ones, or not at all.
    let waiting = loop {
        let (Some(waiting), Some(after)) = (waiting_on_tcp(fd), received()) else { return false };
        if before == after {
            break waiting;
        }
        before = after;
    };
    let Some(left) = left_on_tcp(start - 1, before, waiting) else {
        return false;
    };
    shared.left_on_tcp.store(left, Ordering::Relaxed);
    shared.receiving.store(IN_RING, Ordering::SeqCst);
    true
}

/// Whether a call would find bytes in the ring.
pub fn has_data(conn: &Conn, fd: c_int, stream: &Stream) -> bool {
    let shared = conn.shared();
    if shared.receiving.load(Ordering::Acquire) != IN_RING {
        if stream.inward.start().load(Ordering::Acquire) == 0 {
            return false;
        }
        let Some(_held) = shared.receive_lock.take() else { return false };
        if !follow(conn, fd, stream) {
            break_off(conn, fd);
            return true;
        }
    }
    shared.left_on_tcp.load(Ordering::Relaxed) == 0
        && stream.inward.available(shared.consumed.load(Ordering::Relaxed)) != Ok(0)
}

/// How far the other end is in the ring; `None` while a reader has to take bytes of TCP first, so
/// that a program which stops after these hears of the ring.
pub fn visible(conn: &Conn, stream: &Stream) -> Option<u64> {
    let shared = conn.shared();
    let is_next = shared.receiving.load(Ordering::Acquire) == IN_RING
        && shared.left_on_tcp.load(Ordering::Relaxed) == 0;
    is_next.then(|| stream.inward.produced().load(Ordering::Relaxed))
}

/// Whether a call could send.
pub fn is_writable(conn: &Conn, stream: &Stream) -> bool {
    let produced = conn.shared().produced.load(Ordering::Relaxed);
    let room = stream.outward.room(&stream.inward, produced).unwrap_or(usize::MAX);
    room >= stream.outward.ring() / WRITABLE_PART
        || is_broken(conn)
        || stream.outward.closing().load(Ordering::Relaxed) & STREAM_ENDED != 0
        || stream.inward.closing().load(Ordering::Acquire) & STREAM_CLOSED != 0
}

/// Bytes that calls would find without waiting.
pub fn waiting(conn: &Conn, fd: c_int, stream: &Stream) -> u64 {
    has_data(conn, fd, stream);
    let shared = conn.shared();
    let on_tcp = waiting_on_tcp(fd).unwrap_or(0);
    // Bytes that are still on their way on TCP come before those of the ring.
    let is_next = shared.receiving.load(Ordering::Acquire) == IN_RING
        && shared.left_on_tcp.load(Ordering::Relaxed) <= on_tcp;
    let consumed = shared.consumed.load(Ordering::Relaxed);
    let in_ring = if is_next { stream.inward.available(consumed).unwrap_or(0) } else { 0 };
    on_tcp + in_ring as u64
}

/// Receives. `kernel` is the call itself.
///
/// # Safety
/// The parts can be written; they may be null with MSG_TRUNC.
pub unsafe fn receive(
    conn: &Conn,
    fd: c_int,
    parts: &[iovec],
    flags: c_int,
    kernel: impl Fn() -> isize,
) -> isize {
    advance(conn, fd);
    if conn.enter_kernel() {
        let received = kernel();
        conn.leave_kernel();
        if flags & libc::MSG_PEEK == 0 {
            conn.count(Count::TcpReceived, received.max(0) as u64);
        }
        return received;
    }
    let Some(stream) = conn.stream() else { return kernel() };
    let total = PartCursor::total(parts);
    if total == 0 || flags & (libc::MSG_OOB | libc::MSG_ERRQUEUE) != 0 {
        return kernel();
    }
    let all = flags & libc::MSG_WAITALL != 0 && flags & libc::MSG_PEEK == 0;
    let (mut cursor, mut done, mut look) = (PartCursor::new(parts), 0usize, false);
    loop {
        let Some(held) = conn.shared().receive_lock.take() else {
            return sys::fail(libc::EAGAIN);
        };
        // SAFETY: the caller's promise.
        let step = unsafe { step(conn, fd, stream, &mut cursor, flags, look) };
        drop(held);
        let partial = |error: c_int| if done > 0 { done as isize } else { sys::fail(error) };
        match step {
            Step::Got(bytes) => {
                done += bytes;
                if !all || done == total {
                    return done as isize;
                }
                look = false;
            }
            Step::End => return done as isize,
            Step::Failed(error) => return partial(error),
            // Before a call says that there is nothing, or sleeps, it asks the kernel.
            Step::Nothing if !look => {
                look = true;
                if !sys::is_nonblocking(fd, flags) {
                    spin_for(conn, stream, || has_news(conn, stream));
                }
            }
            Step::Nothing => {
                if let Err(error) = wait_for_data(conn, fd, stream, flags) {
                    return partial(error);
                }
            }
        }
    }
}

/// Whether the other end has done something since the ring was empty.
fn has_news(conn: &Conn, stream: &Stream) -> bool {
    let shared = conn.shared();
    if shared.receiving.load(Ordering::Relaxed) == IN_RING {
        stream.inward.produced().load(Ordering::Relaxed) != shared.consumed.load(Ordering::Relaxed)
            || stream.inward.closing().load(Ordering::Relaxed) != 0
    } else {
        stream.inward.start().load(Ordering::Relaxed) != 0
    }
}

/// Takes what is there. The caller holds the lock for receiving.
unsafe fn step(
    conn: &Conn,
    fd: c_int,
    stream: &Stream,
    cursor: &mut PartCursor<'_>,
    flags: c_int,
    look: bool,
) -> Step {
    let shared = conn.shared();
    if is_broken(conn) {
        return Step::Failed(libc::ECONNRESET);
    }
    if !follow(conn, fd, stream) {
        break_off(conn, fd);
        return Step::Failed(libc::ECONNRESET);
    }
    let in_ring = shared.receiving.load(Ordering::Relaxed) == IN_RING;
    let left = shared.left_on_tcp.load(Ordering::Relaxed);
    if !in_ring || left > 0 {
        let most = if in_ring { usize::try_from(left).unwrap_or(usize::MAX) } else { usize::MAX };
        let Some((to, bytes)) = cursor.piece(most) else { return Step::Nothing };
        let flags = flags & (libc::MSG_PEEK | libc::MSG_TRUNC) | libc::MSG_DONTWAIT;
        // SAFETY: the caller's promise.
        let received = unsafe { real::recv(fd, to.cast(), bytes, flags) };
        return match received {
            0 => Step::End,
            received if received > 0 => {
                if flags & libc::MSG_PEEK == 0 {
                    if in_ring {
                        let left = left.saturating_sub(received as u64);
                        shared.left_on_tcp.store(left, Ordering::Relaxed);
                    }
                    conn.count(Count::TcpReceived, received as u64);
                }
                cursor.advance(received as usize);
                Step::Got(received as usize)
            }
            _ if sys::errno() == libc::EAGAIN => Step::Nothing,
            _ => Step::Failed(sys::errno()),
        };
    }
    // SAFETY: the caller's promise.
    match unsafe { take(conn, stream, cursor, flags) } {
        Ok(0) if look => {}
        Ok(0) => return Step::Nothing,
        Ok(bytes) => return Step::Got(bytes),
        Err(()) => {
            break_off(conn, fd);
            return Step::Failed(libc::ECONNRESET);
        }
    }
    let mut byte = 0u8;
    let at = std::ptr::from_mut(&mut byte).cast();
    // SAFETY: one byte.
    let received = unsafe { real::recv(fd, at, 1, libc::MSG_PEEK | libc::MSG_DONTWAIT) };
    let error = sys::errno();
    // Bytes that came before the end, after our look, come first.
    // SAFETY: the caller's promise.
    if let Ok(bytes @ 1..) = unsafe { take(conn, stream, cursor, flags) } {
        return Step::Got(bytes);
    }
    match received {
        0 => Step::End,
        1.. => {
            // The other end has written to TCP behind our back: its stream has no order any more.
            break_off(conn, fd);
            Step::Failed(libc::ECONNRESET)
        }
        _ if error == libc::EAGAIN => Step::Nothing,
        _ => Step::Failed(error),
    }
}

/// Takes bytes out of the ring.
unsafe fn take(
    conn: &Conn,
    stream: &Stream,
    cursor: &mut PartCursor<'_>,
    flags: c_int,
) -> Result<usize, ()> {
    let shared = conn.shared();
    let first = shared.consumed.load(Ordering::Relaxed);
    let mut available = stream.inward.available(first).map_err(|_| ())?;
    let (mut consumed, peeks) = (first, flags & libc::MSG_PEEK != 0);
    while available > 0 {
        let Some((to, bytes)) = cursor.piece(available.min(2 * CHUNK)) else { break };
        if flags & libc::MSG_TRUNC == 0 {
            // SAFETY: the caller's promise; the bytes are there.
            unsafe { stream.inward.take(consumed, to, bytes) };
        }
        consumed += bytes as u64;
        available -= bytes;
        cursor.advance(bytes);
        if !peeks {
            shared.consumed.store(consumed, Ordering::Relaxed);
            // Release pairs with the acquire in `room`.
            stream.outward.consumed().store(consumed, Ordering::Release);
            // The sender sleeps because the ring was full; it gets half of it at a time.
            if available <= stream.inward.ring() / 2 {
                wake(conn, stream, 1);
            }
        }
    }
    let moved = consumed - first;
    if !peeks {
        conn.count(Count::RingReceived, moved);
        let counter = stream.page.counter(stream.peer, PeerCounter::StreamReceived);
        counter.fetch_add(moved, Ordering::Relaxed);
    }
    Ok(moved as usize)
}

/// Sleeps until data comes.
fn wait_for_data(conn: &Conn, fd: c_int, stream: &Stream, flags: c_int) -> Result<(), c_int> {
    if sys::is_nonblocking(fd, flags) {
        return Err(libc::EAGAIN);
    }
    let limit = sys::time_out(fd, libc::SO_RCVTIMEO).map(|ns| sys::now_ns() + ns);
    sleepy(conn, stream, 0);
    if has_data(conn, fd, stream) {
        return Ok(());
    }
    let mut fds = [
        pollfd { fd, events: libc::POLLIN, revents: 0 },
        pollfd { fd: stream.bells[0], events: libc::POLLIN, revents: 0 },
    ];
    sleep(&mut fds, limit)
}
