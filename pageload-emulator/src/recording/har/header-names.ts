/** Headers that are read of requests and responses, beside HTTP/2's, which begin with a colon. All others of a file are left out while it is read. */
export const HEADER_NAMES = [
  'accept',
  'alt-svc',
  'content-encoding',
  'content-length',
  'location',
  'non-authoritative-reason',
  'purpose',
  'referer',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-user',
  'sec-purpose',
  'upgrade-insecure-requests',
  'x-firefox-http3',
  'x-firefox-spdy',
  'x-moz',
  'x-requested-with',
] as const;

export type HeaderName = (typeof HEADER_NAMES)[number];
