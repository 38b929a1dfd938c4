use super::Partition;
use crate::scenario::Scenario;
use std::fmt::Write;

/// A network of nodes that are named like letters and routers `r0`, `r1` ..., from pairs of ports.
fn network(links: &[(&str, &str)]) -> Scenario {
    let mut text = "title = 'network'\nduration = '1us'\n".to_owned();
    let mut units: Vec<&str> = links.iter().flat_map(|(a, b)| [*a, *b]).collect();
    units.iter_mut().for_each(|place| *place = place.split(':').next().unwrap_or(place));
    units.sort_unstable();
    units.dedup();
    for unit in units {
        let _ = match unit.starts_with('r') {
            true => writeln!(text, "[[router]]\nname = '{unit}'\nports = 8"),
            false => writeln!(text, "[[node]]\nname = '{unit}'"),
        };
    }
    for (number, (a, b)) in links.iter().enumerate() {
        let _ = writeln!(
            text,
            "[[link]]\nname = 'l{number}'\nends = ['{a}', '{b}']\nrate = '2.5G'\n\
             spacefibre = {{ lanes = 1 }}"
        );
    }
    Scenario::parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

fn partition(links: &[(&str, &str)], threads: usize) -> Option<Partition> {
    let found = Partition::new(&network(links), threads, &[])?;
    assert_eq!(found.parts, threads);
    assert_eq!(found.links.len(), links.len());
    Some(found)
}

#[test]
fn pairs_are_split_in_order() {
    let links = [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")];
    let found = partition(&links, 2).expect("parts");
    assert_eq!(found.links, [0, 0, 1, 1]);
    let parts: Vec<_> = [0, 0, 0, 0, 1, 1, 1, 1].map(Some).to_vec();
    assert_eq!(found.units, parts);
}

#[test]
fn a_router_in_the_middle_is_between_the_parts() {
    let mut links = vec![("r0:7", "r8:1"), ("r1:7", "r8:2")];
    links.extend([("a", "r0:1"), ("b", "r0:2"), ("c", "r0:3")]);
    links.extend([("d", "r1:1"), ("e", "r1:2"), ("f", "r1:3")]);
    let found = partition(&links, 2).expect("parts");
    assert_eq!(found.links, [0, 1, 0, 0, 0, 1, 1, 1]);
    let units = [0, 0, 0, 1, 1, 1, 0, 1].map(Some);
    assert_eq!(found.units[..8], units);
    assert_eq!(found.units[8], None);
}

#[test]
fn a_chain_is_cut_in_its_middle() {
    let mut links = Vec::new();
    let text: Vec<_> = (0..6).map(|at| (format!("r{at}:1"), format!("r{}:2", at + 1))).collect();
    links.extend(text.iter().map(|(a, b)| (a.as_str(), b.as_str())));
    let found = partition(&links, 2).expect("parts");
    assert_eq!(found.links.iter().filter(|part| **part == 0).count(), 3);
    assert_eq!(found.units.iter().filter(|part| part.is_none()).count(), 1);
    assert_eq!(found.units[3], None);
}

#[test]
fn networks_that_do_not_fall_apart_have_one_thread() {
    // One link; a star, whose router has half of the work; parts of different size.
    assert_eq!(partition(&[("a", "b")], 2), None);
    assert_eq!(partition(&[("a", "r0:1"), ("b", "r0:2"), ("c", "r0:3"), ("d", "r0:4")], 2), None);
    assert_eq!(partition(&[("a", "b"), ("c", "d"), ("e", "f")], 2), None);
    assert_eq!(partition(&[("a", "b"), ("c", "d")], 1), None);
}

#[test]
fn units_that_have_to_be_are_between_the_parts() {
    let links = [("a", "b"), ("c", "d")];
    let together = [true, false, false, false];
    let found = Partition::new(&network(&links), 2, &together).expect("parts");
    assert_eq!(found.units, [None, Some(0), Some(1), Some(1)]);
}
