//! The far end of a measurement: a thread or a process that the near end controls.
//!
//! Orders and answers go through channels of this process, or through the standard input and output
//! of the other process, one line of JSON each. The measured links carry nothing else, and need one
//! virtual channel only.

use super::case::{Case, Kind};
use super::latency::Echo;
use super::meter::Meter;
use super::streams::{StreamEnds, Streams};
use serde::{Deserialize, Serialize};
use spfe::{Endpoint, Error, Result, Status};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time limit for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// Interval between checks that the far end still runs.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Time limit for the far end to quit.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);

/// A message to the far end.
#[derive(Serialize, Deserialize)]
pub enum Order {
    /// Open queues for a case and post buffers.
    Prepare(Box<Case>),
    /// Start the traffic.
    Begin,
    /// End the thread or process.
    Quit,
}

/// A message from the far end.
#[derive(Serialize, Deserialize)]
pub enum Answer {
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

fn broken(why: &dyn std::fmt::Display) -> Error {
    Error::device(Status::BadField, format!("control message between the ends: {why}"))
}

/// Sends answers to the near end.
type Answers<'a> = &'a dyn Fn(Answer) -> Result<()>;

/// Executes the orders of the near end until it says quit or has gone.
fn serve(
    endpoint: &Endpoint,
    place: Placement,
    orders: &Receiver<Order>,
    answer: Answers<'_>,
) -> Result<()> {
    if place.fifo {
        spfe_measure::set_fifo();
    }
    if let Some(cpu) = place.cpu {
        spfe_measure::pin_to(cpu);
    }
    loop {
        match orders.recv() {
            Ok(Order::Prepare(case)) => {
                answer(match perform(endpoint, &case, orders, answer, place.alone) {
                    Ok(streams) => Answer::Done(Box::new(streams)),
                    Err(error) => Answer::Failed(error.to_string()),
                })?;
            }
            Ok(Order::Begin) => {}
            Ok(Order::Quit) | Err(_) => return Ok(()),
        }
    }
}

/// Serves as the far end in a process that the near end has started.
pub fn serve_process(endpoint: &Endpoint, place: Placement) -> Result<()> {
    let (sender, orders) = channel();
    std::thread::Builder::new().name("perf-orders".into()).spawn(move || {
        let lines = std::io::stdin().lock().lines().map_while(std::result::Result::ok);
        // The channel closes with the input, and `serve` then ends.
        let _ = lines
            .map_while(|line| serde_json::from_str(&line).ok())
            .try_for_each(|order| sender.send(order));
    })?;
    serve(endpoint, place, &orders, &|answer| {
        let text = serde_json::to_string(&answer).map_err(|error| broken(&error))?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| broken(&error))
    })
}

/// Runs one iteration of a case at the far end.
fn perform(
    endpoint: &Endpoint,
    case: &Case,
    orders: &Receiver<Order>,
    answer: Answers<'_>,
    alone: bool,
) -> Result<Streams> {
    let meter = |first| {
        let count = case.count.filter(|_| matches!(case.kind, Kind::Stream(_)));
        let meter = Meter::new(endpoint, case.seconds);
        let meter = meter.for_packets(count).at_once(count.is_some());
        if first && alone { meter.with_process() } else { meter }
    };
    if case.kind == Kind::RoundTrip {
        let echo = Echo::open(endpoint, case, meter(true))?;
        answer(Answer::Ready)?;
        return Ok(Streams { receive: Some(echo.run()?), send: None });
    }
    let (near_sends, near_receives) = case.near();
    let ends = StreamEnds::open(endpoint, case, (near_receives, near_sends), meter)?;
    answer(Answer::Ready)?;
    match orders.recv_timeout(ANSWER_TIMEOUT) {
        Ok(Order::Begin) => ends.run(true),
        _ => Err(broken(&"expected Begin")),
    }
}

/// Thread or process of the far end, and the way of orders to it.
enum Task {
    Thread(Option<JoinHandle<Result<()>>>, Sender<Order>),
    Process(Child, Option<ChildStdin>),
}

impl Task {
    fn has_ended(&mut self) -> bool {
        match self {
            Self::Thread(thread, _) => thread.as_ref().is_none_or(JoinHandle::is_finished),
            Self::Process(child, _) => !matches!(child.try_wait(), Ok(None)),
        }
    }

