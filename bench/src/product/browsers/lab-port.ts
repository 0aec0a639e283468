import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { Lab } from '@hopwise/lab/client/lab';

/** Run inside the lab for each connection. */
const RELAY =
  "const inner = require('node:net').connect(Number(process.argv[1]), '127.0.0.1'); process.stdin.pipe(inner).pipe(process.stdout);";

/**
 * A port of this machine that leads to the port of the same number inside the lab, whose network is its own. Firefox is controlled over
 * TCP alone, and refuses clients that name another port than its own.
 */
export class LabPort {
  readonly #server: Server;
  readonly #lab: Lab;

  private constructor(lab: Lab) {
    this.#lab = lab;
    this.#server = createServer((outer) => this.#relay(outer)).unref();
  }

  static async open(lab: Lab): Promise<LabPort> {
    const port = new LabPort(lab);
    port.#server.listen(0, '127.0.0.1');
    await once(port.#server, 'listening');
    return port;
  }

  get number(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Takes no further connections; those that are open end with either side. */
  close(): void {
    this.#server.close();
  }

  #relay(outer: Socket): void {
    const [program, ...words] = this.#lab.enterCommand([process.execPath, '-e', RELAY, String(this.number)]);
    const relay = spawn(program!, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    const end = () => {
      relay.kill();
      outer.destroy();
    };
    relay.once('error', end);
    pipeline(outer, relay.stdin, end);
    pipeline(relay.stdout, outer, end);
  }
}
