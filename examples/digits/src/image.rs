//! The image of a digit: 8×8 grey values.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use png::{BitDepth, ColorType, Decoder};

/// Rows and columns of an image.
pub const SIDE: usize = 8;

/// Grey values, row by row.
pub struct Image([u8; SIDE * SIDE]);

impl Image {
    /// Reads a PNG.
    pub fn read(path: &Path) -> Result<Self, String> {
        let failed = |reason: String| format!("cannot read {}: {reason}", path.display());
        let file = File::open(path).map_err(|error| failed(error.to_string()))?;
        let mut reader = Decoder::new(BufReader::new(file))
            .read_info()
            .map_err(|error| failed(error.to_string()))?;

        let info = reader.info();
        let is_digit = info.size() == (SIDE as u32, SIDE as u32)
            && info.color_type == ColorType::Grayscale
            && info.bit_depth == BitDepth::Eight;
        if !is_digit {
            return Err(failed(format!(
                "it is {}x{} {:?} with {} bits; the network sees {SIDE}x{SIDE} Grayscale with 8 bits",
                info.width, info.height, info.color_type, info.bit_depth as u8
            )));
        }
        let mut grey = [0; SIDE * SIDE];
        reader.next_frame(&mut grey).map_err(|error| failed(error.to_string()))?;
        Ok(Self(grey))
    }

    /// Values from 0, the background, to 1.
    pub fn values(&self) -> Vec<f32> {
        self.0.iter().map(|&grey| f32::from(grey) / 255.0).collect()
    }

    /// One line a row. A character is twice as high as wide, so a pixel takes two.
    pub fn drawn(&self) -> String {
        const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
        let mut text = String::new();
        for row in self.0.chunks(SIDE) {
            text.push_str("  ");
            for &grey in row {
                let shade = SHADES[usize::from(grey) * SHADES.len() / 256];
                text.extend([shade, shade]);
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_dark_and_bright() {
        let mut grey = [0; SIDE * SIDE];
        (grey[0], grey[1]) = (255, 100);
        let first_row = Image(grey).drawn().lines().next().map(str::to_owned);
        assert_eq!(first_row.as_deref(), Some("  ██░░            "));
    }

    #[test]
    fn values_end_at_one() {
        let values = Image([255; SIDE * SIDE]).values();
        assert!(values.iter().all(|&value| value == 1.0));
    }

    #[test]
    fn refuses_what_is_no_png() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("train.py");
        assert!(Image::read(&path).is_err_and(|reason| reason.contains("train.py")));
    }
}
