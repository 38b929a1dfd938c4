//! Puts the revision of the source into the program, for reports.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    // Without the option, `git status` writes the index, which would make this run again each time.
    let output = Command::new("git").arg("--no-optional-locks").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

fn main() {
    println!("cargo:rerun-if-env-changed=SPFE_GIT_REV");
    for file in ["HEAD", "logs/HEAD", "index"] {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", file])
            && std::path::Path::new(&path).exists()
        {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    // A packager without a repository sets the revision in the environment.
    let revision = std::env::var("SPFE_GIT_REV").ok().or_else(|| {
        let revision = git(&["rev-parse", "--short=12", "HEAD"])?;
        let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some();
        Some(if changed { format!("{revision}-changed") } else { revision })
    });
    println!("cargo:rustc-env=SPFE_GIT_REV={}", revision.as_deref().unwrap_or("unknown"));
}
