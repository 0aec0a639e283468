//! A request on a QUIC stream and its response.

use std::sync::Arc;

use bytes::{Buf, Bytes};
use http::{Request, StatusCode};
use quiche::h3;
use tokio::sync::Notify;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TryRecvError;

use crate::download::{Download, Part};
use crate::priority::Priority;
use crate::upload::Upload;
use crate::upstream::Upstream;

/// Limits the bytes of the request's body that are passed on at once.
const UPLOAD_CHUNK_BYTES: usize = 16 << 10;
/// Limits what an incremental response gives the connection in its turn.
const TURN_BYTES: usize = 4 << 10;

/// RFC 9114, section 8.1, defines these error codes.
const NO_ERROR: u64 = 0x100;
const INTERNAL_ERROR: u64 = 0x102;
const REQUEST_CANCELLED: u64 = 0x10c;

/// What a response did with its turn.
pub enum Turn {
    /// It passed bytes to the connection, and may have more.
    Sent,
    /// It waits for the upstream or for the connection.
    Waits,
    Finished,
    Failed,
}

/// Dropping it aborts the upstream's request.
pub struct Exchange {
    stream: u64,
    priority: Priority,
    /// None once the client's body is complete, or the upstream wants no more of it.
    upload: Option<Sender<Bytes>>,
    /// The connection has bytes of the client's body.
    has_upload_bytes: bool,
    upload_ended: bool,
    download: Download,
    /// The part that the connection has not taken completely.
    part: Option<Part>,
}

impl Exchange {
    /// Passes a request on to the upstream, or refuses a malformed one, which is `None`. `news` wakes the connection.
    pub fn start(
        stream: u64,
        request: Option<Request<()>>,
        has_body: bool,
        priority: Priority,
        upstream: &Arc<Upstream>,
        news: &Arc<Notify>,
    ) -> Self {
        let (upload, body) = if has_body {
            let (sender, body) = Upload::new(Arc::clone(news));
            (Some(sender), body)
        } else {
            (None, Upload::empty(Arc::clone(news)))
        };
        let download = match request {
            Some(request) => Download::start(Arc::clone(upstream), request.map(|()| body), Arc::clone(news)),
            None => Download::refusal(StatusCode::BAD_REQUEST),
        };
        Self { stream, priority, upload, has_upload_bytes: false, upload_ended: false, download, part: None }
    }

    pub fn set_priority(&mut self, priority: Priority, quic: &mut quiche::Connection) {
        self.priority = priority;
        self.apply_priority(quic);
    }

    /// The stream may just have been stopped; `is_stopped` finds that out.
    pub fn apply_priority(&self, quic: &mut quiche::Connection) {
        let _ = self.priority.apply(quic, self.stream);
    }

    /// The client does not want the response any more.
    pub fn is_stopped(&self, quic: &mut quiche::Connection) -> bool {
        quic.stream_capacity(self.stream).is_err()
    }

    pub fn note_upload_bytes(&mut self) {
        self.has_upload_bytes = true;
    }

    pub fn note_upload_end(&mut self) {
        self.upload_ended = true;
    }

    /// Passes on what the connection has of the client's body, as far as the upstream takes it. Returns whether it did any.
    pub fn upload(&mut self, quic: &mut quiche::Connection, http: &mut h3::Connection) -> bool {
        let mut passed = false;
        while let Some(upload) = &self.upload {
            if !self.has_upload_bytes {
                if self.upload_ended {
                    self.upload = None;
                }
                break;
            }
            if upload.is_closed() {
                self.refuse_upload(quic);
                break;
            }
            let Ok(room) = upload.try_reserve() else { break };
            let mut chunk = [0; UPLOAD_CHUNK_BYTES];
            match http.recv_body(quic, self.stream, &mut chunk) {
                Ok(size) => {
                    room.send(Bytes::copy_from_slice(&chunk[..size]));
                    passed = true;
                }
                Err(_) => self.has_upload_bytes = false,
            }
        }
        passed
    }

    fn refuse_upload(&mut self, quic: &mut quiche::Connection) {
        self.upload = None;
        // It fails where the client has ended its body already.
        let _ = quic.stream_shutdown(self.stream, quiche::Shutdown::Read, NO_ERROR);
    }

    /// Passes what is here of the response to the connection: all that it takes, or a little where responses take turns.
    pub fn take_turn(&mut self, quic: &mut quiche::Connection, http: &mut h3::Connection) -> Turn {
        let mut sent = 0;
        while !self.priority.is_incremental() || sent < TURN_BYTES {
            let part = match self.part.take().map_or_else(|| self.download.next(), Ok) {
                Ok(part) => part,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Turn::Failed,
            };
            match part {
                Part::Head { fields, last } => match http.send_response(quic, self.stream, &fields, last) {
                    Ok(()) => {
                        // quiche has just set its default.
                        self.apply_priority(quic);
                        sent += 1;
                        if last {
                            return self.finish(quic);
                        }
                    }
                    Err(h3::Error::StreamBlocked) => {
                        self.part = Some(Part::Head { fields, last });
                        break;
                    }
                    Err(_) => return Turn::Failed,
                },
                Part::Body { mut bytes, last } => {
                    let size = if self.priority.is_incremental() { bytes.len().min(TURN_BYTES) } else { bytes.len() };
                    let whole = size == bytes.len();
                    match http.send_body(quic, self.stream, &bytes[..size], last && whole) {
                        Ok(taken) => {
                            sent += taken.max(1);
                            bytes.advance(taken);
                            if !bytes.is_empty() {
                                self.part = Some(Part::Body { bytes, last });
                            } else if last {
                                return self.finish(quic);
                            }
                        }
                        Err(h3::Error::Done) => {
                            self.part = Some(Part::Body { bytes, last });
                            break;
                        }
                        Err(_) => return Turn::Failed,
                    }
                }
            }
        }
        if sent > 0 { Turn::Sent } else { Turn::Waits }
    }

    fn finish(&mut self, quic: &mut quiche::Connection) -> Turn {
        if self.upload.is_some() {
            self.refuse_upload(quic);
        }
        Turn::Finished
    }

    /// Ends the stream early, in both directions.
    pub fn abandon(self, quic: &mut quiche::Connection, by_client: bool) {
        let code = if by_client { REQUEST_CANCELLED } else { INTERNAL_ERROR };
        for direction in [quiche::Shutdown::Read, quiche::Shutdown::Write] {
            // A direction that has ended already cannot be shut down.
            let _ = quic.stream_shutdown(self.stream, direction, code);
        }
    }
}
