//! Results of synthesis: `rtl/synth/results.json`, which `tools/rtl.sh synth --record` writes.

use std::collections::BTreeMap;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::builds::root;

/// Top module of the core.
const CORE: &str = "spfe_tcp";

/// The results of synthesis.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Synthesis {
    /// Top modules by name.
    pub tops: BTreeMap<String, Top>,
    /// Files of each module in the order in which they are hashed.
    pub files: BTreeMap<String, Vec<String>>,
}

/// A top module with parameters, and its latest results.
#[derive(Clone, Debug, Deserialize)]
pub struct Top {
    /// Name of the module.
    pub module: String,
    /// Parameters that differ from their defaults.
    pub parameters: BTreeMap<String, u32>,
    /// Results for UltraScale+ after mapping.
    pub xcup: Option<Xcup>,
    /// Results for an ECP5 after place and route.
    pub ecp5: Option<Ecp5>,
}

/// Cells for UltraScale+.
#[derive(Clone, Debug, Deserialize)]
pub struct Xcup {
    /// Look-up tables, including those used as memory.
    pub lut_total: u64,
    /// Flip-flops.
    pub ff: u64,
    /// Block RAMs of 36 Kbit.
    pub bram36: u64,
    /// Block RAMs of 18 Kbit.
    pub bram18: u64,
    /// Longest chain of logic.
    pub logic: Logic,
    /// Look-up tables used as memory.
    pub lutram: Lutram,
    /// Hash of the source files.
    pub sources: String,
    /// Name and version of the tool.
    pub tool: String,
}

/// A chain of logic.
#[derive(Clone, Debug, Deserialize)]
pub struct Logic {
    /// Number of look-up tables in series.
    pub levels: u64,
    /// Start of the chain.
    pub from: String,
    /// End of the chain.
    pub to: String,
}

/// Look-up tables used as memory.
#[derive(Clone, Debug, Deserialize)]
pub struct Lutram {
    /// Number of look-up tables.
    pub luts: u64,
}

/// Cells and clock rates of an ECP5.
#[derive(Clone, Debug, Deserialize)]
pub struct Ecp5 {
    /// Look-up tables with four inputs.
    pub lut4_total: u64,
    /// Flip-flops, including those of the harness.
    pub ff: u64,
    /// Flip-flops of the harness.
    pub harness_ff: u64,
    /// Block RAMs of 18 Kbit.
    pub dp16kd: u64,
    /// Clock rates in MHz, by seed of the placer.
    pub fmax_mhz: BTreeMap<String, f64>,
    /// Hash of the source files.
    pub sources: String,
    /// Name and version of the tool.
    pub tool: String,
}

/// A configuration of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Number of sessions.
    pub sessions: u32,
    /// Width of the MAC interface and of the user side in bits.
    pub width: u32,
    /// Whether it has congestion control.
    pub congestion: bool,
}

impl Synthesis {
    /// Reads the results, or returns `None` if the file does not exist.
    ///
    /// # Errors
    /// The file does not have this form.
    pub fn read() -> Result<Option<Self>, String> {
        let path = root().join("rtl/synth/results.json");
        let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| fail(&error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(fail(&error)),
        }
    }

    /// Finds the result of the whole core in a configuration, with its name.
    #[must_use]
    pub fn core(&self, wanted: Configuration) -> Option<(&str, &Top)> {
        let find = |(_, top): &(&String, &Top)| {
            top.module == CORE && Configuration::of(&top.parameters) == Some(wanted)
        };
        self.tops.iter().find(find).map(|(name, top)| (name.as_str(), top))
    }

    /// All results of the whole core.
    pub fn cores(&self) -> impl Iterator<Item = (&str, &Top)> {
        let core = self.tops.iter().filter(|(_, top)| top.module == CORE);
        core.map(|(name, top)| (name.as_str(), top))
    }

    /// Hash of the code in a module's files as they are now, as `tools/rtl_record.py` computes it.
    ///
    /// # Errors
    /// The record does not list the module, or a file cannot be read.
    pub fn now(&self, module: &str) -> Result<String, String> {
        let mut sum = Sha256::new();
        for name in self.files.get(module).ok_or_else(|| format!("results.json: no {module}"))? {
            let path = root().join(name);
            let text = std::fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            sum.update(code(&text));
        }
        Ok(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// A SystemVerilog text without comments and white space.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match rest.as_bytes() {
            [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            [b'"', ..] => {
                let mut escaped = false;
                let end = rest[1..].find(|c| {
                    let closes = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    closes
                });
                let length = end.map_or(rest.len(), |end| end + 2);
                code.push_str(&rest[..length]);
                length
            }
            _ => {
                code.extend(Some(first).filter(|c| !c.is_whitespace()));
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    code
}

impl Configuration {
    /// The configuration with these parameters, or `None` if another parameter is not at its
    /// default.
    #[must_use]
    pub fn of(parameters: &BTreeMap<String, u32>) -> Option<Self> {
        const WIDTHS: [&str; 2] = ["MacRxWidth", "MacTxWidth"];
        const KNOWN: [&str; 4] =
            ["SessionCount", "MacRxWidth", "MacTxWidth", "TxCongestionControl"];
        let get = |name: &str, default| parameters.get(name).copied().unwrap_or(default);
        let [rx, tx] = WIDTHS.map(|name| get(name, 32));
        let known = parameters.keys().all(|name| KNOWN.contains(&name.as_str()));
        (known && rx == tx).then(|| Self {
            sessions: get("SessionCount", 16),
            width: rx,
            congestion: get("TxCongestionControl", 0) == 1,
        })
    }
}

impl Xcup {
    /// Block RAMs in units of 36 Kbit.
    #[must_use]
    pub fn blocks(&self) -> f64 {
        self.bram36 as f64 + self.bram18 as f64 / 2.0
    }
}

impl Ecp5 {
    /// Median of the clock rates in MHz.
    #[must_use]
    pub fn median(&self) -> f64 {
        let mut rates: Vec<f64> = self.fmax_mhz.values().copied().collect();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(list: &[(&str, u32)]) -> BTreeMap<String, u32> {
        list.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn comments_and_white_space_are_not_code() {
        let text = "a <= b; // \"c\n/* e\n */ $error(\"/* // \\\" */\", d);\n";
        assert_eq!(code(text), "a<=b;$error(\"/* // \\\" */\",d);");
    }

    #[test]
    fn parameters_determine_the_configuration() {
        let base = Configuration { sessions: 16, width: 32, congestion: false };
        assert_eq!(Configuration::of(&parameters(&[])), Some(base));
        let wide = [("MacRxWidth", 64), ("MacTxWidth", 64), ("TxCongestionControl", 1)];
        let expected = Configuration { width: 64, congestion: true, ..base };
        assert_eq!(Configuration::of(&parameters(&wide)), Some(expected));
        assert_eq!(Configuration::of(&parameters(&[("MacRxWidth", 64)])), None);
        assert_eq!(Configuration::of(&parameters(&[("RxChecksum", 0)])), None);
    }
}
