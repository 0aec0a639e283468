//! Starts at the rate that a client announces (`Start-Rate`, Mbit/s), as Blitz-started QUIC does (Rüth et al.).
//!
//! quiche takes a window only before a connection begins, so that an announcement counts for the client's next ones. A client is
//! believed until its starts have lost packets twice.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// What an announcement may say; others are ignored.
const RATES_MBPS: std::ops::RangeInclusive<f64> = 0.1..=1000.0;
/// Bounds what one client can make the server send at once.
const MAX_WINDOW_PACKETS: usize = 2000;
const PACKET_BYTES: f64 = 1500.0;
/// An announcement and a client's lost starts count for so long.
const VALID: Duration = Duration::from_secs(3600);
const MAX_CLIENTS: usize = 10_000;
/// A start did harm where it lost a larger share of its packets: more than paths lose by chance.
const MAX_LOST_SHARE: f64 = 0.05;
const MAX_LOSSY_STARTS: u32 = 2;
/// The most round trips for which the rate is the limit; a loss ends them sooner.
const MAX_CAPPED_ROUNDS: u32 = 3;

/// What all connections of the process know of their clients.
#[derive(Default)]
pub struct Clients(Mutex<HashMap<IpAddr, Client>>);

struct Client {
    /// Zero before an announcement.
    mbps: f64,
    rtt: Duration,
    connections: u32,
    /// Those that have a request under way, or have had none yet.
    busy: u32,
    lossy_starts: u32,
    changed: Instant,
}

/// What of a client outlasts the process.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Known {
    address: IpAddr,
    mbps: f64,
    rtt: Duration,
    lossy_starts: u32,
    /// Time since its last change.
    age: Duration,
}

/// How a connection begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    pub window_packets: usize,
    pub mbps: f64,
}

impl Start {
    /// For how many round trips the rate is the limit: while the usual start, whose window doubles each round, would send less. A longer
    /// limit would make small shares of a rate slower than no announcement.
    pub fn capped_rounds(&self, usual_packets: usize) -> u32 {
        let doublings = (self.window_packets as f64 / usual_packets as f64).log2().ceil();
        (doublings.max(0.0) as u32).min(MAX_CAPPED_ROUNDS)
    }
}

impl Clients {
    pub fn from_known(known: Vec<Known>, now: Instant) -> Self {
        let client = |each: Known| {
            let changed = now.checked_sub(each.age)?;
            let client =
                Client { mbps: each.mbps, rtt: each.rtt, lossy_starts: each.lossy_starts, ..Client::new(changed) };
            Some((each.address, client))
        };
        Self(Mutex::new(known.into_iter().filter_map(client).collect()))
    }

    pub fn known(&self, now: Instant) -> Vec<Known> {
        let clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients
            .iter()
            .map(|(&address, client)| Known {
                address,
                mbps: client.mbps,
                rtt: client.rtt,
                lossy_starts: client.lossy_starts,
                age: now.duration_since(client.changed),
            })
            .collect()
    }

    /// Counts a new connection as busy, until the visit is dropped.
    pub fn open(self: &Arc<Self>, address: IpAddr, now: Instant) -> Visit {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !clients.contains_key(&address) && clients.len() >= MAX_CLIENTS {
            clients.retain(|_, client| client.connections > 0 || now < client.changed + VALID);
        }
        let is_counted = clients.contains_key(&address) || clients.len() < MAX_CLIENTS;
        if is_counted {
            let client = clients.entry(address).or_insert_with(|| Client::new(now));
            client.forget_old(now);
            client.connections += 1;
            client.busy += 1;
        }
        Visit { clients: Arc::clone(self), address, is_counted, is_busy: true }
    }

    fn with<T>(&self, address: IpAddr, use_client: impl FnOnce(&mut Client) -> T) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&address).map(use_client)
    }
}

impl Client {
    fn new(now: Instant) -> Self {
        Self { mbps: 0.0, rtt: Duration::ZERO, connections: 0, busy: 0, lossy_starts: 0, changed: now }
    }

    fn forget_old(&mut self, now: Instant) {
        if now >= self.changed + VALID {
            *self = Self { connections: self.connections, busy: self.busy, ..Self::new(now) };
        }
    }

    /// The part of the rate that each of the client's busy connections may have; none where the client is not believed.
    fn share_mbps(&self) -> Option<f64> {
        (self.mbps > 0.0 && self.lossy_starts < MAX_LOSSY_STARTS).then(|| self.mbps / f64::from(self.busy.max(1)))
    }
}

