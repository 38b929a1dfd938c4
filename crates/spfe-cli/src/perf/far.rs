//! The far end of a measurement: a thread or a process that does as the near end says.
//!
//! Everything they say to each other are packets on a virtual channel beside the one that is
//! measured, so nothing but the device connects them.

use super::case::{Case, Kind};
use super::latency::Echo;
use super::meter::Meter;
use super::run::{self, Streams};
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
/// How long an end may take to answer.
const ANSWER: Duration = Duration::from_secs(20);
/// Time between looks whether it is there at all.
const SLICE: Duration = Duration::from_millis(100);
/// How long it may take to hear that it is over, and to end.
const FAREWELL: Duration = Duration::from_secs(2);

/// What the far end is told.
#[derive(Serialize, Deserialize)]
enum Order {
    /// Get ready for a case.
    Prepare(Box<Case>),
    /// Begin.
    Begin,
    /// That was all.
    Quit,
}

/// What it answers.
#[derive(Serialize, Deserialize)]
enum Answer {
    /// Its queues are open and its buffers posted.
    Ready,
    /// What it measured sending and receiving.
    Done(Streams),
    /// Why it did not.
    Failed(String),
}

/// CPU and scheduling class of a far end.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its CPU.
    pub cpu: Option<usize>,
    /// Under SCHED_FIFO.
    pub fifo: bool,
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

    /// Posts a message; [`Control::said`] waits until the other end has it.
    fn say(&mut self, message: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec(message).map_err(|error| broken(&error))?;
        let mut packet = self.message.take().ok_or_else(|| broken(&"no buffer"))?;
        packet.put(&text[..text.len().min(MESSAGE_BYTES)]);
        Ok(self.tx.send(packet)?)
    }

    fn said(&mut self, deadline: Deadline) -> Result<()> {
        self.tx.drain(deadline)?;
        self.message = self.tx.take();
        Ok(())
    }

    fn hear<T: DeserializeOwned>(&mut self, deadline: Deadline) -> Result<T> {
        let received = self.rx.recv(deadline)?;
        let message = serde_json::from_slice(&received.buf).map_err(|error| broken(&error));
        self.rx.post(received.buf)?;
        message
    }
}

fn broken(why: &dyn std::fmt::Display) -> Error {
    Error::device(Status::BadField, format!("control message between the ends: {why}"))
}

/// Does as the near end says until it says quit or is gone.
pub fn serve(endpoint: &Endpoint, place: Place) -> Result<()> {
    if place.fifo {
        spfe_measure::set_fifo();
    }
    if let Some(cpu) = place.cpu {
        spfe_measure::pin_to(cpu);
    }
    let mut control = Control::open(endpoint)?;
    loop {
        match control.hear(Deadline::NEVER)? {
            Order::Prepare(case) => {
                let answer = match perform(endpoint, &case, &mut control) {
                    Ok(streams) => Answer::Done(streams),
                    Err(error) => Answer::Failed(error.to_string()),
                };
                control.say(&answer)?;
                control.said(Deadline::after(ANSWER))?;
            }
            Order::Begin => {}
            Order::Quit => return Ok(()),
        }
    }
}

/// One iteration of a case at the far end.
fn perform(endpoint: &Endpoint, case: &Case, control: &mut Control) -> Result<Streams> {
    let meter = || Meter::new(endpoint, case.seconds);
    if case.kind == Kind::RoundTrip {
        let echo = Echo::open(endpoint, case, meter())?;
        control.say(&Answer::Ready)?;
        control.said(Deadline::after(ANSWER))?;
        return Ok(Streams { receive: Some(echo.run()?), send: None });
    }
    let (near_sends, near_receives) = case.near();
    let ends = run::Ends::open(endpoint, case, (near_receives, near_sends), meter)?;
    control.say(&Answer::Ready)?;
    control.said(Deadline::after(ANSWER))?;
    let Order::Begin = control.hear(Deadline::after(ANSWER))? else {
        return Err(broken(&"expected the order to begin"));
    };
    ends.run(true)
}

