//! A UDP socket and the connections on it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use tokio::net::UdpSocket;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::config::Endpoint;
use crate::connection::{Connection, Datagram, Shared};
use crate::start_rate::{Clients, Visit};
use crate::transport;
use crate::upstream::Upstream;

/// Limits the packets that wait for a connection; more are lost, as from a socket's buffer.
const WAITING_PACKETS: usize = 1024;
const MAX_DATAGRAM_BYTES: usize = 65_535;

type Id = quiche::ConnectionId<'static>;

static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

pub struct Listener {
    shared: Arc<Shared>,
    settings: quiche::Config,
    pacing_mbps: f64,
    initial_window: usize,
    /// None where rates that clients announce are ignored.
    clients: Option<Arc<Clients>>,
    /// The keys are the server's connection IDs and those that clients began with.
    routes: HashMap<Id, mpsc::Sender<Datagram>>,
    /// Each ends with its connection's IDs.
    connections: JoinSet<[Id; 2]>,
    stop: watch::Receiver<()>,
}

impl Listener {
    pub async fn bind(
        endpoint: &Endpoint,
        address: SocketAddr,
        upstream: Arc<Upstream>,
        clients: Arc<Clients>,
        stop: watch::Receiver<()>,
    ) -> Result<Self> {
        let socket = UdpSocket::bind(address).await.with_context(|| address.to_string())?;
        let shared = Shared {
            local: socket.local_addr()?,
            socket,
            upstream,
            priorities: endpoint.priorities,
            http: quiche::h3::Config::new()?,
        };
        Ok(Self {
            shared: Arc::new(shared),
            settings: transport::settings(endpoint)?,
            pacing_mbps: endpoint.pacing_mbps,
            initial_window: endpoint.initial_window as usize,
            clients: endpoint.start_rate.then_some(clients),
            routes: HashMap::new(),
            connections: JoinSet::new(),
            stop,
        })
    }

    /// Serves until `stop` changes, and until the connections have closed themselves then.
    pub async fn run(mut self) -> Result<()> {
        let mut buffer = vec![0; MAX_DATAGRAM_BYTES];
        loop {
            tokio::select! {
                received = self.shared.socket.recv_from(&mut buffer) => {
                    let (size, from) = received?;
                    self.route(&mut buffer[..size], from).await?;
                }
                Some(ended) = self.connections.join_next() => {
                    for id in ended? {
                        self.routes.remove(&id);
                    }
                }
                _ = self.stop.changed() => break,
            }
        }
        while self.connections.join_next().await.is_some() {}
        Ok(())
    }

    async fn route(&mut self, packet: &mut [u8], from: SocketAddr) -> Result<()> {
        let Ok(header) = quiche::Header::from_slice(packet, quiche::MAX_CONN_ID_LEN) else { return Ok(()) };
        if let Some(route) = self.routes.get(&header.dcid) {
            // The packet is lost where too many wait.
            let _ = route.try_send((packet.to_vec(), from));
            return Ok(());
        }
        if header.ty == quiche::Type::Initial && quiche::version_is_supported(header.version) {
            match self.accept(&header, from) {
                Ok(route) => route.try_send((packet.to_vec(), from))?,
                Err(error) => eprintln!("hopwise-quiche: a new connection: {error:#}"),
            }
        } else if header.version != 0 && !quiche::version_is_supported(header.version) {
            let mut answer = [0; 256];
            let size = quiche::negotiate_version(&header.scid, &header.dcid, &mut answer)?;
            self.shared.socket.send_to(&answer[..size], from).await?;
        }
        Ok(())
    }

    fn accept(&mut self, header: &quiche::Header, from: SocketAddr) -> Result<mpsc::Sender<Datagram>> {
        let mut id = [0; quiche::MAX_CONN_ID_LEN];
        boring::rand::rand_bytes(&mut id)?;
        let id = quiche::ConnectionId::from_vec(id.to_vec());
        let ids = [id.clone(), header.dcid.clone().into_owned()];
        let visit = self.clients.as_ref().map(|clients| clients.open(from.ip(), Instant::now()));
        let start = visit.as_ref().and_then(Visit::start);
        let window = start.map_or(0, |start| start.window_packets).max(self.initial_window);
        self.settings.set_initial_congestion_window_packets(window);
        let quic = quiche::accept(&id, None, self.shared.local, from, &mut self.settings)?;
        let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed) + 1;
        let capped_rounds = start.map_or(0, |start| start.capped_rounds(self.initial_window));
        let connection =
            Connection::new(Arc::clone(&self.shared), number, quic, self.pacing_mbps, visit, capped_rounds)?;
        let (route, datagrams) = mpsc::channel(WAITING_PACKETS);
        for id in &ids {
            self.routes.insert(id.clone(), route.clone());
        }
        let stop = self.stop.clone();
        self.connections.spawn(async move {
            if let Err(error) = connection.run(datagrams, stop).await {
                eprintln!("hopwise-quiche: connection {number}: {error:#}");
            }
            ids
        });
        Ok(route)
    }
}
