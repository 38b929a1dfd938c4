//! A TAP device: an Ethernet interface of the kernel whose other end is a file descriptor.
//!
//! It is gone when the descriptor is closed, unless somebody made it beforehand to stay.

use super::values::{Address, NAME_MAX};
use crate::error::Failure;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketType};
use std::ffi::CString;
use std::io;
use std::net::IpAddr;

const DEVICE: &str = "/dev/net/tun";
/// What to do where the kernel says no.
const PRIVILEGE: &str = "run it as root, or in a network namespace of your own (unshare -rn), or \
    let root make the interface for you: ip tuntap add dev NAME mode tap user YOU";

/// A TAP device.
pub struct Tap {
    file: OwnedFd,
    /// Any socket of the namespace: interfaces are configured through it.
    control: OwnedFd,
    name: String,
    /// Nobody made it beforehand.
    made: bool,
}

/// Calls the kernel about an interface.
fn call<T>(fd: impl AsFd, request: libc::Ioctl, argument: &mut T) -> io::Result<()> {
    // SAFETY: the requests here read and write a structure of the kernel's layout, which `argument`
    // is (`request_for`, `In6`), or take a pointer to an int.
    match unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), request, std::ptr::from_mut(argument)) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// A request about the interface of that name.
fn request_for(name: &str) -> libc::ifreq {
    // SAFETY: an ifreq is plain data; all zero it has an empty name.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes().take(NAME_MAX)) {
        *place = byte as libc::c_char;
    }
    request
}

/// An IPv4 address as the kernel's structures have it.
fn sockaddr(ip: std::net::Ipv4Addr) -> libc::sockaddr {
    // SAFETY: a sockaddr is plain data.
    let mut address: libc::sockaddr = unsafe { std::mem::zeroed() };
    address.sa_family = libc::AF_INET as libc::sa_family_t;
    // The port comes first.
    for (place, byte) in address.sa_data.iter_mut().skip(2).zip(ip.octets()) {
        *place = byte as libc::c_char;
    }
    address
}

/// Number of an interface; 0 if there is none of that name.
fn index(name: &str) -> u32 {
    let name = CString::new(name).unwrap_or_default();
    // SAFETY: a string that ends with zero.
    unsafe { libc::if_nametoindex(name.as_ptr()) }
}

