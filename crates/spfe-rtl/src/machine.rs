//! The thread that runs cores.

use crate::axi::Timing;
use crate::cable::{Far, ForeignCable};
use crate::core::{Core, CoreFace};
use crate::lite::RegisterAccess;
use crate::model::{self, Model};
use crate::pins::{LaneWord, Shape};
use crate::program::{Moment, Program};
use spfe_contract::Status;
use spfe_host::{Error, Peer, Result, SharedMemory, os};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Cycles without any activity after which the machine slows down.
const QUIET_CYCLES: u64 = 50_000;
/// Cycles that a slow machine runs at a time: links and timers go on.
const SLOW_CYCLES: u64 = 256;
/// Pause between them, unless a user comes.
const SLOW_PAUSE: Duration = Duration::from_millis(25);
/// Cycles between two looks at the clock of this machine.
const CLOCK_CYCLES: u64 = 1024;
/// Longest wait for a register. The core answers within a number of cycles; this is for a machine
/// that is busy with other things.
const ANSWER: Duration = Duration::from_secs(60);

/// Bus address and bytes of the memory that a core without queues serves, as of
/// `rtl/sim/spfe_sim_endpoint.sv`.
const TARGET_AT: u64 = 0;
const TARGET_BYTES: usize = 1 << 16;

/// Variable of the environment: a machine tells what it has done when it ends.
const REPORT: &str = "SPFE_RTL_REPORT";

/// Cores and what joins them.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Shape of each core.
    pub cores: Vec<Shape>,
    /// The far end of each port, `[core][port]`.
    pub far: Vec<Vec<Far>>,
    /// File of the model of core 0 and those of its shape; `None` for the one of the shape.
    pub model: Option<PathBuf>,
    /// Seed of the registers without a reset.
    pub seed: u32,
    /// Times of the bus.
    pub timing: Timing,
    /// Word periods that cables between ports take, 1 or more.
    pub cable: usize,
    /// Time passes only for accesses to registers and for programs ([`Machine::run`]), so a machine
    /// does the same in every run.
    pub stepped: bool,
}

impl Plan {
    /// A core whose ports are joined in pairs, 0 with 1, 2 with 3, if both are of one kind.
    pub fn looped(shape: Shape) -> Self {
        let far = |port: usize| match port ^ 1 {
            other if other < shape.ports && shape.is_wire(port) == shape.is_wire(other) => {
                Far::Port { core: 0, port: other }
            }
            _ => Far::Open,
        };
        Self::of(vec![shape], vec![(0..shape.ports).map(far).collect()])
    }

    /// Two cores; each port is joined with the same port of the other core.
    pub fn pair(shape: Shape) -> Self {
        let far =
            |core: usize| (0..shape.ports).map(|port| Far::Port { core: 1 - core, port }).collect();
        Self::of(vec![shape; 2], vec![far(0), far(1)])
    }

    /// A core whose port 0 is joined with that of a core without queues, which serves memory.
    pub fn target(shape: Shape) -> Self {
        let mut far = vec![Far::Open; shape.ports];
        far[0] = Far::Port { core: 1, port: 0 };
        let there = Shape { ports: 1, wires: 0, pair: false, target: true, ..shape };
        Self::of(vec![shape, there], vec![far, vec![Far::Port { core: 0, port: 0 }]])
    }

    /// A core with a foreign end at port 0.
    pub fn foreign(shape: Shape, stream: spfe_topology::ForeignStream) -> Self {
        let mut far = vec![Far::Open; shape.ports];
        far[0] = Far::Foreign(stream);
        Self::of(vec![shape], vec![far])
    }

    fn of(cores: Vec<Shape>, far: Vec<Vec<Far>>) -> Self {
        let timing = Timing::default();
        Self { cores, far, model: None, seed: 1, timing, cable: 1, stepped: false }
    }
}

/// What a machine has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Cycles of each core.
    pub cycles: u64,
    /// Processor time of the thread, ns.
    pub cpu_ns: u64,
    /// Accesses of the cores that were refused.
    pub refusals: u64,
    /// Bytes that the cores have read and written.
    pub bytes: (u64, u64),
    /// Interrupts of the cores.
    pub interrupts: u64,
}

