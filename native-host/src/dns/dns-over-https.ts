/** DNS over HTTPS (RFC 8484), over HTTP/2. */
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect } from 'node:http2';
import { caFile } from '../curl/ca-file.ts';

/** The largest DNS message (RFC 1035, section 4.2.2). */
const ANSWER_BYTES = 65_535;
const MEDIA_TYPE = 'application/dns-message';
/** Browsers keep an idle connection to a resolver about as long: a page's names come within seconds. */
const IDLE_MS = 60_000;

/** By origin. */
const sessions = new Map<string, ClientHttp2Session>();

/**
 * The resolver's answer to a query in wire format.
 *
 * @throws Error with the reason; the signal's reason
 */
export function postDnsQuery(url: string, query: Buffer, signal: AbortSignal): Promise<Buffer> {
  const { origin, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const stream = sessionFor(origin).request(
      {
        ':method': 'POST',
        ':path': `${pathname}${search}`,
        accept: MEDIA_TYPE,
        'content-type': MEDIA_TYPE,
        'content-length': query.length,
      },
      { signal },
    );
    const chunks: Buffer[] = [];
    let bytes = 0;
    let status = 0;
    stream
      .on('error', () => reject(signal.aborted ? signal.reason : new Error(`${origin} cannot be reached`)))
      .on('response', (headers) => {
        status = headers[':status'] ?? 0;
      })
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes > ANSWER_BYTES) stream.destroy(new Error('too long'));
      })
      .on('end', () => {
        if (status === 200) resolve(Buffer.concat(chunks));
        else reject(new Error(`${origin} answered a DNS query with status ${status}`));
      })
      .end(query);
  });
}

function sessionFor(origin: string): ClientHttp2Session {
  const known = sessions.get(origin);
  if (known && !known.closed && !known.destroyed) return known;
  const bundle = caFile();
  const session = connect(origin, bundle ? { ca: readFileSync(bundle) } : {});
  const forget = (): void => {
    if (sessions.get(origin) === session) sessions.delete(origin);
  };
  session.on('error', forget).on('goaway', forget).on('close', forget);
  session.setTimeout(IDLE_MS, () => session.close());
  // It does not keep the process alive.
  session.unref();
  sessions.set(origin, session);
  return session;
}
