//! Counters of queue pairs.

use super::{Kernel, uapi};
use crate::Result;
use spfe_contract::capability;
use spfe_host::MibEntry;
use spfe_host::pairs::{pair_entries, present};

impl Kernel {
    /// Counters of the queue pairs of a port that are not zero; none if the device or the driver does
    /// not tell them.
    pub(super) fn pair_counters_of(&self, port: u32, vcs: u32) -> Result<Vec<MibEntry>> {
        let has = self.info.capability & capability::PAIR_COUNTERS != 0;
        let mut list = Vec::new();
        if !has || self.info.uapi_version < uapi::PAIR_COUNTERS_SINCE {
            return Ok(list);
        }
        for vc in 0..vcs {
            let read = |first| {
                let mut some = uapi::PairCounters { port, vc, first, ..Default::default() };
                let what = format_args!("counters of port {port} VC {vc}");
                self.call(&uapi::PAIR_COUNTERS, &mut some, what).map(|()| some)
            };
            let (mut first, mut some) = (0u32, read(0)?);
            let mut counters = Vec::new();
            for counter in present(some.present) {
                let mut at = u32::from(counter.raw()).wrapping_sub(first) as usize;
                if at >= some.values.len() {
                    (first, at) = (counter.raw().into(), 0);
                    some = read(first)?;
                }
                counters.push((counter, some.values[at]));
            }
            list.extend(pair_entries(vc, counters));
        }
        Ok(list)
    }
}
