//! `hopwise-quiche --config FILE`: HTTP/3 in front of the lab's replay server, on Cloudflare's QUIC stack.

mod client_file;
mod config;
mod connection;
mod download;
mod exchange;
mod listener;
mod message;
mod pacer;
mod priority;
mod start_rate;
mod timer;
mod transport;
mod upload;
mod upstream;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;

use config::Config;
use listener::Listener;
use start_rate::Clients;
use upstream::Upstream;

/// quiche does not export its version.
const STACK: &str = "quiche 0.30.0";

const EXIT_FAILURE: u8 = 1;
/// The exit code says that the input cannot be used.
const EXIT_INPUT: u8 = 2;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, error)) => {
            eprintln!("hopwise-quiche: {error:#}");
            ExitCode::from(code)
        }
    }
}

fn run() -> Result<(), (u8, anyhow::Error)> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| (EXIT_FAILURE, error.into()))?;
    let result = runtime.block_on(async {
        let (stop, stopped) = watch::channel(());
        let input = |error| (EXIT_INPUT, error);
        let config = Config::read(&arguments().map_err(input)?).map_err(input)?;
        let clients = Arc::new(client_file::read(&config.clients).map_err(input)?);
        let listeners = listeners(&config, &clients, stopped).await.map_err(input)?;
        serve(listeners, stop).await.map_err(|error| (EXIT_FAILURE, error))?;
        client_file::write(&config.clients, &clients).map_err(|error| (EXIT_FAILURE, error))
    });
    // The read of the standard input may go on, and would be waited for.
    runtime.shutdown_background();
    result
}

async fn listeners(config: &Config, clients: &Arc<Clients>, stop: watch::Receiver<()>) -> Result<Vec<Listener>> {
    let mut listeners = Vec::new();
    for endpoint in &config.endpoints {
        let upstream = Upstream::new(endpoint.upstream.clone());
        for address in &endpoint.addresses {
            let listener =
                Listener::bind(endpoint, *address, Arc::clone(&upstream), Arc::clone(clients), stop.clone()).await;
            listeners.push(listener.with_context(|| endpoint.origin.clone())?);
        }
    }
    Ok(listeners)
}

fn arguments() -> Result<PathBuf> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [option, file] if option == "--config" => Ok(file.into()),
        _ => bail!("expected --config FILE"),
    }
}

async fn serve(listeners: Vec<Listener>, stop: watch::Sender<()>) -> Result<()> {
    let mut running: JoinSet<_> = listeners.into_iter().map(Listener::run).collect();
    println!("{}", serde_json::json!({ "ready": true, "stack": STACK }));
    tokio::select! {
        Some(ended) = running.join_next() => return ended?,
        result = end_asked_for() => result?,
    }
    stop.send_replace(());
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}

/// Waits for the end of the standard input or SIGTERM.
async fn end_asked_for() -> Result<()> {
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        ended = async { tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await } => ended.map(|_| ())?,
        _ = terminated.recv() => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_the_version_of_the_stack() {
        let (name, version) = super::STACK.split_once(' ').unwrap();
        assert!(include_str!("../Cargo.toml").contains(&format!("{name} = \"={version}\"")));
    }
}
