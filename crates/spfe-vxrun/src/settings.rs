//! What `vxrun` tells the library through the environment.

use std::path::PathBuf;
use std::sync::OnceLock;

/// The settings of this process.
#[derive(Debug)]
pub struct Settings {
    /// Socket of the fabric; `None` leaves every connection to the kernel.
    pub fabric: Option<PathBuf>,
    /// Time that a call polls before it sleeps, ns.
    pub spin_ns: u64,
    /// Connections move to memory once they have carried so many bytes.
    pub after: u64,
    /// File to which the process adds a line when it ends.
    pub report: Option<PathBuf>,
}

/// The settings, read once.
pub fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let text = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let number = |name: &str, default: u64| {
            text(name).and_then(|value| value.to_str()?.parse().ok()).unwrap_or(default)
        };
        let passes = number("VXRUN_PASS", 0) != 0;
        Settings {
            fabric: text("VXRUN_FABRIC").filter(|_| !passes).map(PathBuf::from),
            spin_ns: number("VXRUN_SPIN_US", 0).min(10_000_000) * 1000,
            after: number("VXRUN_AFTER", 32_768),
            report: text("VXRUN_REPORT").map(PathBuf::from),
        }
    })
}

/// Programs such as nginx empty their environment before they connect.
extern "C" fn at_start() {
    settings();
}

#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = at_start;
