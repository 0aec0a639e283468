import type { Protocol } from '@hopwise/contract';
import { HTTP_VERSION, OPT, SINCE_QUICK_EXIT } from './curl-constants.ts';
import type { Libcurl, Pointer } from './libcurl.ts';

const HTTPS_ONLY = 'https';
export const ERROR_TEXT_BYTES = 256;

/** What libcurl reports after a transfer as HTTP version. */
export function reportedProtocol(version: number): Protocol | null {
  if (version === HTTP_VERSION.V1_0 || version === HTTP_VERSION.V1_1) return 'h1';
  if (version === HTTP_VERSION.V2) return 'h2';
  return version === HTTP_VERSION.V3 ? 'h3' : null;
}

/**
 * What every transfer has in common: https alone, certificates verified, the response as it comes:
 * no redirect followed, nothing decoded.
 *
 * @param caFile CA bundle; '' leaves libcurl its compiled-in one.
 */
export function setCommonOptions(curl: Libcurl, easy: Pointer, caFile: string): void {
  curl.setText(easy, OPT.PROTOCOLS_STR, HTTPS_ONLY);
  curl.setLong(easy, OPT.FOLLOWLOCATION, 0);
  curl.setLong(easy, OPT.SSL_VERIFYPEER, 1);
  curl.setLong(easy, OPT.SSL_VERIFYHOST, 2);
  if (caFile) {
    curl.setText(easy, OPT.CAINFO, caFile);
    // Debian's build also reads a whole folder of certificates, 20 ms of each handshake.
    curl.setPointer(easy, OPT.CAPATH, null);
  }
  // The direct path is what is measured and what is pinned: no proxy of the environment.
  curl.setText(easy, OPT.PROXY, '');
  curl.setLong(easy, OPT.NOSIGNAL, 1);
  // Giving up a name would otherwise stop everything until the resolver has given it up as well.
  if (curl.version.number >= SINCE_QUICK_EXIT) curl.setLong(easy, OPT.QUICK_EXIT, 1);
  curl.setLong(easy, OPT.PIPEWAIT, 1);
  curl.setLong(easy, OPT.HTTP_CONTENT_DECODING, 0);
}
