//! Several runs in one report.

mod common;

use spfe_report::compare::{ComparedRun, html, text};

fn run(name: &str, change: impl FnOnce(&mut spfe_report::Document)) -> ComparedRun {
    let mut document = common::sample();
    change(&mut document);
    ComparedRun { name: name.to_owned(), document }
}

#[test]
fn every_case_stands_once_with_the_figures_of_all_runs() {
    let runs = [
        run("one", |_| {}),
        run("two <b>", |document| {
            document.results.iter_mut().for_each(|row| row.rate_gbps *= 2.0);
            document.results.remove(0);
        }),
    ];
    let table = text(&runs);
    let line = table.lines().find(|line| line.trim().starts_with("2 KB")).expect("a case");
    // Rate, host, and host and device of both runs.
    let words: Vec<_> = line.split_whitespace().collect();
    assert_eq!(words.len(), 2 + 6, "{line}");
    let number = |index: usize| words[index].parse::<f64>().expect("a number");
    assert!((number(3) / number(2) - 2.0).abs() < 0.01, "{line}");
    let line = table.lines().find(|line| line.trim().starts_with("1 KB")).expect("a case");
    assert_eq!(line.split_whitespace().nth(3), Some("-"), "the second run lacks it: {line}");
    let page = html(&runs);
    assert!(page.contains("two &lt;b&gt;") && !page.contains("two <b>"));
    assert!(!page.contains("NaN"));
    for class in ["curve v0", "curve v1"] {
        assert!(page.contains(class), "{class}");
    }
}

#[test]
fn differing_conditions_are_named() {
    let same = [run("a", |_| {}), run("b", |document| document.meta.date = "later".to_owned())];
    assert!(!text(&same).contains("differ"), "a date is no condition");
    let other = [
        run("a", |_| {}),
        run("b", |document| {
            document.meta.cores = 64;
            document.meta.link = "2x1G".to_owned();
        }),
    ];
    assert!(text(&other).contains("The runs differ in: cores, link."), "{}", text(&other));
    assert!(html(&other).contains("The runs differ in: cores, link."));
}
