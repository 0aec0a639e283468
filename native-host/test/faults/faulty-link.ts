/** The path between an origin and its clients, TCP and UDP, and its faults. */
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { reset } from '../../src/pins/proxy/reset.ts';
import { TokenBucket } from './token-bucket.ts';

const LOOPBACK = '127.0.0.1';
const GARBAGE_BYTES = 200;
/** Rate of UDP that is policed, each way: about what operators leave it. */
const POLICED_BYTES_PER_S = 1_000_000;
const POLICED_BURST_BYTES = 32_000;
/** Over loopback's round trip the smallest window of QUIC would be above any rate. */
const POLICED_DELAY_MS = 10;

type Direction = 'up' | 'down';

interface Connection {
  browser: Socket;
  origin: Socket;
}

interface Watch {
  direction: Direction;
  bytes: number;
  reached: () => void;
}

export class FaultyLink {
  /** The port of the origin for connections and packets to come. */
  target: number;
  /** Share of the UDP packets that get lost. */
  packetLoss = 0;
  /** Share of the UDP packets that get damaged. */
  packetDamage = 0;
  /** Connections that are opened are reset. */
  isDown = false;
  readonly #tcp: Server;
  readonly #udp: UdpSocket;
  readonly #connections = new Set<Connection>();
  readonly #stalled = new Set<Connection>();
  readonly #flows = new Map<number, UdpSocket>();
  /** Ports of the clients whose packets are dropped. */
  readonly #forgotten = new Set<number>();
  #policers: Record<Direction, TokenBucket> | null = null;
  readonly #watches = new Set<Watch>();
  #onFlow: () => void = () => {};
  #isClosed = false;

