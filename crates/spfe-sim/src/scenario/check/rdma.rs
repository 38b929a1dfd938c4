//! Checks of RDMA: targets, operations and hostile links.

use super::{Location, ScenarioChecker};
use crate::packet;
use crate::scenario::{Addressing, RdmaOperation, RdmaTraffic, ScenarioLink, ScenarioNode, UnitId};
use spfe_rdma::config::RegionFile;

/// Maximum size of an operation: 1 MiB.
const MOST_BYTES: u64 = 1 << 20;

impl ScenarioChecker<'_> {
    /// Checks the target-only endpoint of a node.
    pub(super) fn rdma_target(&mut self, at: Location, node: &ScenarioNode) {
        let object = format!("node '{}'", node.name);
        let Some(target) = &node.rdma else { return };
        let at = at.key("rdma");
        if let Err(error) = target.check() {
            self.problem(at, format!("{object}: rdma: {error}"));
        }
        if target.protocol == packet::PID {
            let message = format!("{object}: rdma: protocol {:#04x} is that of flows", packet::PID);
            self.problem(at, message);
        }
        if ![spfe_proto::DEFAULT_LOGICAL_ADDRESS, node.logical_address]
            .contains(&target.logical_address)
        {
            let message = format!(
                "{object}: rdma: logical_address {} is not that of the node, {}; leave it out",
                target.logical_address, node.logical_address
            );
            self.problem(at, message);
        }
        if target.rmap.is_some() && node.target.is_some() {
            let message = format!("{object} has two RMAP targets; leave out target or rdma.rmap");
            self.problem(at, message);
        }
        let links = self.scenario.links.iter().flat_map(|link| &link.ends);
        let ports = links.filter(|place| place.unit == node.name).count();
        if ports > 1 {
            let message = format!("{object}: a target of RDMA has one link, not {ports}");
            self.problem(at, message);
        }
    }

    pub(super) fn rdma(&mut self, at: Location, rdma: &RdmaTraffic) {
        let stream = &rdma.stream;
        let object = format!("rdma '{}'", stream.name);
        self.channel(at.key("from"), &object, &stream.from, stream.vc);
        self.rdma_place(at, &object, rdma);
        let (min, max) = stream.size.range();
        if rdma.operation == RdmaOperation::Atomic {
            self.range(at.key("size"), &object, max, 8..=8);
        }
        self.range(at.key("size"), &object, min, 1..=max.min(MOST_BYTES));
        self.range(at.key("size"), &object, max, 1..=MOST_BYTES);
        self.range(at.key("size"), &object, stream.size.mean(), 1..=MOST_BYTES);
        self.pace(at, &object, stream.pace);
        self.range(at.key("outstanding"), &object, rdma.outstanding, 1..=1024);
        self.range(at.key("group"), &object, rdma.group, 1..=rdma.outstanding);
        self.range(at.key("buffers"), &object, rdma.buffers, 1..=1024);
        self.range(at.key("retries"), &object, rdma.retries, 0..=16);
        self.interval(at.key("timeout"), &object, rdma.timeout);
        self.window(at.key("stop"), &object, stream.start, stream.stop);
    }

    /// Checks target, region and addresses.
    fn rdma_place(&mut self, at: Location, object: &str, rdma: &RdmaTraffic) {
        let scenario = self.scenario;
        let Some(to) = rdma.to() else { return };
        let node = match scenario.unit(&to.unit) {
            Some(UnitId::Node(node)) => scenario.nodes.get(node),
            _ => None,
        };
        let Some(target) = node.and_then(|node| node.rdma.as_ref()) else {
            let known = scenario.nodes.iter().filter(|node| node.rdma.is_some());
            let known = known.map(|node| &node.name);
            return self.unknown(at.key("to"), object, "target of RDMA", &to.unit, known);
        };
        if to.unit == rdma.stream.from.unit {
            let message = format!("{object}: '{}' is named twice; give another node", to.unit);
            self.problem(at.key("to"), message);
        }
        if rdma.stream.route == Addressing::Auto {
            self.reachable(at, object, &rdma.stream.from, rdma.stream.vc, to);
        }
        if rdma.operation == RdmaOperation::Send {
            return;
        }
        let found = match &rdma.region {
            None => target.regions.first(),
            Some(name) => target.regions.iter().find(|region| region.name == *name),
        };
        let Some(region) = found else {
            let known = target.regions.iter().map(|region| &region.name);
            let name = rdma.region.as_deref().unwrap_or_default();
            return self.unknown(at.key("region"), object, "region", name, known);
        };
        if rdma.key.is_none() {
            let first = target.regions.first().map(|region| region.name.as_str());
            self.rdma_span(at, object, rdma, (region, first));
        }
    }

    /// Checks that the operations stay in the region, and that nobody else writes there: otherwise
    /// nobody could tell what is right.
    fn rdma_span(
        &mut self,
        at: Location,
        object: &str,
        rdma: &RdmaTraffic,
        (region, first): (&RegionFile, Option<&str>),
    ) {
        let span = |of: &RdmaTraffic| {
            let start = of.address.unwrap_or(region.base);
            (start, start.saturating_add(of.span()))
        };
        let (start, end) = span(rdma);
        let last = region.base.saturating_add(region.bytes().unwrap_or_default());
        if start < region.base || end > last {
            let message = format!(
                "{object}: {} operations of up to {} bytes use {start:#x} to {end:#x}; region '{}' \
                 has {:#x} to {last:#x}",
                rdma.outstanding,
                rdma.stream.size.range().1,
                region.name,
                region.base
            );
            self.problem(at.key("address"), message);
        }
        if rdma.operation == RdmaOperation::Atomic && !start.is_multiple_of(8) {
            let message = format!("{object}: address {start:#x} is not a multiple of 8");
            self.problem(at.key("address"), message);
        }
        let scenario = self.scenario;
        let before = scenario.rdmas.iter().take_while(|of| of.stream.name != rdma.stream.name);
        let same = before.filter(|of| {
            let (begins, ends) = span(of);
            of.to().map(|to| &to.unit) == rdma.to().map(|to| &to.unit)
                && of.region.as_deref().or(first) == Some(region.name.as_str())
                && of.key.is_none()
                && of.operation.changes_memory()
                && rdma.operation.changes_memory()
                && begins < end
                && start < ends
        });
        let same: Vec<&str> = same.map(|of| of.stream.name.as_str()).collect();
        if let Some(other) = same.first() {
            let message = format!(
                "{object}: '{other}' writes to {start:#x} to {end:#x}, too; give another address"
            );
            self.problem(at.key("address"), message);
        }
    }

    /// Checks that a hostile link has an end where RDMA starts or ends.
    pub(super) fn hostile(&mut self, at: Location, link: &ScenarioLink) {
        let scenario = self.scenario;
        if link.hostile.is_some() && !link.ends.iter().any(|end| scenario.has_rdma(&end.unit)) {
            let message = format!(
                "link '{}' is hostile to packets of RDMA, and no end of it is a node with RDMA",
                link.name
            );
            self.problem(at.key("hostile"), message);
        }
    }
}
