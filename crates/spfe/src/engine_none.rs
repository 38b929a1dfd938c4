//! The engine types of a build without the feature `virtual`, in which only devices move packets. The
//! types have no values, so the compiler removes every use of them.

/// The engine of a build that has none. It has no value, so its methods are never called.
pub(crate) enum Engine {}

impl Engine {
    pub fn runs(&self, _endpoint: u32, _port: u32) -> bool {
        match *self {}
    }

    pub fn set_measure(&self, _on: bool) {
        match *self {}
    }

    pub fn transmit(&self, _endpoint: u32, _port: u32, _vc: u32) -> Runner {
        match *self {}
    }

    pub fn receive(&self, _endpoint: u32, _port: u32, _vc: u32) -> Runner {
        match *self {}
    }

    #[cfg(feature = "rdma")]
    pub fn pair(&self, _endpoint: u32, _port: u32, _vc: u32) -> Runner {
        match *self {}
    }

    pub fn messages(&self, _endpoint: u32, _port: u32) -> (MessageRunner, Option<MessageRunner>) {
        match *self {}
    }
}

/// A runner of a build without an engine. It has no value.
pub(crate) enum Runner {}

impl Runner {
    pub fn run(&mut self, _budget: u32) -> Option<()> {
        match *self {}
    }

    pub fn run_posted(&mut self) {
        match *self {}
    }

    pub fn help(&mut self) -> u32 {
        match *self {}
    }

    pub fn has_work(&self) -> bool {
        match *self {}
    }

    pub fn is_owner(&self) -> bool {
        match *self {}
    }

    pub fn is_stalled(&self) -> bool {
        match *self {}
    }

    pub fn is_pending(&self) -> bool {
        match *self {}
    }

    pub fn due_ns(&self) -> Option<u64> {
        match *self {}
    }

    pub fn engine_ns(&self) -> u64 {
        match *self {}
    }
}

/// A runner of a build without an engine. It has no value.
pub(crate) enum MessageRunner {}

impl MessageRunner {
    pub fn run(&mut self, _budget: u32) -> u32 {
        match *self {}
    }

    pub fn has_work(&self) -> bool {
        match *self {}
    }
}