  private constructor(tcp: Server, udp: UdpSocket, target: number) {
    this.#tcp = tcp;
    this.#udp = udp;
    this.target = target;
    tcp.on('connection', (socket) => this.#connect(socket)).on('error', () => {});
    udp.on('message', (packet, { port }) => this.#fromBrowser(packet, port)).on('error', () => {});
  }

  /** @param target the origin's port; TCP and UDP are one. */
  static async open(target: number): Promise<FaultyLink> {
    for (;;) {
      const tcp = createServer({ allowHalfOpen: true, noDelay: true });
      await once(tcp.listen(0, LOOPBACK), 'listening');
      const udp = createSocket('udp4');
      try {
        udp.bind((tcp.address() as AddressInfo).port, LOOPBACK);
        await once(udp, 'listening');
        return new FaultyLink(tcp, udp, target);
      } catch {
        // The number is taken for UDP.
        tcp.close();
      }
    }
  }

  get port(): number {
    return (this.#tcp.address() as AddressInfo).port;
  }

  get origin(): string {
    return `https://localhost:${this.port}`;
  }

  /** Connections over TCP that are open. */
  get open(): number {
    return this.#connections.size;
  }

  /** Resolves when so many bytes have passed from now on. */
  passed(direction: Direction, bytes: number): Promise<void> {
    return new Promise((resolve) => {
      const watch = { direction, bytes, reached: resolve };
      this.#watches.add(watch);
    });
  }

  /** Resolves at the first packet of the next UDP flow. */
  nextFlow(): Promise<void> {
    return new Promise((resolve) => {
      this.#onFlow = resolve;
    });
  }

  /** Ends every connection by a reset. */
  reset(): void {
    for (const { browser, origin } of this.#connections) {
      reset(browser);
      reset(origin);
    }
  }

  /** Ends every connection in order, in the middle of whatever record. */
  cut(): void {
    for (const { browser, origin } of this.#connections) {
      browser.destroySoon();
      origin.destroySoon();
    }
  }

  /** Ends one direction of every connection in order; what still comes that way gets lost. */
  halfClose(direction: Direction): void {
    for (const { browser, origin } of this.#connections) {
      const [from, to] = direction === 'up' ? [browser, origin] : [origin, browser];
      from.unpipe().resume();
      to.end();
    }
  }

  /** Has nothing pass on the connections that are open; those to come are not concerned. */
  stall(): void {
    for (const connection of this.#connections) {
      this.#stalled.add(connection);
      for (const side of [connection.browser, connection.origin]) side.unpipe().pause();
    }
  }

  /** Ends what `stall` began. */
  resume(): void {
    for (const { browser, origin } of this.#stalled) {
      browser.pipe(origin);
      origin.pipe(browser);
    }
    this.#stalled.clear();
  }

  /** Puts bytes between those of every connection, and sends packets of such. */
  garbage(direction: Direction): void {
    const bytes = randomBytes(GARBAGE_BYTES);
    for (const { browser, origin } of this.#connections) (direction === 'up' ? origin : browser).write(bytes);
    for (const [port, flow] of this.#flows) {
      if (direction === 'up') flow.send(bytes);
      else this.#udp.send(bytes, port, LOOPBACK);
    }
  }

  /** Drops UDP packets above a rate from now on, as on a path of some length. */
  police(): void {
    const policer = (): TokenBucket => new TokenBucket(POLICED_BYTES_PER_S, POLICED_BURST_BYTES);
    this.#policers = { up: policer(), down: policer() };
  }

  /** Leads everything to another server, as when the origin is started anew. */
  moveTo(target: number): void {
    this.target = target;
    this.reset();
    for (const flow of this.#flows.values()) flow.close();
    this.#flows.clear();
  }

  /** Drops the packets of the UDP flows that are there, as a server that has forgotten its connections; those to come pass. */
  forget(): void {
    for (const port of this.#flows.keys()) this.#forgotten.add(port);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.reset();
    for (const flow of this.#flows.values()) flow.close();
    this.#udp.close();
    await new Promise((resolve) => this.#tcp.close(resolve));
  }

  #connect(browser: Socket): void {
    browser.on('error', () => {});
    if (this.isDown) {
      reset(browser);
      return;
    }
    const origin = connect({ host: LOOPBACK, port: this.target, allowHalfOpen: true, noDelay: true });
    const connection = { browser, origin };
    this.#connections.add(connection);
    for (const [side, other, direction] of [
      [browser, origin, 'up'],
      [origin, browser, 'down'],
    ] as const) {
      side.on('error', () => reset(other));
      side.on('data', (bytes: Buffer) => this.#count(direction, bytes.length));
      side.once('close', () => {
        other.destroySoon();
        if (other.closed) this.#connections.delete(connection);
      });
      side.pipe(other);
    }
  }

  #fromBrowser(packet: Buffer, port: number): void {
    let flow = this.#flows.get(port);
    if (!flow) {
      flow = createSocket('udp4');
      this.#flows.set(port, flow);
      this.#onFlow();
      flow.on('error', () => {}).on('message', (answer) => this.#carry('down', answer, port));
      flow.connect(this.target, LOOPBACK);
      flow.once('connect', () => this.#carry('up', packet, port));
      return;
    }
    this.#carry('up', packet, port);
  }

  #carry(direction: Direction, packet: Buffer, port: number): void {
    if (this.#forgotten.has(port) || Math.random() < this.packetLoss) return;
    if (Math.random() < this.packetDamage) packet[packet.length >> 1]! ^= 0xff;
    this.#count(direction, packet.length);
    if (!this.#policers) this.#deliver(direction, packet, port);
    else if (this.#policers[direction].takes(packet.length))
      setTimeout(() => this.#deliver(direction, packet, port), POLICED_DELAY_MS);
  }

  #deliver(direction: Direction, packet: Buffer, port: number): void {
    const flow = this.#flows.get(port);
    if (this.#isClosed || !flow) return;
    try {
      if (direction === 'up') flow.send(packet);
      else this.#udp.send(packet, port, LOOPBACK);
    } catch {
      // Not connected yet: lost.
    }
  }

  #count(direction: Direction, bytes: number): void {
    for (const watch of this.#watches) {
      if (watch.direction !== direction) continue;
      watch.bytes -= bytes;
      if (watch.bytes >= 0) continue;
      this.#watches.delete(watch);
      watch.reached();
    }
  }
}
