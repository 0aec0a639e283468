//! The program between a real client and a real upstream, on loopback.

mod support;

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use quiche::h3::Priority;
use serde_json::json;
use support::client::{Client, Options};
use support::upstream::Upstream;
use support::{Front, endpoint, refusal};
use tempfile::TempDir;

const MEGABYTE: usize = 1_000_000;
/// So small that the bodies of the tests take many round trips: there is time for what comes later.
const SMALL_WINDOW: Options = Options { window_bytes: 100_000, session: None };

fn start(changes: serde_json::Value) -> (Upstream, Front) {
    let folder = TempDir::new().unwrap();
    let upstream = Upstream::start(&folder);
    (upstream, Front::start(folder, changes))
}

fn noise(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| (index * 31 % 251) as u8).collect()
}

#[test]
fn passes_requests_on_and_responses_back() {
    let (_upstream, front) = start(json!({}));
    assert_eq!(front.ready, json!({ "ready": true, "stack": "quiche 0.30.0" }));
    let mut client = Client::connect(front.address, &Options::default());
    let body = noise(MEGABYTE);
    let stream = client.request("POST", "/echo?a=b", &[("x-own", "1"), ("hopwise-resumed", "9")], body.clone());
    let reply = client.reply(stream);
    assert_eq!(reply.field(":status"), Some("203"));
    assert_eq!(reply.field("x-target"), Some("/echo?a=b"));
    assert_eq!(reply.field("content-length"), Some("1000000"));
    assert_eq!(reply.field("keep-alive"), None);
    assert!(reply.body == body);
    let mut seen: Vec<&str> = reply.field("x-request").unwrap().split(';').collect();
    seen.sort();
    let number = seen.remove(0);
    assert!(number.starts_with("hopwise-connection="), "{number}");
    let expected =
        ["hopwise-protocol=HTTP/3", "hopwise-resumed=0", "host=www.lab.test", "transfer-encoding=chunked", "x-own=1"];
    assert_eq!(seen, expected);
    assert_eq!(client.largest_packet, 1452);
}

#[test]
fn answers_a_hundred_requests_at_once() {
    let (_upstream, front) = start(json!({}));
    let mut client = Client::connect(front.address, &Options::default());
    let streams: Vec<u64> = (0..100).map(|index| client.get(&format!("/bytes/{}", 10_000 + index), &[])).collect();
    for (index, stream) in streams.into_iter().enumerate() {
        assert_eq!(client.reply(stream).body.len(), 10_000 + index);
    }
}

/// Whether the second of two equal responses, requested when the first has begun, is complete first.
fn second_overtakes(priorities: &str, first: &str, second: &str, update: Option<Priority>) -> bool {
    let (_upstream, front) = start(json!({ "priorities": priorities }));
    let mut client = Client::connect(front.address, &SMALL_WINDOW);
    let path = format!("/bytes/{}", 2 * MEGABYTE);
    let lazy = client.get(&path, &[("priority", first)]);
    client.run_until(|client| client.replies[&lazy].body.len() > 100_000);
    let late = client.get(&path, &[("priority", second)]);
    if let Some(priority) = update {
        // The server has seen the request by then: its window is a fraction of this.
        client.run_until(|client| client.replies[&lazy].body.len() > MEGABYTE);
        client.prioritise(late, priority);
    }
    client.run_until(|client| client.finished.len() == 2);
    client.finished == [late, lazy]
}

#[test]
fn sends_by_priority() {
    assert!(second_overtakes("honoured", "u=5", "u=1", None));
    assert!(!second_overtakes("honoured", "u=3", "u=3", None));
    assert!(!second_overtakes("honoured", "u=1", "u=5", None));
    assert!(second_overtakes("honoured", "u=3", "u=5", Some(Priority::new(0, false))));
}

#[test]
fn ignores_priorities_where_asked() {
    assert!(!second_overtakes("ignored", "u=5", "u=1", None));
    assert!(!second_overtakes("ignored", "u=3", "u=5", Some(Priority::new(0, false))));
}

#[test]
fn incremental_responses_share_the_connection() {
    let (_upstream, front) = start(json!({}));
    let mut client = Client::connect(front.address, &SMALL_WINDOW);
    let streams = [0, 1].map(|_| client.get(&format!("/bytes/{MEGABYTE}"), &[("priority", "u=3, i")]));
    client.run_until(|client| client.finished.len() == 1);
    let least = streams.iter().map(|stream| client.replies[stream].body.len()).min().unwrap();
    assert!(least > MEGABYTE * 3 / 4, "{least}");
}

#[test]
fn a_cancelled_request_ends_at_the_upstream() {
    let (upstream, front) = start(json!({}));
    let mut client = Client::connect(front.address, &Options::default());
    let stream = client.get("/never", &[]);
    // Answers another one in between, so that the first has arrived.
    let other = client.get("/bytes/1", &[]);
    client.reply(other);
    client.cancel(stream);
    client.run_until(|client| client.replies[&stream].reset || client.quic.stream_finished(stream));
    assert_eq!(upstream.aborted.recv_timeout(Duration::from_secs(5)).unwrap(), "/never");
    let after = client.get("/bytes/2", &[]);
    assert_eq!(client.reply(after).body.len(), 2);
}

