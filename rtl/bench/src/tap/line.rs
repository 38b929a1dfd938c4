//! A bridge at work in a thread, and what it is asked.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::bridge::{Ask, Bridge, Busy, Report};
use super::proxy::{Connect, Serve};
use super::space;
use crate::core::Core;
use crate::drill::endpoint::{Build, Endpoint};
use crate::reference::Reference;

/// Name of the endpoint in software.
pub const REFERENCE: &str = "reference";

/// An endpoint by its name: the reference, or a build of the core.
///
/// # Errors
/// The build cannot be made or loaded.
pub fn endpoint(name: &str) -> Result<Box<dyn Endpoint>, String> {
    if name == REFERENCE {
        let build = Build { session_count: 64, ..Build::default() };
        return Ok(Box::new(Reference::new(build)));
    }
    Ok(Box::new(Core::new(name).map_err(|error| error.to_string())?))
}

/// An endpoint between the TAP device and its users.
#[derive(Debug)]
pub struct Line {
    asks: Sender<Ask>,
    bridge: JoinHandle<Result<(), String>>,
}

fn died<E>(_: E) -> String {
    "the bridge has died".to_owned()
}

impl Line {
    /// Starts a bridge.
    ///
    /// # Errors
    /// Device, endpoint or ports.
    pub fn start(name: &str, serve: Vec<Serve>, connect: Vec<Connect>) -> Result<Self, String> {
        let tap = space::device()?;
        let (asks, asked) = channel();
        let (ready, is_ready) = channel();
        let name = name.to_owned();
        let bridge = std::thread::spawn(move || {
            let made = endpoint(&name).and_then(|ep| Bridge::new(ep, tap, &serve, &connect));
            let (bridge, end) = match made {
                Ok(bridge) => (Some(bridge), Ok(())),
                Err(error) => (None, Err(error)),
            };
            // Who has started it waits.
            drop(ready.send(end.clone()));
            bridge.map_or(end, |mut bridge| bridge.run(&asked))
        });
        is_ready.recv().map_err(died)??;
        Ok(Self { asks, bridge })
    }

    /// Ends the bridge.
    ///
    /// # Errors
    /// It has failed.
    pub fn stop(self) -> Result<(), String> {
        // It may have ended by itself.
        drop(self.asks.send(Ask::Stop));
        self.bridge.join().map_err(died)?
    }

    /// Asks the bridge for something else.
    ///
    /// # Errors
    /// It has ended.
    pub fn ask(&self, ask: Ask) -> Result<(), String> {
        self.asks.send(ask).map_err(died)
    }

    /// For asking from another thread.
    #[must_use]
    pub fn asks(&self) -> Sender<Ask> {
        self.asks.clone()
    }

    fn answer<T>(&self, ask: Ask, answer: &Receiver<T>) -> Result<T, String> {
        self.ask(ask)?;
        answer.recv().map_err(died)
    }

    /// Who is at work.
    ///
    /// # Errors
    /// The bridge has ended.
    pub fn busy(&self) -> Result<Busy, String> {
        let (sender, answer) = channel();
        self.answer(Ask::Busy(sender), &answer)
    }

    /// What there was since the last time.
    ///
    /// # Errors
    /// The bridge has ended.
    pub fn report(&self) -> Result<Report, String> {
        let (sender, answer) = channel();
        self.answer(Ask::Report(sender), &answer)
    }
}
