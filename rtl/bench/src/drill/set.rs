//! Parses `set NAME VALUE`, a setting of the endpoint.

use super::args::{ScriptError, ScriptLine, mac, number};
use super::endpoint::Settings;

/// Applies a line to the settings.
pub(super) fn apply(s: &mut Settings, mut line: ScriptLine) -> Result<(), ScriptError> {
    let name = line.need("a name")?;
    let text = line.need("a value")?;
    let bad = |what: &str| line.error(format!("{name} is `{text}`; {what}"));
    let num = |max: u64| match number(&text) {
        Some(v) if v <= max => Ok(v),
        _ => Err(bad(&format!("a number of at most {max} is needed"))),
    };
    let ip = || text.parse().map_err(|_| bad("an IPv4 address is needed"));
    match name.as_str() {
        "mac" => s.mac = mac(&text).ok_or_else(|| bad("six bytes a:b:.. are needed"))?,
        "ip" => s.ip = ip()?,
        "mask" => s.mask = ip()?,
        "gateway" => s.gateway = ip()?,
        "vlan" => s.vlan = Some(num(65535)? as u16),
        "rst_silent" => s.rst_silent = num(1)? != 0,
        "ring_refuse" => s.ring_refuse = num(1)? != 0,
        "fragment" => s.fragment = num(1)? != 0,
        "wscale" => s.wscale = Some(num(14)? as u8),
        "rcv_wnd" => s.rcv_wnd = num(65535 << 14)? as u32,
        "mss" => s.mss = num(8960)? as u16,
        "iss_key" => s.iss_key = num(u64::MAX)?.into(),
        "rto_min" => s.rto_min = num(65535)? as u16,
        "rto_max" => s.rto_max = num(65535)? as u16,
        "rto_init" => s.rto_init = num(65535)? as u16,
        "syn_tries" => s.syn_tries = num(255)? as u8,
        "data_tries" => s.data_tries = num(255)? as u8,
        "delack" => s.delack = num(65535)? as u16,
        "time_wait" => s.time_wait = num(65535)? as u16,
        "persist_max" => s.persist_max = num(65535)? as u16,
        "arp_retry" => s.arp_retry = num(65535)? as u16,
        "arp_tries" => s.arp_tries = num(255)? as u8,
        "arp_refresh" => s.arp_refresh = num(u64::from(u32::MAX))? as u32,
        _ => return Err(line.error(format!("`{name}` is not a setting"))),
    }
    line.end()
}
