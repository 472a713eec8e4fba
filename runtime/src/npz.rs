//! Tensors in numpy's `.npz` files.
//!
//! A tensor is read with any element type of [`DType`], either byte order and either axis
//! order. numpy has no bfloat16: it is written as `uint16`, and read from the two-byte void
//! that `ml_dtypes` writes; [`Npz::take`] also accepts `uint16` where bfloat16 is meant. It has
//! no types of at most a byte but `int8` and `uint8` either: they are written as these, and
//! [`Npz::take`] reads them from these and from `ml_dtypes`' one-byte void.

mod header;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::dtype::DType;
use crate::plan::Port;
use crate::tensor::Tensor;
use crate::whole_file::WholeFile;

pub use header::HeaderError;

/// Why a file of tensors cannot be read or written, or does not fit.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum NpzError {
    #[error("cannot {what} {}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is not a sound npz file", path.display())]
    Zip { path: PathBuf, source: zip::result::ZipError },
    #[error("`{name}` in {} is not a sound npy file", path.display())]
    Header { name: String, path: PathBuf, source: HeaderError },
    #[error("`{name}` is not in {}, which has {}", path.display(), listed(found))]
    Missing { name: String, path: PathBuf, found: Vec<String> },
    #[error("`{name}` in {} is {found} {found_shape:?}; the model has {expected} {shape:?}", path.display())]
    Fit {
        name: String,
        path: PathBuf,
        found: DType,
        found_shape: Vec<u64>,
        expected: DType,
        shape: Vec<u64>,
    },
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// The contents of a file, by name.
#[derive(Debug)]
pub struct Npz {
    path: PathBuf,
    tensors: BTreeMap<String, Tensor>,
}

impl Npz {
    /// Reads all tensors of a file.
    pub fn read(path: &Path) -> Result<Npz, NpzError> {
        let io = |what| move |source| NpzError::Io { what, path: path.to_owned(), source };
        let zip = |source| NpzError::Zip { path: path.to_owned(), source };
        let file = File::open(path).map_err(io("open"))?;
        let mut archive = ZipArchive::new(BufReader::new(file)).map_err(zip)?;
        let mut tensors = BTreeMap::new();
        for i in 0..archive.len() {
            let mut entry = archive.by_index(i).map_err(zip)?;
            let name = entry.name().map_err(zip)?.into_owned();
            let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else {
                continue;
            };
            let tensor = read_npy(&mut entry);
            let tensor = tensor.map_err(|source| NpzError::Header {
                name: name.clone(),
                path: path.to_owned(),
                source,
            })?;
            tensors.insert(name, tensor);
        }
        Ok(Npz { path: path.to_owned(), tensors })
    }

    /// Names of the tensors, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// A tensor by name.
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(name)
    }

    /// Takes the tensor for a port out, by the port's name or, if there is none, by the name
    /// numpy gives to the tensor of that number when it is given none: `arr_0`, `arr_1`, …
    ///
    /// # Errors
    ///
    /// If there is no such tensor, or its element type or shape is another one.
    pub fn take(&mut self, port: &Port, number: usize) -> Result<Tensor, NpzError> {
        let tensor = self.take_expected(port, number)?;
        self.check(tensor, port, |shape| shape == port.shape)
    }

    /// As [`Npz::take`], of any shape: callers decide lengths of the port.
    pub fn take_of_any_shape(&mut self, port: &Port, number: usize) -> Result<Tensor, NpzError> {
        let tensor = self.take_expected(port, number)?;
        self.check(tensor, port, |_| true)
    }

    fn check(
        &self,
        tensor: Tensor,
        port: &Port,
        fits: impl Fn(&[u64]) -> bool,
    ) -> Result<Tensor, NpzError> {
        if tensor.dtype == port.dtype && fits(&tensor.shape) {
            return Ok(tensor);
        }
        Err(NpzError::Fit {
            name: port.name.clone(),
            path: self.path.clone(),
            found: tensor.dtype,
            found_shape: tensor.shape,
            expected: port.dtype,
            shape: port.shape.clone(),
        })
    }

    /// As [`Npz::take`], whatever the element type and shape: values to compare with may be
    /// held in another type.
    pub fn take_expected(&mut self, port: &Port, number: usize) -> Result<Tensor, NpzError> {
        let numbered = format!("arr_{number}");
        let name = if self.tensors.contains_key(&port.name) { &port.name } else { &numbered };
        let Some(mut tensor) = self.tensors.remove(name) else {
            let (name, path) = (port.name.clone(), self.path.clone());
            return Err(NpzError::Missing {
                name,
                path,
                found: self.tensors.keys().cloned().collect(),
            });
        };
        if port.dtype == DType::BF16 && tensor.dtype == DType::U16 {
            tensor.dtype = DType::BF16;
        }
        narrowed(&mut tensor, port.dtype);
        Ok(tensor)
    }
}

