//! Runs a bridge in a thread and sends requests to it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::bridge::{Ask, Bridge, Busy, Report};
use super::proxy::{Connect, Serve};
use super::space;
use crate::core::Core;
use crate::drill::endpoint::{Build, Endpoint};
use crate::reference::Reference;

/// Name of the software model.
pub const REFERENCE: &str = "reference";

/// Makes an endpoint by its name: the software model, or a build of the core.
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

/// A running bridge.
#[derive(Debug)]
pub struct BridgeThread {
    asks: Sender<Ask>,
    bridge: JoinHandle<Result<(), String>>,
}

fn died<E>(_: E) -> String {
    "the bridge has ended".to_owned()
}

impl BridgeThread {
    /// Starts a bridge.
    ///
    /// # Errors
    /// The device, the endpoint or the ports cannot be set up.
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
            // The starting thread waits for this.
            drop(ready.send(end.clone()));
            bridge.map_or(end, |mut bridge| bridge.run(&asked))
        });
        is_ready.recv().map_err(died)??;
        Ok(Self { asks, bridge })
    }

    /// Stops the bridge.
    ///
    /// # Errors
    /// The bridge has failed.
    pub fn stop(self) -> Result<(), String> {
        // The bridge may have ended by itself.
        drop(self.asks.send(Ask::Stop));
        self.bridge.join().map_err(died)?
    }

    /// Sends a request to the bridge.
    ///
    /// # Errors
    /// The bridge has ended.
    pub fn ask(&self, ask: Ask) -> Result<(), String> {
        self.asks.send(ask).map_err(died)
    }

    /// A sender of requests for another thread.
    #[must_use]
    pub fn asks(&self) -> Sender<Ask> {
        self.asks.clone()
    }

    fn answer<T>(&self, ask: Ask, answer: &Receiver<T>) -> Result<T, String> {
        self.ask(ask)?;
        answer.recv().map_err(died)
    }

    /// Reads the sessions in use.
    ///
    /// # Errors
    /// The bridge has ended.
    pub fn busy(&self) -> Result<Busy, String> {
        let (sender, answer) = channel();
        self.answer(Ask::Busy(sender), &answer)
    }

    /// Reads everything counted since the last report.
    ///
    /// # Errors
    /// The bridge has ended.
    pub fn report(&self) -> Result<Report, String> {
        let (sender, answer) = channel();
        self.answer(Ask::Report(sender), &answer)
    }
}
