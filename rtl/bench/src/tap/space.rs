//! A network namespace of our own: nothing here touches the network of the machine.

use std::fs;
use std::process::Command;

use rustix::io::Errno;
use rustix::thread::UnshareFlags;
use spfe_tap::TapDevice;

use super::PEER_IP;

/// Name of the device.
const NAME: &str = "tap0";
/// Frames the kernel keeps for us before it drops: more than all windows of all sessions hold.
const QUEUE: &str = "10000";

/// What to do where a namespace is refused.
const RIGHTS: &str = "run this as root, or let users make namespaces: sysctl \
    user.max_user_namespaces=1000, and where the kernel has them kernel.unprivileged_userns_clone=1 and \
    kernel.apparmor_restrict_unprivileged_userns=0";

/// Moves this process, which has one thread, into a new namespace; without privilege as root of a
/// new user namespace.
///
/// # Errors
/// Namespaces may not be made here.
pub fn enter() -> Result<(), String> {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    // SAFETY: no descriptors are unshared, and no other thread is there.
    let done = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) };
    match done {
        Ok(()) => return Ok(()),
        Err(Errno::PERM) => {}
        Err(error) => return Err(format!("a network namespace: {error}; {RIGHTS}")),
    }
    // SAFETY: as above.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNET) }
        .map_err(|e| format!("a user and network namespace: {e}; {RIGHTS}"))?;
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("0 {uid} 1"))?;
    write("/proc/self/gid_map", &format!("0 {gid} 1"))
}

/// Makes the device in this namespace, with the address of the peer, up.
///
/// # Errors
/// No driver, or no program `ip`.
pub fn device() -> Result<TapDevice, String> {
    let tap = TapDevice::open(NAME).map_err(|e| format!("{e}; {RIGHTS}"))?;
    // No requests of IPv6 on it.
    let ipv6 = format!("/proc/sys/net/ipv6/conf/{NAME}/disable_ipv6");
    if fs::exists(&ipv6).unwrap_or(false) {
        write(&ipv6, "1")?;
    }
    // Tail loss probes come after some ms without an answer: the speed of the simulation, no loss.
    write("/proc/sys/net/ipv4/tcp_early_retrans", "0")?;
    write("/proc/sys/net/ipv4/ping_group_range", "0 0")?;
    ip(&["link", "set", "lo", "up"])?;
    ip(&["link", "set", NAME, "address", "02:00:00:00:00:02", "txqueuelen", QUEUE, "up"])?;
    ip(&["address", "add", &format!("{PEER_IP}/24"), "dev", NAME])?;
    Ok(tap)
}

/// How long Linux waits for an acknowledgement at least: 30 s, or as it does by itself.
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
/// It fails; what it said.
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

/// What the kernel of this namespace has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Segments sent again (`TcpRetransSegs`).
    pub retransmissions: u64,
    /// Time-outs (`TcpExtTCPTimeouts`).
    pub timeouts: u64,
    /// Segments with errors (`TcpInErrs`).
    pub errors: u64,
}

impl Kernel {
    /// Now.
    ///
    /// # Errors
    /// The kernel does not tell.
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

    /// What was counted since.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            retransmissions: self.retransmissions - before.retransmissions,
            timeouts: self.timeouts - before.timeouts,
            errors: self.errors - before.errors,
        }
    }
}

/// A counter: the names are on one line, the numbers on the next one.
fn counter(text: &str, group: &str, name: &str) -> Result<u64, String> {
    let mut lines = text.lines().filter(|line| line.starts_with(group));
    let names = lines.next().unwrap_or("").split(' ');
    let mut both = names.zip(lines.next().unwrap_or("").split(' '));
    let value = both.find(|(n, _)| *n == name).and_then(|(_, value)| value.parse().ok());
    value.ok_or_else(|| format!("the kernel does not tell {group} {name}"))
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
