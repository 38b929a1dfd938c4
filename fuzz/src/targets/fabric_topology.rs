//! Topology files of a fabric: any text. What is accepted is sound and survives being written.

use spfe_fabric::topology::FabricTopology;

crate::target!(|text: String| {
    match FabricTopology::parse(&text) {
        Ok(topology) => {
            assert!(topology.check().is_ok(), "sound with its text only");
            let again = FabricTopology::parse(&topology.to_toml());
            assert_eq!(again.as_ref(), Ok(&topology));
            let first = topology.nodes[0].number;
            for node in &topology.nodes {
                let there = topology.path(first, node.number);
                let back = topology.path(node.number, first);
                assert_eq!(there.map(|path| path.links.len()), back.map(|path| path.links.len()));
            }
        }
        Err(error) => assert!(!error.problems.is_empty() && !error.to_string().is_empty()),
    }
});
