import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** This machine, as browsers ask for it through a proxy too: another name of it would have pins wait. */
export const PROXIED_HOST = '0.0.0.0';

/** The head of a CONNECT as a browser sends it. */
export function connectHead(target: string, ...fields: string[]): string {
  return [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, ...fields, '', ''].join('\r\n');
}

/** A server of the transport that stands for an origin; what it accepts is given to `onSocket`. */
export class Origin {
  readonly server: Server;
  readonly sockets = new Set<Socket>();

  private constructor(onSocket: (socket: Socket) => void) {
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket)).on('error', () => {});
      onSocket(socket);
    });
  }

  static async listen(onSocket: (socket: Socket) => void, address = '127.0.0.1'): Promise<Origin> {
    const origin = new Origin(onSocket);
    await once(origin.server.listen(0, address), 'listening');
    return origin;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Everything that a peer sent until it ended the connection, and whether it did so by a reset. */
export interface Heard {
  bytes: Buffer;
  reset: boolean;
}

/** Listens to a socket to its end. */
export function hear(socket: Socket): Promise<Heard> {
  const chunks: Buffer[] = [];
  let reset = false;
  return new Promise((resolve) => {
    socket
      .on('data', (chunk) => chunks.push(chunk))
      .on('error', (fault: NodeJS.ErrnoException) => {
        reset = fault.code === 'ECONNRESET' || fault.code === 'EPIPE';
      })
      .on('end', () => socket.end())
      .once('close', () => resolve({ bytes: Buffer.concat(chunks), reset }));
  });
}

/** Sends bytes and listens until the other side ends the connection. */
export async function say(port: number, bytes: string | Uint8Array): Promise<Heard> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const heard = hear(socket);
  socket.write(bytes);
  return heard;
}

/** A tunnel that is open. */
export async function openTunnel(port: number, target: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  socket.write(connectHead(target));
  let head = '';
  while (!head.endsWith('\r\n\r\n')) {
    await Promise.race([
      once(socket, 'readable'),
      once(socket, 'end').then(() => {
        throw new Error(`no tunnel: ${head || 'not a byte'}`);
      }),
    ]);
    for (let byte = socket.read(1); byte !== null && !head.endsWith('\r\n\r\n'); byte = socket.read(1)) {
      head += byte.toString('latin1');
      if (head.endsWith('\r\n\r\n')) break;
    }
  }
  if (!/^HTTP\/1\.1 200 Connection established\r\n\r\n$/i.test(head)) throw new Error(`no tunnel: ${head}`);
  return socket;
}

/** Waits for what takes its time to be seen. */
export async function until(what: () => boolean, limitMs = 20_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!what()) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