/// A client's connection.
pub struct Visit {
    clients: Arc<Clients>,
    address: IpAddr,
    /// Not where no further client could be known.
    is_counted: bool,
    is_busy: bool,
}

impl Visit {
    /// How the connection is to begin; none for the usual way.
    pub fn start(&self) -> Option<Start> {
        self.clients
            .with(self.address, |client| {
                let mbps = client.share_mbps()?;
                let packets = mbps * 125_000.0 * client.rtt.as_secs_f64() / PACKET_BYTES;
                Some(Start { window_packets: (packets.round() as usize).min(MAX_WINDOW_PACKETS), mbps })
            })
            .flatten()
    }

    /// Counts whether the connection has requests under way.
    pub fn set_busy(&mut self, is_busy: bool) {
        if self.is_counted && self.is_busy != is_busy {
            self.clients.with(self.address, |client| if is_busy { client.busy += 1 } else { client.busy -= 1 });
        }
        self.is_busy = is_busy;
    }

    /// Takes a request's field and the connection's round trip. Unreadable ones are ignored.
    pub fn announce(&self, field: &[u8], rtt: Duration, now: Instant) {
        let Some(mbps) = std::str::from_utf8(field).ok().and_then(|text| text.parse::<f64>().ok()) else { return };
        if RATES_MBPS.contains(&mbps) {
            self.clients.with(self.address, |client| {
                client.forget_old(now);
                (client.mbps, client.rtt) = (mbps, rtt);
                // The time that a lie is remembered does not begin anew with every request.
                if client.lossy_starts == 0 {
                    client.changed = now;
                }
            });
        }
    }

    /// Judges a start by what it lost.
    pub fn judge(&self, lost: usize, sent: usize, now: Instant) {
        if lost as f64 > MAX_LOST_SHARE * sent as f64 {
            self.clients.with(self.address, |client| {
                client.lossy_starts += 1;
                client.changed = now;
            });
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.set_busy(false);
        if self.is_counted {
            self.clients.with(self.address, |client| client.connections -= 1);
        }
    }
}

/// What is known of a connection's packets.
#[derive(Clone, Copy)]
pub struct Progress {
    pub sent: usize,
    pub lost: usize,
    pub rtt: Duration,
}

/// The begin of a connection that starts at a rate: first its rate is limited, then the losses of these packets show.
pub struct Starting {
    began: Instant,
    capped_rounds: u32,
    /// Packets sent when the limit was lifted, and when their losses have shown.
    lifted: Option<(usize, Instant)>,
}

impl Starting {
    /// `capped_rounds` are those of its `Start`.
    pub fn new(capped_rounds: u32, now: Instant) -> Self {
        Self { began: now, capped_rounds, lifted: None }
    }

    pub fn is_capped(&self) -> bool {
        self.lifted.is_none()
    }

    /// When it can be judged, if that is known.
    pub fn due(&self) -> Option<Instant> {
        self.lifted.map(|(_, until)| until)
    }

