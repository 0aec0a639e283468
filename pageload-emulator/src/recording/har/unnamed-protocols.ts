import { originOf } from '../../util/url.ts';
import type { RequestDraft } from '../requests/draft.ts';
import type { Entry } from './schema.ts';

/** When HTTP/2 was published (RFC 7540), Unix time in milliseconds. */
const HTTP_2_AT = Date.parse('2015-05-14');

/** What was assumed of requests whose protocol a file does not name. */
export interface AssumedProtocol {
  protocol: 'h1' | 'h2';
  /** Number of requests. */
  requests: number;
}

/**
 * Fills in the protocols that a file does not name: requests without one show nothing of the network.
 *
 * - Without TLS browsers speak HTTP/1.1 alone (RFC 9113 section 3.3).
 * - DevTools until 2017 took the protocol from the text of an answer's headers. HTTP/2 has none, nor has SPDY: both are `unknown` in files that name
 *   HTTP/1.1 for others, or nothing else.
 * - Where none of the requests over TLS has a protocol, the recorder knows none, and theirs is assumed to be HTTP/2, before its day HTTP/1.1.
 *
 * Origins that offer HTTP/3 are left out: what browsers do with such offers is weighed when the network is estimated
 * (`estimate/withheld-protocols.ts`).
 *
 * @param entryOf drafts with what they were read from; their protocols are changed
 * @param startMs when the load began, Unix time in milliseconds
 * @returns what was assumed over TLS; null where nothing had to be
 */
export function fillUnnamedProtocols(
  entryOf: ReadonlyMap<RequestDraft, Entry>,
  startMs: number,
): AssumedProtocol | null {
  const answered = [...entryOf.keys()].filter(({ status, fromCache }) => status > 0 && !fromCache);
  for (const draft of answered) if (schemeOf(draft) === 'http') draft.protocol ??= 'h1';
  const secure = answered.filter((draft) => schemeOf(draft) === 'https');
  const named = secure.filter(({ protocol }) => protocol !== null);
  if (named.some(({ protocol }) => protocol !== 'h1')) return null;
  const offering = new Set(secure.flatMap(({ url, offersH3 }) => (offersH3 ? [originOf(url)] : [])));
  const unnamed = secure.filter(({ protocol, url }) => protocol === null && !offering.has(originOf(url)));
  const withoutText = unnamed.filter((draft) =>
    /^unknown$/i.test(entryOf.get(draft)!.response?.httpVersion ?? ''),
  );
  const protocol = withoutText.length > 0 || startMs >= HTTP_2_AT ? 'h2' : 'h1';
  const filled = named.length > 0 ? withoutText : unnamed;
  for (const draft of filled) draft.protocol = protocol;
  return filled.length === 0 ? null : { protocol, requests: filled.length };
}

const schemeOf = ({ url }: RequestDraft): string | undefined => originOf(url)?.split(':', 1)[0];
