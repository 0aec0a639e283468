//! A blocking HTTP/3 client.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use quiche::h3::{self, Header, NameValue};

const LIMIT: Duration = Duration::from_secs(20);

#[derive(Default)]
pub struct Reply {
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub finished: bool,
    pub reset: bool,
}

impl Reply {
    pub fn field(&self, wanted: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }
}

pub struct Client {
    socket: UdpSocket,
    pub quic: quiche::Connection,
    pub http: Option<h3::Connection>,
    pub replies: BTreeMap<u64, Reply>,
    /// Streams in the order in which they finished.
    pub finished: Vec<u64>,
    /// Bytes of bodies that wait for the connection.
    uploads: BTreeMap<u64, Vec<u8>>,
    pub largest_packet: usize,
}

pub struct Options {
    /// Flow control of what the server sends.
    pub window_bytes: u64,
    pub session: Option<Vec<u8>>,
}

impl Default for Options {
    fn default() -> Self {
        Self { window_bytes: 15 << 20, session: None }
    }
}

impl Client {
    pub fn connect(server: SocketAddr, options: &Options) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION).unwrap();
        config.verify_peer(false);
        config.set_application_protos(h3::APPLICATION_PROTOCOL).unwrap();
        config.set_max_idle_timeout(30_000);
        config.set_initial_max_data(options.window_bytes);
        config.set_max_connection_window(options.window_bytes);
        config.set_initial_max_stream_data_bidi_local(options.window_bytes);
        config.set_max_stream_window(options.window_bytes);
        config.set_initial_max_stream_data_uni(1 << 20);
        config.set_initial_max_streams_uni(16);
        let mut id = [0; quiche::MAX_CONN_ID_LEN];
        boring::rand::rand_bytes(&mut id).unwrap();
        let id = quiche::ConnectionId::from_ref(&id);
        let local = socket.local_addr().unwrap();
        let mut quic = quiche::connect(Some("www.lab.test"), &id, local, server, &mut config).unwrap();
        if let Some(session) = &options.session {
            quic.set_session(session).unwrap();
        }
        let mut client = Self {
            socket,
            quic,
            http: None,
            replies: BTreeMap::new(),
            finished: Vec::new(),
            uploads: BTreeMap::new(),
            largest_packet: 0,
        };
        client.run_until(|client| client.quic.is_established());
        client.http = Some(h3::Connection::with_transport(&mut client.quic, &h3::Config::new().unwrap()).unwrap());
        client
    }

    pub fn get(&mut self, path: &str, more: &[(&str, &str)]) -> u64 {
        self.request("GET", path, more, Vec::new())
    }

    /// Returns the stream.
    pub fn request(&mut self, method: &str, path: &str, more: &[(&str, &str)], body: Vec<u8>) -> u64 {
        let own = [(":method", method), (":scheme", "https"), (":authority", "www.lab.test"), (":path", path)];
        let fields: Vec<Header> =
            own.iter().chain(more).map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes())).collect();
        let http = self.http.as_mut().unwrap();
        let stream = http.send_request(&mut self.quic, &fields, body.is_empty()).unwrap();
        self.replies.insert(stream, Reply::default());
        if !body.is_empty() {
            self.uploads.insert(stream, body);
        }
        stream
    }

    pub fn reply(&mut self, stream: u64) -> &Reply {
        self.run_until(|client| client.replies[&stream].finished);
        &self.replies[&stream]
    }

    pub fn prioritise(&mut self, stream: u64, priority: h3::Priority) {
        let http = self.http.as_mut().unwrap();
        http.send_priority_update_for_request(&mut self.quic, stream, &priority).unwrap();
    }

    /// Says that the response is not wanted any more.
    pub fn cancel(&mut self, stream: u64) {
        self.quic.stream_shutdown(stream, quiche::Shutdown::Read, 0x10c).unwrap();
    }

    pub fn run_until(&mut self, done: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        let mut buffer = [0; 65_535];
        loop {
            self.exchange();
            self.flush();
            if done(self) {
                return;
            }
            assert!(begin.elapsed() < LIMIT, "the client waits for ever");
            let wait = self.quic.timeout().unwrap_or(LIMIT).clamp(Duration::from_millis(1), Duration::from_secs(1));
            self.socket.set_read_timeout(Some(wait)).unwrap();
            match self.socket.recv_from(&mut buffer) {
                Ok((size, from)) => {
                    self.largest_packet = self.largest_packet.max(size);
                    let info = quiche::RecvInfo { from, to: self.socket.local_addr().unwrap() };
                    let _ = self.quic.recv(&mut buffer[..size], info);
                }
                Err(_) => self.quic.on_timeout(),
            }
        }
    }

    fn flush(&mut self) {
        let mut packet = [0; 1350];
        while let Ok((size, info)) = self.quic.send(&mut packet) {
            self.socket.send_to(&packet[..size], info.to).unwrap();
        }
    }

    fn exchange(&mut self) {
        let Some(http) = &mut self.http else { return };
        for (stream, body) in &mut self.uploads {
            while let Ok(taken) = http.send_body(&mut self.quic, *stream, body, true) {
                body.drain(..taken);
                if body.is_empty() {
                    break;
                }
            }
        }
        self.uploads.retain(|_, body| !body.is_empty());
        while let Ok((stream, event)) = http.poll(&mut self.quic) {
            let Some(reply) = self.replies.get_mut(&stream) else { continue };
            match event {
                h3::Event::Headers { list, .. } => {
                    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                    reply.fields.extend(list.iter().map(|field| (text(field.name()), text(field.value()))));
                }
                h3::Event::Data => {
                    let mut chunk = [0; 16 << 10];
                    while let Ok(size) = http.recv_body(&mut self.quic, stream, &mut chunk) {
                        reply.body.extend(&chunk[..size]);
                    }
                }
                h3::Event::Finished => {
                    reply.finished = true;
                    self.finished.push(stream);
                }
                h3::Event::Reset(_) => reply.reset = true,
                h3::Event::PriorityUpdate | h3::Event::GoAway => {}
            }
        }
    }
}
