//! TAP devices: Ethernet interfaces of the kernel whose frames a program sends and receives.
//!
//! [`TapDevice`] opens or creates one and configures it. Creating a device and changing its settings
//! needs the capability `CAP_NET_ADMIN` in the network namespace.

mod error;
mod queue;
mod request;

pub use error::TapError;
pub use queue::{OFFLOAD_HEADER, TapOffloads, TapQueue};

use request::{ethernet_text, interface_request, ipv4_sockaddr};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketType};
use std::ffi::CString;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Maximum length of an interface name in bytes.
pub const NAME_MAX: usize = libc::IFNAMSIZ - 1;

/// The device file of the TUN driver.
const DRIVER: &str = "/dev/net/tun";

/// A TAP device.
///
/// The kernel removes the interface when this value is dropped, unless it was persistent before.
#[derive(Debug)]
pub struct TapDevice {
    file: OwnedFd,
    /// A socket of the namespace, for requests that configure the interface.
    control: OwnedFd,
    name: String,
    created: bool,
}

impl TapDevice {
    /// Opens the interface `name`, or creates it if there is none. The kernel replaces `%d` in the
    /// name with the first free number. Reads and writes do not block.
    ///
    /// # Errors
    ///
    /// The TUN driver is missing, the caller lacks a privilege, or the name is in use.
    pub fn open(name: &str) -> Result<Self, TapError> {
        Self::open_with(name, libc::IFF_TAP | libc::IFF_NO_PI)
    }

    fn open_with(name: &str, flags: libc::c_int) -> Result<Self, TapError> {
        let file = open_driver()?;
        let created = interface_index(name) == 0;
        let mut request = interface_request(name);
        request.ifr_ifru.ifru_flags = flags as libc::c_short;
        request::ATTACH.send(&file, &mut request).map_err(|error| {
            let name = name.to_owned();
            match error.raw_os_error() {
                Some(libc::EBUSY) => TapError::InUse { name },
                Some(libc::EINVAL) if !created => TapError::NotTap { name },
                _ => TapError::interface(&name, "open", error),
            }
        })?;
        let bytes = request.ifr_name.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0);
        let name = String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned();
        let control = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)
            .map_err(|error| TapError::interface(&name, "control socket", error.into()))?;
        Ok(Self { file, control, name, created })
    }

    /// The name that the kernel gave the interface.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether [`TapDevice::open`] created the interface. Otherwise it existed before.
    pub fn is_created(&self) -> bool {
        self.created
    }

    /// File descriptor for `poll`.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Reads the next frame that the kernel sends, without FCS. A frame longer than `frame` is cut.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if no frame is waiting. Other errors mean that the interface was removed or is
    /// down.
    pub fn read(&self, frame: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.file, frame)?)
    }

    /// Passes a frame without FCS to the kernel, which receives it.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the kernel does not accept the frame, for example because it is too short.
    /// Other errors mean that the interface was removed or is down.
    pub fn write(&self, frame: &[u8]) -> io::Result<()> {
        rustix::io::write(&self.file, frame)?;
        Ok(())
    }

    /// The current MTU in bytes.
    ///
    /// # Errors
    ///
    /// The interface was removed.
    pub fn mtu(&self) -> io::Result<u32> {
        let mut request = interface_request(&self.name);
        request::GET_MTU.send(&self.control, &mut request)?;
        // SAFETY: this request fills in the MTU.
        Ok(unsafe { request.ifr_ifru.ifru_mtu }.unsigned_abs())
    }

    /// Sets the MTU in bytes.
    ///
    /// # Errors
    ///
    /// The value is out of range, or the caller lacks a privilege.
    pub fn set_mtu(&self, mtu: u32) -> Result<(), TapError> {
        let mut request = interface_request(&self.name);
        request.ifr_ifru.ifru_mtu = mtu as libc::c_int;
        let result = request::SET_MTU.send(&self.control, &mut request);
        self.checked(result, || format!("MTU {mtu}"))
    }

    /// Sets the Ethernet address.
    ///
    /// # Errors
    ///
    /// The address is a group address, or the caller lacks a privilege.
    pub fn set_mac(&self, mac: [u8; 6]) -> Result<(), TapError> {
        let mut request = interface_request(&self.name);
        // SAFETY: a sockaddr is plain data, for which all bytes zero are valid.
        let mut address: libc::sockaddr = unsafe { std::mem::zeroed() };
        address.sa_family = libc::ARPHRD_ETHER;
        for (place, byte) in address.sa_data.iter_mut().zip(mac) {
            *place = byte as libc::c_char;
        }
        request.ifr_ifru.ifru_hwaddr = address;
        let result = request::SET_MAC.send(&self.control, &mut request);
        self.checked(result, || format!("Ethernet address {}", ethernet_text(mac)))
    }

    /// The Ethernet address, written like `02:00:00:00:00:01`.
    ///
    /// # Errors
    ///
    /// The interface was removed.
    pub fn mac(&self) -> io::Result<String> {
        let mut request = interface_request(&self.name);
        request::GET_MAC.send(&self.control, &mut request)?;
        // SAFETY: this request fills in the address.
        let data = unsafe { request.ifr_ifru.ifru_hwaddr }.sa_data;
        let mut mac = [0; 6];
        for (place, byte) in mac.iter_mut().zip(data) {
            *place = byte as u8;
        }
        Ok(ethernet_text(mac))
    }

    /// Adds an IP address with a prefix length in bits. A second IPv4 address replaces the first.
    ///
    /// # Errors
    ///
    /// The kernel refuses the address, or the caller lacks a privilege.
    pub fn set_address(&self, ip: IpAddr, prefix: u8) -> Result<(), TapError> {
        let result = match ip {
            IpAddr::V4(ip) => self.set_ipv4(ip, prefix),
            IpAddr::V6(ip) => self.set_ipv6(ip, prefix),
        };
        self.checked(result, || format!("address {ip}/{prefix}"))
    }

    fn set_ipv4(&self, ip: Ipv4Addr, prefix: u8) -> io::Result<()> {
        let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
        let mut request = interface_request(&self.name);
        request.ifr_ifru.ifru_addr = ipv4_sockaddr(ip);
        request::SET_ADDRESS.send(&self.control, &mut request)?;
        request.ifr_ifru.ifru_netmask = ipv4_sockaddr(mask.into());
        request::SET_NETMASK.send(&self.control, &mut request)
    }

    fn set_ipv6(&self, ip: Ipv6Addr, prefix: u8) -> io::Result<()> {
        let control = rustix::net::socket(AddressFamily::INET6, SocketType::DGRAM, None)?;
        let mut request = libc::in6_ifreq {
            ifr6_addr: libc::in6_addr { s6_addr: ip.octets() },
            ifr6_prefixlen: prefix.into(),
            ifr6_ifindex: interface_index(&self.name) as libc::c_int,
        };
        request::SET_IPV6.send(&control, &mut request)
    }

    /// Brings the interface up if it is down.
    ///
    /// # Errors
    ///
    /// The caller lacks a privilege, or the interface was removed.
    pub fn set_up(&self) -> Result<(), TapError> {
        bring_up(&self.control, &self.name)
    }

    /// Tells the kernel whether the interface has a carrier, as if its cable was plugged in.
    ///
    /// # Errors
    ///
    /// The interface was removed.
    pub fn set_carrier(&self, on: bool) -> io::Result<()> {
        request::SET_CARRIER.send(&self.file, &mut libc::c_int::from(on))
    }

    fn checked(&self, result: io::Result<()>, what: impl Fn() -> String) -> Result<(), TapError> {
        result.map_err(|error| TapError::interface(&self.name, &what(), error))
    }
}

