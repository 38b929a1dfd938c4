//! Scenario files: any text, and the lines of the examples mixed and changed.

use arbitrary::Arbitrary;
use spfe_sim::scenario::Scenario;

/// The example files.
const EXAMPLES: [&str; 6] = [
    include_str!("../../../examples/scenarios/babbling-idiot.toml"),
    include_str!("../../../examples/scenarios/endpoints.toml"),
    include_str!("../../../examples/scenarios/every-fault.toml"),
    include_str!("../../../examples/scenarios/lane-failure-hot-spare.toml"),
    include_str!("../../../examples/scenarios/scheduled-traffic.toml"),
    include_str!("../../../examples/scenarios/spacewire-bridge.toml"),
];

#[derive(Arbitrary, Debug)]
enum Input {
    Text(String),
    /// An example with changes.
    Changed(u8, Vec<Change>),
    /// Lines of examples.
    Lines(Vec<(u8, u8)>),
}

#[derive(Arbitrary, Debug)]
enum Change {
    /// A line is left out.
    Remove(u8),
    /// A line comes twice.
    Double(u8),
    /// A line of an example comes before this line.
    Insert(u8, u8, u8),
    /// The value of a line becomes a number, with a unit.
    Number(u8, u64, u8),
    /// The value of a line becomes the value of another line.
    Swap(u8, u8),
    /// The value of a line becomes this text.
    Value(u8, String),
}

const UNITS: [&str; 12] = ["", "s", "ms", "us", "ns", "ps", "G", "M", "K", "Gbit/s", "%", "e9"];

fn line(example: u8, number: u8) -> String {
    let text = EXAMPLES[usize::from(example) % EXAMPLES.len()];
    let lines = text.lines().count();
    text.lines().nth(usize::from(number) % lines).unwrap_or_default().to_owned()
}

/// Name and value of a line.
fn halves(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    Some((name.to_owned(), value.to_owned()))
}

impl Change {
    fn apply(self, lines: &mut Vec<String>) {
        if lines.is_empty() {
            return;
        }
        let count = lines.len();
        let at = |number: u8| usize::from(number) % count;
        let mut set = |number: u8, value: &str| {
            let place = &mut lines[at(number)];
            if let Some((name, _)) = halves(place) {
                *place = format!("{name}= {value}");
            }
        };
        match self {
            Self::Number(number, value, unit) => match UNITS[usize::from(unit) % UNITS.len()] {
                "" => set(number, &value.to_string()),
                unit => set(number, &format!("\"{value}{unit}\"")),
            },
            Self::Value(number, value) => set(number, &value),
            Self::Swap(number, other) => {
                let value = halves(&lines[at(other)]).map(|(_, value)| value);
                let place = &mut lines[at(number)];
                if let (Some((name, _)), Some(value)) = (halves(place), value) {
                    *place = format!("{name}={value}");
                }
            }
            Self::Remove(number) => drop(lines.remove(at(number))),
            Self::Double(number) => lines.insert(at(number), lines[at(number)].clone()),
            Self::Insert(number, example, which) => lines.insert(at(number), line(example, which)),
        }
    }
}

fn check(text: &str) {
    match Scenario::parse(text) {
        Ok(scenario) => {
            assert!(scenario.check().is_ok(), "sound with its text only");
            assert!(scenario.quantum_ps() >= 1 && scenario.step_ps() >= 1);
            for link in &scenario.links {
                for end in &link.ends {
                    assert!(scenario.link_at(end).is_some(), "a link without its ends");
                }
                assert!(scenario.link(&link.name).is_some());
            }
            for node in &scenario.nodes {
                let unit = scenario.unit(&node.name).expect("a node by its name");
                assert_eq!(scenario.name_of(unit), node.name);
            }
        }
        Err(error) => {
            assert!(!error.problems.is_empty() && !error.to_string().is_empty());
            let lines = text.lines().count() + 1;
            assert!(error.problems.iter().all(|problem| problem.line.is_none_or(|at| at <= lines)));
        }
    }
}

crate::target!(|input: Input| {
    match input {
        Input::Text(text) => check(&text),
        Input::Changed(example, changes) => {
            let text = EXAMPLES[usize::from(example) % EXAMPLES.len()];
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            changes.into_iter().take(64).for_each(|change| change.apply(&mut lines));
            check(&lines.join("\n"));
        }
        Input::Lines(numbers) => {
            let lines = numbers.into_iter().take(200).map(|(example, which)| line(example, which));
            check(&lines.collect::<Vec<_>>().join("\n"));
        }
    }
});