/// Makes bytes elements of a type of at most a byte, if that is what they can be: codes of as many
/// bits as the type has, or signed integers in its range.
fn narrowed(tensor: &mut Tensor, to: DType) {
    let (bits, signed) = (to.bits(), matches!(to, DType::I4 | DType::I2));
    if to == DType::Bool || (bits == 8 && to.format().is_none()) {
        return;
    }
    let fits = match tensor.dtype {
        DType::U8 => tensor.bytes.iter().all(|byte| byte.checked_shr(bits).unwrap_or(0) == 0),
        DType::I8 if signed => {
            let beyond = |byte: &u8| *byte as i8 != (*byte << (8 - bits)) as i8 >> (8 - bits);
            !tensor.bytes.iter().any(beyond)
        }
        _ => false,
    };
    if !fits || to.bytes() != 1 {
        return;
    }
    if signed {
        for byte in &mut tensor.bytes {
            *byte = ((*byte << (8 - bits)) as i8 >> (8 - bits)) as u8;
        }
    }
    tensor.dtype = to;
}

/// Writes tensors to a file, in order and without compression, as `numpy.savez` does. The same
/// tensors give the same bytes.
pub fn write<'a>(
    path: &Path,
    tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
) -> Result<(), NpzError> {
    let io = |what| move |source| NpzError::Io { what, path: path.to_owned(), source };
    let zip = |source| NpzError::Zip { path: path.to_owned(), source };
    let mut archive = ZipWriter::new(WholeFile::create(path).map_err(io("create"))?);
    for (name, tensor) in tensors {
        let large = tensor.bytes.len() as u64 >= u32::MAX as u64 / 2;
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(large);
        archive.start_file(format!("{name}.npy"), options).map_err(zip)?;
        archive.write_all(&header::write(tensor.dtype, &tensor.shape)).map_err(io("write"))?;
        archive.write_all(&tensor.bytes).map_err(io("write"))?;
    }
    archive.finish().map_err(zip)?.commit().map_err(io("write"))
}

/// Reads one `.npy` stream.
pub fn read_npy(from: &mut dyn Read) -> Result<Tensor, HeaderError> {
    let header = header::read(from)?;
    let bytes = header.bytes()?;
    // Grows as data arrives: a header may claim anything.
    let mut data = Vec::new();
    from.take(bytes).read_to_end(&mut data)?;
    if data.len() as u64 != bytes {
        return Err(HeaderError::Short { expected: bytes, found: data.len() as u64 });
    }
    if header.big_endian {
        data.chunks_mut(header.dtype.bytes()).for_each(<[u8]>::reverse);
    }
    if header.fortran_order {
        data = row_major(&data, &header.shape, header.dtype.bytes());
    }
    Ok(Tensor { dtype: header.dtype, shape: header.shape, bytes: data })
}

