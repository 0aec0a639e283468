//! The configuration file.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub endpoints: Vec<Endpoint>,
    /// File that keeps what is known of clients from one run to the next.
    pub clients: PathBuf,
}

/// An origin's server.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Endpoint {
    pub origin: String,
    pub addresses: Vec<SocketAddr>,
    /// PEM of the certificate and its chain.
    pub certificate: PathBuf,
    /// PEM of the certificate's private key.
    pub key: PathBuf,
    /// Unix socket of the HTTP/1.1 server that answers.
    pub upstream: PathBuf,
    pub congestion_control: CongestionControl,
    /// Counts packets.
    pub initial_window: u32,
    /// The highest rate of a connection, IP and UDP headers included; 0 is unlimited.
    pub pacing_mbps: f64,
    /// Connections begin at the rates that their clients announce.
    pub start_rate: bool,
    pub priorities: Priorities,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CongestionControl {
    Cubic,
    Reno,
    Bbr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priorities {
    Honoured,
    Ignored,
}

impl Config {
    /// # Errors
    /// One line that names the file and the entry.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> Result<Self> {
        let config: Self = serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(text))?;
        ensure!(!config.endpoints.is_empty(), "endpoints: expected at least one");
        for (index, endpoint) in config.endpoints.iter().enumerate() {
            endpoint.check().with_context(|| format!("endpoints[{index}]"))?;
        }
        Ok(config)
    }
}

impl Endpoint {
    fn check(&self) -> Result<()> {
        ensure!(!self.addresses.is_empty(), "addresses: expected at least one");
        ensure!(self.initial_window >= 1, "initialWindow: expected at least 1 packet, got {}", self.initial_window);
        ensure!(self.pacing_mbps >= 0.0, "pacingMbps: expected 0 or more, got {}", self.pacing_mbps);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDPOINT: &str = r#"{"origin":"https://www.lab.test","addresses":["10.0.0.2:443","[fd00::2]:443"],
        "certificate":"/chain.pem","key":"/key.pem","upstream":"/up.sock","congestionControl":"bbr",
        "initialWindow":10,"pacingMbps":12.5,"startRate":true,"priorities":"honoured"}"#;

    fn complaint(from: &str, to: &str) -> String {
        let text = format!(r#"{{"endpoints":[{}],"clients":"/clients.json"}}"#, ENDPOINT.replace(from, to));
        format!("{:#}", Config::parse(&text).unwrap_err())
    }

    #[test]
    fn reads_all_values() {
        let config = Config::parse(&format!(r#"{{"endpoints":[{ENDPOINT}],"clients":"/clients.json"}}"#)).unwrap();
        let endpoint = &config.endpoints[0];
        assert_eq!(endpoint.addresses[1], "[fd00::2]:443".parse().unwrap());
        assert_eq!(endpoint.congestion_control, CongestionControl::Bbr);
        assert_eq!((endpoint.initial_window, endpoint.pacing_mbps), (10, 12.5));
    }

    #[test]
    fn names_the_bad_entry_in_one_line() {
        for (from, to, expected) in [
            ("\"bbr\"", "\"vegas\"", "endpoints[0].congestionControl: unknown variant `vegas`"),
            ("\"origin\"", "\"orgin\"", "endpoints[0].orgin: unknown field `orgin`"),
            ("10.0.0.2:443", "10.0.0.2", "endpoints[0].addresses[0]: invalid socket address syntax"),
            (
                "\"initialWindow\":10",
                "\"initialWindow\":0",
                "endpoints[0]: initialWindow: expected at least 1 packet, got 0",
            ),
            ("12.5", "-1", "endpoints[0]: pacingMbps: expected 0 or more, got -1"),
        ] {
            let line = complaint(from, to);
            assert!(line.starts_with(expected), "{line}");
            assert!(!line.contains('\n'), "{line}");
        }
    }
}
