/** A person's own server behind the emulated link: what a test asks for, and the way from the lab to the server. */
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { LabUpstream } from '@hopwise/lab/client/lab';
import { describeIssue } from '@hopwise/lab/command/describe-issue';
import type { PageSource } from '@hopwise/lab/pages/page-source';
import { siteOf } from '@hopwise/lab/sites/site';
import { writeSite } from '@hopwise/lab/sites/write-site';
import * as z from 'zod';
import { ReplayError } from './errors.ts';
import type { ReplayNetwork, ReplayProtocol } from './options.ts';

/** Which server a test's pages come from, over which network and by which protocol. */
export interface ServerLink {
  /** The server, as `http://localhost:3000`; the configuration's `baseURL` unless given. */
  server?: string;
  /** `cable` unless given. */
  network?: ReplayNetwork;
  /** `h1`, `h2`, `h3`, or `natural` for the browser's own choice, as it is unless given. */
  protocol?: Extract<ReplayProtocol, string>;
  /** Seed of the link's losses: the same seed loses the same packets. 1 unless given. */
  seed?: number;
}

/** The option for `test.use` and for `use` in the configuration. A group's takes the place of its file's. */
export interface LinkOptions {
  link: ServerLink | undefined;
}

const linkSchema = z.strictObject({
  server: z.string().optional(),
  // Checked where it is used, with a more specific message.
  network: z.custom<ReplayNetwork>().default('cable'),
  protocol: z.enum(['h1', 'h2', 'h3', 'natural']).default('natural'),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31)
    .default(1),
});

/** Where the server's pages are in the lab; its real name would lead past the link. */
export const LINK_ORIGIN = 'https://app.link.test';

/**
 * With its defaults, and the server's origin.
 *
 * @throws ReplayError naming the entry
 */
export function linkOf(given: unknown, baseURL: string | undefined): Required<ServerLink> {
  const parsed = linkSchema.safeParse(given);
  if (!parsed.success) {
    throw new ReplayError(describeIssue(parsed.error.issues, given, ['link']));
  }
  const named = parsed.data.server ?? baseURL;
  const url = named !== undefined && URL.canParse(named) ? new URL(named) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    const got = named === undefined ? 'neither it nor a baseURL' : JSON.stringify(named);
    throw new ReplayError(`link.server: expected a server such as http://localhost:3000, got ${got}`);
  }
  return { ...parsed.data, server: url.origin };
}

function addressOf(origin: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(origin);
  // An IPv6 address is in brackets in a URL.
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

/** Connects the lab's network namespace, which reaches no other, with a server outside: by a Unix socket and a process that passes its bytes on. */
export class LinkRelay {
  readonly page: PageSource;
  readonly upstreams: Readonly<Record<string, LabUpstream>>;
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(page: PageSource, upstream: LabUpstream) {
    this.page = page;
    this.upstreams = { [LINK_ORIGIN]: upstream };
    const allowHalfOpen = true;
    this.#listener = createServer({ allowHalfOpen }, (inside) =>
      this.#join(inside, connect({ ...addressOf(upstream.url), allowHalfOpen })),
    );
  }

  /**
   * @param folder for the socket and what the lab serves; its path must be short enough for a socket's
   * @throws ReplayError where the server does not answer
   */
  static async open(server: string, folder: string): Promise<LinkRelay> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const socket = join(folder, 's');
    const name = new URL(server).host;
    const site = siteOf(
      { name, entry: `${LINK_ORIGIN}/`, origins: [{ origin: LINK_ORIGIN, extraRttMs: 0 }] },
      [],
    );
    const dir = join(folder, 'site');
    await writeSite({ site, files: new Map() }, dir);
    const relay = new LinkRelay({ name, dir, site }, { socket, url: server });
    await relay.#knock(server);
    relay.#listener.listen(socket);
    await once(relay.#listener, 'listening');
    return relay;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#listener.listening) return;
    this.#listener.close();
    await once(this.#listener, 'close');
  }

  /** Refuses a server that is not there before a page says so. */
  async #knock(server: string): Promise<void> {
    const socket = connect(addressOf(server));
    try {
      await once(socket, 'connect');
    } catch (error) {
      const { code = 'no answer' } = error as NodeJS.ErrnoException;
      throw new ReplayError(
        `link.server: ${server} does not answer (${code}): start it, or name its command as webServer in the configuration`,
      );
    } finally {
      socket.destroy();
    }
  }

  #join(inside: Socket, outside: Socket): void {
    for (const [from, to] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      this.#sockets.add(from);
      from.on('close', () => {
        this.#sockets.delete(from);
        // After its end, the last bytes are still on their way to the other side, which `pipe` ends.
        if (!from.readableEnded) to.destroy();
      });
      // The lab's server tells the browser that its connection ended.
      from.on('error', () => to.destroy());
      from.pipe(to);
    }
  }
}