impl Report {
    /// Simulated cycles per second of processor time.
    pub fn cycles_per_second(&self) -> f64 {
        self.cycles as f64 * 1e9 / self.cpu_ns.max(1) as f64
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, rate) = (self.cpu_ns as f64 / 1e9, self.cycles_per_second());
        let Self { cycles, refusals, bytes: (read, written), interrupts, .. } = self;
        write!(
            f,
            "{cycles} cycles in {seconds:.1} s of processor time ({rate:.0} in a second), {read} \
             bytes read, {written} written, {refusals} accesses refused, {interrupts} interrupts"
        )
    }
}

#[derive(Default)]
struct Control {
    stop: AtomicBool,
    /// A user has asked for something since the thread last looked.
    pending: AtomicBool,
    asleep: Mutex<bool>,
    wake: Condvar,
    gone: AtomicBool,
    failure: Mutex<Option<String>>,
    report: Mutex<Report>,
    cycles: AtomicU64,
    /// The program to run next.
    program: Mutex<Option<Running>>,
}

/// A program, and where it goes at its end.
struct Running {
    program: Box<dyn Program>,
    end: SyncSender<Box<dyn Program>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Control {
    /// Makes the thread look.
    fn poke(&self) {
        self.pending.store(true, Ordering::SeqCst);
        if *lock(&self.asleep) {
            self.wake.notify_all();
        }
    }

    /// Sleeps until a user comes, at most for a while.
    fn sleep(&self, limit: Duration) {
        let mut asleep = lock(&self.asleep);
        *asleep = true;
        if !self.pending.load(Ordering::SeqCst) {
            let woken = self.wake.wait_timeout(asleep, limit);
            asleep = woken.map_or_else(|error| error.into_inner().0, |(guard, _)| guard);
        }
        *asleep = false;
    }
}

/// Simulated cores and the thread that runs them. The thread ends when this is dropped.
pub struct Machine {
    stepped: bool,
    far: Vec<Vec<Far>>,
    control: Arc<Control>,
    cores: Vec<Arc<CoreFace>>,
    thread: Option<JoinHandle<()>>,
}

impl Machine {
    /// Starts a machine.
    ///
    /// # Errors
    /// NOT_FOUND without a model, BAD_VERSION for one with other pins, and the status of a far end
    /// that cannot be opened.
    pub fn start(plan: Plan) -> Result<Arc<Self>> {
        let control = Arc::new(Control::default());
        let cores: Vec<Arc<CoreFace>> = plan.cores.iter().map(|_| Arc::default()).collect();
        let (started, result) = sync_channel(1);
        let (shared, watched) = (cores.clone(), control.clone());
        let stepped = plan.stepped;
        let far = plan.far.clone();
        let body = move || {
            // The model is made and used in this thread only.
            let runner = match Runner::new(&plan, shared.clone(), watched.clone()) {
                Ok(runner) => runner,
                Err(error) => {
                    let _ = started.send(Err(error));
                    return;
                }
            };
            let _ = started.send(Ok(()));
            runner.run();
        };
        let thread = std::thread::Builder::new().name("spfe-rtl".into()).spawn(body)?;
        let done = result.recv().unwrap_or_else(|_| {
            Err(Error::device(Status::DeviceGone, "rtl: the thread of the core has ended"))
        });
        let machine = Self { stepped, far, control, cores, thread: Some(thread) };
        done.map(|()| Arc::new(machine))
    }

    /// Whether time passes only for accesses and programs.
    pub(crate) fn is_stepped(&self) -> bool {
        self.stepped
    }

    /// Runs a program in the time of the cores until it ends, and returns it. There is one at a time.
    ///
    /// # Errors
    /// DEVICE_GONE if the cores stop, BUSY if another program runs.
    pub fn run<P: Program>(&self, program: P) -> Result<P> {
        let (end, ended) = sync_channel(1);
        {
            let mut next = lock(&self.control.program);
            if next.is_some() {
                return Err(Error::device(Status::Busy, "rtl: another program waits"));
            }
            *next = Some(Running { program: Box::new(program), end });
        }
        self.control.poke();
        if self.is_gone() {
            // Nobody will take it: dropped here, because whoever drops it may close queues.
            drop(lock(&self.control.program).take());
        }
        let program: Option<Box<dyn Any>> = ended.recv().ok().map(|program| program as _);
        if let Some(program) = program.and_then(|program| program.downcast().ok()) {
            return Ok(*program);
        }
        let why = self.failure().unwrap_or_else(|| "the core has stopped".to_owned());
        Err(Error::device(Status::DeviceGone, format!("rtl: {why}")))
    }

