//! A response on its way from the upstream server to the QUIC connection.

use std::sync::Arc;

use anyhow::Result;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::BodyExt;
use quiche::h3::Header;
use tokio::sync::{Notify, mpsc};

use crate::message::fields_of;
use crate::upload::Upload;
use crate::upstream::Upstream;

/// Limits the parts of a response that wait for the connection, beside what the upstream's own buffer holds.
const WAITING_PARTS: usize = 2;

pub enum Part {
    Head { fields: Vec<Header>, last: bool },
    Body { bytes: Bytes, last: bool },
}

/// The connection's end of a response. Dropping it aborts the request.
pub struct Download {
    parts: mpsc::Receiver<Part>,
    task: tokio::task::JoinHandle<()>,
}

impl Download {
    /// Sends a request. `ready` wakes the connection for each part.
    pub fn start(upstream: Arc<Upstream>, request: Request<Upload>, ready: Arc<Notify>) -> Self {
        let (sender, parts) = mpsc::channel(WAITING_PARTS);
        let task = tokio::spawn(async move {
            let sink = Sink { sender, ready };
            // What the connection misses is the last part.
            let _ = sink.fill(&upstream, request).await;
        });
        Self { parts, task }
    }

    /// Answers without the upstream.
    pub fn refusal(status: StatusCode) -> Self {
        let (sender, parts) = mpsc::channel(1);
        sender.try_send(bare(status)).expect("the channel is empty");
        Self { parts, task: tokio::spawn(async {}) }
    }

    /// # Errors
    /// `Empty` where the next part is not here yet, `Disconnected` after a failure.
    pub fn next(&mut self) -> Result<Part, mpsc::error::TryRecvError> {
        self.parts.try_recv()
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn bare(status: StatusCode) -> Part {
    let mut response = Response::new(());
    *response.status_mut() = status;
    Part::Head { fields: fields_of(&response), last: true }
}

struct Sink {
    sender: mpsc::Sender<Part>,
    ready: Arc<Notify>,
}

impl Drop for Sink {
    /// The end is news too.
    fn drop(&mut self) {
        self.ready.notify_one();
    }
}

impl Sink {
    async fn fill(&self, upstream: &Arc<Upstream>, request: Request<Upload>) -> Result<()> {
        let (response, lease) = match upstream.send(request).await {
            Ok(answered) => answered,
            Err(error) => {
                eprintln!("hopwise-quiche: upstream: {error:#}");
                return self.put(bare(StatusCode::BAD_GATEWAY)).await;
            }
        };
        let fields = fields_of(&response);
        let mut body = response.into_body();
        let mut last = body.is_end_stream();
        self.put(Part::Head { fields, last }).await?;
        while !last {
            let bytes = match body.frame().await.transpose()? {
                // Trailers are not passed on.
                Some(frame) => frame.into_data().unwrap_or_default(),
                None => Bytes::new(),
            };
            last = bytes.is_empty() || body.is_end_stream();
            self.put(Part::Body { bytes, last }).await?;
        }
        lease.give_back();
        Ok(())
    }

    async fn put(&self, part: Part) -> Result<()> {
        self.sender.send(part).await?;
        self.ready.notify_one();
        Ok(())
    }
}
