//! The far end of a measurement: a thread or a process that the near end controls.
//!
//! The ends exchange control messages as packets on a second virtual channel, so they need no other
//! connection than the devices.

use super::case::{Case, Kind};
use super::latency::Echo;
use super::meter::Meter;
use super::streams::{StreamEnds, Streams};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use spfe::{Buf, Deadline, Endpoint, Error, QueueOptions, Result, Rx, Status, Strategy, Tx};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The virtual channel of the control messages.
const CONTROL_VC: u32 = 7;
/// Longest control message, bytes.
const MESSAGE_BYTES: usize = 16384;
/// Time limit for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// Interval between checks that the far end still runs.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Time limit for the far end to quit.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);

/// A message to the far end.
#[derive(Serialize, Deserialize)]
enum Order {
    /// Open queues for a case and post buffers.
    Prepare(Box<Case>),
    /// Start the traffic.
    Begin,
    /// End the thread or process.
    Quit,
}

/// A message from the far end.
#[derive(Serialize, Deserialize)]
enum Answer {
    /// Queues are open and buffers posted.
    Ready,
    /// Figures of the iteration.
    Done(Box<Streams>),
    /// Reason of a failure.
    Failed(String),
}

/// Processor and scheduling class of a far end.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    /// Processor to run on.
    pub cpu: Option<usize>,
    /// Run under SCHED_FIFO.
    pub fifo: bool,
    /// In a process of its own, whose processor time it measures.
    pub alone: bool,
}

/// One end of the control channel.
struct Control {
    tx: Tx,
    rx: Rx,
    message: Option<Buf>,
}

impl Control {
    fn open(endpoint: &Endpoint) -> Result<Self> {
        let vc = endpoint.port(0)?.vc(CONTROL_VC)?;
        let options = QueueOptions::default().depth(4).strategy(Strategy::Block);
        let memory = endpoint.alloc(4 * MESSAGE_BYTES)?;
        let mut bufs = memory.split(MESSAGE_BYTES, 4)?;
        let message = bufs.pop();
        let mut rx = vc.rx_with(options)?;
        rx.post_all(&mut bufs);
        Ok(Self { tx: vc.tx_with(options)?, rx, message })
    }

    /// Sends a message. [`Control::flush`] waits until the other end has it.
    fn send(&mut self, message: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec(message).map_err(|error| broken(&error))?;
        let mut packet = self.message.take().ok_or_else(|| broken(&"no buffer"))?;
        packet.put(&text[..text.len().min(MESSAGE_BYTES)]);
        Ok(self.tx.send(packet)?)
    }

    fn flush(&mut self, deadline: Deadline) -> Result<()> {
        self.tx.drain(deadline)?;
        self.message = self.tx.take();
        Ok(())
    }

    fn receive<T: DeserializeOwned>(&mut self, deadline: Deadline) -> Result<T> {
        let received = self.rx.recv(deadline)?;
        let message = serde_json::from_slice(&received.buf).map_err(|error| broken(&error));
        self.rx.post(received.buf)?;
        message
    }
}

fn broken(why: &dyn std::fmt::Display) -> Error {
    Error::device(Status::BadField, format!("control message between the ends: {why}"))
}

/// Executes the orders of the near end until it says quit or has gone.
pub fn serve(endpoint: &Endpoint, place: Placement) -> Result<()> {
    if place.fifo {
        spfe_measure::set_fifo();
    }
    if let Some(cpu) = place.cpu {
        spfe_measure::pin_to(cpu);
    }
    let mut control = Control::open(endpoint)?;
    loop {
        match control.receive(Deadline::NEVER)? {
            Order::Prepare(case) => {
                let answer = match perform(endpoint, &case, &mut control, place.alone) {
                    Ok(streams) => Answer::Done(Box::new(streams)),
                    Err(error) => Answer::Failed(error.to_string()),
                };
                control.send(&answer)?;
                control.flush(Deadline::after(ANSWER_TIMEOUT))?;
            }
            Order::Begin => {}
            Order::Quit => return Ok(()),
        }
    }
}

/// Runs one iteration of a case at the far end.
fn perform(
    endpoint: &Endpoint,
    case: &Case,
    control: &mut Control,
    alone: bool,
) -> Result<Streams> {
    let meter = |first| {
        let meter = Meter::new(endpoint, case.seconds);
        if first && alone { meter.with_process() } else { meter }
    };
    if case.kind == Kind::RoundTrip {
        let echo = Echo::open(endpoint, case, meter(true))?;
        control.send(&Answer::Ready)?;
        control.flush(Deadline::after(ANSWER_TIMEOUT))?;
        return Ok(Streams { receive: Some(echo.run()?), send: None });
    }
    let (near_sends, near_receives) = case.near();
    let ends = StreamEnds::open(endpoint, case, (near_receives, near_sends), meter)?;
    control.send(&Answer::Ready)?;
    control.flush(Deadline::after(ANSWER_TIMEOUT))?;
    let Order::Begin = control.receive(Deadline::after(ANSWER_TIMEOUT))? else {
        return Err(broken(&"expected Begin"));
    };
    ends.run(true)
}

