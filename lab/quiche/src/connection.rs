//! A QUIC connection with its requests.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use quiche::h3::{self, NameValue};
use tokio::net::UdpSocket;
use tokio::sync::{Notify, mpsc, watch};

use crate::config::Priorities;
use crate::exchange::{Exchange, Turn};
use crate::message::{ConnectionFacts, request_of};
use crate::pacer::{Pacer, window_mbps};
use crate::priority::Priority;
use crate::start_rate::{Progress, Starting, Visit};
use crate::timer::Timer;
use crate::transport::MAX_PACKET_BYTES;
use crate::upstream::Upstream;

/// A UDP packet and where it came from.
pub type Datagram = (Vec<u8>, SocketAddr);

/// What the connections of an endpoint's socket share.
pub struct Shared {
    pub socket: UdpSocket,
    pub local: SocketAddr,
    pub upstream: Arc<Upstream>,
    pub priorities: Priorities,
    pub http: h3::Config,
}

pub struct Connection {
    shared: Arc<Shared>,
    number: u64,
    quic: quiche::Connection,
    /// None until the handshake is complete.
    http: Option<h3::Connection>,
    exchanges: HashMap<u64, Exchange>,
    /// The upstream notifies it of progress on any of the exchanges.
    news: Arc<Notify>,
    pacer: Pacer,
    pacing_mbps: f64,
    /// None where announced rates are ignored.
    visit: Option<Visit>,
    /// For how many round trips the connection's begin is limited; 0 where it begins as usual.
    capped_rounds: u32,
    /// None where the connection begins as usual, and after its begin.
    starting: Option<Starting>,
    timer: Timer,
}

impl Connection {
    pub fn new(
        shared: Arc<Shared>,
        number: u64,
        quic: quiche::Connection,
        pacing_mbps: f64,
        visit: Option<Visit>,
        capped_rounds: u32,
    ) -> Result<Self> {
        Ok(Self {
            shared,
            number,
            quic,
            http: None,
            exchanges: HashMap::new(),
            news: Arc::default(),
            pacer: Pacer::new(pacing_mbps),
            pacing_mbps,
            visit,
            capped_rounds,
            starting: None,
            timer: Timer::new()?,
        })
    }

    /// Runs until the connection is closed, which it does itself when `stop` changes.
    pub async fn run(mut self, mut datagrams: mpsc::Receiver<Datagram>, mut stop: watch::Receiver<()>) -> Result<()> {
        while !self.quic.is_closed() {
            let release = self.advance().await?;
            let judged = self.starting.as_ref().and_then(Starting::due);
            let due = [self.quic.timeout_instant(), release, judged].into_iter().flatten().min();
            let news = Arc::clone(&self.news);
            tokio::select! {
                Some(datagram) = datagrams.recv() => {
                    self.receive(datagram);
                    while let Ok(datagram) = datagrams.try_recv() {
                        self.receive(datagram);
                    }
                }
                () = news.notified() => {}
                result = self.timer.wait_until(due) => result?,
                _ = stop.changed() => return self.close().await,
            }
            if self.quic.timeout_instant().is_some_and(|timeout| timeout <= Instant::now()) {
                self.quic.on_timeout();
            }
            // The client has left; what is in flight is waited for.
            if self.quic.is_draining() {
                self.end_visit();
            }
        }
        self.end_visit();
        Ok(())
    }

    fn receive(&mut self, (mut packet, from): Datagram) {
        // quiche closes the connection where a packet's fault asks for it, and ignores it otherwise.
        let _ = self.quic.recv(&mut packet, quiche::RecvInfo { from, to: self.shared.local });
    }

    /// Tells the client without waiting for the pacer or for an answer.
    async fn close(mut self) -> Result<()> {
        // It fails where the connection is closed already.
        let _ = self.quic.close(true, h3::WireErrorCode::NoError as u64, b"");
        let mut packet = [0; MAX_PACKET_BYTES];
        while let Ok((size, info)) = self.quic.send(&mut packet) {
            self.shared.socket.send_to(&packet[..size], info.to).await?;
        }
        Ok(())
    }

    /// Does all that can be done now. Returns when the next packet may leave, where pacing holds it back.
    async fn advance(&mut self) -> Result<Option<Instant>> {
        if self.http.is_none() && self.quic.is_established() {
            self.http = Some(h3::Connection::with_transport(&mut self.quic, &self.shared.http)?);
            self.starting = (self.capped_rounds > 0).then(|| Starting::new(self.capped_rounds, Instant::now()));
        }
        self.set_pace();
        loop {
            self.take_events();
            if let Some(visit) = &mut self.visit {
                visit.set_busy(self.http.is_none() || !self.exchanges.is_empty());
            }
            // The end of a client's body is an event that follows its last bytes.
            let uploaded = self.move_bodies();
            let (sent, release) = self.send().await?;
            if !uploaded && (!sent || release.is_some()) {
                return Ok(release);
            }
        }
    }

    /// Counts the connection no longer among the client's, and judges its start where that has not been done.
    fn end_visit(&mut self) {
        let (visit, starting) = (self.visit.take(), self.starting.take());
        if let (Some(visit), Some(_), Some(path)) = (visit, starting, self.quic.path_stats().next()) {
            visit.judge(path.lost, path.sent, Instant::now());
        }
    }

