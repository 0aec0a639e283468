/** Steps that the tests of pins share between Chromium and Firefox. */
import type { PinKind } from '@hopwise/contract';
import { expect } from 'vitest';
import { hopwiseHost } from '../../../native-host/test/support/command.ts';
import { type Server, ServerProgram } from '../../../native-host/test/support/server.ts';
import type { PageAnswers, PageRequest } from '../../src/background/page-requests.ts';
import type { Refusal } from '../../src/messages/send-request.ts';
import type { PinsAnswer } from '../../src/pins/pin-messages.ts';
import { HOST } from './pinned-host.ts';

/** Protocol in the browser's and in the server's notation, for a request without a proxy or through the tunnel of `avoid-h3`. */
export const H2 = 'h2 HTTP/2.0';
export const H3 = 'h3 HTTP/3.0';

/** A request to a worker that is being stopped may never be answered. */
const NO_ANSWER_MS = 5000;

/** The server that `HOST` stands for. */
export interface PinnedServer {
  server: Server;
  /** `https://host:port`. */
  origin: string;
  stop(): Promise<void>;
}

export async function serveHost(): Promise<PinnedServer> {
  const program = new ServerProgram();
  const server = await program.start();
  const stop = async (): Promise<void> => {
    await server.stop();
    program.remove();
  };
  return { server, origin: `https://${HOST}:${server.port}`, stop };
}

/** Runs `hopwise-host ca` as the user whose home folder this is. */
export function ca(home: string, ...words: string[]): void {
  const { code, err } = hopwiseHost(home, ['ca', ...words]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
}

/** A page of either browser. */
interface OpenPage {
  evaluate<R>(what: (path: string) => Promise<R>, path: string): Promise<R>;
}

let serial = 0;

/** Sends a request from an open page of the server. @returns its protocol as browser and server report it */
export async function carried(page: OpenPage, server: Server): Promise<string> {
  const path = `/bytes/1000/${++serial}`;
  const protocol = await page.evaluate(async (url) => {
    // A browser keeps only the first 250 resource timings of a page, and tests exceed that on a fast machine.
    performance.clearResourceTimings();
    await (await fetch(url, { cache: 'no-store' })).arrayBuffer();
    const entries = performance.getEntriesByName(new URL(url, location.href).href);
    return (entries.at(-1) as PerformanceResourceTiming).nextHopProtocol;
  }, path);
  const seen = await server.seen(1);
  return `${protocol} ${seen.find((one) => one.path === path)?.proto}`;
}

/** Repeats requests until one uses the wanted protocol. */
export async function becomes(wanted: string, page: OpenPage, server: Server): Promise<void> {
  await expect.poll(() => carried(page, server), { timeout: 60_000, interval: 50 }).toBe(wanted);
}

/** Requests of each page to the pinned host. */
const ASKED_TIMES = 3;

/** Sends requests to the pinned host from pages in turn. @returns the connections of each page's, as the server sees them */
export async function listClients(pages: readonly OpenPage[], server: Server): Promise<string[][]> {
  const clients: string[][] = pages.map(() => []);
  for (let time = 0; time < ASKED_TIMES; time++)
    for (const [at, page] of pages.entries()) {
      const path = `/bytes/1000/${++serial}`;
      await page.evaluate(
        async (url) => {
          await fetch(url, { mode: 'no-cors', cache: 'no-store' });
        },
        server.url(path, HOST),
      );
      const [seen] = await server.seen(1, (one) => one === path);
      if (seen) clients[at]!.push(seen.client);
    }
  return clients;
}

/** Sends requests about the pins of one origin to a browser's worker. */
export class PinRequests {
  readonly #ask: <T extends PageRequest>(request: T) => Promise<PageAnswers[T['type']]>;
  readonly #origin: string;

  constructor(ask: <T extends PageRequest>(request: T) => Promise<PageAnswers[T['type']]>, origin: string) {
    this.#ask = ask;
    this.#origin = origin;
  }

  /** The servers of tests are on this machine, so that a pin has to be allowed. */
  pin(kind: PinKind = 'avoid-h3', allowLocal = true): Promise<PinsAnswer | Refusal> {
    return this.#ask({
      type: 'pin',
      pins: [{ origin: this.#origin, kind, allowLocal }],
      minutes: 60,
      persistent: false,
    });
  }

  unpin(origin = this.#origin): Promise<PinsAnswer | Refusal> {
    return this.#ask({ type: 'unpin', origins: [origin] });
  }

  /** @throws Error when the worker refuses, or does not answer */
  async all(): Promise<PinsAnswer['pins']> {
    const late = new Promise<never>((_, reject) => setTimeout(reject, NO_ANSWER_MS, new Error('no answer')));
    const answer = await Promise.race([this.#ask({ type: 'pins' }), late]);
    if (!answer.ok) throw new Error(answer.error);
    return answer.pins;
  }
}
