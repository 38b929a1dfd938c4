//! An open device, shared by everything opened from it.

use crate::engine::Engine;
use spfe_host::Backend;

/// A backend, and the engine where this process runs it.
pub(crate) struct Device {
    backend: Box<dyn Backend>,
    engine: Option<Engine>,
    endpoint: u32,
}

impl Device {
    pub fn new(backend: impl Backend + 'static, engine: Option<Engine>) -> Self {
        let endpoint = backend.info().endpoint;
        Self { backend: Box::new(backend), engine, endpoint }
    }

    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// Number of the endpoint in its network.
    pub fn endpoint(&self) -> u32 {
        self.endpoint
    }

    /// The engine, if the clients that use the port run the engine of its flows.
    pub fn engine(&self, port: u32) -> Option<&Engine> {
        self.engine.as_ref().filter(|engine| engine.runs(self.endpoint, port))
    }

    /// Whether this process runs the engine of any port.
    pub fn has_engine(&self) -> bool {
        self.engine.is_some()
    }

    /// Whether runners made from now on measure the time of their engine.
    pub fn measure_engine(&self, on: bool) {
        if let Some(engine) = &self.engine {
            engine.set_measure(on);
        }
    }
}
