//! Spaces a connection's packets to a rate.

use std::time::{Duration, Instant};

/// How far the schedule may lie behind, so that a late wake-up is made up for.
const CATCH_UP: Duration = Duration::from_millis(1);

/// Windows a round trip at which a window is spread over it, in slow start and afterwards: Linux's `tcp_pacing_ss_ratio` and
/// `tcp_pacing_ca_ratio`.
const WINDOWS_IN_SLOW_START: f64 = 2.0;
const WINDOWS_AFTERWARDS: f64 = 1.2;

/// The rate that spreads a window of `bytes` over the round trip, Mbit/s.
pub fn window_mbps(bytes: usize, rtt: Duration, in_slow_start: bool) -> f64 {
    let windows = if in_slow_start { WINDOWS_IN_SLOW_START } else { WINDOWS_AFTERWARDS };
    windows * bytes as f64 * 8e-6 / rtt.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// Caps a connection's rate whatever its congestion control: quiche paces with BBR alone.
pub struct Pacer {
    /// Zero where the rate is unlimited.
    seconds_per_byte: f64,
    next: Option<Instant>,
}

impl Pacer {
    /// `mbps` 0 is unlimited.
    pub fn new(mbps: f64) -> Self {
        let mut pacer = Self { seconds_per_byte: 0.0, next: None };
        pacer.set_rate(mbps);
        pacer
    }

    /// Changes the rate of the packets after the next one.
    pub fn set_rate(&mut self, mbps: f64) {
        self.seconds_per_byte = if mbps > 0.0 { 8e-6 / mbps } else { 0.0 };
    }

    /// When the next packet may leave, unless at once.
    pub fn release(&self, now: Instant) -> Option<Instant> {
        self.next.filter(|next| *next > now)
    }

    /// Counts a packet with `bytes`, IP and UDP headers included.
    pub fn sent(&mut self, now: Instant, bytes: usize) {
        if self.seconds_per_byte == 0.0 {
            return;
        }
        let earliest = now.checked_sub(CATCH_UP).unwrap_or(now);
        let from = self.next.map_or(now, |next| next.max(earliest));
        self.next = Some(from + Duration::from_secs_f64(bytes as f64 * self.seconds_per_byte));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_packets_to_the_rate() {
        let start = Instant::now();
        let mut pacer = Pacer::new(12.0);
        assert_eq!(pacer.release(start), None);
        pacer.sent(start, 1500);
        // 1500 B × 8 / 12 Mbit/s = 1 ms
        let after = |ms| start + Duration::from_millis(ms);
        assert_eq!(pacer.release(start), Some(after(1)));
        // Half a millisecond late: the packet after keeps to the schedule.
        pacer.sent(start + Duration::from_micros(1500), 1500);
        assert_eq!(pacer.release(start), Some(after(2)));
        // After a pause of 98 ms only one millisecond is made up for: 100 - 1 + 1 ms.
        pacer.sent(after(100), 1500);
        assert_eq!(pacer.release(after(99)), Some(after(100)));
        assert_eq!(pacer.release(after(100)), None);
    }

    #[test]
    fn spreads_a_window_over_the_round_trip() {
        // 150 kB in 60 ms are 20 Mbit/s.
        let rtt = Duration::from_millis(60);
        assert!((window_mbps(150_000, rtt, true) - 40.0).abs() < 1e-9);
        assert!((window_mbps(150_000, rtt, false) - 24.0).abs() < 1e-9);
    }

    #[test]
    fn changes_its_rate() {
        let start = Instant::now();
        let mut pacer = Pacer::new(12.0);
        pacer.set_rate(24.0);
        pacer.sent(start, 1500);
        assert_eq!(pacer.release(start), Some(start + Duration::from_micros(500)));
    }

    #[test]
    fn does_not_space_without_a_rate() {
        let mut pacer = Pacer::new(0.0);
        let now = Instant::now();
        pacer.sent(now, 1500);
        assert_eq!(pacer.release(now), None);
    }
}
