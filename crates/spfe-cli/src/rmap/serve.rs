//! `spfe rmap serve`: an RMAP target with a memory.

use super::values;
use crate::context::{Context, DeviceArg, Role, end_at_signal};
use crate::error::Failure;
use crate::{output, parse};
use clap::Args;
use serde_json::{Map, Value};
use spfe::Deadline;
use spfe::rmap::{Allow, Target, TargetConfig, TargetCounters, Window};
use spfe_host::topology::RmapUnit;

/// Serve memory until interrupted, then print counters of executed and refused commands.
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Size of the memory.
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = parse::size)]
    bytes: u64,
    /// Address of the first byte, up to 40 bits.
    #[arg(long, value_name = "ADDRESS", default_value = "0", value_parser = values::number)]
    base: u64,
    /// Key that commands must have [default: any].
    #[arg(long, short, value_name = "BYTE", value_parser = parse::byte)]
    key: Option<u8>,
    /// Logical address of the target.
    #[arg(long, value_name = "BYTE", default_value = "0xfe", value_parser = parse::byte)]
    logical: u8,
    /// Allowed commands: any of r (read), w (write), m (read-modify-write).
    #[arg(long, value_name = "LETTERS", default_value = "rwm")]
    allow: Allow,
    /// Limit of a reply and of a verified write, bytes of data.
    #[arg(long, value_name = "SIZE", default_value = "64K", value_parser = values::max_data)]
    max_data: u32,
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Virtual channel.
    #[arg(long, value_name = "N", default_value_t = 0)]
    vc: u32,
    /// End after this many packets; 0: until interrupted.
    #[arg(long, value_name = "N", default_value_t = 0)]
    count: u64,
}

/// Runs `spfe rmap serve`.
pub fn run(args: &ServeArgs, context: &Context) -> Result<(), Failure> {
    let ServeArgs { bytes, base, key, logical: logical_address, allow, .. } = *args;
    let unit = RmapUnit { bytes, base, key, logical_address, allow };
    unit.check().map_err(Failure::usage)?;
    if bytes > parse::PACKET_MAX {
        return Err(Failure::usage(format!("memory of {bytes} bytes: at most 1G allowed")));
    }
    let endpoint = context.open_shared(args.port, Role::Serve)?;
    let config = TargetConfig {
        logical_address: Some(logical_address),
        accept_default: false,
        key,
        verify_bytes: args.max_data,
        ..TargetConfig::default()
    };
    let vc = endpoint.port(args.port)?.vc(args.vc)?;
    let mut target = Target::open(&vc, config, args.max_data)?;
    let memory = endpoint.alloc(bytes as usize)?.buf(0..bytes as usize)?;
    target.add(Window::new(base, memory).allow(allow))?;
    end_at_signal(target.canceller());
    context.say(&format!("{unit} on port {} VC {}", args.port, args.vc));
    let outcome = serve(&mut target, args.count);
    report(target.counters(), context);
    outcome
}

fn serve(target: &mut Target, count: u64) -> Result<(), Failure> {
    let mut packets = 0;
    while count == 0 || packets < count {
        match target.serve_once(Deadline::NEVER) {
            Ok(_) => packets += 1,
            // Without --count an interruption is the regular end.
            Err(error) if error.is_cancelled() && count == 0 => return Ok(()),
            Err(error) if error.is_cancelled() => return Err(Failure::interrupted()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(target.flush(Deadline::NEVER)?)
}

/// Prints the counters; as text only those that are not zero.
fn report(counters: &TargetCounters, context: &Context) {
    let named = values::counters(counters);
    if context.json {
        let object: Map<String, Value> =
            named.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        println!("{}", Value::from(object));
        return;
    }
    let counted = named.iter().filter(|(_, value)| *value != 0);
    let rows: Vec<_> =
        counted.map(|(name, value)| vec![name.replace('_', " "), value.to_string()]).collect();
    print!("{}", output::table(&["COUNTER", "PACKETS"], 1, &rows));
}
