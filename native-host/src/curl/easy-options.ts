import type { Protocol } from '@hopwise/contract';
import { HTTP_VERSION, OPT, SINCE_QUICK_EXIT } from './curl-constants.ts';
import type { Libcurl, Pointer } from './libcurl.ts';

const HTTPS_ONLY = 'https';
export const ERROR_TEXT_BYTES = 256;

/**
 * Time for three SYNs (1, 2 and 4 s apart) over a long path. Shorter on HTTP/3, as the page waits for the fallback: blocked UDP shows as
 * silence, and a QUIC handshake that takes more than 5 s will not complete.
 */
export const CONNECT_TIMEOUT_MS = { h1: 10_000, h2: 10_000, h3: 5_000 } as const;

/** The protocol of a value of `INFO.HTTP_VERSION`; null for an unknown one. */
export function reportedProtocol(version: number): Protocol | null {
  if (version === HTTP_VERSION.V1_0 || version === HTTP_VERSION.V1_1) return 'h1';
  if (version === HTTP_VERSION.V2) return 'h2';
  return version === HTTP_VERSION.V3 ? 'h3' : null;
}

/** How transfers resolve and verify the names of servers. */
export interface NameChecks {
  /** CA bundle; '' leaves libcurl its compiled-in one. */
  caFile: string;
  /** Resolver for DNS over HTTPS; '' for the system's resolver. */
  dohUrl: string;
}

/**
 * Sets the options of every transfer: https only, certificates verified, no redirect followed, no content
 * decoded.
 */
export function setCommonOptions(curl: Libcurl, easy: Pointer, { caFile, dohUrl }: NameChecks): void {
  curl.setText(easy, OPT.PROTOCOLS_STR, HTTPS_ONLY);
  curl.setLong(easy, OPT.FOLLOWLOCATION, 0);
  curl.setLong(easy, OPT.SSL_VERIFYPEER, 1);
  curl.setLong(easy, OPT.SSL_VERIFYHOST, 2);
  if (caFile) {
    curl.setText(easy, OPT.CAINFO, caFile);
    // Debian's build also reads a folder of certificates, which takes 20 ms of each handshake.
    curl.setPointer(easy, OPT.CAPATH, null);
  }
  if (dohUrl) curl.setText(easy, OPT.DOH_URL, dohUrl);
  // Measurements and pins are about the direct path: ignore a proxy of the environment.
  curl.setText(easy, OPT.PROXY, '');
  curl.setLong(easy, OPT.NOSIGNAL, 1);
  // Without it, cancelling a name lookup blocks the process until the resolver gives up.
  if (curl.version.number >= SINCE_QUICK_EXIT) curl.setLong(easy, OPT.QUICK_EXIT, 1);
  curl.setLong(easy, OPT.PIPEWAIT, 1);
  curl.setLong(easy, OPT.HTTP_CONTENT_DECODING, 0);
}

/** Callbacks that are registered once for many transfers: each transfer passes its number as user data. */
export type Callbacks = Partial<
  Record<'WRITE' | 'HEADER' | 'READ' | 'SEEK' | 'DEBUG' | 'SOCKOPT' | 'OPENSOCKET' | 'PREREQ', Pointer>
>;

export function setCallbacks(curl: Libcurl, easy: Pointer, callbacks: Callbacks, number: number): void {
  for (const [name, callback] of Object.entries(callbacks) as [keyof Callbacks, Pointer][]) {
    curl.setPointer(easy, OPT[`${name}FUNCTION`], callback);
    curl.setId(easy, OPT[`${name}DATA`], number);
  }
}
