//! The network: compiled, then run on one image.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use ndarray::{Array4, ArrayD};
use ndarray_npy::{NpzReader, NpzWriter};

use crate::image::{Image, SIDE};

/// What the network says about an image.
pub struct Answer {
    /// One per class.
    pub probabilities: Vec<f32>,
    /// What was done, in order.
    pub stages: Vec<Stage>,
}

/// A stage of compiling or running.
#[derive(Debug, PartialEq)]
pub struct Stage {
    /// What was done.
    pub name: String,
    /// How long it took, with its unit.
    pub time: String,
}

impl Answer {
    /// The likeliest class.
    pub fn class(&self) -> usize {
        let by_probability =
            |left: &(usize, &f32), right: &(usize, &f32)| left.1.total_cmp(right.1);
        let likeliest = self.probabilities.iter().enumerate().max_by(by_probability);
        likeliest.map_or(0, |(class, _)| class)
    }
}

/// Compiles the model and runs it on the image.
pub fn classify(model: &Path, image: &Image) -> Result<Answer, String> {
    let folder = Folder::new()?;
    let [artifact, inputs, outputs] =
        ["digits.weft", "in.npz", "out.npz"].map(|name| folder.0.join(name));

    let mut stages =
        weft(Command::new(tool()?).arg("compile").arg(model).arg("-o").arg(&artifact))?;
    write(&inputs, image)?;
    let mut run = Command::new(tool()?);
    run.arg("run").arg(&artifact);
    run.arg("--inputs").arg(&inputs).arg("--outputs").arg(&outputs);
    stages.extend(weft(&mut run)?);

    Ok(Answer { probabilities: read(&outputs)?, stages })
}

/// `weft` lies beside this program.
fn tool() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("where am I? {error}"))?;
    Ok(program.with_file_name("weft"))
}

/// Runs `weft` and returns its stages, which it tells on standard error.
fn weft(command: &mut Command) -> Result<Vec<Stage>, String> {
    let output = command
        .arg("--timings")
        .output()
        .map_err(|error| format!("cannot start {}: {error}", command.get_program().display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("weft failed ({})\n{said}", output.status));
    }
    Ok(said.lines().filter_map(stage).collect())
}

/// `import 1.2 ms`
fn stage(line: &str) -> Option<Stage> {
    let mut words = line.rsplitn(3, ' ');
    let (unit, time, name) = (words.next()?, words.next()?, words.next()?);
    time.parse::<f64>().ok()?;
    Some(Stage { name: name.trim().to_owned(), time: format!("{time} {unit}") })
}

fn write(path: &Path, image: &Image) -> Result<(), String> {
    let failed = |reason: String| format!("cannot write {}: {reason}", path.display());
    let values = Array4::from_shape_vec((1, 1, SIDE, SIDE), image.values())
        .expect("an image has SIDE rows and columns");
    let file = File::create(path).map_err(|error| failed(error.to_string()))?;
    let mut archive = NpzWriter::new(file);
    archive.add_array("image", &values).map_err(|error| failed(error.to_string()))?;
    archive.finish().map_err(|error| failed(error.to_string()))?;
    Ok(())
}

fn read(path: &Path) -> Result<Vec<f32>, String> {
    let failed = |reason: String| format!("cannot read {}: {reason}", path.display());
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let mut archive = NpzReader::new(file).map_err(|error| failed(error.to_string()))?;
    let probabilities: ArrayD<f32> =
        archive.by_name("probabilities").map_err(|error| failed(error.to_string()))?;
    Ok(probabilities.iter().copied().collect())
}

/// A folder of one's own, gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("weft-digits-{}", std::process::id()));
        fs::create_dir(&path)
            .map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in a temporary folder harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_stage() {
        let expected = Stage { name: "import".to_owned(), time: "1.2 ms".to_owned() };
        assert_eq!(stage("import 1.2 ms"), Some(expected));
        assert_eq!(stage("warning: no such thing"), None);
    }

    #[test]
    fn the_likeliest_class_wins() {
        let answer = Answer { probabilities: vec![0.1, 0.7, 0.2], stages: Vec::new() };
        assert_eq!(answer.class(), 1);
    }

    #[test]
    fn reads_recorded_probabilities() {
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("digits.ref.npz");
        let answer = Answer { probabilities: read(&recorded).unwrap(), stages: Vec::new() };
        assert_eq!(answer.probabilities.len(), 10);
        assert_eq!(answer.class(), 3);
    }
}