    fn tell(&mut self, order: Order) -> Result<()> {
        match self {
            Self::Thread(_, orders) => orders.send(order).map_err(|_| ended()),
            Self::Process(_, input) => {
                let text = serde_json::to_string(&order).map_err(|error| broken(&error))?;
                let input = input.as_mut().ok_or_else(ended)?;
                writeln!(input, "{text}").and_then(|()| input.flush()).map_err(|_| ended())
            }
        }
    }
}

/// Handle of the far end, used by the near end.
pub struct Far {
    task: Task,
    answers: Receiver<Answer>,
    device: String,
}

impl Far {
    /// Starts a far end in a thread of this process.
    pub fn thread(far: Endpoint, place: Placement) -> Result<Self> {
        let device = far.info().uri;
        let ((orders, from_near), (to_near, answers)) = (channel(), channel());
        let thread = std::thread::Builder::new().name("perf-far".into()).spawn(move || {
            serve(&far, place, &from_near, &|answer| to_near.send(answer).map_err(|_| ended()))
        })?;
        Ok(Self { task: Task::Thread(Some(thread), orders), answers, device })
    }

    /// Starts a far end in another process: this program with a hidden subcommand.
    pub fn process(device: &str, place: Placement) -> Result<Self> {
        let program = std::env::current_exe()?;
        let mut command = Command::new(program);
        command.arg("perf-worker").arg(device).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(cpu) = place.cpu {
            command.arg("--cpu").arg(cpu.to_string());
        }
        if place.fifo {
            command.arg("--fifo");
        }
        let mut child = command.spawn()?;
        let (sender, answers) = channel();
        if let Some(output) = child.stdout.take() {
            std::thread::Builder::new().name("perf-answers".into()).spawn(move || {
                let lines = BufReader::new(output).lines().map_while(std::result::Result::ok);
                // The channel closes with the output.
                let _ = lines
                    .map_while(|line| serde_json::from_str(&line).ok())
                    .try_for_each(|answer| sender.send(answer));
            })?;
        }
        let input = child.stdin.take();
        Ok(Self { task: Task::Process(child, input), answers, device: device.to_owned() })
    }

    /// Prepares the far end for an iteration.
    pub fn prepare(&mut self, case: &Case) -> Result<()> {
        self.task.tell(Order::Prepare(Box::new(case.seen_from_far())))?;
        match self.answer()? {
            Answer::Ready => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    /// Starts the traffic.
    pub fn begin(&mut self) -> Result<()> {
        self.task.tell(Order::Begin)
    }

    /// Waits for the figures of the far end.
    pub fn finish(&mut self) -> Result<Streams> {
        match self.answer()? {
            Answer::Done(streams) => Ok(*streams),
            other => Err(unexpected(other)),
        }
    }

    /// Waits in short intervals and fails early if the far end has ended.
    fn answer(&mut self) -> Result<Answer> {
        let until = Instant::now() + ANSWER_TIMEOUT;
        loop {
            match self.answers.recv_timeout(CHECK_INTERVAL) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
                Err(RecvTimeoutError::Timeout) if self.task.has_ended() => {
                    // It may have answered before it ended.
                    return self.answers.try_recv().map_err(|_| ended());
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(RecvTimeoutError::Timeout) => {
                    let what = format!(
                        "no answer from the far end at {} within {} s; check that it is linked to \
                         the near end",
                        self.device,
                        ANSWER_TIMEOUT.as_secs()
                    );
                    return Err(Error::device(Status::PeerGone, what));
                }
            }
        }
    }
}

fn ended() -> Error {
    Error::device(Status::PeerGone, "the far end has ended early")
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
        let quit_sent = self.task.tell(Order::Quit).is_ok();
        match &mut self.task {
            Task::Thread(thread, _) => {
                // A thread that waits for a packet that never comes ends with the process.
                let until = Instant::now() + QUIT_TIMEOUT;
                while quit_sent && Instant::now() < until {
                    match thread.take_if(|thread| thread.is_finished()) {
                        Some(thread) => return drop(thread.join()),
                        None => std::thread::sleep(Duration::from_millis(1)),
                    }
                }
            }
            Task::Process(child, input) => {
                drop(input.take());
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