/// Brings any interface of the namespace up, for example `lo`.
///
/// # Errors
/// There is no such interface, or the caller lacks a privilege.
pub fn set_interface_up(name: &str) -> Result<(), TapError> {
    let control = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)
        .map_err(|error| TapError::interface(name, "control socket", error.into()))?;
    bring_up(&control, name)
}

fn bring_up(control: &OwnedFd, name: &str) -> Result<(), TapError> {
    let failed = |what, error| TapError::interface(name, what, error);
    let mut request = interface_request(name);
    request::GET_FLAGS.send(control, &mut request).map_err(|error| failed("state", error))?;
    // SAFETY: this request fills in the flags.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    let up = libc::IFF_UP as libc::c_short;
    if flags & up != 0 {
        return Ok(());
    }
    request.ifr_ifru.ifru_flags = flags | up;
    request::SET_FLAGS.send(control, &mut request).map_err(|error| failed("state up", error))
}

/// Opens the TUN driver without blocking reads and writes.
fn open_driver() -> Result<OwnedFd, TapError> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(DRIVER, flags, Mode::empty()).map_err(|error| {
        let error = io::Error::from(error);
        match error.kind() {
            io::ErrorKind::NotFound => TapError::NoDriver { path: DRIVER },
            io::ErrorKind::PermissionDenied => TapError::Driver { path: DRIVER, error },
            _ => TapError::Open { path: DRIVER, error },
        }
    })
}

/// Number of the interface with this name, or 0 if there is none.
fn interface_index(name: &str) -> u32 {
    let name = CString::new(name).unwrap_or_default();
    // SAFETY: `name` is a string that ends with a zero byte.
    unsafe { libc::if_nametoindex(name.as_ptr()) }
}
