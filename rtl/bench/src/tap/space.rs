//! A separate network namespace, so that tests do not touch the network of the machine.

use std::fs;
use std::process::Command;

use rustix::io::Errno;
use rustix::thread::UnshareFlags;
use spfe_tap::TapDevice;

use super::PEER_IP;

/// Name of the TAP device.
const NAME: &str = "tap0";
/// Length of the device's queue in frames: more than the windows of all sessions hold.
const QUEUE: &str = "10000";

/// Advice for the user if the kernel refuses a namespace.
const RIGHTS: &str = "run this as root, or let users make namespaces: sysctl \
    user.max_user_namespaces=1000, and where the kernel has them kernel.unprivileged_userns_clone=1 \
    and kernel.apparmor_restrict_unprivileged_userns=0";

/// Moves this process, which must have a single thread, into a new namespace. Without privileges it
/// becomes root of a new user namespace.
///
/// # Errors
/// The kernel refuses new namespaces.
pub fn enter() -> Result<(), String> {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    // SAFETY: this does not unshare descriptors, and there is no other thread.
    let done = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) };
    match done {
        Ok(()) => return Ok(()),
        Err(Errno::PERM) => {}
        Err(error) => return Err(format!("cannot make a network namespace: {error}; {RIGHTS}")),
    }
    // SAFETY: the same as above.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNET) }
        .map_err(|e| format!("cannot make a user and network namespace: {e}; {RIGHTS}"))?;
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("0 {uid} 1"))?;
    write("/proc/self/gid_map", &format!("0 {gid} 1"))
}

/// Makes the device in this namespace, gives it the address of the peer and brings it up.
///
/// # Errors
/// The TUN driver or the program `ip` is missing.
pub fn device() -> Result<TapDevice, String> {
    let tap = TapDevice::open(NAME).map_err(|e| format!("{e}; {RIGHTS}"))?;
    // Avoid IPv6 requests on the device.
    let ipv6 = format!("/proc/sys/net/ipv6/conf/{NAME}/disable_ipv6");
    if fs::exists(&ipv6).unwrap_or(false) {
        write(&ipv6, "1")?;
    }
    // Linux sends tail loss probes after some ms without an answer. Here this shows a slow
    // simulation, not a loss.
    write("/proc/sys/net/ipv4/tcp_early_retrans", "0")?;
    write("/proc/sys/net/ipv4/ping_group_range", "0 0")?;
    ip(&["link", "set", "lo", "up"])?;
    ip(&["link", "set", NAME, "address", "02:00:00:00:00:02", "txqueuelen", QUEUE, "up"])?;
    ip(&["address", "add", &format!("{PEER_IP}/24"), "dev", NAME])?;
    Ok(tap)
}

/// Sets the minimum retransmission time-out of Linux: 30 s if `long`, otherwise the default.
///
/// # Errors
/// The route cannot be changed.
pub fn patience(long: bool) -> Result<(), String> {
    let peer = PEER_IP.to_string();
    let route = ["route", "replace", "10.0.0.0/24", "dev", NAME, "scope", "link", "src", &peer];
    let wait: &[&str] = if long { &["rto_min", "30s"] } else { &[] };
    ip(&[&route[..], wait].concat())
}

/// Runs `ip`.
///
/// # Errors
/// The program fails. The error contains its output.
pub fn ip(arguments: &[&str]) -> Result<(), String> {
    let what = || format!("ip {}", arguments.join(" "));
    let output = Command::new("ip")
        .args(arguments)
        .output()
        .map_err(|e| format!("{}: {e}; install iproute2", what()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}: {}", what(), String::from_utf8_lossy(&output.stderr).trim()))
}

fn write(path: &str, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("{path}: {e}"))
}

/// TCP counters of the kernel in this namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Retransmitted segments (`TcpRetransSegs`).
    pub retransmissions: u64,
    /// Time-outs (`TcpExtTCPTimeouts`).
    pub timeouts: u64,
    /// Segments with errors (`TcpInErrs`).
    pub errors: u64,
}

impl Kernel {
    /// Reads the counters.
    ///
    /// # Errors
    /// The kernel does not report a counter.
    pub fn now() -> Result<Self, String> {
        let read = |path: &str| fs::read_to_string(path).map_err(|e| format!("{path}: {e}"));
        let snmp = read("/proc/self/net/snmp")?;
        let more = read("/proc/self/net/netstat")?;
        Ok(Self {
            retransmissions: counter(&snmp, "Tcp:", "RetransSegs")?,
            timeouts: counter(&more, "TcpExt:", "TCPTimeouts")?,
            errors: counter(&snmp, "Tcp:", "InErrs")?,
        })
    }

    /// Increments since an earlier reading.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            retransmissions: self.retransmissions - before.retransmissions,
            timeouts: self.timeouts - before.timeouts,
            errors: self.errors - before.errors,
        }
    }
}

/// Finds a counter. The names are in one line, and the values in the next.
fn counter(text: &str, group: &str, name: &str) -> Result<u64, String> {
    let mut lines = text.lines().filter(|line| line.starts_with(group));
    let names = lines.next().unwrap_or("").split(' ');
    let mut both = names.zip(lines.next().unwrap_or("").split(' '));
    let value = both.find(|(n, _)| *n == name).and_then(|(_, value)| value.parse().ok());
    value.ok_or_else(|| format!("the kernel does not report {group} {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_name() {
        let text = "Ip: A B\nIp: 1 2\nTcp: RtoMin RetransSegs InErrs\nTcp: 200 7 3\n";
        assert_eq!(counter(text, "Tcp:", "RetransSegs"), Ok(7));
        assert_eq!(counter(text, "Ip:", "B"), Ok(2));
        assert!(counter(text, "Tcp:", "B").is_err());
    }
}