    /// Returns the packets that were lost and sent once the start can be judged.
    pub fn advance(&mut self, progress: Progress, now: Instant) -> Option<(usize, usize)> {
        let Some((sent, until)) = self.lifted else {
            if progress.lost > 0 || now >= self.began + self.capped_rounds * progress.rtt {
                self.lifted = Some((progress.sent, now + progress.rtt));
            }
            return None;
        };
        (now >= until).then_some((progress.lost, sent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const RTT: Duration = Duration::from_millis(60);

    fn known(mbps: &str) -> (Arc<Clients>, Instant) {
        let (clients, now) = (Arc::new(Clients::default()), Instant::now());
        clients.open(CLIENT, now).announce(mbps.as_bytes(), RTT, now);
        (clients, now)
    }

    #[test]
    fn begins_with_a_round_trip_at_the_rate_divided_over_the_busy_connections() {
        let (clients, now) = known("20");
        let first = clients.open(CLIENT, now);
        // 20 Mbit/s × 60 ms = 150,000 B = 100 packets
        assert_eq!(first.start(), Some(Start { window_packets: 100, mbps: 20.0 }));
        let mut second = clients.open(CLIENT, now);
        assert_eq!(second.start(), Some(Start { window_packets: 50, mbps: 10.0 }));
        second.set_busy(false);
        assert_eq!(first.start().unwrap().mbps, 20.0);
        second.set_busy(true);
        assert_eq!(first.start().unwrap().mbps, 10.0);
        drop(first);
        assert_eq!(second.start().unwrap().mbps, 20.0);
        assert_eq!(clients.open(IpAddr::from([192, 0, 2, 2]), now).start(), None);
        assert_eq!(clients.open(CLIENT, now + VALID).start(), None);
    }

    #[test]
    fn ignores_what_is_no_rate_and_bounds_windows() {
        for field in ["", "-1", "0", "NaN", "inf", "1e9", "20 Mbit/s", "\u{fffd}"] {
            let (clients, now) = known(field);
            assert_eq!(clients.open(CLIENT, now).start(), None, "{field}");
        }
        let (clients, now) = known("1000");
        assert_eq!(clients.open(CLIENT, now).start().unwrap().window_packets, MAX_WINDOW_PACKETS);
    }

    #[test]
    fn believes_a_client_until_its_second_lossy_start() {
        let (clients, now) = known("20");
        let visit = clients.open(CLIENT, now);
        visit.judge(5, 100, now); // By chance.
        visit.judge(30, 100, now);
        assert!(visit.start().is_some());
        visit.judge(30, 100, now);
        assert_eq!(visit.start(), None);
        // What it says then does not help, until an hour has passed.
        visit.announce(b"10", RTT, now + VALID / 2);
        assert_eq!(visit.start(), None);
        visit.announce(b"10", RTT, now + VALID);
        assert!(visit.start().is_some());
    }

    #[test]
    fn keeps_a_bounded_number_of_clients() {
        let (clients, now) = known("20");
        let address = |index: usize| IpAddr::from([10, 0, (index >> 8) as u8, index as u8]);
        for index in 0..2 * MAX_CLIENTS {
            clients.open(address(index), now).announce(b"20", RTT, now);
        }
        assert_eq!(clients.0.lock().unwrap().len(), MAX_CLIENTS);
        // Later on those before are forgotten.
        assert_eq!(clients.open(address(60_000), now + VALID).start(), None);
        assert_eq!(clients.0.lock().unwrap().len(), 1);
    }

    #[test]
    fn ends_visits_that_it_did_not_count() {
        let (clients, now) = known("20");
        let address = |index: usize| IpAddr::from([10, 0, (index >> 8) as u8, index as u8]);
        for index in 0..MAX_CLIENTS {
            clients.open(address(index), now);
        }
        let uncounted = clients.open(address(60_000), now);
        let counted = clients.open(address(60_000), now + VALID);
        drop(uncounted);
        assert_eq!(clients.0.lock().unwrap()[&address(60_000)].connections, 1);
        drop(counted);
        assert_eq!(clients.0.lock().unwrap()[&address(60_000)].connections, 0);
    }

    #[test]
    fn is_known_again_from_what_was_kept() {
        let (clients, now) = known("20");
        clients.open(CLIENT, now).judge(30, 100, now);
        let again = Arc::new(Clients::from_known(clients.known(now + RTT), now + 2 * RTT));
        assert_eq!(again.known(now + 2 * RTT), clients.known(now + RTT));
        let visit = again.open(CLIENT, now + 2 * RTT);
        assert_eq!(visit.start(), Some(Start { window_packets: 100, mbps: 20.0 }));
        visit.judge(30, 100, now + 2 * RTT);
        assert_eq!(visit.start(), None);
    }

    #[test]
    fn limits_no_connection_to_less_than_the_usual_start() {
        for (window_packets, rounds) in [(0, 0), (5, 0), (10, 0), (11, 1), (20, 1), (21, 2), (41, 3), (2000, 3)] {
            assert_eq!(Start { window_packets, mbps: 1.0 }.capped_rounds(10), rounds, "{window_packets}");
        }
    }

    #[test]
    fn lifts_the_limit_after_three_round_trips_or_a_loss() {
        let now = Instant::now();
        let progress = |sent, lost| Progress { sent, lost, rtt: RTT };
        let mut quiet = Starting::new(3, now);
        quiet.advance(progress(100, 0), now + 2 * RTT);
        assert!(quiet.is_capped());
        quiet.advance(progress(300, 0), now + 3 * RTT);
        assert!(!quiet.is_capped());
        assert_eq!(quiet.advance(progress(500, 3), now + 3 * RTT), None);
        assert_eq!(quiet.advance(progress(600, 4), now + 4 * RTT), Some((4, 300)));
        let mut lossy = Starting::new(3, now);
        lossy.advance(progress(100, 1), now + RTT);
        assert!(!lossy.is_capped());
        assert_eq!(lossy.advance(progress(200, 40), now + 2 * RTT), Some((40, 100)));
    }
}
