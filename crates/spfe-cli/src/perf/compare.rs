//! `spfe perf compare`: several measurements in one report.

use super::args::CompareArgs;
use crate::context::Context;
use crate::error::Failure;
use spfe_report::Document;
use spfe_report::compare::{self, ComparedRun};
use std::fs;
use std::path::Path;

/// Reads the results and shows them side by side.
pub fn run(args: &CompareArgs, context: &Context) -> Result<(), Failure> {
    let runs = args.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    if let Some(folder) = &args.report {
        let page = folder.join("compare.html");
        let fail = |error| Failure::io(format_args!("report in {}", folder.display()), &error);
        fs::create_dir_all(folder).map_err(fail)?;
        fs::write(&page, compare::html(&runs)).map_err(fail)?;
        context.say(&format!("report written to {}", page.display()));
    }
    print!("{}", compare::text(&runs));
    Ok(())
}

fn read(path: &Path) -> Result<ComparedRun, Failure> {
    let file = if path.is_dir() { path.join("results.json") } else { path.to_owned() };
    let text = fs::read_to_string(&file)
        .map_err(|error| Failure::io(format_args!("results in {}", file.display()), &error))?;
    let document = Document::from_json(&text).map_err(|error| {
        let what = format!("{}: not the results of spfe perf: {error}", file.display());
        spfe::Error::device(spfe::Status::BadField, what)
    })?;
    Ok(ComparedRun { name: path.display().to_string(), document })
}
