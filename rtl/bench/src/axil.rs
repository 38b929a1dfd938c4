//! An AXI4-Lite master that makes one access at a time.

use crate::model::{PinsIn, PinsOut};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessState {
    Idle,
    Write { address: bool, data: bool },
    Response,
    Read,
    Data,
}

/// An AXI4-Lite master.
#[derive(Debug)]
pub struct Master {
    state: AccessState,
    addr: u16,
    data: u32,
    /// Result of the last access, once it has ended.
    result: Option<Result<u32, u8>>,
}

impl Default for Master {
    fn default() -> Self {
        Self { state: AccessState::Idle, addr: 0, data: 0, result: None }
    }
}

impl Master {
    /// Starts a write.
    pub fn write(&mut self, addr: u16, data: u32) {
        assert!(self.state == AccessState::Idle, "an access is in progress");
        (self.addr, self.data) = (addr, data);
        self.result = None;
        self.state = AccessState::Write { address: false, data: false };
    }

    /// Starts a read.
    pub fn read(&mut self, addr: u16) {
        assert!(self.state == AccessState::Idle, "an access is in progress");
        self.addr = addr;
        self.result = None;
        self.state = AccessState::Read;
    }

    /// Takes the result of the access, if it has ended: the data (0 for a write), or the response
    /// code of an error.
    pub fn result(&mut self) -> Option<Result<u32, u8>> {
        self.result.take()
    }

    /// Whether no access is in progress.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.state == AccessState::Idle
    }

    pub(crate) fn drive(&self, pins: &mut PinsIn) {
        pins.awaddr = self.addr;
        pins.araddr = self.addr;
        pins.wdata = self.data;
        pins.wstrb = 0xf;
        pins.awvalid = matches!(self.state, AccessState::Write { address: false, .. });
        pins.wvalid = matches!(self.state, AccessState::Write { data: false, .. });
        pins.bready = self.state == AccessState::Response;
        pins.arvalid = self.state == AccessState::Read;
        pins.rready = self.state == AccessState::Data;
    }

    pub(crate) fn take(&mut self, pins: &PinsIn, out: &PinsOut) {
        match self.state {
            AccessState::Idle => {}
            AccessState::Write { address, data } => {
                let address = address || pins.awvalid && out.awready;
                let data = data || pins.wvalid && out.wready;
                self.state = if address && data {
                    AccessState::Response
                } else {
                    AccessState::Write { address, data }
                };
            }
            AccessState::Response if out.bvalid => self.end(out.bresp, 0),
            AccessState::Read if out.arready => self.state = AccessState::Data,
            AccessState::Data if out.rvalid => self.end(out.rresp, out.rdata),
            AccessState::Response | AccessState::Read | AccessState::Data => {}
        }
    }

    fn end(&mut self, response: u8, data: u32) {
        self.result = Some(if response == 0 { Ok(data) } else { Err(response) });
        self.state = AccessState::Idle;
    }
}
