/** What a browser's network side takes besides the network, milliseconds. */
export interface ClientCosts {
  /** Processor time between wanting a request and handing it to a connection. */
  requestMs: number;
  /** More of it over QUIC, where each request is a packet that the browser encrypts and sends by itself. */
  quicRequestMs: number;
  /** Besides that, on the way between the browser's processes. */
  requestDelayMs: number;
  /** Processor time between a response's last byte and its end as the page sees it. */
  responseMs: number;
  /** Besides that, on the way between the browser's processes. */
  responseDelayMs: number;
  /** Reading and acknowledging one QUIC packet; TCP leaves that to the kernel. */
  quicPacketMs: number;
}

/**
 * Chromium 156, whose requests for small files on open connections took 4 to 5 ms each beyond round trip and transfer (medians on two
 * cores that it shared with the servers). Of 57 requests of one moment each left 0.9 to 1.1 ms after the one before over HTTP/2, 1.3 to 1.7 ms
 * over HTTP/3, all before the first response. How the rest divides between the two sides of the transfer is assumed; load
 * times hardly depend on it. Reading and acknowledging a QUIC packet in user space takes some 30 µs (Langley et al., "The QUIC
 * Transport Protocol", SIGCOMM 2017, section 6.5: twice TCP's cost and more).
 */
export const CHROMIUM_COSTS: ClientCosts = {
  requestMs: 1,
  quicRequestMs: 0.5,
  requestDelayMs: 2,
  responseMs: 0.5,
  responseDelayMs: 2,
  quicPacketMs: 0.03,
};

/** A browser that takes no time: what is left is the network's. */
export const NO_COSTS: ClientCosts = {
  requestMs: 0,
  quicRequestMs: 0,
  requestDelayMs: 0,
  responseMs: 0,
  responseDelayMs: 0,
  quicPacketMs: 0,
};
