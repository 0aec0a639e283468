import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Answer, decode, encode, type Packet } from 'dns-packet';
import type { NameServer } from '../../src/dns/dns-query.ts';

export interface DnsReply {
  answers?: Answer[];
  /** Flags of the header; those of a response without errors unless given. */
  flags?: number;
  /** Sent in place of an answer. */
  raw?: Buffer;
}

/** Answers over UDP and TCP on one port of the loopback interface. */
export class DnsServer {
  /** Questions so far, as `name transport`. */
  readonly asked: string[] = [];
  readonly #udp = createSocket('udp4');
  readonly #tcp = createServer((socket) => this.#onConnection(socket));
  readonly #reply: (name: string, transport: 'udp' | 'tcp', query: Packet) => DnsReply | null;
  #address: NameServer = { address: '127.0.0.1', port: 0 };

  /** @param reply null for silence */
  constructor(reply: (name: string, transport: 'udp' | 'tcp', query: Packet) => DnsReply | null) {
    this.#reply = reply;
    this.#udp.on('message', (bytes, from) => {
      const answer = this.#answer(bytes, 'udp');
      if (answer) this.#udp.send(answer, from.port, from.address);
    });
  }

  get address(): NameServer {
    return this.#address;
  }

  async listen(): Promise<this> {
    for (;;) {
      await once(this.#tcp.listen(0, '127.0.0.1'), 'listening');
      const { port } = this.#tcp.address() as AddressInfo;
      this.#udp.bind(port, '127.0.0.1');
      try {
        await once(this.#udp, 'listening');
        this.#address = { address: '127.0.0.1', port };
        return this;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
        // Another program has the UDP port of this number.
        await once(this.#tcp.close(), 'close');
      }
    }
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#udp.close(resolve));
    await new Promise((resolve) => this.#tcp.close(resolve));
  }

  #answer(bytes: Buffer, transport: 'udp' | 'tcp'): Buffer | null {
    const query = decode(bytes);
    const { name } = query.questions![0]!;
    this.asked.push(`${name} ${transport}`);
    const reply = this.#reply(name, transport, query);
    if (!reply) return null;
    const { answers = [], flags = 0, raw } = reply;
    return raw ?? encode({ type: 'response', id: query.id, flags, questions: query.questions, answers });
  }

  #onConnection(socket: Socket): void {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const answer = this.#answer(bytes.subarray(2), 'tcp');
      if (!answer) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      // In pieces, as networks deliver it.
      socket.write(length.subarray(0, 1));
      socket.end(Buffer.concat([length.subarray(1), answer]));
    });
  }
}

/** An HTTPS record for `name`. */
export function httpsAnswer(name: string, data: Buffer): Answer {
  return { name, type: 'UNKNOWN_65', ttl: 60, data } as unknown as Answer;
}

/** RDATA of an HTTPS record (RFC 9460, section 2.2). */
export function serviceData(
  priority: number,
  target: string,
  params: [key: number, value: Buffer][],
): Buffer {
  const labels = target === '' ? [] : target.split('.');
  const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
  return Buffer.concat([
    u16(priority),
    ...labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
    ...params.flatMap(([key, value]) => [u16(key), u16(value.length), value]),
  ]);
}

/** Value of `alpn`. */
export function alpnValue(...identifiers: string[]): Buffer {
  return Buffer.concat(
    identifiers.map((text) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])),
  );
}
