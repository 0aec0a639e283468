//! The HTTP/1.1 server behind a Unix socket that answers the requests.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;

use crate::upload::Upload;

/// Bounds the bytes of a response that wait in a connection to the server.
const BUFFER_BYTES: usize = 64 << 10;
const MAX_HEADERS: usize = 256;

/// Keeps connections for later requests.
pub struct Upstream {
    path: PathBuf,
    idle: Mutex<Vec<SendRequest<Upload>>>,
}

impl Upstream {
    pub fn new(path: PathBuf) -> Arc<Self> {
        Arc::new(Self { path, idle: Mutex::default() })
    }

    /// Sends a request; dropping its future or the response's body ends the connection that carries it.
    pub async fn send(self: &Arc<Self>, request: Request<Upload>) -> Result<(Response<Incoming>, Lease)> {
        let mut sender = match self.take_idle() {
            Some(idle) => idle,
            None => self.connect().await?,
        };
        let response = sender.send_request(request).await?;
        Ok((response, Lease { sender, upstream: Arc::clone(self) }))
    }

    fn take_idle(&self) -> Option<SendRequest<Upload>> {
        let mut idle = self.idle.lock().expect("no holder panics");
        std::iter::from_fn(|| idle.pop()).find(SendRequest::is_ready)
    }

    async fn connect(&self) -> Result<SendRequest<Upload>> {
        let stream = UnixStream::connect(&self.path).await.with_context(|| self.path.display().to_string())?;
        let (sender, connection) = Builder::new()
            .max_buf_size(BUFFER_BYTES)
            .max_headers(MAX_HEADERS)
            .handshake(TokioIo::new(stream))
            .await?;
        // Its failures are those of the requests that it carries.
        tokio::spawn(connection);
        Ok(sender)
    }
}

/// A connection in use for a response.
pub struct Lease {
    sender: SendRequest<Upload>,
    upstream: Arc<Upstream>,
}

impl Lease {
    /// Keeps the connection, once the whole response has been read.
    pub fn give_back(self) {
        let Self { mut sender, upstream } = self;
        tokio::spawn(async move {
            if sender.ready().await.is_ok() {
                upstream.idle.lock().expect("no holder panics").push(sender);
            }
        });
    }
}
