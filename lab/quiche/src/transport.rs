//! quiche's settings for an endpoint.

use std::fs;

use anyhow::{Context, Result};
use boring::sha::sha384;

use crate::config::{CongestionControl, Endpoint};

/// Leaves out IP and UDP headers: it fills 1500 bytes over IPv6, as the lab's other server does at most. The lab's path carries
/// it, so that quiche's path MTU discovery stays off, as by default.
pub const MAX_PACKET_BYTES: usize = 1452;

/// Limits the requests on a connection, as the lab's other server does.
const MAX_STREAMS: u64 = 128;
/// Control, QPACK encoder and decoder streams, and some more that a client may try (RFC 9114, section 6.2).
const MAX_UNIDIRECTIONAL_STREAMS: u64 = 16;

/// The flow control of what the client sends begins with the other server's windows; quiche grows them as needed.
const STREAM_WINDOW_BYTES: u64 = 512 << 10;
const CONNECTION_WINDOW_BYTES: u64 = 768 << 10;

const IDLE_TIMEOUT_MS: u64 = 30_000;

/// # Errors
/// One line that names the entry.
pub fn settings(endpoint: &Endpoint) -> Result<quiche::Config> {
    let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION)?;
    let certificate = endpoint.certificate.display().to_string();
    let key = endpoint.key.display().to_string();
    config.load_cert_chain_from_pem_file(&certificate).with_context(|| format!("certificate: {certificate}"))?;
    config.load_priv_key_from_pem_file(&key).with_context(|| format!("key: {key}"))?;
    // Tickets that only this endpoint can read, also after it is started again.
    config.set_ticket_key(&sha384(&fs::read(&endpoint.key).context("key")?))?;
    config.set_application_protos(quiche::h3::APPLICATION_PROTOCOL)?;

    config.set_max_idle_timeout(IDLE_TIMEOUT_MS);
    config.set_max_send_udp_payload_size(MAX_PACKET_BYTES);
    config.set_initial_max_streams_bidi(MAX_STREAMS);
    config.set_initial_max_streams_uni(MAX_UNIDIRECTIONAL_STREAMS);
    config.set_initial_max_data(CONNECTION_WINDOW_BYTES);
    config.set_initial_max_stream_data_bidi_remote(STREAM_WINDOW_BYTES);
    config.set_initial_max_stream_data_uni(STREAM_WINDOW_BYTES);
    config.set_disable_active_migration(true);

    config.set_cc_algorithm(match endpoint.congestion_control {
        CongestionControl::Cubic => quiche::CongestionControlAlgorithm::CUBIC,
        CongestionControl::Reno => quiche::CongestionControlAlgorithm::Reno,
        CongestionControl::Bbr => quiche::CongestionControlAlgorithm::Bbr2Gcongestion,
    });
    config.set_initial_congestion_window_packets(endpoint.initial_window as usize);
    Ok(config)
}
