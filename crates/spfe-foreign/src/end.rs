//! One side of a stream: connection, greeting, messages.

use crate::line::{Door, Line};
use crate::message::{CELL, GREETING, HEAD, MessageHead, StreamShape};
use spfe_sim::foreign::{FarStream, WantedStream};
use spfe_topology::{ForeignStream, StreamKind};
use std::fmt;
use std::time::{Duration, Instant};

/// Time within which a foreign end should come where simulated time depends on it.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two attempts to connect.
const RETRY: Duration = Duration::from_millis(5);
/// Time between two looks at whether to stop waiting.
const LOOK: Duration = Duration::from_millis(50);

/// Why there is no stream to a foreign end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignError {
    stream: String,
    reason: String,
}

impl fmt::Display for ForeignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "foreign end '{}': {}", self.stream, self.reason)
    }
}

impl std::error::Error for ForeignError {}

/// One side of a word stream.
pub struct ForeignEnd {
    stream: ForeignStream,
    asked: StreamShape,
    name: String,
    /// Where this side waits for others to connect.
    door: Option<Door>,
    /// A foreign end may come when the last one has gone.
    again: bool,
    line: Option<Line>,
    /// The greeting has come; messages follow.
    greeted: bool,
    shape: StreamShape,
    far_name: String,
    /// Bytes that have come, and bytes that did not fit into the connection yet.
    input: Vec<u8>,
    output: Vec<u8>,
    /// Word periods sent and received.
    sent: u64,
    received: u64,
    /// Why the last foreign end went.
    lost: Option<String>,
    /// Whether to stop waiting for the foreign end.
    stops: Option<fn() -> bool>,
}

impl ForeignEnd {
    /// Waits until the foreign end is there, for at most `patience`, and for ever without. When it
    /// goes, the stream is over.
    ///
    /// # Errors
    /// It did not come, or it speaks of another link.
    pub fn wait(
        stream: &ForeignStream,
        shape: StreamShape,
        name: &str,
        patience: Option<Duration>,
    ) -> Result<Self, ForeignError> {
        Self::closed(stream, shape, name).come(patience)
    }

    /// Waits as [`ForeignEnd::wait`] does, but only until `stops` returns true, which ends later
    /// waits for messages, too.
    ///
    /// # Errors
    /// The foreign end did not come before, or it speaks of another link.
    pub fn wait_unless(
        stream: &ForeignStream,
        shape: StreamShape,
        name: &str,
        patience: Option<Duration>,
        stops: fn() -> bool,
    ) -> Result<Self, ForeignError> {
        let mut end = Self::closed(stream, shape, name);
        end.stops = Some(stops);
        end.come(patience)
    }

    fn come(mut self, patience: Option<Duration>) -> Result<Self, ForeignError> {
        let since = Instant::now();
        if self.stream.listens {
            self.open()?;
        }
        loop {
            self.look();
            if let Some(reason) = self.lost.take() {
                return Err(self.error(reason));
            }
            if self.greeted {
                self.door = None;
                return Ok(self);
            }
            if patience.is_some_and(|patience| since.elapsed() >= patience) {
                return Err(self.error("nobody came in time".to_owned()));
            }
            if self.is_stopped() {
                return Err(self.error("the wait for it was interrupted".to_owned()));
            }
            match &self.line {
                Some(line) => line.wait(false, Some(RETRY)),
                None => std::thread::sleep(RETRY),
            }
        }
    }

    /// Listens for a foreign end, which may come and go at any time, or connects to one that is
    /// there. Nothing of this waits.
    ///
    /// # Errors
    /// The address cannot be used, or no foreign end listens there.
    pub fn later(
        stream: &ForeignStream,
        shape: StreamShape,
        name: &str,
    ) -> Result<Self, ForeignError> {
        let mut end = Self::closed(stream, shape, name);
        if stream.listens {
            end.open()?;
            end.again = true;
        } else {
            let line = Line::connect(stream).map_err(|error| end.error(error.to_string()))?;
            end.begin(line);
        }
        end.look();
        Ok(end)
    }

