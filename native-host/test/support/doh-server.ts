import { once } from 'node:events';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { SecureContext } from 'node:tls';
import { type Answer, decode, encode } from 'dns-packet';

/** A resolver for DNS over HTTPS (RFC 8484) on `localhost`. */
export class DohServer {
  /** Questions so far, as `name type`. */
  readonly asked: string[] = [];
  readonly #server: Http2SecureServer;
  /** Status of every answer. */
  status = 200;

  /** @param names addresses by name */
  constructor(context: SecureContext, names: Record<string, string[]>) {
    this.#server = createSecureServer({ SNICallback: (_name, done) => done(null, context) });
    this.#server.on('stream', async (stream) => {
      stream.on('error', () => {});
      const query = decode(await buffer(stream));
      const { name, type } = query.questions![0]!;
      this.asked.push(`${name} ${type}`);
      const family = type === 'A' ? '.' : type === 'AAAA' ? ':' : null;
      const addresses = (names[name] ?? []).filter((address) => family && address.includes(family));
      const answers = addresses.map((data) => ({ name, type, ttl: 60, data }) as Answer);
      stream.respond({ ':status': this.status, 'content-type': 'application/dns-message' });
      stream.end(encode({ type: 'response', id: query.id, questions: query.questions, answers }));
    });
  }

  async listen(): Promise<this> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return this;
  }

  get url(): string {
    return `https://localhost:${(this.#server.address() as AddressInfo).port}/dns-query`;
  }

  /** Ends once its clients have closed their connections. */
  close(): void {
    this.#server.close();
  }
}