#[test]
fn an_upstream_that_fails_gives_502() {
    let front = Front::start(TempDir::new().unwrap(), json!({}));
    let mut client = Client::connect(front.address, &Options::default());
    let stream = client.get("/", &[]);
    assert_eq!(client.reply(stream).field(":status"), Some("502"));
}

#[test]
fn sessions_resume_also_after_a_restart() {
    let (upstream, front) = start(json!({}));
    let resumed = |front: &Front, session: Option<Vec<u8>>| {
        let mut client = Client::connect(front.address, &Options { session, ..Options::default() });
        let stream = client.get("/bytes/1", &[]);
        let seen = client.reply(stream).field("x-request").unwrap().contains("hopwise-resumed=1");
        client.run_until(|client| client.quic.session().is_some());
        (seen, client.quic.session().map(<[u8]>::to_vec))
    };
    let (first, session) = resumed(&front, None);
    let (second, _) = resumed(&front, session.clone());
    assert_eq!((first, second), (false, true));
    upstream.stop();
    let folder = front.stop();
    std::fs::remove_file(support::socket_path(&folder)).unwrap();
    let _upstream = Upstream::start(&folder);
    let front = Front::start(folder, json!({}));
    assert!(resumed(&front, session).0);
}

#[test]
fn keeps_what_clients_announced_over_restarts() {
    let (upstream, front) = start(json!({ "startRate": true }));
    let mut client = Client::connect(front.address, &Options::default());
    let stream = client.get("/bytes/1", &[("start-rate", "20")]);
    client.reply(stream);
    upstream.stop();
    let kept = |folder: &TempDir| -> serde_json::Value {
        let text = std::fs::read_to_string(support::clients_path(folder)).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["clients"].take()
    };
    let mut folder = front.stop();
    let known = kept(&folder);
    assert_eq!((&known[0]["address"], &known[0]["mbps"]), (&json!("127.0.0.1"), &json!(20.0)));
    // One that ignores rates passes them on.
    for start_rate in [false, true] {
        folder = Front::start(folder, json!({ "startRate": start_rate })).stop();
        let later = kept(&folder);
        assert_eq!((&later[0]["mbps"], &later[0]["rtt"]), (&known[0]["mbps"], &known[0]["rtt"]));
    }
    std::fs::write(support::clients_path(&folder), r#"{"clients":[]}"#).unwrap();
    let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = json!({ "endpoints": [endpoint(&folder, address)], "clients": support::clients_path(&folder) });
    let (code, words) = refusal(&folder, &config);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("clients.json: missing field `written`"), "{words}");
}

#[test]
fn keeps_to_the_rate_with_every_congestion_control() {
    for control in ["cubic", "reno", "bbr"] {
        let (_upstream, front) =
            start(json!({ "congestionControl": control, "initialWindow": 1000, "pacingMbps": 20 }));
        let mut client = Client::connect(front.address, &Options::default());
        let begin = Instant::now();
        let stream = client.get(&format!("/bytes/{MEGABYTE}"), &[]);
        client.reply(stream);
        // 1 MB at 20 Mbit/s take 400 ms, headers not included. A busy machine may take longer.
        let took = begin.elapsed().as_millis();
        println!("1 MB at 20 Mbit/s with {control}: {took} ms");
        assert!((400..1000).contains(&took), "{control}: {took} ms");
    }
}

#[test]
fn refuses_bad_configurations_in_one_line() {
    let folder = TempDir::new().unwrap();
    support::certificate::write(&folder);
    let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (entry, value, expected) in [
        ("congestionControl", json!("vegas"), "endpoints[0].congestionControl: unknown variant `vegas`"),
        ("speed", json!(1), "endpoints[0].speed: unknown field `speed`"),
        ("certificate", json!("/none.pem"), "https://www.lab.test: certificate: /none.pem"),
        ("addresses", json!(["192.0.2.1:1"]), "https://www.lab.test: 192.0.2.1:1: Cannot assign requested address"),
    ] {
        let mut bad = endpoint(&folder, address);
        bad[entry] = value;
        let (code, words) =
            refusal(&folder, &json!({ "endpoints": [bad], "clients": support::clients_path(&folder) }));
        assert_eq!(code, Some(2), "{words}");
        assert!(words.starts_with("hopwise-quiche: ") && words.contains(expected), "{words}");
        assert_eq!(words.lines().count(), 1, "{words}");
    }
}

#[test]
fn closes_connections_when_its_input_ends() {
    for by_signal in [false, true] {
        let (_upstream, mut front) = start(json!({}));
        let mut client = Client::connect(front.address, &Options::default());
        let stream = client.get("/bytes/1", &[]);
        client.reply(stream);
        if by_signal {
            front.terminate();
        } else {
            front.end_input();
        }
        client.run_until(|client| client.quic.peer_error().is_some());
        let error = client.quic.peer_error().unwrap();
        assert_eq!((error.is_app, error.error_code), (true, 0x100));
        assert!(front.wait().success());
    }
}
