import { ADVISED_INITIAL_WINDOW, type AdviceKind } from '../advise/improvements.ts';

/** What to do, as an imperative clause. */
export const ADVICE_WORDS: Record<AdviceKind, string> = {
  'offer-h2': 'offer HTTP/2',
  'offer-h3': 'offer HTTP/3',
  'withdraw-h3': 'stop offering HTTP/3',
  'https-record': 'announce HTTP/3 in an HTTPS record of the DNS',
  'early-data': 'accept early data (0-RTT) over HTTP/3',
  'initial-window': `begin TCP connections with ${ADVISED_INITIAL_WINDOW} packets`,
  'start-rate': 'begin later visits over HTTP/3 at the rate that the browser announces (Start-Rate)',
  bbr: 'send with BBR',
  'tls-1.3': 'offer TLS 1.3',
  priorities: "follow the browser's priorities (RFC 9218)",
  'no-redirect': 'serve the page in place of a redirect to it',
  'page-cache': 'serve the page from a cache',
  compression: 'compress text',
  'one-origin': "serve its files from the document's origin",
  preconnect: 'announce connections in the head of the page',
  preload: 'announce late scripts and style sheets in the head of the page',
};

/** What to know before doing it; absent where there is nothing. */
export const ADVICE_CAVEATS: Partial<Record<AdviceKind, string>> = {
  'offer-h3': 'UDP port 443 has to be open to the server.',
  'https-record': 'Browsers use the record only where their resolver passes it on.',
  'early-data':
    'Early data can be replayed: accept it only for requests that change nothing (RFC 8446, section 8).',
  'initial-window': 'A large first flight can overflow short queues of slow links: watch retransmissions.',
  'start-rate':
    'It takes a QUIC server that knows this hint and stops believing clients whose starts lose packets; few browsers send it.',
  bbr: 'The setting is for all TCP connections that the machine sends on.',
  priorities:
    'nginx and servers written in Go, such as Caddy, ignore these priorities: it takes other software or a CDN.',
  'no-redirect':
    'Name one address as the canonical one in the page (<link rel="canonical">), for search engines.',
  'page-cache':
    'Only where all visitors get the same page: what depends on a cookie belongs in no shared cache.',
  'one-origin': 'Cookies of the document then go along with each request.',
  preload: 'What is announced and not used delays the rest: keep the list up to date with the page.',
};
