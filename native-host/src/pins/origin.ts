import { EVERY_ORIGIN, isLocalHost } from '@hopwise/contract';
import type { NewPin } from './pin.ts';
import type { HostPort } from './proxy/authority.ts';

const HTTPS_PORT = 443;

/** The origin of a CONNECT to this host and port, as `URL.origin` serialises it. */
export function originOf({ host, port }: HostPort): string {
  return `https://${host}${port === HTTPS_PORT ? '' : `:${port}`}`;
}

/** The host and port of CONNECTs for an https origin. */
export function authorityOf(origin: string): HostPort {
  const { hostname, port } = new URL(origin);
  return { host: hostname, port: port === '' ? HTTPS_PORT : Number(port) };
}

/** Why an origin whose host is local by its name cannot be pinned, in one line; '' when it can. */
export function explainLocalOrigin({ origin, allowLocal }: Pick<NewPin, 'origin' | 'allowLocal'>): string {
  const { host } = authorityOf(origin);
  if (allowLocal || !isLocalHost(host)) return '';
  return `${host} is not public: add --allow-local to pin it anyway`;
}

/** Why such a pin of all origins at once is not possible, in one line; '' when it is, and for other pins. */
export function explainEveryOrigin({
  origin,
  kind,
  persistent,
  allowLocal,
}: Omit<NewPin, 'minutes'>): string {
  if (origin !== EVERY_ORIGIN) return '';
  if (kind !== 'avoid-h3') return 'all origins at once can be kept off HTTP/3, but not held to a protocol';
  if (persistent) return 'all origins at once are kept off HTTP/3 for one session only: leave out --keep';
  return allowLocal ? 'all origins at once are those at public addresses: leave out --allow-local' : '';
}
