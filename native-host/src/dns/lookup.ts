/** The addresses of hosts, from the resolver that the user has chosen. */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { readDohUrl } from '../base/settings.ts';
import { dnsQuery } from './dns-query.ts';

export type Lookup = (host: string) => Promise<LookupAddress[]>;

/** Code of the error for a name that does not exist, as Node has it; without a network it is another. */
export const NAME_UNKNOWN = 'ENOTFOUND';

const DOH_LIMIT_MS = 10_000;

/** In the order of RFC 6724, as the system's resolver returns them. */
const lookUpBySystem: Lookup = (host) => lookup(host, { all: true, order: 'verbatim' });

/** Addresses of either family that DNS over HTTPS has, IPv6 first (RFC 8305, section 4). */
async function lookUpOverHttps(host: string, url: string): Promise<LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const limit = AbortSignal.timeout(DOH_LIMIT_MS);
  const answers = await Promise.all(['AAAA', 'A'].map((type) => dnsQuery(host, type, [{ url }], limit)));
  const found = answers.flat().flatMap((answer) => {
    if (answer.type === 'AAAA') return [{ address: answer.data, family: 6 }];
    return answer.type === 'A' ? [{ address: answer.data, family: 4 }] : [];
  });
  if (found.length === 0) {
    const message = `${host} has no address at ${new URL(url).origin}`;
    throw Object.assign(new Error(message), { code: NAME_UNKNOWN });
  }
  return found;
}

/** By DNS over HTTPS if the settings name a resolver for it, else by the system's resolver. */
export const lookUp: Lookup = async (host) => {
  const url = readDohUrl();
  return url === '' ? lookUpBySystem(host) : lookUpOverHttps(host, url);
};