/// Turns the first axis fastest into the last axis fastest.
fn row_major(data: &[u8], shape: &[u64], width: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    let mut position = vec![0u64; shape.len()];
    for _ in 0..data.len() / width {
        let mut at = 0;
        for (&i, &extent) in position.iter().zip(shape).rev() {
            at = at * extent + i;
        }
        out.extend_from_slice(&data[at as usize * width..][..width]);
        for (i, &extent) in position.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < extent {
                break;
            }
            *i = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back_as_it_went() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("t.npz");
        let tensors: Vec<(String, Tensor)> = DType::ALL
            .into_iter()
            .map(|dtype| {
                let bytes = (0..6 * dtype.bytes() as u8)
                    .map(|i| if dtype.bits() < 8 { i & ((1 << (dtype.bits() - 1)) - 1) } else { i })
                    .collect();
                (dtype.name().to_owned(), Tensor { dtype, shape: vec![2, 3], bytes })
            })
            .collect();
        let scalar = Tensor { dtype: DType::F32, shape: vec![], bytes: vec![0, 0, 128, 63] };
        let empty = Tensor { dtype: DType::I64, shape: vec![0, 4], bytes: vec![] };
        let all = tensors.iter().map(|(name, t)| (name.as_str(), t));
        write(&path, all.chain([("a/scalar", &scalar), ("empty", &empty)])).expect("written");

        let mut back = Npz::read(&path).expect("read");
        assert_eq!(back.get("a/scalar"), Some(&scalar));
        assert_eq!(back.get("empty"), Some(&empty));
        for (name, tensor) in &tensors {
            let port = Port { name: name.clone(), dtype: tensor.dtype, shape: vec![2, 3] };
            assert_eq!(back.take(&port, 0).expect("fits"), *tensor);
        }
    }

    #[test]
    fn bytes_are_narrow_elements_if_they_fit() {
        let of = |dtype, bytes: &[u8]| {
            let mut tensor = Tensor { dtype, shape: vec![2], bytes: bytes.to_vec() };
            narrowed(&mut tensor, DType::I4);
            (tensor.dtype, tensor.bytes)
        };
        assert_eq!(of(DType::U8, &[15, 7]), (DType::I4, vec![255, 7]));
        assert_eq!(of(DType::I8, &[248, 7]), (DType::I4, vec![248, 7]));
        assert_eq!(of(DType::U8, &[16, 7]).0, DType::U8);
        assert_eq!(of(DType::I8, &[8, 7]).0, DType::I8);
    }

    #[test]
    fn refusals_name_both_sides() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("t.npz");
        let t = Tensor { dtype: DType::F32, shape: vec![1], bytes: vec![0; 4] };
        write(&path, [("x", &t), ("arr_1", &t)]).expect("written");
        let mut npz = Npz::read(&path).expect("read");
        let port = |name: &str, shape| Port { name: name.into(), dtype: DType::F32, shape };
        let missing = npz.take(&port("y", vec![1]), 0).expect_err("missing").to_string();
        assert!(
            missing.contains("`y` is not in") && missing.ends_with("which has arr_1, x"),
            "{missing}"
        );
        let shape = npz.take(&port("x", vec![2]), 0).expect_err("does not fit").to_string();
        assert!(shape.contains("float32 [1]; the model has float32 [2]"), "{shape}");
        assert_eq!(npz.take(&port("y", vec![1]), 1).expect("numbered"), t);
    }

    #[test]
    fn reads_fortran_order_and_big_endian() {
        let mut file = header::write(DType::I16, &[2, 3]);
        let text = String::from_utf8_lossy(&file[10..])
            .replace("'<i2'", "'>i2'")
            .replace("False", "True ");
        file.truncate(10);
        file.extend_from_slice(text.as_bytes());
        // Columns first: [[0, 2, 4], [1, 3, 5]].
        file.extend([0i16, 1, 2, 3, 4, 5].into_iter().flat_map(i16::to_be_bytes));
        let tensor = read_npy(&mut &file[..]).expect("sound");
        assert_eq!(tensor.bytes, [0i16, 2, 4, 1, 3, 5].map(i16::to_le_bytes).concat());
    }

    proptest::proptest! {
        #[test]
        fn random_bytes_are_refused(bytes: Vec<u8>, at in 0usize..128, to: u8) {
            let _ = read_npy(&mut &bytes[..]);
            let mut file = header::write(DType::F32, &[2, 3]);
            file.extend([0; 24]);
            let at = at % file.len();
            file[at] = to;
            let _ = read_npy(&mut &file[..]);
        }
    }
}
