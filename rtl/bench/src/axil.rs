//! An AXI4-Lite master that makes one access at a time.

use crate::model::{PinsIn, PinsOut};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Write { address: bool, data: bool },
    Response,
    Read,
    Data,
}

/// An AXI4-Lite master.
#[derive(Debug)]
pub struct Master {
    state: State,
    addr: u16,
    data: u32,
    /// Result of the last access, once it has ended.
    result: Option<Result<u32, u8>>,
}

impl Default for Master {
    fn default() -> Self {
        Self { state: State::Idle, addr: 0, data: 0, result: None }
    }
}

impl Master {
    /// Starts a write.
    pub fn write(&mut self, addr: u16, data: u32) {
        assert!(self.state == State::Idle, "an access is in progress");
        (self.addr, self.data) = (addr, data);
        self.result = None;
        self.state = State::Write { address: false, data: false };
    }

    /// Starts a read.
    pub fn read(&mut self, addr: u16) {
        assert!(self.state == State::Idle, "an access is in progress");
        self.addr = addr;
        self.result = None;
        self.state = State::Read;
    }

    /// Takes the result of the access, if it has ended: the data (0 for a write), or the response
    /// code of an error.
    pub fn result(&mut self) -> Option<Result<u32, u8>> {
        self.result.take()
    }

    /// Whether no access is in progress.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    pub(crate) fn drive(&self, pins: &mut PinsIn) {
        pins.awaddr = self.addr;
        pins.araddr = self.addr;
        pins.wdata = self.data;
        pins.wstrb = 0xf;
        pins.awvalid = matches!(self.state, State::Write { address: false, .. });
        pins.wvalid = matches!(self.state, State::Write { data: false, .. });
        pins.bready = self.state == State::Response;
        pins.arvalid = self.state == State::Read;
        pins.rready = self.state == State::Data;
    }

    pub(crate) fn take(&mut self, pins: &PinsIn, out: &PinsOut) {
        match self.state {
            State::Idle => {}
            State::Write { address, data } => {
                let address = address || pins.awvalid && out.awready;
                let data = data || pins.wvalid && out.wready;
                self.state =
                    if address && data { State::Response } else { State::Write { address, data } };
            }
            State::Response if out.bvalid => self.end(out.bresp, 0),
            State::Read if out.arready => self.state = State::Data,
            State::Data if out.rvalid => self.end(out.rresp, out.rdata),
            State::Response | State::Read | State::Data => {}
        }
    }

    fn end(&mut self, response: u8, data: u32) {
        self.result = Some(if response == 0 { Ok(data) } else { Err(response) });
        self.state = State::Idle;
    }
}
