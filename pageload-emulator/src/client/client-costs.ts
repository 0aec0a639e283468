/** Time that the browser itself adds to a request, milliseconds. */
export interface ClientCosts {
  /** Processor time between the decision to make a request and its dispatch to a connection. */
  requestMs: number;
  /** Additional processor time over QUIC, where the browser itself encrypts and sends each request's packet. */
  quicRequestMs: number;
  /** Additional delay of a request between the browser's processes. */
  requestDelayMs: number;
  /** Processor time between a response's last byte and its end as seen by the page. */
  responseMs: number;
  /** Additional delay of a response between the browser's processes. */
  responseDelayMs: number;
  /** Processor time to read and acknowledge one QUIC packet; the kernel does that for TCP. */
  quicPacketMs: number;
  /** Main-thread time to issue a request; the navigation needs none. */
  issueMs: number;
  /** Main-thread time between a response's end and what depends on it; its connection is free meanwhile. */
  handleMs: number;
  /** Main-thread time of a script's run or another computation beyond its own duration: compilation, parsing, style. */
  runMs: number;
}

/**
 * Chromium 156. Its requests for small files on open connections took 4 to 5 ms each beyond round trip and transfer (medians
 * on two cores shared with the servers). Of 57 simultaneous requests each left 0.9 to 1.1 ms after the one before over HTTP/2,
 * 1.3 to 1.7 ms over HTTP/3, all before the first response. How the rest divides between request and response is assumed; load
 * times hardly depend on it. Reading and acknowledging a QUIC packet in user space takes some 30 µs (Langley et al., "The QUIC
 * Transport Protocol", SIGCOMM 2017, section 6.5: at least twice TCP's cost).
 */
export const CHROMIUM_COSTS: ClientCosts = {
  requestMs: 1,
  quicRequestMs: 0.5,
  requestDelayMs: 2,
  responseMs: 0.5,
  responseDelayMs: 2,
  quicPacketMs: 0.03,
  // The delays that are read out of a recording contain the main thread's time.
  issueMs: 0,
  handleMs: 0,
  runMs: 0,
};

/** A browser that takes no time, so that only the network's time remains. */
export const NO_COSTS: ClientCosts = {
  requestMs: 0,
  quicRequestMs: 0,
  requestDelayMs: 0,
  responseMs: 0,
  responseDelayMs: 0,
  quicPacketMs: 0,
  issueMs: 0,
  handleMs: 0,
  runMs: 0,
};

/** The single thread on which a browser does its network work, first come, first served. */
export class ClientThread {
  #freeMs = 0;

  /** Appends work of `costMs` and returns when it is done. */
  run(nowMs: number, costMs: number): number {
    this.#freeMs = Math.max(this.#freeMs, nowMs) + costMs;
    return this.#freeMs;
  }
}
