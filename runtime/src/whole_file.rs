//! A file that appears under its name when it is complete, and not before.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file that is written beside its final path.
///
/// Until [`commit`](WholeFile::commit), and where it is never called, a file of that name stays as
/// it was. What is no file, such as `/dev/null` or a pipe, is written to where it is: to rename
/// something onto it would take it from everybody else.
pub struct WholeFile {
    out: BufWriter<File>,
    /// The temporary file and its destination; `None` where the file is written in place.
    rename: Option<(Partial, PathBuf)>,
}

impl WholeFile {
    /// Begins a file that will be at `path`; a link is followed.
    ///
    /// # Errors
    ///
    /// If nothing can be made in that folder, or opened for writing in that place.
    pub fn create(path: &Path) -> io::Result<WholeFile> {
        let in_place = fs::metadata(path).is_ok_and(|there| !there.is_file());
        let (file, rename) = if in_place {
            (OpenOptions::new().write(true).open(path)?, None)
        } else {
            let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            let part = Partial::beside(&path);
            let file = OpenOptions::new().write(true).create_new(true).open(&part.0)?;
            (file, Some((part, path)))
        };
        Ok(WholeFile { out: BufWriter::with_capacity(1 << 20, file), rename })
    }

    /// Appends the rest of another file, inside the system where that can be done: file systems
    /// that share blocks then copy none.
    ///
    /// # Errors
    ///
    /// If that cannot be read, or this not be written.
    pub fn append(&mut self, mut source: &File) -> io::Result<u64> {
        io::copy(&mut source, &mut self.out)
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    ///
    /// If the rest cannot be written, or the file not renamed.
    pub fn commit(self) -> io::Result<()> {
        self.finish(File::sync_all)
    }

    /// As [`commit`](WholeFile::commit), without waiting for the disk: for what can be made again,
    /// and says itself when it is damaged. Other processes see it whole or not at all, too.
    ///
    /// # Errors
    ///
    /// If the rest cannot be written, or the file not renamed.
    pub fn commit_early(self) -> io::Result<()> {
        self.finish(|_| Ok(()))
    }

    fn finish(self, sync: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some((part, path)) = self.rename {
            sync(&file)?;
            fs::rename(&part.0, path)?;
        }
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.out.seek(to)
    }
}

/// A temporary name beside the final one, removed unless the file was renamed away.
struct Partial(PathBuf);

impl Partial {
    fn beside(path: &Path) -> Partial {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".part-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        Partial(path.with_file_name(name))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After the rename there is nothing of that name, and nothing to tell.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::FileTypeExt;

    use super::*;

    fn write(path: &Path, text: &str) {
        let mut file = WholeFile::create(path).expect("can be made");
        file.write_all(text.as_bytes()).expect("can be written");
        file.commit().expect("can be put in place");
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> = entries.map(|entry| name(entry).into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_stays_as_it_was_until_the_new_one_is_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out");
        write(&path, "old");
        let mut file = WholeFile::create(&path).expect("can be made");
        file.write_all(b"half").expect("can be written");
        file.flush().expect("can be written");
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["out"]);
        write(&path, "new");
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn a_link_goes_on_to_point_at_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write(&link, "new");
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn what_is_no_file_is_written_to_and_stays_what_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("starts");
        assert!(made.success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut text = String::new();
                File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
                text
            }
        });
        write(&pipe, "through");
        assert_eq!(reader.join().unwrap(), "through");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }
}
