import { isLocalHost } from '@hopwise/contract';
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
