import { groupBy, type RecordedRequest, type TransferPlan } from '@hopwise/contract';
import { originOf } from '../util/url.ts';

/** Bytes of the responses that a check transfers, over each of the two. The verdict on UDP needs 200 kB (native-host, `udp-verdict.ts`). */
export const MIN_CHECK_BYTES = 230_000;
export const MAX_CHECK_BYTES = 330_000;
/** Where the server's responses are small, they are transferred several times. */
const MAX_TRANSFERS = 24;

/** Types whose requests change nothing at the server. */
const TYPES: readonly RecordedRequest['type'][] = ['script', 'style', 'image', 'font'];

interface Page {
  url: string;
  requests: readonly RecordedRequest[];
}

/**
 * Plans the check of a network: one small transfer over HTTP/3 and one over TCP, of responses that a page has had from one server that
 * offers HTTP/3.
 *
 * @param page with its query strings
 * @returns null where no server offers it, or too little came from each
 */
export function planNetworkCheck(page: Page, userAgent: string): TransferPlan | null {
  const offering = new Set(
    page.requests
      .filter(({ protocol, offersH3 }) => protocol === 'h3' || offersH3 === true)
      .map(({ url }) => originOf(url)),
  );
  return [...planChecks(page, userAgent)].find(([origin]) => offering.has(origin))?.[1] ?? null;
}

/** The same for each server that enough came from, whether it offers HTTP/3 or not: by origin, in the order of the page's requests. */
export function planChecks({ url, requests }: Page, userAgent: string): Map<string, TransferPlan> {
  const plans = new Map<string, TransferPlan>();
  for (const [origin, own] of groupBy(requests, (request) => originOf(request.url) ?? '')) {
    if (!origin.startsWith('https:')) continue;
    const able = own.filter(
      ({ method, status, type, fromCache }) =>
        method === 'GET' && status === 200 && TYPES.includes(type) && !fromCache,
    );
    const plan = planCheckOf(
      able.map((request) => ({ url: request.url, bytes: request.bodyBytes ?? 0 })),
      url,
      userAgent,
    );
    if (plan !== null) plans.set(origin, plan);
  }
  return plans;
}

/**
 * Plans the check by the largest responses of one server that fit, several times if need be.
 *
 * @returns null for too few bytes
 */
export function planCheckOf(
  responses: readonly { url: string; bytes: number }[],
  pageUrl: string,
  userAgent: string,
): TransferPlan | null {
  const able = responses.filter(({ bytes }) => bytes > 0).toSorted((a, b) => b.bytes - a.bytes);
  const chosen: { url: string; bytes: number }[] = [];
  let sum = 0;
  for (let turn = 0; turn < MAX_TRANSFERS && able.length > 0 && sum < MIN_CHECK_BYTES; turn++) {
    const response = able[turn % able.length]!;
    if (sum + response.bytes > MAX_CHECK_BYTES) continue;
    chosen.push(response);
    sum += response.bytes;
  }
  if (sum < MIN_CHECK_BYTES) return null;
  return {
    pageUrl,
    userAgent: userAgent.slice(0, 512),
    transfers: chosen.map(({ url, bytes }) => ({
      url,
      after: [],
      delayMs: 0,
      urgency: 3,
      incremental: false,
      accept: '*/*',
      bytes,
    })),
  };
}
