//! Names a handwritten digit with a compiled network.
//!
//! ```text
//! weft-digits examples/digits/images/3-a.png
//! ```

mod image;
mod network;

use std::path::Path;
use std::process::ExitCode;

use image::Image;
use network::Answer;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [image] = arguments.as_slice() else {
        eprintln!("usage: weft-digits IMAGE (an 8x8 grey PNG)");
        return ExitCode::from(2);
    };
    match run(Path::new(image)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(path: &Path) -> Result<(), String> {
    let image = Image::read(path)?;
    println!("{}\n\n{}", path.display(), image.drawn());

    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("digits.onnx");
    let answer = network::classify(&model, &image)?;
    println!("This is a {}.\n", answer.class());
    print!("{}", probabilities(&answer));

    println!();
    for stage in &answer.stages {
        println!("{:<10} {:>9}", stage.name, stage.time);
    }
    Ok(())
}

/// A line with a bar per class.
fn probabilities(answer: &Answer) -> String {
    const BAR: f32 = 40.0;
    let line = |(class, probability): (usize, &f32)| {
        let bar = "█".repeat((probability * BAR).round() as usize);
        let line = format!("{class}  {:5.1} %  {bar}", probability * 100.0);
        line.trim_end().to_owned() + "\n"
    };
    answer.probabilities.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_per_class() {
        let answer = Answer { probabilities: vec![0.95, 0.05], stages: Vec::new() };
        let bars = format!("0   95.0 %  {}\n1    5.0 %  ██\n", "█".repeat(38));
        assert_eq!(probabilities(&answer), bars);
    }
}
