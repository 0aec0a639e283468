//! A timer of the kernel's own precision; tokio's wakes on whole milliseconds, several packets apart.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

pub struct Timer(AsyncFd<OwnedFd>);

impl Timer {
    pub fn new() -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        // SAFETY: an `OwnedFd` has the same open descriptor until it is dropped.
        Ok(Self(unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE)? }))
    }

    /// Waits until `at`, for ever if there is none. May be dropped and called again.
    pub async fn wait_until(&self, at: Option<Instant>) -> io::Result<()> {
        let Some(at) = at else { return std::future::pending().await };
        // Zero would disarm the timer.
        let left = at.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1));
        let once =
            Itimerspec { it_interval: Timespec::default(), it_value: left.try_into().map_err(io::Error::other)? };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once)?;
        loop {
            let mut ready = self.0.readable().await?;
            let expirations = ready.try_io(|timer| Ok(rustix::io::read(timer, &mut [0; 8])?));
            if let Ok(result) = expirations {
                return result.map(|_| ());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn is_precise_below_a_millisecond() {
        let timer = Timer::new().unwrap();
        let wait = Duration::from_micros(250);
        let mut lateness = Vec::new();
        for _ in 0..200 {
            let due = Instant::now() + wait;
            timer.wait_until(Some(due)).await.unwrap();
            lateness.push(Instant::now().checked_duration_since(due).expect("it waits until the time"));
        }
        lateness.sort();
        let (median, p99) = (lateness[100], lateness[198]);
        println!("lateness of the timer: median {median:?}, 99% {p99:?}");
        assert!(median < Duration::from_micros(500), "{median:?}");
    }
}
