//! What waits for the reader of a capture, and the thread that writes it.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes that wait for the reader at most, unless said otherwise.
pub const BUFFER_BYTES: usize = 8 << 20;
/// How long bytes wait for company.
const COMPANY: Duration = Duration::from_millis(20);
/// Bytes that wait for nobody.
const PLENTY: usize = 64 << 10;

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// Bytes taken and not yet written.
    flight: usize,
    /// Nothing more will come.
    closed: bool,
    /// All is written, or the writer has failed.
    done: bool,
    failed: Option<io::Error>,
}

/// Bytes between a capture and its writer.
pub struct Buffer {
    state: Mutex<State>,
    turn: Condvar,
    most: usize,
}

impl Buffer {
    /// For so many bytes.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), turn: Condvar::new(), most })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes there is room for; none once the writer has failed.
    pub fn room(&self) -> u64 {
        let state = self.lock();
        if state.done {
            return 0;
        }
        self.most.saturating_sub(state.bytes.len() + state.flight) as u64
    }

    /// Nothing more will come.
    pub fn close(&self) {
        self.lock().closed = true;
        self.turn.notify_all();
    }

    /// Whether nothing more comes, or can be written.
    pub fn has_ended(&self) -> bool {
        let state = self.lock();
        state.closed || state.done
    }

    /// Waits until all is written.
    pub fn wait(&self) -> io::Result<()> {
        let mut state = self.lock();
        while !state.done {
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failed.take().map_or(Ok(()), Err)
    }

    /// Starts the thread that writes.
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
            if state.bytes.len() < PLENTY && !state.closed {
                (state, _) =
                    self.turn.wait_timeout(state, COMPANY).unwrap_or_else(PoisonError::into_inner);
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

/// The end that records go into: it takes all, whoever writes asks for room before.
pub struct Inlet(pub Arc<Buffer>);

impl Write for Inlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        // After the writer has failed nobody reads it.
        if !state.done {
            state.bytes.extend_from_slice(bytes);
            if state.bytes.len() >= PLENTY {
                self.0.turn.notify_all();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
