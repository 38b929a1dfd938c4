//! Common parts of `spfe send` and `spfe recv`: options, buffers, progress and the final report.

use crate::context::Context;
use crate::error::Failure;
use crate::frame::HEADER_MAX;
use crate::{output, parse};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use spfe::{Buf, Endpoint, QueueOptions, Vc};
use std::time::Duration;

/// Number of outstanding groups.
const GROUPS: usize = 4;
const GROUPS_MIN: usize = 2;
/// Limit of the memory of outstanding groups, bytes. Larger packets reduce their number.
const MEMORY: usize = 256 << 20;
const MEMORY_MAX: usize = 3 << 30;

/// Refuses a device in the place of the file: the only argument is the file.
pub fn check_file(file: &str) -> Result<(), Failure> {
    let schemes = ["unix:", "spfed:", "virtual:", "rtl:", "/dev/spfe"];
    if !schemes.iter().any(|scheme| file.starts_with(scheme)) {
        return Ok(());
    }
    let file = output::printable(file);
    Err(Failure::usage(format!("'{file}' is a device, and no FILE follows; a file is ./{file}")))
}

/// Options of both directions.
#[derive(Clone, Debug, Args)]
pub struct TransferArgs {
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u32,
    /// Virtual channel.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub vc: u32,
    /// Length of the packets (send) or buffers (recv), such as 1500 or 64K.
    #[arg(long, value_name = "SIZE", default_value = "64K", value_parser = parse::packet)]
    pub packet: usize,
    /// Packets in a group: one submission, one completion, one wake-up.
    #[arg(long, value_name = "N", default_value = "16", value_parser = parse::group)]
    pub group: usize,
    /// Fail after this time without progress [default: wait forever].
    #[arg(long, value_name = "TIME", value_parser = parse::time)]
    pub deadline: Option<Duration>,
    /// Transfer only the bytes, without header and trailer. The receiver cannot check the file then.
    #[arg(long)]
    pub raw: bool,
}

impl TransferArgs {
    /// The virtual channel.
    pub fn channel(&self, endpoint: &Endpoint) -> Result<Vc, Failure> {
        Ok(endpoint.port(self.port)?.vc(self.vc)?)
    }

    /// Size of a buffer in bytes with room for an address before the packet.
    fn room(&self, address: usize) -> usize {
        (self.packet + address).max(HEADER_MAX + address)
    }

    /// Size of a buffer in bytes, and number of groups.
    fn shape(&self, address: usize) -> Result<(usize, usize), Failure> {
        let stride = self.room(address).next_multiple_of(64);
        let group = stride.saturating_mul(self.group);
        let groups = (MEMORY / group).clamp(GROUPS_MIN, GROUPS);
        if group.saturating_mul(groups) > MEMORY_MAX {
            return Err(Failure::usage(format!(
                "two groups of {} packets of {} bytes take {}: at most {} allowed",
                self.group,
                self.packet,
                output::bytes((group * groups) as u64),
                output::bytes(MEMORY_MAX as u64)
            )));
        }
        Ok((stride, groups))
    }

    /// Allocates buffers for all outstanding groups, each large enough for a packet or a header
    /// behind an address of so many bytes.
    pub fn buffers(&self, endpoint: &Endpoint, address: usize) -> Result<Vec<Buf>, Failure> {
        let (stride, groups) = self.shape(address)?;
        let count = groups * self.group;
        let length = self.room(address);
        let memory = endpoint.alloc(stride * count)?;
        let cut = |index| memory.buf(index * stride..index * stride + length);
        Ok((0..count).map(cut).collect::<spfe::Result<_>>()?)
    }

    /// Options of a queue with room for all outstanding groups.
    pub fn queue(&self) -> QueueOptions {
        let entries = (GROUPS * self.group).max(1 << spfe_contract::RING_LOG2_MIN);
        QueueOptions::default().depth(entries as u32)
    }
}

/// Counts transferred bytes and shows them on a terminal.
pub struct Meter {
    endpoint: Endpoint,
    bar: ProgressBar,
    start_ns: Option<u64>,
    /// File bytes so far.
    pub bytes: u64,
    /// Data packets so far.
    pub packets: u64,
}

