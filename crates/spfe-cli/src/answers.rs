//! Answers of a receiver to the sender of a file, and the sender's ear for them.

use crate::error::Failure;
use crate::frame::{ANSWER_MAX, Answer, Id};
use crate::output;
use spfe::{Buf, Deadline, Endpoint, QueueOptions, Rx, Status, Tx, Vc};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval between signs of life.
const ALIVE: Duration = Duration::from_millis(500);
/// Time for the last answer to leave.
const FAREWELL: Duration = Duration::from_secs(2);
/// Without a sign of life for this time, the receiver has died.
pub const SILENCE: Duration = Duration::from_secs(10);
/// Buffers for answers.
const BUFFERS: usize = 8;

/// Room for answers, at the start of a cache line each.
fn buffers(endpoint: &Endpoint) -> Result<Vec<Buf>, Failure> {
    let stride = ANSWER_MAX.next_multiple_of(64);
    let memory = endpoint.alloc(stride * BUFFERS)?;
    let cut = |index| memory.buf(index * stride..index * stride + ANSWER_MAX);
    Ok((0..BUFFERS).map(cut).collect::<spfe::Result<_>>()?)
}

fn options() -> QueueOptions {
    QueueOptions::default().depth((2 * BUFFERS) as u32)
}

/// The receiver's side: a thread that answers, also while a slow disk keeps the command waiting.
pub struct Answers {
    to: Option<Sender<(Id, Answer)>>,
    thread: Option<JoinHandle<()>>,
}

impl Answers {
    /// Opens the way back on a virtual channel. Answers begin with the address.
    pub fn open(endpoint: &Endpoint, vc: &Vc, address: &[u8]) -> Result<Self, Failure> {
        let mut voice = Voice {
            tx: vc.tx_with(options())?,
            free: buffers(endpoint)?,
            address: address.to_owned(),
        };
        let (to, from) = channel();
        let thread = std::thread::spawn(move || voice.speak(&from));
        Ok(Self { to: Some(to), thread: Some(thread) })
    }

    /// Sends an answer, and signs of life from now on.
    pub fn say(&self, id: Id, answer: Answer) {
        if let Some(to) = &self.to {
            let _ = to.send((id, answer));
        }
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.to = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Voice {
    tx: Tx,
    free: Vec<Buf>,
    address: Vec<u8>,
}

impl Voice {
    fn speak(&mut self, from: &Receiver<(Id, Answer)>) {
        let mut last = None;
        loop {
            let (id, answer) = match from.recv_timeout(ALIVE) {
                Ok((id, answer)) => (id, answer),
                Err(RecvTimeoutError::Timeout) => match last.take() {
                    Some(sign) => sign,
                    None => continue,
                },
                Err(RecvTimeoutError::Disconnected) => break,
            };
            self.send(&id, &answer);
            let stranger = answer == Answer::Stranger;
            last = Some((id, if stranger { answer } else { Answer::Alive }));
        }
        let end = Instant::now() + FAREWELL;
        while self.tx.outstanding() != 0 && Instant::now() < end {
            let _ = self.tx.wait(Deadline::after(Duration::from_millis(50)));
            self.reclaim();
        }
    }

    fn send(&mut self, id: &Id, answer: &Answer) {
        self.reclaim();
        // Without a free buffer nobody takes the answers.
        let Some(mut buf) = self.free.pop() else { return };
        buf.put(&[&self.address[..], &answer.encode(id)].concat());
        if let Err(full) = self.tx.send(buf) {
            self.free.push(full.0);
        }
        self.reclaim();
    }

    fn reclaim(&mut self) {
        // If this thread runs the engine, waiting moves the packets on.
        let _ = self.tx.wait(Deadline::NOW);
        while self.tx.poll().is_some() {}
        while let Some(buf) = self.tx.take() {
            self.free.push(buf);
        }
    }
}

/// The sender's side.
pub struct Ear {
    rx: Rx,
    id: Id,
    is_ready: bool,
    is_done: bool,
    heard: Instant,
    silence: Duration,
}

impl Ear {
    /// Listens for answers to a transfer. The receiver counts as dead after a time of silence.
    pub fn open(
        endpoint: &Endpoint,
        vc: &Vc,
        id: Id,
        silence: Option<Duration>,
    ) -> Result<Self, Failure> {
        let mut rx = vc.rx_with(options()).map_err(|error| {
            let mut failure = Failure::from(error);
            failure.what += "; answers come back on the channel of the packets: --no-ack does \
                             without them";
            failure
        })?;
        rx.post_all(&mut buffers(endpoint)?);
        let silence = silence.map_or(SILENCE, |time| time.min(SILENCE));
        Ok(Self { rx, id, is_ready: false, is_done: false, heard: Instant::now(), silence })
    }

    /// Whether the receiver is ready for data.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Whether the receiver has the whole file.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Takes the answers that arrive until the deadline.
    ///
    /// # Errors
    /// The receiver has failed, was replaced, or has been silent for too long.
    pub fn listen(&mut self, until: Deadline) -> Result<(), Failure> {
        match self.rx.recv(until) {
            Ok(received) => {
                let answer =
                    Answer::decode(&received.buf).filter(|_| received.status == Status::Ok);
                let _ = self.rx.post(received.buf);
                match answer {
                    Some((id, answer)) if id == self.id => self.take(answer)?,
                    Some((_, Answer::Stranger)) if self.is_ready => {
                        let what = "another receiver has taken the place of the one that had begun: \
                                    start again";
                        return Err(Failure::failed(what));
                    }
                    // Answers to another transfer.
                    _ => {}
                }
            }
            Err(error) if error.is_timeout() => {}
            Err(error) => return Err(error.into()),
        }
        if self.is_ready && !self.is_done && self.heard.elapsed() > self.silence {
            let time = output::time(self.silence.as_nanos() as u64);
            return Err(Failure::timed_out(format!(
                "the receiver has been silent for {time}: it has ended, or the link is cut"
            )));
        }
        Ok(())
    }

    fn take(&mut self, answer: Answer) -> Result<(), Failure> {
        self.heard = Instant::now();
        match answer {
            Answer::Ready => self.is_ready = true,
            Answer::Done => self.is_done = true,
            Answer::Failed(why) => {
                let why = output::printable(&why);
                return Err(Failure::failed(format!("the receiver has failed: {why}")));
            }
            Answer::Alive | Answer::Stranger => {}
        }
        Ok(())
    }
}
