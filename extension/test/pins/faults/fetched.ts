/** Planned requests by `fetch` in a page. */
import type { PlannedRequest } from '../../../../native-host/test/faults/plan.ts';
import { headersOf, pathOf } from '../../../../native-host/test/faults/planned-request.ts';

/** A response, as far as it arrived. */
export interface Fetched {
  /** 0: no response started. */
  status: number;
  /** SHA-256 of the body; '' when it broke off. */
  digest: string;
  /** The body of a receipt. */
  text: string;
  /** The browser's name of the error; '' for none. */
  error: string;
}

/** The error of what takes too long. */
export const GIVEN_UP = 'given up';

/** Longer than any receipt. */
const RECEIPT_CHARS = 100_000;

interface FetchOrder extends Pick<PlannedRequest, 'method' | 'bytes' | 'seed' | 'hasBody'> {
  path: string;
  headers: Record<string, string>;
  limitMs: number;
  receiptChars: number;
}

/** @param id id by which the server reports arrivals @param limitMs time after which the page gives up */
export function fetchOrder(request: PlannedRequest, id: string, limitMs: number): FetchOrder {
  const { method, bytes, seed, hasBody } = request;
  const path = pathOf(request, id);
  return {
    path,
    method,
    bytes,
    seed,
    hasBody,
    headers: headersOf(request),
    limitMs,
    receiptChars: RECEIPT_CHARS,
  };
}

/** Runs in the page. The error is the name of the exception. */
export async function fetchInPage(order: FetchOrder): Promise<Fetched> {
  const { path, method, bytes, seed, hasBody, headers, limitMs, receiptChars } = order;
  let body: ArrayBuffer | null = null;
  if (hasBody) {
    // The same bytes as the server generates for `/seeded/`.
    const key = new Uint8Array(16);
    new DataView(key.buffer).setUint32(12, seed);
    const aes = await crypto.subtle.importKey('raw', key, 'AES-CTR', false, ['encrypt']);
    const counter = { name: 'AES-CTR', counter: new Uint8Array(16), length: 128 };
    body = await crypto.subtle.encrypt(counter, aes, new Uint8Array(bytes));
  }
  const signal = AbortSignal.timeout(limitMs);
  let status = 0;
  try {
    const response = await fetch(path, { method, headers, body, signal, cache: 'no-store' });
    status = response.status;
    const got = await response.arrayBuffer();
    const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', got));
    const digest = [...sum].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return { status, digest, text: new TextDecoder().decode(got.slice(0, receiptChars)), error: '' };
  } catch (fault) {
    return { status, digest: '', text: '', error: (fault as Error).name };
  }
}

/** The name of the exception for what took too long. */
export const TIMEOUT = 'TimeoutError';