impl Meter {
    /// A meter without a progress bar.
    pub fn new(endpoint: &Endpoint) -> Self {
        let bar = ProgressBar::hidden();
        Self { endpoint: endpoint.clone(), bar, start_ns: None, bytes: 0, packets: 0 }
    }

    /// Starts the clock, and the progress bar if stderr is a terminal and `-q` is not set.
    pub fn start(&mut self, length: Option<u64>, context: &Context) {
        self.start_ns = Some(self.endpoint.now_ns());
        if context.quiet {
            return;
        }
        let (form, bar) = match length {
            Some(length) => (
                "{bytes:>11} of {total_bytes} {wide_bar} {binary_bytes_per_sec} {eta}",
                ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr()),
            ),
            None => (
                "{bytes:>11} {spinner} {binary_bytes_per_sec}",
                ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()),
            ),
        };
        self.bar = bar;
        if let Ok(style) = ProgressStyle::with_template(form) {
            self.bar.set_style(style);
        }
    }

    /// Counts a data packet, or a part of one (`whole` false).
    pub fn count(&mut self, bytes: usize, whole: bool) {
        self.bytes += bytes as u64;
        self.packets += u64::from(whole);
        self.bar.set_position(self.bytes);
    }

    /// Seconds since the start.
    fn seconds(&self) -> f64 {
        let start = self.start_ns.unwrap_or_else(|| self.endpoint.now_ns());
        self.endpoint.now_ns().saturating_sub(start) as f64 / 1e9
    }

    /// Stops the clock and returns the totals.
    pub fn finish(self, sha256: [u8; 32]) -> Totals {
        let seconds = self.seconds();
        self.bar.finish_and_clear();
        Totals { bytes: self.bytes, packets: self.packets, seconds, sha256 }
    }
}

/// Totals of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    bytes: u64,
    packets: u64,
    seconds: f64,
    sha256: [u8; 32],
}

impl Totals {
    /// Prints the digest in the format of sha256sum, and the rate. Uses stderr if the data go to
    /// stdout.
    pub fn report(&self, file: &str, args: &TransferArgs, context: &Context, verb: &str) {
        let gbps = output::gbps(self.bytes, self.seconds);
        let result = if context.json {
            json!({
                "file": file,
                "port": args.port,
                "vc": args.vc,
                "bytes": self.bytes,
                "packets": self.packets,
                "sha256": parse::hex(&self.sha256),
                "seconds": output::rounded(self.seconds),
                "gbps": output::rounded(gbps),
            })
            .to_string()
        } else {
            format!("{}  {file}", parse::hex(&self.sha256))
        };
        if verb == "received" && file == "-" {
            eprintln!("{result}");
        } else {
            println!("{result}");
        }
        context.say(&format!(
            "{verb} {} in {}, {}, {}",
            output::bytes(self.bytes),
            output::plural(self.packets, "packet"),
            output::seconds(self.seconds),
            output::rate(gbps * 1e9)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(packet: usize, group: usize) -> TransferArgs {
        TransferArgs { port: 0, vc: 0, packet, group, deadline: None, raw: false }
    }

    #[test]
    fn two_groups_at_least_are_under_way() {
        assert_eq!(args(65536, 16).shape(0).unwrap(), (65536, 4));
        assert_eq!(args(1, 1).shape(0).unwrap(), (320, 4));
        assert_eq!(args(64 << 20, 2).shape(0).unwrap(), (64 << 20, 2));
        assert_eq!(args(1 << 30, 1).shape(0).unwrap(), (1 << 30, 2));
        let failure = args(1 << 30, 8192).shape(0).unwrap_err();
        assert!(failure.what.contains("at most 3 GiB allowed"), "{failure}");
    }

    #[test]
    fn buffers_fit_queue_and_region() {
        let endpoint = Endpoint::open("virtual:").unwrap();
        for (packet, group) in [(1, 1), (65, 3), (4096, 64)] {
            let args = args(packet, group);
            let mut buffers = args.buffers(&endpoint, 0).unwrap();
            assert_eq!(buffers.len(), 4 * group);
            let mut rx = args.channel(&endpoint).unwrap().rx_with(args.queue()).unwrap();
            assert_eq!(rx.post_all(&mut buffers), 4 * group);
        }
    }
}
