//! A request's body on its way from the QUIC connection to the upstream server.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::{Notify, mpsc};

/// Chunks that wait for the upstream server; quiche's flow control holds back the others.
const WAITING_CHUNKS: usize = 8;

/// Ends when the connection drops its sender.
pub struct Upload {
    chunks: Option<mpsc::Receiver<Bytes>>,
    /// Wakes the connection when there is room for more.
    room: Arc<Notify>,
}

impl Upload {
    pub fn new(room: Arc<Notify>) -> (mpsc::Sender<Bytes>, Self) {
        let (sender, chunks) = mpsc::channel(WAITING_CHUNKS);
        (sender, Self { chunks: Some(chunks), room })
    }

    pub fn empty(room: Arc<Notify>) -> Self {
        Self { chunks: None, room }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(chunks) = &mut self.chunks else { return Poll::Ready(None) };
        let polled = chunks.poll_recv(context);
        if matches!(polled, Poll::Ready(Some(_))) {
            self.room.notify_one();
        }
        polled.map(|chunk| chunk.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.chunks.is_none()
    }
}
