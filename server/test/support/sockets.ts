import type { AccessLogEntry } from '../../src/log/access-log.ts';
import type { SocketInfo } from '../../src/sockets/socket-info.ts';

export function makeRequest(own: Partial<AccessLogEntry> = {}): AccessLogEntry {
  return { address: '203.0.113.7', port: 1, connectedMs: 0, bytes: 100_000, ...own };
}

export function makeSocket(own: Partial<SocketInfo> = {}): SocketInfo {
  return {
    address: '203.0.113.7',
    port: 1,
    cwnd: 40,
    ssthresh: null,
    rttMs: 40,
    rtoMs: 240,
    segmentBytes: 1448,
    bytesAcked: 100_000,
    segments: 70,
    retransmitted: 0,
    busyMs: 160,
    receiverLimitedMs: 0,
    deliveryBps: 1e7,
    isIdle: false,
    ...own,
  };
}
