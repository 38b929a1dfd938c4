//! Destination of received bytes: standard output, or a file that is renamed when it is complete.

use crate::error::Failure;
use crate::output;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;

/// A file or standard output.
pub struct Target {
    file: File,
    what: String,
    /// Temporary and final name.
    rename: Option<(PathBuf, PathBuf)>,
}

impl Target {
    /// Opens the destination. A regular file is written as FILE.part first; a device, pipe or
    /// symbolic link is written directly.
    pub fn open(path: &str) -> Result<Self, Failure> {
        if path == "-" {
            let what = "standard output".to_owned();
            let stdout = io::stdout().as_fd().try_clone_to_owned();
            let file = stdout.map_err(|error| Failure::io(&what, &error))?.into();
            return Ok(Self { file, what, rename: None });
        }
        let what = format!("file '{}'", output::printable(path));
        let plain = match fs::symlink_metadata(path) {
            Ok(meta) => meta.is_file(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let part = if plain { format!("{path}.part") } else { path.to_owned() };
        let file = File::create(&part).map_err(|error| Failure::io(&what, &error))?;
        let rename = plain.then(|| (PathBuf::from(part), PathBuf::from(path)));
        Ok(Self { file, what, rename })
    }

    /// Writes directly from a registered buffer.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(|error| Failure::io(&self.what, &error))
    }

    /// Gives a complete file its final name.
    pub fn commit(mut self) -> Result<(), Failure> {
        match self.rename.take() {
            None => Ok(()),
            Some((part, path)) => fs::rename(&part, &path).map_err(|error| {
                let _ = fs::remove_file(&part);
                Failure::io(&self.what, &error)
            }),
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some((part, _)) = &self.rename {
            let _ = fs::remove_file(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_file_gets_its_name() {
        let path = std::env::temp_dir().join(format!("spfe-target-{}", std::process::id()));
        let name = path.to_str().unwrap();
        fs::write(&path, "old").unwrap();
        let mut target = Target::open(name).unwrap();
        target.write(b"half").unwrap();
        drop(target);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert!(!fs::exists(format!("{name}.part")).unwrap());
        let mut target = Target::open(name).unwrap();
        target.write(b"whole").unwrap();
        target.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        fs::remove_file(&path).unwrap();
        assert!(Target::open("/dev/null").unwrap().rename.is_none());
        assert!(Target::open("/no/such/directory/file").is_err());
    }
}
