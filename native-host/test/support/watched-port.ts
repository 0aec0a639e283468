import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** A port of this machine, over TCP and UDP, that counts what reaches it and ends every connection. */
export class WatchedPort {
  readonly #tcp: Server;
  readonly #udp: UdpSocket;
  /** Connections and datagrams. */
  arrivals = 0;

  private constructor() {
    const count = (): void => {
      this.arrivals += 1;
    };
    this.#tcp = createServer((socket) => {
      count();
      socket.on('error', () => {}).destroy();
    });
    this.#udp = createSocket('udp4').on('message', count);
  }

  static async listen(): Promise<WatchedPort> {
    const watched = new WatchedPort();
    await once(watched.#tcp.listen(0, '127.0.0.1'), 'listening');
    await once(watched.#udp.bind(watched.port, '127.0.0.1'), 'listening');
    return watched;
  }

  get port(): number {
    return (this.#tcp.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#udp.close();
    await once(this.#tcp.close(), 'close');
  }
}
