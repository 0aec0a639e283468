import { originOf } from '../../util/url.ts';
import type { RequestDraft } from '../requests/draft.ts';

/** When HTTP/2 was published (RFC 7540), Unix time in milliseconds. */
const HTTP_2_AT = Date.parse('2015-05-14');

/**
 * Fills in the protocols that a file does not name. Without TLS browsers speak HTTP/1.1 alone (RFC 9113 section 3.3). Where none of the requests over TLS
 * has a protocol, the recorder knows none, and theirs is assumed to be HTTP/2, before its day HTTP/1.1: requests without a protocol show nothing of the
 * network. Origins that offer HTTP/3 are left out: what browsers do with such offers is weighed when the network is estimated
 * (`estimate/withheld-protocols.ts`).
 *
 * @param drafts their protocols are changed
 * @param startMs when the load began, Unix time in milliseconds
 * @returns the protocol that was assumed over TLS; null where none had to be
 */
export function fillUnnamedProtocols(drafts: readonly RequestDraft[], startMs: number): 'h1' | 'h2' | null {
  const answered = drafts.filter(({ status, fromCache }) => status > 0 && !fromCache);
  for (const draft of answered) if (!isSecure(draft)) draft.protocol ??= 'h1';
  const secure = answered.filter(isSecure);
  if (secure.some(({ protocol }) => protocol !== null)) return null;
  const offering = new Set(secure.flatMap(({ url, offersH3 }) => (offersH3 ? [originOf(url)] : [])));
  const others = secure.filter(({ url }) => !offering.has(originOf(url)));
  if (others.length === 0) return null;
  const assumed = startMs < HTTP_2_AT ? 'h1' : 'h2';
  for (const draft of others) draft.protocol = assumed;
  return assumed;
}

const isSecure = ({ url }: RequestDraft): boolean => originOf(url)?.startsWith('https:') === true;
