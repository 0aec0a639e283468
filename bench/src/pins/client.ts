import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { requestFor } from '../../../native-host/test/pins/proxy/support/origin-request.ts';
import { connectHead } from '../../../native-host/test/pins/proxy/support/peers.ts';

/** Bytes are read into it and looked at no more, so that the client costs little. */
const SINK = Buffer.alloc(1024 * 1024);

/** How to reach the origin: `via` is the port of a proxy, null where there is none. */
export interface Way {
  name: string;
  via: number | null;
  origin: number;
}

/** A connection to the origin, on which one request follows the other. */
export class Client {
  readonly #socket: Socket;
  #owed = 0;
  /** The proxy's answer, which may come in pieces. */
  #head = '';
  #done: () => void = () => {};

  private constructor(port: number) {
    this.#socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer: SINK,
        callback: (count, buffer) => {
          // Before the first request comes the proxy's answer only.
          if (this.#owed > 0) this.#owed -= count;
          else {
            this.#head += Buffer.from(buffer.buffer, 0, count).toString('latin1');
            if (!this.#head.endsWith('\r\n\r\n')) return true;
          }
          if (this.#owed === 0) this.#done();
          return true;
        },
      },
    });
  }

  static async open({ via, origin }: Way): Promise<Client> {
    const client = new Client(via ?? origin);
    await once(client.#socket, 'connect');
    if (via !== null) {
      const answered = client.#next();
      client.#socket.write(connectHead(`127.0.0.1:${origin}`));
      await answered;
      if (!/^HTTP\/1\.[01] 200 /.test(client.#head))
        throw new Error(`no tunnel by port ${via}: ${client.#head}`);
    }
    return client;
  }

  /** One request and its whole response. */
  async exchange(bytes: number): Promise<void> {
    const answered = this.#next();
    this.#owed = bytes;
    this.#socket.write(requestFor(bytes));
    await answered;
  }

  close(): void {
    this.#socket.destroy();
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }
}