/// Thread or process of the far end.
enum Task {
    Thread(Option<JoinHandle<Result<()>>>),
    Process(Child),
}

impl Task {
    fn has_ended(&mut self) -> bool {
        match self {
            Self::Thread(thread) => thread.as_ref().is_none_or(JoinHandle::is_finished),
            Self::Process(child) => !matches!(child.try_wait(), Ok(None)),
        }
    }
}

/// Handle of the far end, used by the near end.
pub struct Far {
    control: Control,
    task: Task,
    device: String,
}

impl Far {
    /// Starts a far end in a thread of this process.
    pub fn thread(near: &Endpoint, far: Endpoint, place: Placement) -> Result<Self> {
        let control = Control::open(near)?;
        let device = far.info().uri;
        let thread = std::thread::Builder::new()
            .name("perf-far".into())
            .spawn(move || serve(&far, place))?;
        Ok(Self { control, task: Task::Thread(Some(thread)), device })
    }

    /// Starts a far end in another process: this program with a hidden subcommand.
    pub fn process(near: &Endpoint, device: &str, place: Placement) -> Result<Self> {
        let control = Control::open(near)?;
        let program = std::env::current_exe()?;
        let mut command = Command::new(program);
        // Standard output is reserved for results.
        command.arg("perf-worker").arg(device).stdin(Stdio::null()).stdout(Stdio::null());
        if let Some(cpu) = place.cpu {
            command.arg("--cpu").arg(cpu.to_string());
        }
        if place.fifo {
            command.arg("--fifo");
        }
        let task = Task::Process(command.spawn()?);
        Ok(Self { control, task, device: device.to_owned() })
    }

    /// Prepares the far end for an iteration.
    pub fn prepare(&mut self, case: &Case) -> Result<()> {
        self.tell(&Order::Prepare(Box::new(case.clone())), ANSWER_TIMEOUT)?;
        match self.answer()? {
            Answer::Ready => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    /// Starts the traffic.
    pub fn begin(&mut self) -> Result<()> {
        self.tell(&Order::Begin, ANSWER_TIMEOUT)
    }

    /// Waits for the figures of the far end.
    pub fn finish(&mut self) -> Result<Streams> {
        match self.answer()? {
            Answer::Done(streams) => Ok(*streams),
            other => Err(unexpected(other)),
        }
    }

    fn tell(&mut self, order: &Order, within: Duration) -> Result<()> {
        self.control.send(order)?;
        self.wait_while_running(within, Control::flush)
    }

    fn answer(&mut self) -> Result<Answer> {
        self.wait_while_running(ANSWER_TIMEOUT, Control::receive)
    }

    /// Waits in short intervals and fails early if the far end has ended.
    fn wait_while_running<T>(
        &mut self,
        within: Duration,
        mut wait: impl FnMut(&mut Control, Deadline) -> Result<T>,
    ) -> Result<T> {
        let until = Instant::now() + within;
        loop {
            match wait(&mut self.control, Deadline::after(CHECK_INTERVAL)) {
                Err(error) if error.is_timeout() && Instant::now() < until => {}
                Err(error) if error.is_timeout() => {
                    let (far, s) = (&self.device, within.as_secs());
                    let what = format!(
                        "no answer from the far end at {far} within {s} s; check that it is linked to \
                         the near end"
                    );
                    return Err(Error::device(Status::PeerGone, what));
                }
                other => return other,
            }
            if self.task.has_ended() {
                return Err(Error::device(Status::PeerGone, "the far end has ended early"));
            }
        }
    }
}

fn unexpected(answer: Answer) -> Error {
    let why = match answer {
        Answer::Ready | Answer::Done(_) => "the far end is out of step".to_owned(),
        Answer::Failed(why) => format!("the far end failed: {why}"),
    };
    Error::device(Status::PeerGone, why)
}

impl Drop for Far {
    fn drop(&mut self) {
        let quit_sent = self.tell(&Order::Quit, QUIT_TIMEOUT).is_ok();
        match &mut self.task {
            Task::Thread(thread) => {
                // A thread that did not get the order is not joined; it ends with the process.
                if let Some(thread) = thread.take().filter(|_| quit_sent) {
                    let _ = thread.join();
                }
            }
            Task::Process(child) => {
                let until = Instant::now() + QUIT_TIMEOUT;
                while quit_sent && Instant::now() < until {
                    if !matches!(child.try_wait(), Ok(None)) {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}