    fn closed(stream: &ForeignStream, shape: StreamShape, name: &str) -> Self {
        Self {
            stream: stream.clone(),
            asked: shape,
            name: name.to_owned(),
            door: None,
            again: false,
            line: None,
            greeted: false,
            shape,
            far_name: String::new(),
            input: Vec::new(),
            output: Vec::new(),
            sent: 0,
            received: 0,
            lost: None,
            stops: None,
        }
    }

    fn is_stopped(&self) -> bool {
        self.stops.is_some_and(|stops| stops())
    }

    fn error(&self, reason: String) -> ForeignError {
        ForeignError { stream: self.stream.to_string(), reason }
    }

    fn open(&mut self) -> Result<(), ForeignError> {
        let door = Door::open(&self.stream).map_err(|error| self.error(error.to_string()))?;
        self.door = Some(door);
        Ok(())
    }

    /// What both sides agreed on.
    pub const fn shape(&self) -> StreamShape {
        self.shape
    }

    /// Name that the foreign end gave itself.
    pub fn far_name(&self) -> &str {
        &self.far_name
    }

    /// Address at which this side listens, for a TCP port that the system chose.
    pub fn address(&self) -> Option<String> {
        self.door.as_ref()?.address()
    }

    /// Why the last foreign end went.
    pub fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    /// Sends a message and waits for the one of the foreign end. False if it is gone.
    pub fn exchange(&mut self, sent: &[u64], received: &mut [u64]) -> bool {
        self.send(sent) && self.receive(received)
    }

    fn begin(&mut self, line: Line) {
        self.line = Some(line);
        self.greeted = false;
        self.input.clear();
        self.output = self.asked.greeting(&self.name).to_vec();
        (self.sent, self.received) = (0, 0);
        self.flush();
    }

    fn lose(&mut self, reason: &str) {
        self.line = None;
        self.greeted = false;
        self.lost = Some(reason.to_owned());
    }

    /// Connects if possible, and takes the greeting.
    fn look(&mut self) {
        if self.line.is_none() {
            let line = match &mut self.door {
                Some(door) => door.accept(),
                None if self.stream.listens || self.lost.is_some() => None,
                None => Line::connect(&self.stream).ok(),
            };
            if let Some(line) = line {
                self.begin(line);
            }
        }
        if self.line.is_none() || self.greeted || !self.fill(GREETING) {
            return;
        }
        let Some(bytes) = self.take::<GREETING>() else { return };
        match self.asked.agree(&bytes) {
            Ok((shape, name)) => {
                (self.shape, self.far_name) = (shape, name);
                (self.greeted, self.lost) = (true, None);
            }
            Err(reason) => self.lose(&reason),
        }
    }

    /// Writes what fits of the waiting output.
    fn flush(&mut self) {
        let Some(line) = &mut self.line else { return };
        while !self.output.is_empty() {
            match line.write(&self.output) {
                None => return,
                Some(0) => return self.lose("it closed the connection"),
                Some(count) => drop(self.output.drain(..count)),
            }
        }
    }

    /// Reads what has come, up to `count` bytes. Whether there are that many.
    fn fill(&mut self, count: usize) -> bool {
        self.flush();
        while self.input.len() < count {
            let Some(line) = &mut self.line else { return false };
            let have = self.input.len();
            self.input.resize(count, 0);
            let read = line.read(&mut self.input[have..]);
            self.input.truncate(have + read.unwrap_or(0));
            match read {
                None => return false,
                Some(0) if !self.greeted && line.is_pipe() => return false,
                Some(0) => {
                    self.lose("it closed the connection");
                    return false;
                }
                Some(_) => {}
            }
        }
        true
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.input.first_chunk::<N>().copied()?;
        self.input.drain(..N);
        Some(bytes)
    }

    const fn message(&self) -> usize {
        HEAD + CELL * self.shape.cells()
    }

