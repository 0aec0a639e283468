/** A query to resolvers, over UDP, and over TCP where the answer is truncated (RFC 1035; RFC 7766), or over HTTPS. */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { getServers } from 'node:dns';
import { connect, isIPv6 } from 'node:net';
import { type Answer, decode, encode, type Packet, RECURSION_DESIRED } from 'dns-packet';
import { readDohUrl } from '../base/settings.ts';
import { postDnsQuery } from './dns-over-https.ts';

export interface NameServer {
  address: string;
  port: number;
}

/** A resolver for DNS over HTTPS. */
export interface DohServer {
  url: string;
}

/** No usable answer; the message is for the user. */
export class DnsError extends Error {}

const DNS_PORT = 53;
/** After this time an answer counts as lost; stub resolvers wait for 5 s (resolv.conf(5)), browsers less. */
const TRY_MS = 1_500;
/** Time for an answer over HTTPS, which a TLS handshake precedes. */
const DOH_TRY_MS = 5_000;
/** Servers to query, one after the other, as libc does (resolv.conf(5), MAXNS). */
const MAX_SERVERS = 3;
/** Fits into a packet on every path (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1232;
/** Bits of the header's flags (RFC 1035, section 4.1.1). */
const TRUNCATED = 0x0200;
const RESPONSE_CODE = 0x000f;
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;
/** Longest label and name, in text form without the final dot (RFC 1035, section 2.3.4). */
const MAX_LABEL_LENGTH = 63;
const MAX_NAME_LENGTH = 253;

/** Servers of the system's configuration, `/etc/resolv.conf` where there is one. */
function systemNameServers(): NameServer[] {
  return getServers().slice(0, MAX_SERVERS).map(readNameServer);
}

/** The resolver that the settings name, or those of the system. */
export function nameServers(): (NameServer | DohServer)[] {
  const url = readDohUrl();
  return url === '' ? systemNameServers() : [{ url }];
}

/** `address`, `address:port` or `[address]:port`, as Node writes them. */
export function readNameServer(text: string): NameServer {
  if (isIPv6(text)) return { address: text, port: DNS_PORT };
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  return { address: bracketed ?? plain ?? text, port: Number(port ?? DNS_PORT) };
}

/**
 * Queries one server after the other until one answers.
 *
 * @param type as `dns-packet` names it: `UNKNOWN_65` for what it has no name for
 * @returns the answer section, empty where the name or the type does not exist
 * @throws DnsError when no server answers, or there can be no such name; the signal's reason
 */
export async function dnsQuery(
  name: string,
  type: string,
  servers: readonly (NameServer | DohServer)[],
  signal: AbortSignal,
): Promise<Answer[]> {
  // Browsers let hosts have other names. Encoded, they would ask for something else.
  if (!isName(name)) throw new DnsError('the DNS can have no such name');
  let fault = new DnsError('the system names no resolver');
  for (const server of servers) {
    try {
      return await askServer(name, type, server, signal);
    } catch (error) {
      signal.throwIfAborted();
      fault = error instanceof DnsError ? error : new DnsError((error as Error).message);
    }
  }
  throw fault;
}

function isName(name: string): boolean {
  const text = name.replace(/\.$/, '');
  const isLabel = (label: string) => label.length > 0 && label.length <= MAX_LABEL_LENGTH;
  return text.length <= MAX_NAME_LENGTH && text.split('.').every(isLabel);
}

