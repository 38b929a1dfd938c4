//! MSI-X: event vectors of the register face become event descriptors of the virtual machine.

use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::fd::OwnedFd;
use spfe_plane::registers::EVENTS;
use spfe_plane::{Event, RegisterFile};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// One MSI-X vector.
#[derive(Default)]
struct Vector {
    event: Option<Event>,
    masked: bool,
    pending: bool,
}

/// What the virtual machine is told of events with.
pub(crate) struct Vectors {
    list: Mutex<Vec<Vector>>,
    /// The device may use the bus: an interrupt is a write to it.
    master: AtomicBool,
    raised: AtomicU64,
}

impl Default for Vectors {
    fn default() -> Self {
        let list = Mutex::new((0..EVENTS).map(|_| Vector::default()).collect());
        Self { list, master: AtomicBool::new(false), raised: AtomicU64::new(0) }
    }
}

/// What a client does with vectors (`VFIO_DEVICE_SET_IRQS`).
pub(crate) enum Action {
    /// Takes descriptors; fewer than vectors: the rest has none from now on.
    Descriptors(Vec<File>),
    /// Raises them.
    Trigger,
    /// Holds interrupts back, or lets them go on.
    Mask(bool),
}

impl Vectors {
    fn lock(&self) -> MutexGuard<'_, Vec<Vector>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all descriptors.
    pub fn clear(&self) {
        self.lock().fill_with(Vector::default);
    }

    /// Does something with `count` vectors from `start`.
    pub fn set(&self, start: u32, count: u32, action: Action) -> io::Result<()> {
        let mut vectors = self.lock();
        let end = start.checked_add(count).map(|end| end as usize);
        let range = end.and_then(|end| vectors.get_mut(start as usize..end)).ok_or_else(|| {
            let what = format!("vectors {start} and {count} on: there are {EVENTS}");
            io::Error::new(io::ErrorKind::InvalidInput, what)
        })?;
        match action {
            Action::Descriptors(files) => {
                let mut files = files.into_iter();
                for vector in range {
                    let event = files.next().map(|file| Event::foreign(file.into()));
                    *vector = Vector { event: event.transpose()?, ..Vector::default() };
                }
            }
            Action::Trigger => range.iter_mut().for_each(Vector::raise),
            Action::Mask(masked) => {
                for vector in range {
                    vector.masked = masked;
                    if !masked && std::mem::take(&mut vector.pending) {
                        vector.raise();
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the device may use the bus.
    pub fn set_master(&self, on: bool) {
        self.master.store(on, Ordering::Release);
    }

    /// Interrupts raised so far.
    pub fn raised(&self) -> u64 {
        self.raised.load(Ordering::Relaxed)
    }

    /// Raises one, if the device may use the bus.
    pub fn raise(&self, number: u32) {
        if self.master.load(Ordering::Acquire)
            && let Some(vector) = self.lock().get_mut(number as usize)
        {
            self.raised.fetch_add(1, Ordering::Relaxed);
            vector.raise();
        }
    }

    /// Pending bits, from vector 0 on.
    pub fn pending(&self) -> u64 {
        let bits = self.lock();
        bits.iter().enumerate().fold(0, |all, (at, vector)| all | u64::from(vector.pending) << at)
    }
}

const _: () = assert!(EVENTS <= u64::BITS);

impl Vector {
    fn raise(&mut self) {
        match &self.event {
            _ if self.masked => self.pending = true,
            Some(event) => event.signal(),
            None => {}
        }
    }
}

/// The thread that waits for events of one register face; it stops when dropped.
pub(crate) struct Raiser {
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

/// Epoll data of the descriptor that stops the thread.
const STOP: u64 = EVENTS as u64;

impl Raiser {
    pub fn start(registers: Arc<RegisterFile>, vectors: Arc<Vectors>) -> io::Result<Self> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&set, &stop, epoll::EventData::new_u64(STOP), epoll::EventFlags::IN)?;
        let mut descriptors = Vec::new();
        for vector in 0..EVENTS {
            let descriptor = registers.event_descriptor(vector);
            let descriptor = descriptor.ok_or(io::ErrorKind::OutOfMemory)?;
            let data = epoll::EventData::new_u64(vector.into());
            epoll::add(&set, &descriptor, data, epoll::EventFlags::IN)?;
            descriptors.push(descriptor);
        }
        let run = move || {
            let _descriptors = descriptors;
            run(&set, &registers, &vectors);
        };
        let thread = std::thread::Builder::new().name("spfe-msix".into()).spawn(run)?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Raiser {
    fn drop(&mut self) {
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(set: &OwnedFd, registers: &RegisterFile, vectors: &Vectors) {
    let mut ready = Vec::with_capacity(EVENTS as usize + 1);
    loop {
        ready.clear();
        let waited = epoll::wait(set, rustix::buffer::spare_capacity(&mut ready), None);
        if waited.is_err_and(|error| error != rustix::io::Errno::INTR) {
            return;
        }
        for event in &ready {
            match event.data.u64() {
                STOP => return,
                vector => {
                    // Taken in any case: what could not be said is not made up for.
                    if registers.take_event(vector as u32) {
                        vectors.raise(vector as u32);
                    }
                }
            }
        }
    }
}
