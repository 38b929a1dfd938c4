//! Compares the renderings of the sample document with stored files, byte for byte.
//!
//! After an intended change run `SPFE_BLESS=1 cargo test -p spfe-report --test golden`, review the
//! difference and look at the page.

mod common;

use std::path::PathBuf;
use std::{env, fs};

use spfe_report::Document;

fn check(name: &str, rendered: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if env::var_os("SPFE_BLESS").is_some() {
        fs::write(&path, rendered).expect("golden file is writable");
    }
    let golden = fs::read_to_string(&path).expect("golden file exists");
    let difference = golden.lines().zip(rendered.lines()).position(|(old, new)| old != new);
    assert!(
        golden == rendered,
        "{name} differs from line {:?} on; see the head of {}",
        difference.map(|line| line + 1),
        file!()
    );
}

#[test]
fn json() {
    check("sample.json", &common::sample().to_json());
}

#[test]
fn text() {
    check("sample.txt", &spfe_report::text(&common::sample()));
}

#[test]
fn tsv() {
    check("sample.tsv", &spfe_report::tsv(&common::sample()));
}

#[test]
fn html() {
    check("sample.html", &spfe_report::html(&common::sample()));
}

#[test]
fn a_document_read_back_renders_the_same() {
    let sample = common::sample();
    let back = Document::from_json(&sample.to_json()).expect("own output");
    assert_eq!(back, sample);
    assert_eq!(spfe_report::html(&back), spfe_report::html(&sample));
    assert_eq!(spfe_report::text(&back), spfe_report::text(&sample));
}

#[test]
fn notes_appear_in_text_and_page() {
    let mut document = common::sample();
    document.meta.notes = vec!["load <b>not</b> measured".to_owned()];
    assert!(spfe_report::text(&document).contains("\nNote: load <b>not</b> measured\n"));
    assert!(spfe_report::html(&document).contains("<td>load &lt;b&gt;not&lt;/b&gt; measured</td>"));
    let read = Document::from_json(&document.to_json()).expect("a document");
    assert_eq!(read.meta.notes, document.meta.notes);
}
