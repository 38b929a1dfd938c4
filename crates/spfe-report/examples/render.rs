//! Renders a document: `cargo run -p spfe-report --example render -- in.json out.html`.
//!
//! With an output name that ends in `.txt` or `.tsv` it writes tables or tab-separated values.

use std::error::Error;
use std::{env, fs};

use spfe_report::Document;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [input, output] = arguments.as_slice() else {
        return Err("usage: render in.json out.{html,txt,tsv}".into());
    };
    let json = fs::read_to_string(input).map_err(|error| format!("{input}: {error}"))?;
    let document = Document::from_json(&json).map_err(|error| format!("{input}: {error}"))?;
    let rendered = match output.rsplit('.').next() {
        Some("txt") => spfe_report::text(&document),
        Some("tsv") => spfe_report::tsv(&document),
        _ => spfe_report::html(&document),
    };
    fs::write(output, rendered).map_err(|error| format!("{output}: {error}"))?;
    Ok(())
}
