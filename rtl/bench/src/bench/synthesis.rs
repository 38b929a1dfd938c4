//! Results of synthesis: `rtl/synth/results.json`, which `tools/rtl.sh synth --record` writes, and
//! `rtl/synth.toml`, which says what it must hold.

use std::collections::BTreeMap;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::builds::root;

/// Top module of the core.
const CORE: &str = "spfe_tcp";

/// `rtl/synth.toml`: what is to be measured.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Table {
    /// Seeds of place and route.
    pub seeds: Vec<u64>,
    /// All tops.
    #[serde(rename = "top")]
    pub tops: Vec<Wanted>,
}

/// A top of the table.
#[derive(Clone, Debug, Deserialize)]
pub struct Wanted {
    /// Name of the top.
    pub name: String,
    /// Name of the module.
    pub module: String,
    /// Parameters that differ from their defaults.
    #[serde(default)]
    pub parameters: BTreeMap<String, u32>,
    /// Why it is not placed and routed for an ECP5; empty if it is.
    #[serde(default)]
    pub no_ecp5: String,
}

/// The results of synthesis.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Synthesis {
    /// What is to be measured.
    #[serde(skip)]
    pub table: Table,
    /// Results by name of the top.
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
    /// Start of the chain, if there is logic.
    pub from: Option<String>,
    /// End of the chain, if there is logic.
    pub to: Option<String>,
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
    /// Reads the table and the results.
    ///
    /// # Errors
    /// A file does not exist or does not have its form.
    pub fn read() -> Result<Self, String> {
        let text = |name: &str| {
            let path = root().join(name);
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let fail = |name: &str, error: &dyn std::fmt::Display| format!("{name}: {error}");
        let (table, results) = ("rtl/synth.toml", "rtl/synth/results.json");
        let mut out: Self =
            serde_json::from_str(&text(results)?).map_err(|error| fail(results, &error))?;
        out.table = toml::from_str(&text(table)?).map_err(|error| fail(table, &error))?;
        Ok(out)
    }

    /// The tops of the TCP core in the order of the table: the core and its blocks.
    pub fn wanted(&self) -> impl Iterator<Item = &Wanted> {
        self.table.tops.iter().filter(|top| top.module.starts_with(CORE))
    }

    /// The results of a top.
    fn top(&self, wanted: &Wanted) -> Option<&Top> {
        self.tops
            .get(&wanted.name)
            .filter(|top| top.module == wanted.module && top.parameters == wanted.parameters)
    }

    /// The cells of a top for UltraScale+.
    ///
    /// # Errors
    /// They are not in the record.
    pub fn xcup(&self, wanted: &Wanted) -> Result<&Xcup, String> {
        let found = self.top(wanted).and_then(|top| top.xcup.as_ref());
        found.ok_or_else(|| missing(&wanted.name, "--xcup"))
    }

    /// The cells and clock rates of a top for an ECP5, `None` if it is not to have any.
    ///
    /// # Errors
    /// They are not in the record.
    pub fn ecp5(&self, wanted: &Wanted) -> Result<Option<&Ecp5>, String> {
        if !wanted.no_ecp5.is_empty() {
            return Ok(None);
        }
        let found = self.top(wanted).and_then(|top| top.ecp5.as_ref());
        let found = found.filter(|taken| !taken.fmax_mhz.is_empty());
        found.map(Some).ok_or_else(|| missing(&wanted.name, "--ecp5"))
    }

    /// What the record lacks of the TCP core, each with the command that measures it.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let lacks = |top| [self.xcup(top).err(), self.ecp5(top).err()];
        self.wanted().flat_map(lacks).flatten().collect()
    }

    /// What a complete record of today's sources still lacks of the TCP core, each with the command
    /// that measures it: missing and stale results, and seeds of place and route.
    ///
    /// # Errors
    /// Those of [`Self::now`].
    pub fn demands(&self) -> Result<Vec<String>, String> {
        let mut lacks = self.missing();
        for top in self.wanted() {
            let name = &top.name;
            if let Ok(taken) = self.xcup(top)
                && self.stale(top, &taken.sources)?
            {
                lacks.push(again(name, "--xcup", "of older sources"));
            }
            let Ok(Some(taken)) = self.ecp5(top) else { continue };
            let (has, all) = (taken.fmax_mhz.len(), self.table.seeds.len());
            if self.stale(top, &taken.sources)? {
                lacks.push(again(name, "--ecp5", "of older sources"));
            } else if has < all {
                lacks.push(again(name, "--ecp5", &format!("of {has} seeds, not {all}")));
            }
        }
        Ok(lacks)
    }

    /// Finds the whole core in a configuration.
    ///
    /// # Errors
    /// The table has no such top.
    pub fn core(&self, wanted: Configuration) -> Result<&Wanted, String> {
        let same = |top: &&Wanted| Configuration::of(&top.parameters) == Some(wanted);
        let found = self.cores().find(same);
        found.ok_or_else(|| format!("rtl/synth.toml has no core with {wanted:?}"))
    }

    /// All whole cores of the table.
    pub fn cores(&self) -> impl Iterator<Item = &Wanted> {
        self.table.tops.iter().filter(|top| top.module == CORE)
    }

    /// The highest clock rate in MHz that a whole core of today's sources reaches with every seed,
    /// and its name.
    #[must_use]
    pub fn clock(&self) -> Option<(f64, &str)> {
        let reached = |top: &Wanted| {
            let taken = self.ecp5(top).ok()??;
            let whole = taken.fmax_mhz.len() >= self.table.seeds.len();
            (whole && self.stale(top, &taken.sources) == Ok(false)).then(|| taken.least())
        };
        let reached = |top| reached(top).map(|mhz| (mhz, top.name.as_str()));
        self.cores().filter_map(reached).max_by(|one, other| one.0.total_cmp(&other.0))
    }

    /// Whether a whole core reaches a clock rate in kHz.
    #[must_use]
    pub fn supports(&self, khz: f64) -> bool {
        self.clock().is_some_and(|(mhz, _)| mhz * 1000.0 >= khz)
    }

    /// Whether figures are of another state of a module's sources than the present one.
    ///
    /// # Errors
    /// Those of [`Self::now`].
    pub fn stale(&self, wanted: &Wanted, sources: &str) -> Result<bool, String> {
        Ok(self.now(&wanted.module)?.as_deref() != Some(sources))
    }

    /// Hash of the code in a module's files as they are now, as `tools/rtl_record.py` computes it.
    /// `None` if a file no longer exists.
    ///
    /// # Errors
    /// The record does not list the module, or a file cannot be read.
    pub fn now(&self, module: &str) -> Result<Option<String>, String> {
        let mut sum = Sha256::new();
        for name in self.files.get(module).ok_or_else(|| format!("results.json: no {module}"))? {
            let path = root().join(name);
            match std::fs::read_to_string(&path) {
                Ok(text) => sum.update(code(&text)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(format!("{}: {error}", path.display())),
            }
        }
        Ok(Some(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
    }
}

/// Says what is not in the record, and the command that measures it.
fn missing(top: &str, option: &str) -> String {
    format!(
        "rtl/synth/results.json has no {} of {top}; run tools/rtl.sh synth --record {option} {top}",
        option.trim_start_matches('-')
    )
}

/// Says what is in the record but does not count, and the command that measures it again.
fn again(top: &str, option: &str, why: &str) -> String {
    format!(
        "rtl/synth/results.json: the {} of {top} is {why}; run tools/rtl.sh synth --record {option} \
         {top}",
        option.trim_start_matches('-')
    )
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
    /// The clock rates in MHz in ascending order.
    fn rates(&self) -> Vec<f64> {
        let mut rates: Vec<f64> = self.fmax_mhz.values().copied().collect();
        rates.sort_by(f64::total_cmp);
        rates
    }

    /// Lowest clock rate in MHz.
    #[must_use]
    pub fn least(&self) -> f64 {
        self.rates().first().copied().unwrap_or(0.0)
    }

    /// Median of the clock rates in MHz, the upper one of two.
    #[must_use]
    pub fn median(&self) -> f64 {
        let rates = self.rates();
        rates.get(rates.len() / 2).copied().unwrap_or(0.0)
    }

    /// Highest clock rate in MHz.
    #[must_use]
    pub fn most(&self) -> f64 {
        self.rates().last().copied().unwrap_or(0.0)
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
