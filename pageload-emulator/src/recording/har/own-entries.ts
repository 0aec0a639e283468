import { hostOf } from '../../util/url.ts';
import type { Entry } from './schema.ts';

/** Entries of a file without those that are no requests of any page. */
interface OwnEntries {
  entries: Entry[];
  /** How many were written twice: their copies are left out. */
  copies: number;
  /** How many were a proxy's tunnels, through which the page's own requests went, or the browser's checks of the network. */
  notOfPages: number;
}

/** Hosts that browsers and systems ask by themselves, before any page, to find out whether they are online. */
const CONNECTIVITY_CHECKS = new Set([
  'captive.apple.com',
  'connectivity-check.ubuntu.com',
  'connectivitycheck.android.com',
  'connectivitycheck.gstatic.com',
  'detectportal.firefox.com',
  'ipv4only.arpa',
  'network-test.debian.org',
  'nmcheck.gnome.org',
  'www.msftconnecttest.com',
  'www.msftncsi.com',
]);

/** Leaves out of a file what is no request of a page, and what is in it twice: recorders that listen twice write all of it again. */
export function ownEntries(all: readonly Entry[]): OwnEntries {
  const requests = all.filter(({ request }) => {
    const isTunnel = request.method?.toUpperCase() === 'CONNECT';
    return !isTunnel && !CONNECTIVITY_CHECKS.has(hostOf(request.url) ?? '');
  });
  const alike = new Map<string, Entry[]>();
  for (const entry of requests) {
    const key = `${entry.startedDateTime} ${entry.request.url}`;
    const known = alike.get(key);
    if (known) known.push(entry);
    else alike.set(key, [entry]);
  }
  const copies = new Set([...alike.values()].flatMap(copiesAmong));
  return {
    entries: requests.filter((entry) => !copies.has(entry)),
    copies: copies.size,
    notOfPages: all.length - requests.length,
  };
}

/** Entries of one URL and start that are equal, down to the last digit, to one before them. */
function copiesAmong(entries: readonly Entry[]): Entry[] {
  if (entries.length === 1) return [];
  const seen = new Set<string>();
  return entries.filter((entry) => {
    const text = JSON.stringify(entry);
    if (seen.has(text)) return true;
    seen.add(text);
    return false;
  });
}
