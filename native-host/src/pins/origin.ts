import type { Authority } from './proxy/authority.ts';

const HTTPS_PORT = 443;

/** The origin that a CONNECT to this host and port is for, as `URL.origin` writes it. */
export function originOf({ host, port }: Authority): string {
  return `https://${host}${port === HTTPS_PORT ? '' : `:${port}`}`;
}

/** Where the CONNECTs for an https origin lead. */
export function authorityOf(origin: string): Authority {
  const { hostname, port } = new URL(origin);
  return { host: hostname, port: port === '' ? HTTPS_PORT : Number(port) };
}