async function askServer(
  name: string,
  type: string,
  server: NameServer | DohServer,
  signal: AbortSignal,
): Promise<Answer[]> {
  const id = randomInt(0x1_0000);
  const query = encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    questions: [{ name, type: type as 'A' }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: UDP_PAYLOAD_BYTES,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  });
  /** @returns null for packets that do not answer this query, such as forged ones */
  const answerIn = (bytes: Buffer): Packet | null => {
    const packet = readPacket(bytes);
    const question = packet?.questions?.[0];
    const ours =
      packet?.type === 'response' &&
      packet.id === id &&
      packet.questions?.length === 1 &&
      question?.name.toLowerCase() === name.toLowerCase() &&
      question.type === type;
    return ours ? packet : null;
  };
  const answer =
    'url' in server
      ? await overHttps(query, server, answerIn, signal)
      : await overUdpOrTcp(query, server, answerIn, signal);
  const code = (answer.flags ?? 0) & RESPONSE_CODE;
  if (code !== NO_ERROR && code !== NO_SUCH_NAME) {
    throw new DnsError(
      `the resolver ${'url' in server ? server.url : server.address} answered with error ${code}`,
    );
  }
  return answer.answers ?? [];
}

async function overUdpOrTcp(
  query: Buffer,
  server: NameServer,
  answerIn: ReadAnswer,
  signal: AbortSignal,
): Promise<Packet> {
  const answer = await overUdp(query, server, answerIn, signal);
  return (answer.flags ?? 0) & TRUNCATED ? overTcp(query, server, answerIn, signal) : answer;
}

async function overHttps(
  query: Buffer,
  { url }: DohServer,
  answerIn: ReadAnswer,
  signal: AbortSignal,
): Promise<Packet> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(DOH_TRY_MS)]);
  const answer = answerIn(await postDnsQuery(url, query, limit));
  if (!answer) throw new DnsError(`the resolver ${url} sent an answer to another query`);
  return answer;
}

function readPacket(bytes: Buffer): Packet | null {
  try {
    return decode(bytes);
  } catch {
    // A hostile server can send any bytes: they hold no answer.
    return null;
  }
}

type ReadAnswer = (bytes: Buffer) => Packet | null;

function overUdp(
  query: Buffer,
  { address, port }: NameServer,
  answerIn: ReadAnswer,
  signal: AbortSignal,
): Promise<Packet> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  return settled<Packet>(
    (resolve, reject) => {
      socket.on('error', reject);
      // On a connected socket other senders' datagrams do not arrive, and a closed port is reported at once.
      socket.connect(port, address, () => {
        // The socket is already closed if the query was aborted at once.
        if (!signal.aborted) socket.send(query, (error) => error && reject(error));
      });
      socket.on('message', (bytes) => {
        const answer = answerIn(bytes);
        if (answer) resolve(answer);
      });
    },
    `the resolver ${address} did not answer`,
    signal,
  ).finally(() => socket.close());
}

function overTcp(
  query: Buffer,
  { address, port }: NameServer,
  answerIn: ReadAnswer,
  signal: AbortSignal,
): Promise<Packet> {
  const socket = connect(port, address);
  let received = Buffer.alloc(0);
  return settled<Packet>(
    (resolve, reject) => {
      socket.on('error', reject);
      socket.on('close', () => reject(new DnsError(`the resolver ${address} ended the connection`)));
      const length = Buffer.alloc(2);
      length.writeUInt16BE(query.length);
      socket.write(Buffer.concat([length, query]));
      socket.on('data', (chunk) => {
        received = Buffer.concat([received, chunk]);
        if (received.length < 2) return;
        const end = 2 + received.readUInt16BE(0);
        if (received.length < end) return;
        const answer = answerIn(received.subarray(2, end));
        if (answer) resolve(answer);
        else reject(new DnsError(`the resolver ${address} sent an answer to another query`));
      });
    },
    `the resolver ${address} did not answer over TCP`,
    signal,
  ).finally(() => socket.destroy());
}

/** Within `TRY_MS`, unless the signal ends it before. */
async function settled<T>(
  begin: (resolve: (value: T) => void, reject: (fault: Error) => void) => void,
  late: string,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let onAbort: () => void = () => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      timer = setTimeout(() => reject(new DnsError(late)), TRY_MS);
      onAbort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort, { once: true });
      begin(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
