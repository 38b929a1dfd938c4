//! Requests to the kernel about an interface.

use crate::NAME_MAX;
use rustix::fd::{AsFd, AsRawFd};
use std::io;
use std::marker::PhantomData;
use std::net::Ipv4Addr;

/// A request code together with the type that the kernel reads or writes for it.
pub struct KernelRequest<T> {
    code: libc::Ioctl,
    argument: PhantomData<fn(&mut T)>,
}

impl<T> KernelRequest<T> {
    /// # Safety
    ///
    /// The kernel must read or write exactly a `T` for this code.
    const unsafe fn new(code: libc::Ioctl) -> Self {
        Self { code, argument: PhantomData }
    }

    /// Sends the request.
    pub fn send(&self, fd: impl AsFd, argument: &mut T) -> io::Result<()> {
        let argument = std::ptr::from_mut(argument);
        // SAFETY: `new` was promised that the code takes a pointer to a `T`.
        match unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), self.code, argument) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

macro_rules! requests {
    ($($name:ident: $type:ty = $code:ident;)+) => {
        $(
            // SAFETY: the argument types are those of netdevice(7) and of the TUN driver. The type of
            // codes differs between C libraries.
            pub const $name: KernelRequest<$type> = unsafe { KernelRequest::new(libc::$code as _) };
        )+
    };
}

requests! {
    ATTACH: libc::ifreq = TUNSETIFF;
    SET_CARRIER: libc::c_int = TUNSETCARRIER;
    SET_LITTLE_ENDIAN: libc::c_int = TUNSETVNETLE;
    SET_STEERING: libc::c_int = TUNSETSTEERINGEBPF;
    GET_MTU: libc::ifreq = SIOCGIFMTU;
    SET_MTU: libc::ifreq = SIOCSIFMTU;
    GET_MAC: libc::ifreq = SIOCGIFHWADDR;
    SET_MAC: libc::ifreq = SIOCSIFHWADDR;
    SET_ADDRESS: libc::ifreq = SIOCSIFADDR;
    SET_NETMASK: libc::ifreq = SIOCSIFNETMASK;
    // The same code as SET_ADDRESS: an IPv6 socket takes another argument.
    SET_IPV6: libc::in6_ifreq = SIOCSIFADDR;
    GET_FLAGS: libc::ifreq = SIOCGIFFLAGS;
    SET_FLAGS: libc::ifreq = SIOCSIFFLAGS;
}

/// A request about the interface with this name. A longer name is cut at [`NAME_MAX`] bytes.
pub fn interface_request(name: &str) -> libc::ifreq {
    // SAFETY: an ifreq is plain data, for which all bytes zero are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes().take(NAME_MAX)) {
        *place = byte as libc::c_char;
    }
    request
}

/// An IPv4 address in the form of the kernel's requests.
pub fn ipv4_sockaddr(ip: Ipv4Addr) -> libc::sockaddr {
    // SAFETY: a sockaddr is plain data, for which all bytes zero are valid.
    let mut address: libc::sockaddr = unsafe { std::mem::zeroed() };
    address.sa_family = libc::AF_INET as libc::sa_family_t;
    // The address follows the port, which has two bytes.
    for (place, byte) in address.sa_data.iter_mut().skip(2).zip(ip.octets()) {
        *place = byte as libc::c_char;
    }
    address
}

/// Writes an Ethernet address like `02:00:00:00:00:01`.
pub fn ethernet_text(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_holds_the_start_of_a_long_name() {
        let request = interface_request("sixteen_letters_");
        let name: Vec<u8> = request.ifr_name.iter().map(|byte| *byte as u8).collect();
        assert_eq!(name, b"sixteen_letters\0");
    }

    #[test]
    fn an_address_is_stored_in_network_byte_order_after_the_port() {
        let address = ipv4_sockaddr(Ipv4Addr::new(10, 1, 2, 3));
        let data: Vec<u8> = address.sa_data.iter().map(|byte| *byte as u8).collect();
        assert_eq!(data[..8], [0, 0, 10, 1, 2, 3, 0, 0]);
        assert_eq!(i32::from(address.sa_family), libc::AF_INET);
    }

    #[test]
    fn ethernet_addresses_have_two_digits_for_each_byte() {
        assert_eq!(ethernet_text([2, 0, 0x0a, 0xff, 0, 1]), "02:00:0a:ff:00:01");
    }
}