    /// Whether a whole message has come, or nothing more will.
    fn has_message(&mut self) -> bool {
        let end = MessageHead::End.bytes();
        self.fill(self.message()) || !self.greeted || self.input.starts_with(&end)
    }

    fn wait_for(&mut self, wait: Option<Duration>) {
        if let Some(line) = &self.line {
            if !self.output.is_empty() {
                line.wait(true, wait);
            } else {
                line.wait(false, wait);
            }
        }
    }
}

impl FarStream for ForeignEnd {
    fn kind(&self) -> StreamKind {
        self.shape.kind.unwrap_or_default()
    }

    fn lanes(&self) -> usize {
        self.shape.lanes as usize
    }

    fn words(&self) -> usize {
        self.shape.words as usize
    }

    fn is_connected(&mut self) -> bool {
        if !self.greeted && (self.again || self.line.is_some()) {
            self.look();
        }
        self.greeted
    }

    fn is_ready(&mut self, wait: Duration) -> bool {
        self.has_message() || {
            self.wait_for(Some(wait));
            self.has_message()
        }
    }

    fn send(&mut self, cells: &[u64]) -> bool {
        if !self.greeted || cells.len() != self.shape.cells() {
            return false;
        }
        let words = self.shape.words;
        self.output.extend(MessageHead::Cells { words, first: self.sent }.bytes());
        self.output.extend(cells.iter().flat_map(|cell| cell.to_le_bytes()));
        self.sent += u64::from(words);
        self.flush();
        self.greeted
    }

    fn receive(&mut self, cells: &mut [u64]) -> bool {
        while !self.has_message() {
            if self.is_stopped() {
                self.lose("the wait for it was interrupted");
                return false;
            }
            self.wait_for(self.stops.map(|_| LOOK));
        }
        if !self.greeted {
            return false;
        }
        let (words, first) = (self.shape.words, self.received);
        let Some(head) = self.take::<HEAD>() else { return false };
        match MessageHead::of(head) {
            Some(MessageHead::Cells { words: count, first: at })
                if (count, at) == (words, first) => {}
            Some(MessageHead::End) => {
                self.lose("it ended the stream");
                return false;
            }
            _ => {
                self.lose("it sent a message that does not belong there");
                return false;
            }
        }
        self.received += u64::from(words);
        for (cell, bytes) in cells.iter_mut().zip(self.input.as_chunks::<CELL>().0) {
            *cell = u64::from_le_bytes(*bytes);
        }
        self.input.drain(..(CELL * self.shape.cells()).min(self.input.len()));
        true
    }
}

/// Opens the streams of a simulation. Each foreign end must come within `patience`. When `stops`
/// returns true, no wait goes on, and a foreign end that was waited for is gone.
pub fn waiting(
    name: &str,
    patience: Duration,
    stops: fn() -> bool,
) -> impl FnMut(&WantedStream<'_>) -> Result<Box<dyn FarStream>, String> {
    move |wanted| {
        let name = format!("{name} {}", wanted.link);
        let (stream, shape) = (wanted.stream, shape(wanted));
        let end = ForeignEnd::wait_unless(stream, shape, &name, Some(patience), stops);
        end.map(|end| Box::new(end) as _).map_err(|error| error.to_string())
    }
}

/// Opens the streams of a network in real time. Foreign ends may come and go.
pub fn later(name: &str) -> impl FnMut(&WantedStream<'_>) -> Result<Box<dyn FarStream>, String> {
    move |wanted| {
        let name = format!("{name} {}", wanted.link);
        let end = ForeignEnd::later(wanted.stream, shape(wanted), &name);
        end.map(|end| Box::new(end) as _).map_err(|error| error.to_string())
    }
}

fn shape(wanted: &WantedStream<'_>) -> StreamShape {
    let WantedStream { stream, lanes, rate_bps, .. } = *wanted;
    StreamShape { kind: Some(stream.kind), lanes, words: stream.words, rate_bps }
}

impl Drop for ForeignEnd {
    fn drop(&mut self) {
        if self.greeted {
            self.output.extend(MessageHead::End.bytes());
            self.flush();
        }
    }
}
