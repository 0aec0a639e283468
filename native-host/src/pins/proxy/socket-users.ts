/** Finds which user's program is at the other end of a connection on this machine, in the kernel's tables of TCP sockets. */
import { accessSync, close, constants, open, read, readFileSync } from 'node:fs';
import { isIPv4, type Socket } from 'node:net';
import { endianness } from 'node:os';
import { promisify } from 'node:util';

/** One reading of the tables, with the connections to look for. */
interface Reading {
  wanted: Map<string, Ends>;
  users: Promise<ReadonlyMap<string, number>>;
}

/** Both ends of a connection, the other one first, as the tables write them. */
type Ends = readonly [other: string, own: string];

interface Table {
  path: string;
  /** What precedes an IPv4 address there. */
  prefix: string;
}

const IPV4_TABLE: Table = { path: '/proc/self/net/tcp', prefix: '' };

/** Programs may connect to an IPv4 address by a socket of IPv6 too, such as Java's. Without IPv6 there is no such table. */
const IPV6_TABLE: Table = {
  path: '/proc/self/net/tcp6',
  prefix: `${'0'.repeat(16)}${endianness() === 'LE' ? 'FFFF0000' : '0000FFFF'}`,
};

/** Names the id of users whom the reader's user namespace does not have. */
const OVERFLOW_UID = '/proc/sys/kernel/overflowuid';

/** The kernel gives a table away in pages: where a socket ends in between, another one may be left out. */
const READINGS = 2;
const BUFFER_BYTES = 16 * 1024;
const NEW_LINE = 0x0a;

/** Lighter than those of `node:fs/promises`, which allocate for each call what a `stat` would need. */
const openFile = promisify(open);
const readFile = promisify(read);
const closeFile = promisify(close);

/** Behind the ends: state, queues, timer, retransmissions, user, timeouts, inode. */
const REST = /^[\dA-F]{2} \S+ \S+ \S+ +(\d+) +\d+ (\d+) /;

/** Why users cannot be told apart here, '' where they can. */
export function explainUnknownUsers(
  platform: NodeJS.Platform = process.platform,
  ownUid = process.getuid?.(),
): string {
  if (platform !== 'linux') {
    return "pins need Linux so far: elsewhere the helper cannot tell which user's programs connect to its proxy";
  }
  try {
    accessSync(IPV4_TABLE.path, constants.R_OK);
    if (ownUid !== Number(readFileSync(OVERFLOW_UID, 'latin1'))) return '';
    return `pins need a user of their own: the kernel shows users that it cannot name as ${ownUid} too`;
  } catch (fault) {
    return `pins need the kernel's table of sockets, which tells users apart: ${(fault as Error).message}`;
  }
}

export class SocketUsers {
  /** Into which the tables are read; one for all readings, as they take turns. */
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  /** The one that begins when the current one has ended. */
  #next: Reading | null = null;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * One reading serves all connections accepted since the one before began, so that the number of connections does not matter.
   *
   * @returns the user as this process's user namespace names it; null when no program has the other end any more
   * @throws Error when the tables cannot be read
   */
  async findUser(socket: Socket): Promise<number | null> {
    const ends = endsOf(socket);
    if (ends === null) return null;
    this.#next ??= this.#planReading();
    const { wanted, users } = this.#next;
    const key = ends.join(' ');
    wanted.set(key, ends);
    return (await users).get(key) ?? null;
  }

  #planReading(): Reading {
    const wanted = new Map<string, Ends>();
    const users = this.#last.then(() => {
      this.#next = null;
      return findUsers(wanted, this.#buffer);
    });
    this.#last = users.catch(() => {});
    return { wanted, users };
  }
}

async function findUsers(
  wanted: ReadonlyMap<string, Ends>,
  buffer: Buffer,
): Promise<ReadonlyMap<string, number>> {
  const users = new Map<string, number>();
  for (let reading = 0; reading < READINGS; reading++) {
    for (const table of [IPV4_TABLE, IPV6_TABLE]) {
      const missing = [...wanted].filter(([key]) => !users.has(key));
      if (missing.length > 0) await searchTable(table, missing, users, buffer);
    }
  }
  return users;
}

/** Adds the users found to `users`. */
async function searchTable(
  { path, prefix }: Table,
  wanted: readonly (readonly [string, Ends])[],
  users: Map<string, number>,
  buffer: Buffer,
): Promise<void> {
  const searched = wanted.map(([key, ends]) => ({
    key,
    text: `${ends.map((end) => prefix + end).join(' ')} `,
  }));
  for await (const lines of readLines(path, prefix !== '', buffer)) {
    for (const { key, text } of searched) {
      for (let at = lines.indexOf(text); at >= 0; at = lines.indexOf(text, at + 1)) {
        const [, uid, inode] =
          REST.exec(lines.toString('latin1', at + text.length, lines.indexOf(NEW_LINE, at))) ?? [];
        // Without an inode no program has the socket, and its user is 0: it waits for the connection's late segments.
        if (uid !== undefined && inode !== '0') users.set(key, Number(uid));
      }
    }
    if (searched.every(({ key }) => users.has(key))) return;
  }
}

/** Reads a table piece by piece, each of whole lines, which are valid until the next one. */
async function* readLines(path: string, mayBeMissing: boolean, buffer: Buffer): AsyncGenerator<Buffer> {
  let file: number;
  try {
    file = await openFile(path, 'r');
  } catch (fault) {
    if (mayBeMissing && (fault as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw fault;
  }
  try {
    for (let filled = 0; ; ) {
      const { bytesRead } = await readFile(file, buffer, filled, BUFFER_BYTES - filled, null);
      if (bytesRead === 0) return;
      filled += bytesRead;
      const end = buffer.lastIndexOf(NEW_LINE, filled - 1) + 1;
      yield buffer.subarray(0, end);
      buffer.copyWithin(0, end, filled);
      filled -= end;
    }
  } finally {
    await closeFile(file);
  }
}

/** @returns null for a connection that has ended, or is not one over IPv4 */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): Ends | null {
  if (!remoteAddress || !remotePort || !localAddress || !localPort) return null;
  if (!isIPv4(remoteAddress) || !isIPv4(localAddress)) return null;
  return [writeEnd(remoteAddress, remotePort), writeEnd(localAddress, localPort)];
}

/** An address is written as a number in this machine's order of bytes. */
function writeEnd(address: string, port: number): string {
  const bytes = Buffer.from(address.split('.').map(Number));
  if (endianness() === 'LE') bytes.reverse();
  return `${bytes.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}
