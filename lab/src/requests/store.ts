/** Measured sessions, a file each, and the table of them. */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { ServerStack } from '../client/server-stack.ts';
import { replaceFile } from '../command/write-file.ts';
import { serversOn } from '../gauntlet/draw-servers.ts';
import type { Condition } from './draw-condition.ts';
import type { SessionTransport } from './session.ts';
import type { MeasuredSession } from './session-lab.ts';
import type { SessionRow } from './session-row.ts';

/** One session in the table. */
interface StoredRow extends Omit<SessionRow, 'requests'> {
  family: string;
  server: Omit<Condition['server'], 'origin' | 'protocols'>;
  lateShare: number;
  requests: { [Column in keyof SessionRow['requests']]: (number | null)[] };
}

interface SessionKey {
  condition: string;
  stack: ServerStack;
  transport: SessionTransport;
}

const fileOf = ({ condition, stack, transport }: SessionKey): string =>
  `${condition}.${stack}.${transport}.json`;

export class SessionStore {
  readonly #dir: string;
  readonly #files: Set<string>;

  private constructor(dir: string, files: Set<string>) {
    this.#dir = dir;
    this.#files = files;
  }

  static async open(dir: string): Promise<SessionStore> {
    const sessions = join(dir, 'sessions');
    await mkdir(sessions, { recursive: true });
    return new SessionStore(
      sessions,
      new Set((await readdir(sessions)).filter((name) => name.endsWith('.json'))),
    );
  }

  has(key: SessionKey): boolean {
    return this.#files.has(fileOf(key));
  }

  async add(key: SessionKey, condition: Condition, session: MeasuredSession): Promise<void> {
    const name = fileOf(key);
    await replaceFile(join(this.#dir, name), JSON.stringify(rowOf(key, condition, session)));
    this.#files.add(name);
  }

  /** The table of all sessions: JSON lines, sorted by name. */
  async writeTable(path: string): Promise<{ sessions: number; bytes: number }> {
    const names = [...this.#files].sort();
    const lines = await Promise.all(names.map((name) => readFile(join(this.#dir, name), 'utf8')));
    const table = gzipSync(lines.map((line) => `${line}\n`).join(''), { level: 9 });
    await replaceFile(path, table);
    return { sessions: names.length, bytes: table.length };
  }
}

function rowOf(
  { stack, transport }: SessionKey,
  condition: Condition,
  { result, changedMs, lateShare }: MeasuredSession,
): StoredRow {
  const [server] = serversOn(stack, [condition.server]);
  const { origin: _origin, protocols: _protocols, ...settings } = server!;
  return {
    condition: condition.name,
    split: condition.split,
    family: condition.family,
    change: condition.change,
    stack,
    transport,
    server: settings,
    before: condition.before,
    after: condition.after,
    changesBefore: condition.changesBefore,
    changedMs: changedMs.map(Math.round),
    lateShare: Number(lateShare.toPrecision(2)),
    refusal: result.refusal,
    requests: columnsOf(result),
  };
}

const PROTOCOL_NUMBER = { h1: 1, h2: 2, h3: 3 } as const;

/** Joins what client and helper saw of each request; figures of the helper are null where it reported none. */
export function columnsOf({
  requests,
  exchanges,
  beganAtMs,
}: MeasuredSession['result']): StoredRow['requests'] {
  const left = exchanges.toSorted((a, b) => a.endedAtMs - b.endedAtMs);
  const joined = requests
    .toSorted((a, b) => a.startedMs + a.tookMs - (b.startedMs + b.tookMs))
    .map((request) => {
      // Requests end in the same order at both; those of one size may overtake each other, and are alike.
      const at = left.findIndex(({ bodyBytes }) => bodyBytes === request.bytes);
      const exchange = request.status > 0 && at >= 0 ? left.splice(at, 1)[0] : undefined;
      return { request, exchange };
    });
  const column = (read: (each: (typeof joined)[number]) => number | null | undefined) =>
    joined.map((each) => {
      const value = read(each);
      return value === null || value === undefined ? null : Math.round(value * 10) / 10;
    });
  return {
    index: column(({ request }) => request.index),
    startedMs: column(({ request }) => request.startedMs),
    tookMs: column(({ request }) => request.tookMs),
    status: column(({ request }) => request.status),
    bytes: column(({ request }) => request.bytes),
    protocol: column(({ exchange }) => exchange && PROTOCOL_NUMBER[exchange.protocol]),
    endedMs: column(({ exchange }) => exchange && exchange.endedAtMs - beganAtMs),
    ttfbMs: column(({ exchange }) => exchange?.ttfbMs),
    completionMs: column(({ exchange }) => exchange?.completionMs),
    isReused: column(({ exchange }) => exchange && Number(exchange.isReused)),
    rttMs: column(({ exchange }) => exchange?.tcp?.rttMs),
    segments: column(({ exchange }) => exchange?.tcp?.segments),
    outOfOrder: column(({ exchange }) => exchange?.tcp?.outOfOrder),
  };
}
