/** Planned requests by `fetch` in a page. */
import type { Page } from 'playwright-core';
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

/** Longer than any receipt. */
const RECEIPT_CHARS = 100_000;

/** @param id id by which the server reports arrivals @param limitMs time after which the page gives up */
export async function fetchIn(
  page: Page,
  request: PlannedRequest,
  id: string,
  limitMs: number,
): Promise<Fetched> {
  const path = pathOf(request, id);
  let error = '';
  const failed = page.waitForEvent('requestfailed', {
    predicate: (one) => one.url().endsWith(path),
    timeout: 0,
  });
  failed.then(
    (one) => {
      error = one.failure()?.errorText ?? '';
    },
    () => {},
  );
  const { method, bytes, seed, hasBody } = request;
  const order = { path, method, bytes, seed, hasBody, headers: headersOf(request), limitMs, RECEIPT_CHARS };
  const fetched = await page.evaluate(async (order) => {
    const { path, method, bytes, seed, hasBody, headers, limitMs, RECEIPT_CHARS } = order;
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
      return { status, digest, text: new TextDecoder().decode(got.slice(0, RECEIPT_CHARS)), error: '' };
    } catch (fault) {
      return { status, digest: '', text: '', error: (fault as Error).name };
    }
  }, order);
  if (fetched.error === '') return fetched;
  if (fetched.error === 'TimeoutError') return { ...fetched, error: GIVEN_UP };
  // The message is obtained separately.
  await Promise.race([failed, new Promise((resolve) => setTimeout(resolve, WORDS_LIMIT_MS))]);
  return { ...fetched, error: error || fetched.error };
}

export const GIVEN_UP = 'given up';
const WORDS_LIMIT_MS = 1000;
