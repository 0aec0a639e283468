//! A front in front of a small upstream, for tests.

pub mod certificate;
pub mod client;
pub mod upstream;

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

pub struct Front {
    pub address: SocketAddr,
    /// The line it wrote when it was ready.
    pub ready: Value,
    child: Child,
    folder: TempDir,
}

impl Front {
    /// Starts the program with `changes` to a plain configuration, before the upstream of the same folder.
    pub fn start(folder: TempDir, changes: Value) -> Self {
        certificate::write(&folder);
        // Free now, and unlikely to be taken in the next moment.
        let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut endpoint = endpoint(&folder, address);
        endpoint.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let mut child = spawn(&folder, &json!({ "endpoints": [endpoint], "clients": clients_path(&folder) }));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap();
        Self { address, ready, child, folder }
    }

    pub fn terminate(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    }

    pub fn end_input(&mut self) {
        drop(self.child.stdin.take());
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Ends it. Returns its folder, to start another one.
    pub fn stop(mut self) -> TempDir {
        self.end_input();
        self.wait();
        std::mem::replace(&mut self.folder, TempDir::new().unwrap())
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn socket_path(folder: &TempDir) -> PathBuf {
    folder.path().join("upstream.sock")
}

pub fn clients_path(folder: &TempDir) -> PathBuf {
    folder.path().join("clients.json")
}

pub fn endpoint(folder: &TempDir, address: SocketAddr) -> Value {
    json!({
        "origin": "https://www.lab.test",
        "addresses": [address.to_string()],
        "certificate": certificate::chain_path(folder),
        "key": certificate::key_path(folder),
        "upstream": socket_path(folder),
        "congestionControl": "cubic",
        "initialWindow": 10,
        "pacingMbps": 0,
        "startRate": false,
        "priorities": "honoured",
    })
}

fn spawn(folder: &TempDir, config: &Value) -> Child {
    let file = folder.path().join("config.json");
    std::fs::write(&file, config.to_string()).unwrap();
    Command::new(env!("CARGO_BIN_EXE_hopwise-quiche"))
        .arg("--config")
        .arg(file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs the program with a configuration that it refuses. Returns its exit code and what it wrote to stderr.
pub fn refusal(folder: &TempDir, config: &Value) -> (Option<i32>, String) {
    let mut child = spawn(folder, config);
    let mut words = String::new();
    child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    (child.wait().unwrap().code(), words)
}
