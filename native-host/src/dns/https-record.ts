/** The HTTPS record of an origin (RFC 9460), by which a browser may know of HTTP/3 before its first request. */
import { isIP } from 'node:net';
import type { Answer } from 'dns-packet';
import { type DohServer, dnsQuery, type NameServer } from './dns-query.ts';
import { readServiceRecord, type ServiceRecord } from './svc-params.ts';

/** HTTPS, which `dns-packet` has no name for (RFC 9460, section 14.1). */
const HTTPS_TYPE = 'UNKNOWN_65';
const HTTPS_PORT = 443;
/** An alias may point to another one; loops end here. */
const MAX_ALIASES = 4;
/** Far more than origins publish. */
const MAX_RECORDS = 16;

/**
 * Looks an origin's HTTPS records up.
 *
 * @returns those that lead somewhere, the most preferred first; none where there is no such record, as for addresses and local names
 * @throws DnsError when no resolver answers, or the signal's reason
 */
export async function httpsRecords(
  origin: string,
  servers: readonly (NameServer | DohServer)[],
  signal: AbortSignal,
): Promise<ServiceRecord[]> {
  const { hostname, port } = new URL(origin);
  if (isLocal(hostname)) return [];
  // Section 9.1.
  let name = port === '' || Number(port) === HTTPS_PORT ? hostname : `_${port}._https.${hostname}`;
  for (let aliases = 0; aliases <= MAX_ALIASES; aliases += 1) {
    const records = recordsOf(name, await dnsQuery(name, HTTPS_TYPE, servers, signal));
    const alias = records.find(({ priority }) => priority === 0);
    if (!alias) return records.sort((a, b) => a.priority - b.priority);
    if (alias.target === '') return [];
    name = alias.target;
  }
  return [];
}

/** Names that are not in the DNS (RFC 6761, section 6.3; RFC 6762, section 3), and addresses. */
function isLocal(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0 || /(^|\.)(localhost|local)$/.test(hostname);
}

/** Records of the name that CNAMEs in the answer lead to. */
function recordsOf(name: string, answers: readonly Answer[]): ServiceRecord[] {
  const names = new Set([name.toLowerCase()]);
  for (const answer of answers) {
    if (answer.type === 'CNAME' && names.has(answer.name.toLowerCase())) names.add(answer.data.toLowerCase());
  }
  return answers
    .filter((answer) => (answer.type as string) === HTTPS_TYPE && names.has(answer.name.toLowerCase()))
    .slice(0, MAX_RECORDS)
    .flatMap((answer) => readServiceRecord((answer as unknown as { data: Buffer }).data) ?? []);
}
