//! The file that keeps what is known of clients: a server's knowledge outlasts its restarts, as when the lab changes its site.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::start_rate::{Clients, Known};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    written: SystemTime,
    clients: Vec<Known>,
}

/// Reads the clients. Without the file none are known.
///
/// # Errors
/// One line that names the file and the entry.
pub fn read(path: &Path) -> Result<Clients> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Clients::default()),
        text => text.with_context(|| path.display().to_string())?,
    };
    let mut reader = serde_json::Deserializer::from_str(&text);
    let file: File = serde_path_to_error::deserialize(&mut reader).with_context(|| path.display().to_string())?;
    // They age while no server runs.
    let away = file.written.elapsed().unwrap_or_default();
    let then = Instant::now().checked_sub(away);
    Ok(then.map_or_else(Clients::default, |then| Clients::from_known(file.clients, then)))
}

/// # Errors
/// One line that names the file.
pub fn write(path: &Path, clients: &Clients) -> Result<()> {
    let file = File { written: SystemTime::now(), clients: clients.known(Instant::now()) };
    fs::write(path, serde_json::to_vec(&file)?).with_context(|| path.display().to_string())
}
