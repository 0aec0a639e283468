import type { TransferPlan } from '@hopwise/contract';
import { RequestError } from '../base/errors.ts';

/** One origin of a plan. */
export interface PlannedOrigin {
  /** `https://host[:port]`. */
  origin: string;
  /** `host:port`, with brackets round an IPv6 address. */
  host: string;
  /** The URL that is requested to test the origin: the document's, else that of its smallest resource. */
  url: string;
}

const HTTPS_PORT = '443';

/** `host:port` of an https URL. */
export function hostOf(url: URL): string {
  return `${url.hostname}:${url.port || HTTPS_PORT}`;
}

/**
 * The plan's URLs, parsed, and its origins in order of first use.
 *
 * @throws RequestError `bad-message` for an invalid URL, or a dependency that does not point backwards.
 */
export function readPlan(plan: TransferPlan): { urls: URL[]; origins: Map<string, PlannedOrigin> } {
  const urls = plan.transfers.map(({ url, after }, index) => {
    const forward = after.find((former) => former >= index);
    if (forward !== undefined) {
      throw new RequestError(
        'bad-message',
        `plan.transfers[${index}].after: expected indices below ${index}, got ${forward}`,
      );
    }
    // libcurl parses some URLs differently from browsers, so it only gets the URL standard's serialisation.
    const parsed = URL.canParse(url) ? new URL(url) : null;
    if (parsed?.protocol !== 'https:') {
      throw new RequestError('bad-message', `plan.transfers[${index}].url: expected an https URL`);
    }
    parsed.hash = '';
    return parsed;
  });
  const origins = new Map<string, PlannedOrigin>();
  const smallest = new Map<string, number>();
  urls.forEach((url, index) => {
    const bytes = index === 0 ? 0 : plan.transfers[index]!.bytes || Number.MAX_SAFE_INTEGER;
    const known = smallest.get(url.origin);
    if (known !== undefined && known <= bytes) return;
    if (hasCredentials(url)) return;
    smallest.set(url.origin, bytes);
    origins.set(url.origin, { origin: url.origin, host: hostOf(url), url: url.href });
  });
  return { urls, origins };
}

/** Whether a URL has credentials: browsers do not fetch such subresources, and probes do not either. */
export function hasCredentials(url: URL): boolean {
  return url.username !== '' || url.password !== '';
}