    /// What the machine has done so far, up to the last thousand cycles.
    pub fn report(&self) -> Report {
        *lock(&self.control.report)
    }

    /// Cycles so far.
    pub fn cycles(&self) -> u64 {
        self.control.cycles.load(Ordering::Relaxed)
    }

    /// Why the cores stopped.
    pub fn failure(&self) -> Option<String> {
        lock(&self.control.failure).clone()
    }

    /// The far end of a port. Cores are numbered from 0, seen from the one that asks.
    pub(crate) fn peer(&self, core: usize, port: u32) -> Peer {
        match self.far.get(core).and_then(|ports| ports.get(port as usize)) {
            Some(Far::Port { core: far, port }) => {
                Peer::Port { endpoint: core.abs_diff(*far) as u32, port: *port as u32 }
            }
            _ => Peer::Network,
        }
    }

    pub(crate) fn core(&self, core: usize) -> Option<&Arc<CoreFace>> {
        self.cores.get(core)
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.control.gone.load(Ordering::Acquire)
    }

    /// Asks for an access to the registers of a core. Writes are not waited for.
    pub(crate) fn access(&self, core: &CoreFace, access: RegisterAccess) {
        if self.is_gone() {
            return;
        }
        core.push(access);
        self.control.poke();
        if self.is_gone() {
            core.drop_accesses();
        }
    }

    /// Resets a core. Returns whether it has done so.
    pub(crate) fn reset(&self, core: &CoreFace) -> bool {
        let (answer, answers) = channel();
        self.access(core, RegisterAccess::Reset { answer });
        answers.recv_timeout(ANSWER).is_ok()
    }

    /// Reads a register. All ones if the core is gone.
    pub(crate) fn read(&self, core: &CoreFace, address: u32) -> u32 {
        let (answer, answers) = channel();
        self.access(core, RegisterAccess::Read { address, answer });
        // The core failed, or this machine has no time.
        answers.recv_timeout(ANSWER).unwrap_or(u32::MAX)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.control.stop.store(true, Ordering::Release);
        self.control.poke();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by then.
            let _ = thread.join();
            if std::env::var_os(REPORT).is_some() {
                eprintln!("spfe: rtl: {}", self.report());
            }
        }
    }
}

/// What is at a port.
enum End {
    Open,
    Port {
        core: usize,
        port: usize,
        /// Words on their way to this end.
        words: VecDeque<LaneWord>,
    },
    Foreign(Box<ForeignCable>),
}

/// The state of the thread.
struct Runner {
    cores: Vec<Core>,
    shared: Vec<Arc<CoreFace>>,
    /// [core][port]
    ends: Vec<Vec<End>>,
    control: Arc<Control>,
    program: Option<Running>,
    stepped: bool,
    cycles: u64,
    quiet: u64,
}

/// Tells users that the cores are gone, also when the thread panics.
struct Farewell(Arc<Control>, Vec<Arc<CoreFace>>);

impl Drop for Farewell {
    fn drop(&mut self) {
        self.0.gone.store(true, Ordering::SeqCst);
        for shared in &self.1 {
            shared.drop_accesses();
            if let Some(sink) = shared.sink() {
                sink.gone();
            }
        }
    }
}

impl Runner {
    fn new(plan: &Plan, shared: Vec<Arc<CoreFace>>, control: Arc<Control>) -> Result<Self> {
        let broken = |what: String| Error::device(Status::DeviceGone, format!("rtl: {what}"));
        let mut cores = Vec::new();
        for (core, shape) in plan.cores.iter().copied().enumerate() {
            let path = plan.model.clone().filter(|_| shape == plan.cores[0]);
            let path = path.unwrap_or_else(|| model::file(shape));
            let model = Model::new(&path, shape, plan.seed.wrapping_add(core as u32))?;
            cores.push(Core::start(model, shape, plan.timing).map_err(broken)?);
            if shape.target {
                let memory = Arc::new(SharedMemory::create("target", TARGET_BYTES)?);
                shared[core].memory.map_at(TARGET_AT, &memory);
            }
        }
        let shape = plan.cores[0];
        let end = |far: &Far| {
            Ok(match far {
                Far::Open => End::Open,
                Far::Port { core, port } => {
                    let delay = plan.cable.saturating_sub(1) * shape.lanes;
                    let words = VecDeque::from(vec![LaneWord::default(); delay]);
                    End::Port { core: *core, port: *port, words }
                }
                Far::Foreign(stream) => {
                    End::Foreign(Box::new(ForeignCable::open(stream, shape.lanes)?))
                }
            })
        };
        let ends = plan.far.iter().map(|ports| ports.iter().map(end).collect());
        let ends = ends.collect::<Result<Vec<Vec<End>>>>()?;
        let stepped = plan.stepped;
        let (program, cycles, quiet) = (None, 0, 0);
        Ok(Self { cores, shared, ends, control, program, stepped, cycles, quiet })
    }

