//! The nodes of a fabric, as the device of one of them reports them.

use crate::error::Failure;
use spfe::{Endpoint, MibEntry, MibValue, Port, PortKind};
use spfe_fabric::ether::MAC_START;
use spfe_fabric::topology::NodeNumber;

/// A far end as this end sees it. On a link there is one, without an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FarEnd {
    /// Packets reach it.
    pub ready: bool,
    /// How often the node has started.
    pub epoch: u64,
}

/// A node and what it sees of all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// Number of this node.
    pub own: u16,
    /// All nodes, from node 1 on.
    all: Vec<FarEnd>,
}

impl Nodes {
    /// Those of a port; `None` if it is no fabric port.
    ///
    /// # Errors
    /// The device is gone, or does not say which node it is.
    pub fn at(endpoint: &Endpoint, port: &Port) -> Result<Option<Self>, Failure> {
        if port.kind() != PortKind::Fabric {
            return Ok(None);
        }
        let entries = endpoint.port_mib(port.number())?;
        Self::of(&entries).map(Some).ok_or_else(|| {
            let uri = endpoint.info().uri;
            Failure::failed(format!(
                "{uri}: port {} is a fabric port, and its driver does not say which node it is: \
                 use the interface vxethN of the driver, or a newer driver",
                port.number()
            ))
        })
    }

    /// From what a port reports about itself; `None` if there is no node in it.
    pub fn of(entries: &[MibEntry]) -> Option<Self> {
        let of_fabric = |name: &'static str| {
            entries.iter().filter(move |entry| entry.layer == "fabric" && entry.name == name)
        };
        let number = |entry: &MibEntry| match entry.value {
            MibValue::Number(number) => number,
            MibValue::Text(_) => 0,
        };
        let own = of_fabric("node").next().map(number)?;
        let all = of_fabric("ready").map(number).zip(of_fabric("epoch").map(number));
        let all: Vec<_> = all.map(|(ready, epoch)| FarEnd { ready: ready != 0, epoch }).collect();
        let own = u16::try_from(own).ok().filter(|own| (1..=all.len()).contains(&(*own).into()))?;
        Some(Self { own, all })
    }

    /// Number of nodes, this one included.
    pub fn count(&self) -> u16 {
        self.all.len() as u16
    }

    /// The numbers of the other nodes.
    pub fn others(&self) -> impl Iterator<Item = u16> + use<> {
        let own = self.own;
        (1..=self.count()).filter(move |node| *node != own)
    }

    /// What this node sees of another one.
    pub fn far_end(&self, node: u16) -> FarEnd {
        self.all.get(usize::from(node).wrapping_sub(1)).copied().unwrap_or_default()
    }

    /// The Ethernet address of this node, as the driver's interface has it.
    pub fn mac(&self) -> [u8; 6] {
        let ([a, b, c], node) = (MAC_START, self.own as u8);
        [a, b, c, 0, NodeNumber(node).slot(), node]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(own: u64, ready: &[u64]) -> Vec<MibEntry> {
        let mut list = vec![
            MibEntry::new("port", "state", None, "UP"),
            MibEntry::new("fabric", "node", None, own),
        ];
        for (node, ready) in (1..).zip(ready) {
            list.push(MibEntry::new("fabric", "ready", Some(node), *ready));
            list.push(MibEntry::new("fabric", "epoch", Some(node), u64::from(node) + 10));
        }
        list
    }

    #[test]
    fn a_port_of_a_fabric_says_who_is_there() {
        let nodes = Nodes::of(&report(2, &[1, 1, 0])).unwrap();
        assert_eq!((nodes.own, nodes.count()), (2, 3));
        assert_eq!(nodes.others().collect::<Vec<_>>(), [1, 3]);
        assert_eq!(nodes.far_end(1), FarEnd { ready: true, epoch: 11 });
        assert_eq!(nodes.far_end(3), FarEnd { ready: false, epoch: 13 });
        for nobody in [0, 4, u16::MAX] {
            assert_eq!(nodes.far_end(nobody), FarEnd::default());
        }
        assert_eq!(nodes.mac(), [2, 0x56, 0x58, 0, 1, 2]);
    }

    #[test]
    fn other_ports_have_no_nodes() {
        assert_eq!(Nodes::of(&[MibEntry::new("port", "state", None, "UP")]), None);
        for own in [0, 3, 1 << 40] {
            assert_eq!(Nodes::of(&report(own, &[1, 1])), None, "node {own} of 2");
        }
    }
}
