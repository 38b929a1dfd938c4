//! Destination of received bytes: standard output, or a file that is renamed when it is complete.

use crate::error::Failure;
use crate::output;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file or standard output.
pub struct Target {
    sink: Sink,
    what: String,
}

enum Sink {
    /// Standard output, a device, a pipe, or what a symbolic link of the user names.
    Direct(File),
    /// A new file with a temporary name, and its final name. Dropping it removes the file.
    New(NamedTempFile, PathBuf),
}

impl Target {
    /// Opens the destination. A regular file is written under a temporary name first; a device,
    /// pipe or symbolic link is written directly.
    pub fn open(path: &str) -> Result<Self, Failure> {
        if path == "-" {
            let what = "standard output".to_owned();
            let stdout = io::stdout().as_fd().try_clone_to_owned();
            let file = stdout.map_err(|error| Failure::io(&what, &error))?;
            return Ok(Self { sink: Sink::Direct(file.into()), what });
        }
        let what = format!("file '{}'", output::printable(path));
        let plain = match fs::symlink_metadata(path) {
            Ok(meta) => meta.is_file(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let opened = if plain {
            beside(Path::new(path)).map(|file| Sink::New(file, path.into()))
        } else {
            File::create(path).map(Sink::Direct)
        };
        let sink = opened.map_err(|error| Failure::io(&what, &error))?;
        Ok(Self { sink, what })
    }

    /// Writes directly from a registered buffer.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let file = match &mut self.sink {
            Sink::Direct(file) => file,
            Sink::New(file, _) => file.as_file_mut(),
        };
        file.write_all(bytes).map_err(|error| Failure::io(&self.what, &error))
    }

    /// Gives a complete file its final name once its bytes are on the disk.
    pub fn commit(self) -> Result<(), Failure> {
        let Sink::New(file, path) = self.sink else { return Ok(()) };
        let done = file.as_file().sync_all().and_then(|()| {
            file.persist(&path)?;
            // The name is on the disk when the directory is.
            File::open(directory(&path))?.sync_all()
        });
        done.map_err(|error| Failure::io(&self.what, &error))
    }
}

/// The directory of a file.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Creates FILE.XXXXXX.part with a random name that did not exist, so that nobody who can write to
/// the directory chooses what is overwritten.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let mut prefix = name.to_owned();
    prefix.push(".");
    tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(".part")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new directory, removed when dropped, and a path in it.
    fn place() -> (tempfile::TempDir, String) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        (directory, path.to_str().unwrap().to_owned())
    }

    fn names(directory: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(directory.path()).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        entries.map(|entry| name(entry.unwrap())).collect()
    }

    #[test]
    fn only_a_whole_file_gets_its_name() {
        let (directory, name) = place();
        fs::write(&name, "old").unwrap();
        let mut target = Target::open(&name).unwrap();
        target.write(b"half").unwrap();
        assert_eq!(names(&directory).len(), 2);
        drop(target);
        assert_eq!(fs::read(&name).unwrap(), b"old");
        assert_eq!(names(&directory), ["file"]);
        let mut target = Target::open(&name).unwrap();
        target.write(b"whole").unwrap();
        target.commit().unwrap();
        assert_eq!(fs::read(&name).unwrap(), b"whole");
        assert_eq!(names(&directory), ["file"]);
        assert!(matches!(Target::open("/dev/null").unwrap().sink, Sink::Direct(_)));
        assert!(Target::open("/no/such/directory/file").is_err());
        assert!(Target::open(directory.path().to_str().unwrap()).is_err());
    }

    #[test]
    fn a_link_with_a_temporary_name_is_not_followed() {
        let (directory, name) = place();
        let victim = directory.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        // Names that an attacker could guess, among them that of earlier versions.
        for part in [format!("{name}.part"), format!("{name}.000000.part")] {
            std::os::unix::fs::symlink(&victim, part).unwrap();
        }
        let mut target = Target::open(&name).unwrap();
        target.write(b"new").unwrap();
        target.commit().unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert_eq!(fs::read(&name).unwrap(), b"new");
        assert!(fs::symlink_metadata(&name).unwrap().is_file());
    }

    #[test]
    fn the_file_has_the_permissions_of_any_new_file() {
        let (directory, name) = place();
        let plain = directory.path().join("plain");
        File::create(&plain).unwrap();
        Target::open(&name).unwrap().commit().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(Path::new(&name)), mode(&plain));
    }
}
