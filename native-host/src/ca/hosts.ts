import { MAX_CA_HOSTS } from '@hopwise/contract';
import { UsageError } from '../base/errors.ts';
import { quoteInput } from '../base/one-line.ts';

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
    throw new UsageError(`expected at most ${MAX_CA_HOSTS} hosts, got ${hosts.length}`);
  return hosts;
}

/**
 * An origin as `URL.origin` serialises it.
 *
 * @throws UsageError for what is no https origin.
 */
export function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'https:' || `${url.origin}/` !== url.href)
    throw new UsageError(`expected an origin such as https://example.org, got ${quoteInput(text)}`);
  // Browsers connect to no such host, so that a pin of it would never have an effect.
  if (url.hostname.includes('*'))
    throw new UsageError(
      `expected one origin such as https://www.example.org, got a pattern: ${quoteInput(text)}`,
    );
  return url.origin;
}

function hostOf(text: string): string {
  const origin = readOrigin(text);
  const { hostname } = new URL(origin);
  const problem = hostProblem(hostname);
  if (problem) throw new UsageError(`${origin}: ${problem}`);
  return hostname;
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
