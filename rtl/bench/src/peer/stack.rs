//! The peer: the TCP stack of smoltcp, an independent implementation.

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpCidr, Ipv4Address};
use std::collections::VecDeque;

/// Length of the Ethernet header in bytes.
const ETHERNET: usize = 14;

/// Frames into and out of the stack.
#[derive(Debug)]
struct Wire {
    /// Longest IP packet in bytes.
    mtu: u16,
    rx: VecDeque<Vec<u8>>,
    tx: Vec<Vec<u8>>,
}

struct Rx(Vec<u8>);
struct Tx<'a>(&'a mut Vec<Vec<u8>>);

impl RxToken for Rx {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Tx<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut frame = vec![0; len];
        let r = f(&mut frame);
        frame.resize(len.max(60), 0);
        self.0.push(frame);
        r
    }
}

impl Device for Wire {
    type RxToken<'a> = Rx;
    type TxToken<'a> = Tx<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Rx, Tx<'_>)> {
        Some((Rx(self.rx.pop_front()?), Tx(&mut self.tx)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Tx<'_>> {
        Some(Tx(&mut self.tx))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut caps = DeviceCapabilities::default();
        caps.medium = Medium::Ethernet;
        caps.max_transmission_unit = usize::from(self.mtu) + ETHERNET;
        caps
    }
}

/// The stack with one interface and its sockets. A tick is a millisecond.
pub struct Stack {
    wire: Wire,
    iface: Interface,
    sockets: SocketSet<'static>,
}

/// A socket of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(SocketHandle);

fn at(now: u64) -> Instant {
    Instant::from_millis(now as i64)
}

impl Stack {
    /// Makes a stack with an address in a /24 network, a MAC address, a longest IP packet in bytes,
    /// from which it takes its MSS, and a seed.
    #[must_use]
    pub fn new(ip: [u8; 4], mac: [u8; 6], mtu: u16, seed: u64) -> Self {
        let mut wire = Wire { mtu, rx: VecDeque::new(), tx: Vec::new() };
        let mut config = Config::new(HardwareAddress::Ethernet(EthernetAddress(mac)));
        config.random_seed = seed;
        let mut iface = Interface::new(config, &mut wire, at(0));
        let cidr = IpCidr::new(Ipv4Address::from(ip).into(), 24);
        // The list is empty, so there is room.
        iface.update_ip_addrs(|list| list.extend([cidr]));
        Self { wire, iface, sockets: SocketSet::new(Vec::new()) }
    }

    fn socket(&mut self, buffer: usize) -> Handle {
        let ring = || SocketBuffer::new(vec![0; buffer]);
        let mut socket = Socket::new(ring(), ring());
        socket.set_nagle_enabled(false);
        Handle(self.sockets.add(socket))
    }

    /// Makes a socket that listens on a port.
    ///
    /// # Errors
    /// The stack refuses.
    pub fn listen(&mut self, port: u16, buffer: usize) -> Result<Handle, String> {
        let h = self.socket(buffer);
        let socket = self.sockets.get_mut::<Socket>(h.0);
        socket.listen(port).map_err(|e| format!("listen to {port}: {e:?}"))?;
        Ok(h)
    }

    /// Makes a socket that opens a connection.
    ///
    /// # Errors
    /// The stack refuses.
    pub fn connect(
        &mut self,
        ip: [u8; 4],
        port: u16,
        local: u16,
        buffer: usize,
    ) -> Result<Handle, String> {
        let h = self.socket(buffer);
        let socket = self.sockets.get_mut::<Socket>(h.0);
        let remote = (Ipv4Address::from(ip), port);
        let result = socket.connect(self.iface.context(), remote, local);
        result.map_err(|e| format!("connect to {port}: {e:?}"))?;
        Ok(h)
    }

    /// Gives frames and the time to the stack. Returns the frames that it sends.
    pub fn poll(&mut self, now: u64, frames: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.wire.rx.extend(frames);
        self.iface.poll(at(now), &mut self.wire, &mut self.sockets);
        std::mem::take(&mut self.wire.tx)
    }

    /// Sends data. Returns the number of bytes accepted.
    pub fn send(&mut self, h: Handle, data: &[u8]) -> usize {
        let socket = self.sockets.get_mut::<Socket>(h.0);
        if socket.can_send() { socket.send_slice(data).unwrap_or(0) } else { 0 }
    }

    /// Free bytes in the send buffer.
    #[must_use]
    pub fn room(&self, h: Handle) -> usize {
        let socket = self.sockets.get::<Socket>(h.0);
        if socket.can_send() { socket.send_capacity() - socket.send_queue() } else { 0 }
    }

    /// Takes all received data.
    pub fn receive(&mut self, h: Handle) -> Vec<u8> {
        let socket = self.sockets.get_mut::<Socket>(h.0);
        let mut data = vec![0; socket.recv_queue()];
        let n = if socket.can_recv() { socket.recv_slice(&mut data).unwrap_or(0) } else { 0 };
        data.truncate(n);
        data
    }

    /// Sends FIN after all data.
    pub fn close(&mut self, h: Handle) {
        self.sockets.get_mut::<Socket>(h.0).close();
    }

    /// Whether the other side has sent FIN and all its data was taken.
    #[must_use]
    pub fn at_end(&self, h: Handle) -> bool {
        let socket = self.sockets.get::<Socket>(h.0);
        !socket.may_recv() && !matches!(socket.state(), State::SynSent | State::Listen)
    }

    /// Whether the connection is closed or in TIME-WAIT.
    #[must_use]
    pub fn is_done(&self, h: Handle) -> bool {
        matches!(self.sockets.get::<Socket>(h.0).state(), State::Closed | State::TimeWait)
    }

    /// Whether the connection is open, or was.
    #[must_use]
    pub fn is_open(&self, h: Handle) -> bool {
        let state = self.sockets.get::<Socket>(h.0).state();
        !matches!(state, State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }

    /// State of the socket for messages.
    #[must_use]
    pub fn state(&self, h: Handle) -> String {
        format!("{:?}", self.sockets.get::<Socket>(h.0).state())
    }

    /// Removes a socket.
    pub fn remove(&mut self, h: Handle) {
        self.sockets.remove(h.0);
    }
}
