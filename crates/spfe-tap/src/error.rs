//! Errors of a TAP device. Their messages say what the user can do.

use std::io;

const PRIVILEGE: &str = "run it as root, or in a network namespace of your own (unshare -rn), or \
    let root make the interface for you: ip tuntap add dev NAME mode tap user YOU";

/// Why a TAP device could not be opened or configured.
#[derive(Debug, thiserror::Error)]
pub enum TapError {
    /// The TUN driver is not loaded.
    #[error("{path}: not there: load the TUN driver (modprobe tun)")]
    NoDriver {
        /// The driver's device file.
        path: &'static str,
    },
    /// The caller may not open the TUN driver.
    #[error("{path}: {error}; {PRIVILEGE}")]
    Driver {
        /// The driver's device file.
        path: &'static str,
        /// Error of the kernel.
        error: io::Error,
    },
    /// The TUN driver cannot be opened for another reason.
    #[error("{path}: {error}")]
    Open {
        /// The driver's device file.
        path: &'static str,
        /// Error of the kernel.
        error: io::Error,
    },
    /// Another program uses the interface.
    #[error("interface {name}: in use: choose another name")]
    InUse {
        /// Name of the interface.
        name: String,
    },
    /// An interface of this name exists that is not a TAP device.
    #[error("interface {name}: exists and is not a TAP device: choose another name")]
    NotTap {
        /// Name of the interface.
        name: String,
    },
    /// The caller needs `CAP_NET_ADMIN`.
    #[error("interface {name}: {what}: {error}: CAP_NET_ADMIN is needed; {PRIVILEGE}")]
    Privilege {
        /// Name of the interface.
        name: String,
        /// The refused request.
        what: String,
        /// Error of the kernel.
        error: io::Error,
    },
    /// The kernel refused a request about the interface.
    #[error("interface {name}: {what}: {error}")]
    Interface {
        /// Name of the interface.
        name: String,
        /// The refused request.
        what: String,
        /// Error of the kernel.
        error: io::Error,
    },
}

impl TapError {
    /// The error of a request about an interface; `what` names the request.
    pub fn interface(name: &str, what: &str, error: io::Error) -> Self {
        let (name, what) = (name.to_owned(), what.to_owned());
        if error.raw_os_error() == Some(libc::EPERM) {
            Self::Privilege { name, what, error }
        } else {
            Self::Interface { name, what, error }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_privilege_is_explained() {
        let refused = |number| io::Error::from_raw_os_error(number);
        let error = TapError::interface("tap0", "MTU 9000", refused(libc::EPERM));
        assert!(error.to_string().starts_with("interface tap0: MTU 9000: "));
        assert!(error.to_string().contains("CAP_NET_ADMIN") && error.to_string().contains("root"));
        let error = TapError::interface("tap0", "MTU 7", refused(libc::EINVAL));
        assert!(!error.to_string().contains("CAP_NET_ADMIN"));
    }
}
