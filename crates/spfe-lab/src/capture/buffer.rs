//! The buffer between a capture and its reader, and the thread that writes the file.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Default size of the buffer in bytes.
pub const BUFFER_BYTES: usize = 8 << 20;
/// How long the writer waits for more bytes before it writes.
const GATHER_TIME: Duration = Duration::from_millis(20);
/// Number of bytes that the writer writes at once.
const GATHER_BYTES: usize = 64 << 10;

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// Number of bytes that the writer has taken and not yet written.
    flight: usize,
    /// No more bytes will be added.
    closed: bool,
    /// Everything is written, or the writer has failed.
    done: bool,
    failed: Option<io::Error>,
}

/// Bounded buffer between a capture and its writer.
pub struct Buffer {
    state: Mutex<State>,
    turn: Condvar,
    most: usize,
}

impl Buffer {
    /// A buffer of a given size in bytes.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), turn: Condvar::new(), most })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of bytes that still fit; 0 after the writer has failed.
    pub fn room(&self) -> u64 {
        let state = self.lock();
        if state.done {
            return 0;
        }
        self.most.saturating_sub(state.bytes.len() + state.flight) as u64
    }

    /// Ends the input.
    pub fn close(&self) {
        self.lock().closed = true;
        self.turn.notify_all();
    }

    /// Whether the input has ended or the writer has failed.
    pub fn has_ended(&self) -> bool {
        let state = self.lock();
        state.closed || state.done
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// The first error of the writer.
    pub fn wait(&self) -> io::Result<()> {
        let mut state = self.lock();
        while !state.done {
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failed.take().map_or(Ok(()), Err)
    }

    /// Starts the thread that writes.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn write_to(self: &Arc<Self>, mut to: Box<dyn Write + Send>) -> io::Result<()> {
        let buffer = self.clone();
        let run = move || {
            let result = buffer.run(&mut *to);
            let mut state = buffer.lock();
            state.done = true;
            state.failed = result.err();
            buffer.turn.notify_all();
        };
        std::thread::Builder::new().name("spfe-capture".into()).spawn(run).map(drop)
    }

    fn run(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut taken = Vec::new();
        loop {
            let mut state = self.lock();
            state.flight = 0;
            if state.bytes.len() < GATHER_BYTES && !state.closed {
                (state, _) = self
                    .turn
                    .wait_timeout(state, GATHER_TIME)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            taken.clear();
            std::mem::swap(&mut taken, &mut state.bytes);
            state.flight = taken.len();
            let last = state.closed;
            drop(state);
            to.write_all(&taken)?;
            if last {
                return to.flush();
            }
        }
    }
}

/// Input of a buffer. It accepts everything; callers check [`Buffer::room`] before.
pub struct Inlet(pub Arc<Buffer>);

impl Write for Inlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        // After the writer has failed, drop the bytes.
        if !state.done {
            state.bytes.extend_from_slice(bytes);
            if state.bytes.len() >= GATHER_BYTES {
                self.0.turn.notify_all();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
