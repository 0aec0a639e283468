import { MAX_CA_HOSTS } from '@hopwise/contract';
import { UsageError } from '../base/usage-error.ts';

/** RFC 1035 section 2.3.4: octets of a name as it is written. */
const MAX_NAME = 253;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
/** A top-level domain that is digits makes an address, not a name (RFC 1123 section 2.1). */
const DIGITS = /^\d+$/;

/**
 * The hosts of these origins, each once, sorted.
 *
 * @throws UsageError for what is no https origin of a named host.
 */
export function hostsOf(origins: readonly string[]): string[] {
  const hosts = [...new Set(origins.map(hostOf))].sort();
  if (hosts.length === 0) throw new UsageError('expected at least one origin, such as https://example.org');
  if (hosts.length > MAX_CA_HOSTS)
    throw new UsageError(`expected at most ${MAX_CA_HOSTS} hosts, found ${hosts.length}`);
  return hosts;
}

function hostOf(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url?.protocol !== 'https:' || `${url.origin}/` !== url.href) {
    throw new UsageError(`expected an origin such as https://example.org, found "${printable(origin)}"`);
  }
  const problem = hostProblem(url.hostname);
  if (problem) throw new UsageError(`${printable(origin)}: ${problem}`);
  return url.hostname;
}

/** Why no CA can be created for this host; '' when it can. */
function hostProblem(host: string): string {
  const labels = host.split('.');
  if (host.startsWith('[') || DIGITS.test(labels.at(-1)!)) {
    return 'an address cannot be pinned to a protocol, only a host name';
  }
  if (host.length > MAX_NAME || !labels.every((label) => LABEL.test(label))) return 'not a host name';
  // A client that knew no exclusions would trust the CA for everything below it.
  if (labels.length === 1 && host !== 'localhost')
    return 'expected a whole host name, not a top-level domain';
  return '';
}

function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '?').slice(0, 200);
}