/// Where the far end lives.
enum Life {
    Thread(Option<JoinHandle<Result<()>>>),
    Process(Child),
}

impl Life {
    fn is_over(&mut self) -> bool {
        match self {
            Self::Thread(thread) => thread.as_ref().is_none_or(JoinHandle::is_finished),
            Self::Process(child) => !matches!(child.try_wait(), Ok(None)),
        }
    }
}

/// The far end, seen from the near one.
pub struct Far {
    control: Control,
    life: Life,
    device: String,
}

impl Far {
    /// Starts one in a thread of this process.
    pub fn thread(near: &Endpoint, far: Endpoint, place: Place) -> Result<Self> {
        let control = Control::open(near)?;
        let device = far.info().uri;
        let thread = std::thread::Builder::new()
            .name("perf-far".into())
            .spawn(move || serve(&far, place))?;
        Ok(Self { control, life: Life::Thread(Some(thread)), device })
    }

    /// Starts one in another process: this program again, with a hidden subcommand.
    pub fn process(near: &Endpoint, device: &str, place: Place) -> Result<Self> {
        let control = Control::open(near)?;
        let program = std::env::current_exe()?;
        let mut command = Command::new(program);
        // Standard output is for results.
        command.arg("perf-worker").arg(device).stdin(Stdio::null()).stdout(Stdio::null());
        if let Some(cpu) = place.cpu {
            command.arg("--cpu").arg(cpu.to_string());
        }
        if place.fifo {
            command.arg("--fifo");
        }
        let life = Life::Process(command.spawn()?);
        Ok(Self { control, life, device: device.to_owned() })
    }

    /// Gets it ready for an iteration.
    pub fn prepare(&mut self, case: &Case) -> Result<()> {
        self.tell(&Order::Prepare(Box::new(case.clone())), ANSWER)?;
        match self.answer()? {
            Answer::Ready => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    /// Lets it begin.
    pub fn begin(&mut self) -> Result<()> {
        self.tell(&Order::Begin, ANSWER)
    }

    /// What it measured.
    pub fn finish(&mut self) -> Result<Streams> {
        match self.answer()? {
            Answer::Done(streams) => Ok(streams),
            other => Err(unexpected(other)),
        }
    }

    fn tell(&mut self, order: &Order, within: Duration) -> Result<()> {
        self.control.say(order)?;
        self.while_it_lives(within, Control::said)
    }

    fn answer(&mut self) -> Result<Answer> {
        self.while_it_lives(ANSWER, Control::hear)
    }

    /// Waits in slices: an end that is not there any more would be waited for in vain.
    fn while_it_lives<T>(
        &mut self,
        within: Duration,
        mut wait: impl FnMut(&mut Control, Deadline) -> Result<T>,
    ) -> Result<T> {
        let until = Instant::now() + within;
        loop {
            match wait(&mut self.control, Deadline::after(SLICE)) {
                Err(error) if error.is_timeout() && Instant::now() < until => {}
                Err(error) if error.is_timeout() => {
                    let (far, s) = (&self.device, within.as_secs());
                    let what = format!(
                        "no answer from the far end at {far} within {s} s; is it joined to the near \
                         end?"
                    );
                    return Err(Error::device(Status::PeerGone, what));
                }
                other => return other,
            }
            if self.life.is_over() {
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
        let told = self.tell(&Order::Quit, FAREWELL).is_ok();
        match &mut self.life {
            Life::Thread(thread) => {
                // One that cannot be told anything is left behind: the process ends soon.
                if let Some(thread) = thread.take().filter(|_| told) {
                    let _ = thread.join();
                }
            }
            Life::Process(child) => {
                let until = Instant::now() + FAREWELL;
                while told && Instant::now() < until {
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
