//! The cache's folder and its maximum size.

use std::env;
use std::path::{Path, PathBuf};

/// Default of the maximum size, in MiB.
const MIB: u64 = 4096;

/// The cache's folder and its maximum size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The folder; none where there is no cache.
    pub folder: Option<PathBuf>,
    /// The maximum size.
    pub bytes_max: u64,
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The size is no number.
    #[error("WEFT_CACHE_MIB is `{0}`\n  help: a number of MiB; 0 for no cache")]
    Size(String),
}

impl Settings {
    /// No cache.
    pub fn none() -> Self {
        Self::default()
    }

    /// `folder`, else what the environment says: `WEFT_CACHE_DIR`, else `XDG_CACHE_HOME`, else
    /// the user's home; of at most `WEFT_CACHE_MIB`.
    ///
    /// # Errors
    /// A size that is no number.
    pub fn of(folder: Option<&Path>) -> Result<Self, SettingsError> {
        let mib = match env::var("WEFT_CACHE_MIB") {
            Ok(text) => text.trim().parse().map_err(|_| SettingsError::Size(text))?,
            Err(_) => MIB,
        };
        let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = folder.map(Path::to_owned).or_else(|| named("WEFT_CACHE_DIR")).or_else(|| {
            let home = || named("HOME").map(|home| home.join(".cache"));
            named("XDG_CACHE_HOME").or_else(home).map(|folder| folder.join("weft"))
        });
        let bytes_max = u64::saturating_mul(mib, 1 << 20);
        Ok(Self { folder: folder.filter(|_| mib > 0), bytes_max })
    }
}
