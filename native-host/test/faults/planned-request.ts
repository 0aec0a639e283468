/** Planned requests on the test server, and the answers that belong to them. */
import { createHash } from 'node:crypto';
import type { PlannedRequest } from './plan.ts';
import { seededBytes } from './seeded-bytes.ts';

interface Receipt {
  bytes: number;
  /** The server has seen the end of the body. */
  whole: boolean;
  digest: string;
}

/** What a page consists of. */
export const PAGE: readonly PlannedRequest[] = [1_000, 30_000].map((bytes) => ({
  method: 'GET',
  bytes,
  seed: bytes,
  range: null,
  pauseMs: null,
  hasBody: false,
}));

/** @param id under which the server reports the request */
export function pathOf(request: PlannedRequest, id: string): string {
  const { bytes, seed, pauseMs } = request;
  const target = isUpload(request) ? '/digest?' : `/seeded/${bytes}?seed=${seed}&`;
  return `${target}id=${encodeURIComponent(id)}${pauseMs === null ? '' : `&pause=${pauseMs}`}`;
}

export function headersOf({ range }: PlannedRequest): Record<string, string> {
  return range ? { range: `bytes=${range.join('-')}` } : {};
}

/** Whether the server answers with a receipt. */
export function isUpload({ method }: PlannedRequest): boolean {
  return method === 'POST' || method === 'PUT';
}

/** What the server answers to a request that is no upload. */
export function rightAnswer({ method, bytes, seed, range }: PlannedRequest): {
  status: number;
  body: Buffer;
} {
  const whole = method === 'HEAD' ? Buffer.alloc(0) : seededBytes(bytes, seed);
  if (!range) return { status: 200, body: whole };
  return { status: 206, body: whole.subarray(range[0], range[1] + 1) };
}

/** Whether the server's receipt is that of the upload. */
export function isRightReceipt({ bytes, seed, hasBody }: PlannedRequest, text: string): boolean {
  const got = JSON.parse(text) as Receipt;
  const sent = hasBody ? seededBytes(bytes, seed) : Buffer.alloc(0);
  // The server says so when a body broke off.
  if (got.whole && got.bytes !== sent.length) return false;
  return got.digest === sha256(sent.subarray(0, got.bytes));
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function wordsOf({ method, bytes, range, pauseMs, hasBody }: PlannedRequest): string {
  const kind = range ? ' range' : pauseMs !== null ? ' stream' : hasBody ? ' upload' : '';
  return `${method}${kind} ${bytes}`;
}