    fn run(mut self) {
        let farewell = Farewell(self.control.clone(), self.shared.clone());
        if let Err(what) = self.run_until_stopped() {
            let what = format!("cycle {}: {what}", self.cycles);
            eprintln!("spfe: rtl: {what}");
            *lock(&self.control.failure) = Some(what);
        }
        self.account();
        // The users learn it before the models are freed, which takes a while.
        drop(farewell);
    }

    fn run_until_stopped(&mut self) -> Result<(), String> {
        while !self.control.stop.load(Ordering::Acquire) {
            if self.control.pending.swap(false, Ordering::SeqCst) {
                for (core, shared) in self.cores.iter_mut().zip(&self.shared) {
                    core.fetch(shared)?;
                }
                if self.program.is_none() {
                    self.program = lock(&self.control.program).take();
                }
                self.quiet = 0;
            }
            if self.stepped && self.program.is_none() && !self.cores.iter().any(Core::is_accessed) {
                self.control.sleep(SLOW_PAUSE);
                continue;
            }
            if !self.foreign_ends_are_ready() {
                continue;
            }
            let active = self.cycle()?;
            self.cycles += 1;
            self.run_program();
            self.quiet = if active { 0 } else { self.quiet + 1 };
            if self.cycles.is_multiple_of(CLOCK_CYCLES) {
                self.account();
            }
            if self.quiet > QUIET_CYCLES && self.quiet.is_multiple_of(SLOW_CYCLES) {
                self.account();
                self.control.sleep(SLOW_PAUSE);
            }
        }
        Ok(())
    }

    /// A step of the program. It goes back at its end.
    fn run_program(&mut self) {
        let Some(running) = &mut self.program else { return };
        let mut now = Moment { cycle: self.cycles, cores: &mut self.cores };
        if !running.program.cycle(&mut now)
            && let Some(Running { program, end }) = self.program.take()
        {
            // Whoever waited for it is there as long as this machine.
            let _ = end.send(program);
        }
    }

    fn foreign_ends_are_ready(&mut self) -> bool {
        let mut ready = true;
        for end in self.ends.iter_mut().flatten() {
            if let End::Foreign(cable) = end {
                ready &= cable.is_ready();
            }
        }
        ready
    }

    /// Simulates a cycle of all cores.
    fn cycle(&mut self) -> Result<bool, String> {
        for core in 0..self.cores.len() {
            for port in 0..self.ends[core].len() {
                match &mut self.ends[core][port] {
                    End::Open => {}
                    End::Port { core: far, port: far_port, words } => {
                        words.extend(self.cores[*far].lanes_out(*far_port));
                        // Before its first cycle a core has sent no words.
                        for lane in self.cores[core].lanes_in(port) {
                            *lane = words.pop_front().unwrap_or_default();
                        }
                        *self.cores[core].wire_in(port) = self.cores[*far].wire_out(*far_port);
                    }
                    End::Foreign(cable) => cable.give(self.cores[core].lanes_in(port)),
                }
            }
        }
        let mut active = false;
        for (core, shared) in self.cores.iter_mut().zip(&self.shared) {
            active |= core.cycle(shared)?;
        }
        for (core, ends) in self.cores.iter().zip(&mut self.ends) {
            for (port, end) in ends.iter_mut().enumerate() {
                if let End::Foreign(cable) = end {
                    cable.take(core.lanes_out(port));
                }
            }
        }
        Ok(active)
    }

    fn account(&self) {
        self.control.cycles.store(self.cycles, Ordering::Relaxed);
        let mut report =
            Report { cycles: self.cycles, cpu_ns: os::thread_cpu_ns(), ..Report::default() };
        for counts in self.cores.iter().map(Core::counts) {
            report.refusals += counts.refusals;
            report.bytes.0 += counts.bytes.0;
            report.bytes.1 += counts.bytes.1;
            report.interrupts += counts.interrupts;
        }
        *lock(&self.control.report) = report;
    }
}
