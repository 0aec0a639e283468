import { createHash } from 'node:crypto';
import { firstLine } from '@hopwise/contract';
import { parseProtocol, type ResourceType } from '@hopwise/pageload-emulator';
import type { Page, Request, Response } from 'playwright-core';
import type { RecordByteBudget } from './byte-budget.ts';
import { type Captured, type CapturedAnswer, MAX_REQUESTS, NOT_KEPT } from './captured.ts';
import type { PageNetwork } from './page-network.ts';
import { BODY_TIMEOUT_MS, within } from './within.ts';

const BYTE_ORDER_MARK = Buffer.from('\ufeff');
/** Bytes that an empty body may take with coding and framing. */
const MAX_EMPTY_BYTES = 256;

interface Seen {
  startedAt: number;
  response: Response | null;
  reading: Promise<Captured> | null;
}

/** Requests and answers so far. */
export class RequestWatch {
  readonly #seen = new Map<Request, Seen>();
  readonly #network: PageNetwork;
  readonly #budget: RecordByteBudget;
  #dropped = 0;

  constructor(page: Page, network: PageNetwork, budget: RecordByteBudget) {
    this.#network = network;
    this.#budget = budget;
    page.on('request', (request) => {
      if (!/^https?:/.test(request.url())) return;
      if (this.#seen.size >= MAX_REQUESTS) this.#dropped++;
      else this.#seen.set(request, { startedAt: Date.now(), response: null, reading: null });
    });
    page.on('response', (response) => {
      const seen = this.#seen.get(response.request());
      if (seen) seen.response = response;
    });
    // Bodies vanish with their document, so they are read as soon as they are complete.
    page.on('requestfinished', (request) => this.#read(request, null));
    page.on('requestfailed', (request) =>
      this.#read(request, request.failure()?.errorText ?? 'it failed without a reason'),
    );
  }

  get count(): number {
    return this.#seen.size;
  }

  get dropped(): number {
    return this.#dropped;
  }

  #read(request: Request, failure: string | null): void {
    const seen = this.#seen.get(request);
    if (seen && !seen.reading) seen.reading = this.#capture(request, seen, failure, null);
  }

  async take(): Promise<Captured[]> {
    const captured = await Promise.all(
      [...this.#seen].map(async ([request, seen]) => {
        if (seen.reading) return seen.reading;
        const body = await this.#network.bodySoFar(request);
        return this.#capture(request, seen, 'it had not ended when the recording did', body);
      }),
    );
    captured.push(...(await this.#network.icons()));
    const began = Math.min(...captured.map(({ startMs }) => startMs));
    for (const request of captured) {
      request.startMs -= began;
      request.endMs -= began;
    }
    return captured.toSorted((a, b) => a.startMs - b.startMs);
  }

  async #capture(
    request: Request,
    { startedAt, response }: Seen,
    failure: string | null,
    partial: Uint8Array | null,
  ): Promise<Captured> {
    const timing = request.timing();
    const posted = request.postDataBuffer();
    const startMs = timing.startTime > 0 ? timing.startTime : startedAt;
    const captured: Captured = {
      url: request.url().split('#')[0] as string,
      method: request.method(),
      type: typeOf(request),
      startMs,
      endMs: timing.responseEnd > 0 ? startMs + timing.responseEnd : Date.now(),
      timing,
      requestSha256: posted === null ? null : createHash('sha256').update(posted).digest('hex'),
      answer: null,
      failure,
    };
    try {
      if (response === null) return captured;
      captured.answer = await this.#answer(request, response, failure !== null, partial);
      if (captured.answer.body === null) captured.failure ??= NOT_KEPT;
    } catch (error) {
      captured.failure ??= firstLine(error);
    }
    return captured;
  }

  async #answer(
    request: Request,
    response: Response,
    isPartial: boolean,
    partial: Uint8Array | null,
  ): Promise<CapturedAnswer> {
    const status = response.status();
    const headers = await within(response.headersArray(), BODY_TIMEOUT_MS);
    const answer: CapturedAnswer = {
      status,
      headers,
      protocol: parseProtocol(await within(response.httpVersion(), BODY_TIMEOUT_MS).catch(() => null)),
      remoteIp: (await within(response.serverAddr(), BODY_TIMEOUT_MS).catch(() => null))?.ipAddress ?? null,
      bodyBytes: null,
      body: this.#budget.take(partial),
    };
    const bodiless = request.method() === 'HEAD' || [204, 205, 304].includes(status);
    if (bodiless || (status >= 300 && status < 400)) {
      answer.body = new Uint8Array();
      answer.bodyBytes = 0;
      return answer;
    }
    if (isPartial) return answer;
    const length = headers.find(({ name }) => name.toLowerCase() === 'content-length')?.value ?? '';
    const { responseBodySize } = await within(request.sizes(), BODY_TIMEOUT_MS);
    answer.bodyBytes = /^\d{1,15}$/.test(length) ? Number(length) : responseBodySize;
    if (answer.bodyBytes > this.#budget.left) return answer;
    // The browser withholds a body that the page may not see (opaque response blocking).
    const isTaken = (body: Uint8Array) => body.length === 0 && (answer.bodyBytes ?? 0) > MAX_EMPTY_BYTES;
    let body: Uint8Array | null = await within(response.body(), BODY_TIMEOUT_MS).catch(() => null);
    if (body === null || isTaken(body)) body = await this.#network.body(request);
    body = body === null || isTaken(body) ? null : this.#budget.take(body);
    if (body === null) return answer;
    answer.body = body;
    if (!headers.some(({ name }) => name.toLowerCase() === 'content-encoding')) {
      // The browser removes the byte order mark when decoding text, but an integrity attribute includes it.
      if (length === String(body.length + BYTE_ORDER_MARK.length)) {
        answer.body = Buffer.concat([BYTE_ORDER_MARK, body]);
      }
      // For HTTP/2 and HTTP/3 the browser's count includes framing.
      answer.bodyBytes = answer.body.length;
    }
    return answer;
  }
}

const TYPES: Record<string, ResourceType> = {
  stylesheet: 'style',
  script: 'script',
  font: 'font',
  image: 'image',
  media: 'media',
  fetch: 'fetch',
  xhr: 'fetch',
  eventsource: 'fetch',
  ping: 'beacon',
};

function typeOf(request: Request): ResourceType {
  if (request.isNavigationRequest()) return isFramed(request) ? 'iframe' : 'document';
  return TYPES[request.resourceType()] ?? 'other';
}

function isFramed(request: Request): boolean {
  try {
    return request.frame().parentFrame() !== null;
  } catch {
    // Playwright has no frame yet for a navigation that has just started; this happens only for the page's own.
    return false;
  }
}