    /// Spreads the window over the round trip where the endpoint paces; limits the rate of a connection that starts at one, and judges
    /// the start when its losses have shown.
    fn set_pace(&mut self) {
        // Before the handshake's end quiche assumes a round trip.
        if self.http.is_none() || (self.pacing_mbps == 0.0 && self.starting.is_none()) {
            return;
        }
        let Some(path) = self.quic.path_stats().next() else { return };
        let spread = window_mbps(path.cwnd, path.rtt, path.startup_exit.is_none());
        // 0 is no limit.
        let mut limit = if self.pacing_mbps > 0.0 { spread.min(self.pacing_mbps) } else { 0.0 };
        if let (Some(visit), Some(starting)) = (&self.visit, &mut self.starting) {
            let now = Instant::now();
            let progress = Progress { sent: path.sent, lost: path.lost, rtt: path.rtt };
            let judged = starting.advance(progress, now);
            if let Some(start) = visit.start().filter(|_| starting.is_capped()) {
                limit = start.mbps;
            }
            if let Some((lost, sent)) = judged {
                visit.judge(lost, sent, now);
                self.starting = None;
            }
        }
        self.pacer.set_rate(limit);
    }

    fn take_events(&mut self) {
        let Some(http) = &mut self.http else { return };
        // A protocol error closes the connection.
        while let Ok((stream, event)) = http.poll(&mut self.quic) {
            match event {
                h3::Event::Headers { list, more_frames } => {
                    if self.exchanges.contains_key(&stream) {
                        continue; // These are trailers.
                    }
                    if let (Some(visit), Some(path)) = (&self.visit, self.quic.path_stats().next())
                        && let Some(field) = list.iter().find(|field| field.name() == b"start-rate")
                    {
                        visit.announce(field.value(), path.min_rtt.unwrap_or(path.rtt), Instant::now());
                    }
                    let facts = ConnectionFacts { number: self.number, resumed: self.quic.is_resumed() };
                    let exchange = Exchange::start(
                        stream,
                        request_of(&list, facts).ok(),
                        more_frames,
                        Priority::of_request(&list, self.shared.priorities),
                        &self.shared.upstream,
                        &self.news,
                    );
                    exchange.apply_priority(&mut self.quic);
                    self.exchanges.insert(stream, exchange);
                }
                h3::Event::Data => {
                    if let Some(exchange) = self.exchanges.get_mut(&stream) {
                        exchange.note_upload_bytes();
                    }
                }
                h3::Event::Finished => {
                    if let Some(exchange) = self.exchanges.get_mut(&stream) {
                        exchange.note_upload_end();
                    }
                }
                h3::Event::Reset(_) => {
                    if let Some(exchange) = self.exchanges.remove(&stream) {
                        exchange.abandon(&mut self.quic, true);
                    }
                }
                h3::Event::PriorityUpdate => {
                    if let (Ok(field), Some(exchange)) =
                        (http.take_last_priority_update(stream), self.exchanges.get_mut(&stream))
                    {
                        exchange.set_priority(Priority::read(&field, self.shared.priorities), &mut self.quic);
                    }
                }
                h3::Event::GoAway => {}
            }
        }
    }

    /// Passes bodies on in both directions, responses by their priority. Returns whether there was something of the client's.
    fn move_bodies(&mut self) -> bool {
        let Some(http) = &mut self.http else { return false };
        let quic = &mut self.quic;
        let mut uploaded = false;
        for exchange in self.exchanges.values_mut() {
            uploaded |= exchange.upload(quic, http);
        }
        let stopped: Vec<u64> =
            self.exchanges.iter().filter(|(_, each)| each.is_stopped(quic)).map(|(stream, _)| *stream).collect();
        for exchange in stopped.iter().filter_map(|stream| self.exchanges.remove(stream)) {
            exchange.abandon(quic, true);
        }
        let mut progress = true;
        while progress {
            progress = false;
            // quiche orders them by priority; a response that takes turns goes to the end of its equals.
            for stream in quic.writable() {
                let Some(exchange) = self.exchanges.get_mut(&stream) else { continue };
                match exchange.take_turn(quic, http) {
                    Turn::Sent => progress = true,
                    Turn::Waits => {}
                    Turn::Finished => {
                        self.exchanges.remove(&stream);
                    }
                    Turn::Failed => {
                        if let Some(exchange) = self.exchanges.remove(&stream) {
                            exchange.abandon(quic, false);
                        }
                    }
                }
            }
        }
        uploaded
    }

    /// Sends packets until there are no more or pacing holds the next one back. Returns whether it sent any, and when the
    /// next one may leave, unless at once.
    async fn send(&mut self) -> Result<(bool, Option<Instant>)> {
        let mut packet = [0; MAX_PACKET_BYTES];
        let mut sent = false;
        loop {
            let now = Instant::now();
            // quiche has a release time under BBR alone; it is asked for before a packet is made: its `SendInfo::at` is the next one's.
            let own = self
                .quic
                .get_next_release_time()
                .and_then(|decision| decision.time(now).filter(|_| !decision.can_burst()));
            if let Some(release) = own.max(self.pacer.release(now)) {
                return Ok((sent, Some(release)));
            }
            match self.quic.send(&mut packet) {
                Ok((size, info)) => {
                    self.shared.socket.send_to(&packet[..size], info.to).await?;
                    self.pacer.sent(now, size + header_bytes(info.to));
                    sent = true;
                }
                Err(quiche::Error::Done) => return Ok((sent, None)),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Counts the IP and UDP headers of a packet.
fn header_bytes(to: SocketAddr) -> usize {
    if to.is_ipv4() { 20 + 8 } else { 40 + 8 }
}