impl Tap {
    /// Makes an interface, or takes one that was made to stay.
    ///
    /// # Errors
    /// No TUN driver, no privilege (what to do is said), or the name is in use.
    pub fn open(name: &str) -> Result<Self, Failure> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(DEVICE, flags, Mode::empty()).map_err(|error| {
            let error = io::Error::from(error);
            Failure::failed(match error.kind() {
                io::ErrorKind::NotFound => {
                    format!("{DEVICE}: not there: load the TUN driver (modprobe tun)")
                }
                io::ErrorKind::PermissionDenied => format!("{DEVICE}: {error}; {PRIVILEGE}"),
                _ => format!("{DEVICE}: {error}"),
            })
        })?;
        let made = index(name) == 0;
        let mut request = request_for(name);
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
        call(&file, libc::TUNSETIFF, &mut request).map_err(|error| {
            Failure::failed(match error.raw_os_error() {
                Some(libc::EPERM) => {
                    format!("interface {name}: {error}: CAP_NET_ADMIN is needed; {PRIVILEGE}")
                }
                Some(libc::EBUSY) => format!("interface {name}: in use: choose another --name"),
                Some(libc::EINVAL) if !made => {
                    format!("interface {name}: there, and no TAP device: choose another --name")
                }
                _ => format!("interface {name}: {error}"),
            })
        })?;
        let bytes = request.ifr_name.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0);
        let name = String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned();
        let control = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None);
        let control = control.map_err(|error| Failure::io("socket", &error.into()))?;
        Ok(Self { file, control, name, made })
    }

    /// The name it has got.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether nobody made it beforehand.
    pub fn is_made(&self) -> bool {
        self.made
    }

    /// The descriptor for poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The next frame the kernel sends, cut at the end of `frame`.
    pub fn read(&self, frame: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.file, frame)?)
    }

    /// Gives a frame to the kernel.
    pub fn write(&self, frame: &[u8]) -> io::Result<()> {
        rustix::io::write(&self.file, frame)?;
        Ok(())
    }

    /// Its MTU now.
    pub fn mtu(&self) -> io::Result<u32> {
        let mut request = request_for(&self.name);
        call(&self.control, libc::SIOCGIFMTU, &mut request)?;
        // SAFETY: this request fills in the MTU.
        Ok(unsafe { request.ifr_ifru.ifru_mtu }.unsigned_abs())
    }

    /// Sets its MTU.
    pub fn set_mtu(&self, mtu: u32) -> Result<(), Failure> {
        let mut request = request_for(&self.name);
        request.ifr_ifru.ifru_mtu = mtu as libc::c_int;
        let done = call(&self.control, libc::SIOCSIFMTU, &mut request);
        self.checked(done, format_args!("MTU {mtu}"))
    }

    /// Sets its Ethernet address.
    pub fn set_mac(&self, mac: [u8; 6]) -> Result<(), Failure> {
        let mut request = request_for(&self.name);
        // SAFETY: a sockaddr is plain data.
        let mut address: libc::sockaddr = unsafe { std::mem::zeroed() };
        address.sa_family = libc::ARPHRD_ETHER;
        for (place, byte) in address.sa_data.iter_mut().zip(mac) {
            *place = byte as libc::c_char;
        }
        request.ifr_ifru.ifru_hwaddr = address;
        let done = call(&self.control, libc::SIOCSIFHWADDR, &mut request);
        self.checked(done, format_args!("Ethernet address {}", shown(mac)))
    }

    /// Its Ethernet address.
    pub fn mac(&self) -> io::Result<String> {
        let mut request = request_for(&self.name);
        call(&self.control, libc::SIOCGIFHWADDR, &mut request)?;
        // SAFETY: this request fills in the address.
        let data = unsafe { request.ifr_ifru.ifru_hwaddr }.sa_data;
        let mut mac = [0; 6];
        for (place, byte) in mac.iter_mut().zip(data) {
            *place = byte as u8;
        }
        Ok(shown(mac))
    }

    /// Gives it an address.
    pub fn set_address(&self, address: Address) -> Result<(), Failure> {
        let done = match address.ip {
            IpAddr::V4(ip) => self.set_v4(ip, address.prefix),
            IpAddr::V6(ip) => self.set_v6(ip, address.prefix),
        };
        self.checked(done, format_args!("address {address}"))
    }

    fn set_v4(&self, ip: std::net::Ipv4Addr, prefix: u8) -> io::Result<()> {
        let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
        let mut request = request_for(&self.name);
        request.ifr_ifru.ifru_addr = sockaddr(ip);
        call(&self.control, libc::SIOCSIFADDR, &mut request)?;
        request.ifr_ifru.ifru_netmask = sockaddr(mask.into());
        call(&self.control, libc::SIOCSIFNETMASK, &mut request)
    }

    fn set_v6(&self, ip: std::net::Ipv6Addr, prefix: u8) -> io::Result<()> {
        let control = rustix::net::socket(AddressFamily::INET6, SocketType::DGRAM, None)?;
        let mut request = libc::in6_ifreq {
            ifr6_addr: libc::in6_addr { s6_addr: ip.octets() },
            ifr6_prefixlen: prefix.into(),
            ifr6_ifindex: index(&self.name) as libc::c_int,
        };
        call(&control, libc::SIOCSIFADDR, &mut request)
    }

    /// Brings it up, if it is not.
    pub fn set_up(&self) -> Result<(), Failure> {
        let mut request = request_for(&self.name);
        let done = call(&self.control, libc::SIOCGIFFLAGS, &mut request);
        self.checked(done, format_args!("state"))?;
        // SAFETY: this request fills in the flags.
        let flags = unsafe { request.ifr_ifru.ifru_flags };
        let up = libc::IFF_UP as libc::c_short;
        if flags & up != 0 {
            return Ok(());
        }
        request.ifr_ifru.ifru_flags = flags | up;
        let done = call(&self.control, libc::SIOCSIFFLAGS, &mut request);
        self.checked(done, format_args!("state up"))
    }

    /// Says whether its cable is plugged in.
    pub fn set_carrier(&self, on: bool) -> io::Result<()> {
        call(&self.file, libc::TUNSETCARRIER, &mut libc::c_int::from(on))
    }

    fn checked(&self, done: io::Result<()>, what: std::fmt::Arguments<'_>) -> Result<(), Failure> {
        done.map_err(|error| {
            let advice = match error.raw_os_error() {
                Some(libc::EPERM) => format!(": CAP_NET_ADMIN is needed; {PRIVILEGE}"),
                _ => String::new(),
            };
            Failure::failed(format!("interface {}: {what}: {error}{advice}", self.name))
        })
    }
}

/// An Ethernet address as people write it.
fn shown(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}
