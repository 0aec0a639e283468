import { parseProtocol } from '@hopwise/pageload-emulator';
import type { BrowserContext, CDPSession, Page, Request } from 'playwright-core';
import type { RecordByteBudget } from './byte-budget.ts';
import { type Captured, MAX_REQUESTS, NOT_KEPT } from './captured.ts';
import { BODY_TIMEOUT_MS, within } from './within.ts';

const MAX_ICONS = 10;

type IconResponse = {
  url: string;
  status: number;
  headers: Record<string, string>;
  protocol?: string;
  remoteIPAddress?: string;
  responseTime?: number;
};

const isIcon = (url: string): boolean => /^https?:/.test(url) && url.endsWith('/favicon.ico');

const NO_TIMING: Captured['timing'] = {
  startTime: -1,
  domainLookupStart: -1,
  domainLookupEnd: -1,
  connectStart: -1,
  secureConnectionStart: -1,
  connectEnd: -1,
  requestStart: -1,
  responseStart: -1,
  responseEnd: -1,
};

/** The network events of the page's process, including those that Playwright hides. */
export class PageNetwork {
  readonly #session: CDPSession;
  readonly #budget: RecordByteBudget;
  /** By request id, in order. */
  readonly #requests = new Map<string, { url: string; method: string; isOpen: boolean }>();
  /** Answers for `favicon.ico`, which Playwright does not report. */
  readonly #icons = new Map<string, IconResponse>();

  private constructor(session: CDPSession, budget: RecordByteBudget) {
    this.#session = session;
    this.#budget = budget;
    session.on('Network.requestWillBeSent', ({ requestId, request: { url, method } }) => {
      // A data: URL contains its whole content.
      if (!/^https?:/.test(url)) return;
      // Bounds the memory for a page that never stops requesting.
      if (this.#requests.size < MAX_REQUESTS) this.#requests.set(requestId, { url, method, isOpen: true });
    });
    const close = ({ requestId }: { requestId: string }) => {
      const request = this.#requests.get(requestId);
      if (request) request.isOpen = false;
    };
    session.on('Network.responseReceived', ({ requestId, response }) => {
      if (isIcon(response.url) && this.#icons.size < MAX_ICONS) this.#icons.set(requestId, response);
    });
    session.on('Network.loadingFinished', close);
    session.on('Network.loadingFailed', close);
  }

  static async watch(context: BrowserContext, page: Page, budget: RecordByteBudget): Promise<PageNetwork> {
    const session = await context.newCDPSession(page);
    const network = new PageNetwork(session, budget);
    const bytes = budget.left;
    await session.send('Network.enable', { maxTotalBufferSize: bytes, maxResourceBufferSize: bytes });
    return network;
  }

  /** The whole body of a completed request; null when the browser has none. */
  async body(request: Request): Promise<Uint8Array | null> {
    const requestId = this.#take(request, false);
    if (requestId === null) return null;
    const reading = this.#session.send('Network.getResponseBody', { requestId });
    const answer = await within(reading, BODY_TIMEOUT_MS).catch(() => null);
    return answer === null ? null : Buffer.from(answer.body, answer.base64Encoded ? 'base64' : 'utf8');
  }

  /** The received part of an unfinished body, such as an event stream; null when the browser has none. */
  async bodySoFar(request: Request): Promise<Uint8Array | null> {
    const requestId = this.#take(request, true);
    if (requestId === null) return null;
    const reading = this.#session.send('Network.streamResourceContent', { requestId });
    const answer = await within(reading, BODY_TIMEOUT_MS).catch(() => null);
    return answer === null ? null : Buffer.from(answer.bufferedData, 'base64');
  }

  /** The icons that were received; `startMs` is Unix time. */
  icons(): Promise<Captured[]> {
    return Promise.all(
      [...this.#icons].map(async ([requestId, response]) => {
        const reading = this.#session.send('Network.getResponseBody', { requestId });
        const answer = await within(reading, BODY_TIMEOUT_MS).catch(() => null);
        const body = this.#budget.take(
          answer && Buffer.from(answer.body, answer.base64Encoded ? 'base64' : 'utf8'),
        );
        return {
          url: response.url.split('#')[0] as string,
          method: 'GET',
          type: 'other' as const,
          startMs: response.responseTime ?? Date.now(),
          endMs: response.responseTime ?? Date.now(),
          timing: NO_TIMING,
          requestSha256: null,
          answer: {
            status: response.status,
            headers: Object.entries(response.headers).map(([name, value]) => ({ name, value })),
            protocol: parseProtocol(response.protocol),
            remoteIp: response.remoteIPAddress ?? null,
            bodyBytes: body?.length ?? null,
            body,
          },
          failure: body === null ? NOT_KEPT : null,
        };
      }),
    );
  }

  /** The id of a matching request; each is returned once. */
  #take(request: Request, isOpen: boolean): string | null {
    const url = request.url().split('#')[0];
    for (const [id, own] of this.#requests) {
      if (own.url.split('#')[0] !== url || own.method !== request.method() || own.isOpen !== isOpen) continue;
      this.#requests.delete(id);
      return id;
    }
    return null;
  }
}
