import type { Authority } from './proxy/authority.ts';

const HTTPS_PORT = 443;

/** The origin of a CONNECT to this host and port, as `URL.origin` serialises it. */
export function originOf({ host, port }: Authority): string {
  return `https://${host}${port === HTTPS_PORT ? '' : `:${port}`}`;
}

/** The host and port of CONNECTs for an https origin. */
export function authorityOf(origin: string): Authority {
  const { hostname, port } = new URL(origin);
  return { host: hostname, port: port === '' ? HTTPS_PORT : Number(port) };
}
