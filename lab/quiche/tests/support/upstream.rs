//! An HTTP/1.1 server on a Unix socket that answers by path.

use std::convert::Infallible;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::net::UnixListener;

use super::socket_path;

pub struct Upstream {
    runtime: tokio::runtime::Runtime,
    /// Paths of the requests whose client went away before they were answered.
    pub aborted: Receiver<String>,
}

impl Upstream {
    /// - `/echo` answers with the request's body, and its headers in `x-request`, a line each.
    /// - `/bytes/N` answers with N bytes.
    /// - `/never` does not answer.
    pub fn start(folder: &TempDir) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (sender, aborted) = channel();
        let listener = {
            let _inside = runtime.enter();
            UnixListener::bind(socket_path(folder)).unwrap()
        };
        runtime.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let sender = sender.clone();
                let service = service_fn(move |request| answer(request, sender.clone()));
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Self { runtime, aborted }
    }

    pub fn stop(self) {
        self.runtime.shutdown_timeout(Duration::from_secs(1));
    }
}

/// Reports a request whose future is dropped.
struct Guard {
    path: String,
    aborted: Option<Sender<String>>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(aborted) = &self.aborted {
            let _ = aborted.send(self.path.clone());
        }
    }
}

type Body = BoxBody<Bytes, Infallible>;

async fn answer(request: Request<Incoming>, aborted: Sender<String>) -> Result<Response<Body>, hyper::Error> {
    let path = request.uri().path().to_owned();
    let mut guard = Guard { path: path.clone(), aborted: Some(aborted) };
    let words = request.headers().iter().map(|(name, value)| format!("{name}={}", value.to_str().unwrap()));
    let mut response = Response::builder()
        .header("x-request", words.collect::<Vec<_>>().join(";"))
        .header("x-target", request.uri().to_string())
        .header("keep-alive", "timeout=5");
    let body = if path == "/never" {
        std::future::pending().await
    } else if let Some(size) = path.strip_prefix("/bytes/") {
        vec![b'x'; size.parse().unwrap()].into()
    } else {
        response = response.status(203);
        request.into_body().collect().await?.to_bytes()
    };
    guard.aborted = None;
    Ok(response.body(Full::new(body).boxed()).unwrap())
}
