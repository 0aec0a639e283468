/** `npm run lab -- requests` from end to end: the built helper's proxy under both transports, on a network that changes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../../src/paths.ts';

let out: string;

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'hopwise-requests-'));
});

afterAll(() => rm(out, { recursive: true, force: true }));

/** The first condition of this seed has UDP blocked in mid-session, on a fast network. */
const SEED = '372';

async function measure(...words: string[]): Promise<string> {
  const child = spawn(
    process.execPath,
    [
      join(ROOT, 'lab/dist/main.js'),
      ...[
        'requests',
        '--seed',
        SEED,
        '--conditions',
        '1',
        '--server',
        'go',
        '--jobs',
        '1',
        '--out',
        out,
        ...words,
      ],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, said).toBe(0);
  return said;
}

it('measures the same requests over TCP and QUIC, loses none where UDP is blocked, and continues', async () => {
  const said = await measure();
  expect(said).toContain('1 of 1 pairs measured, 0 failed');
  expect(said).toMatch(/^udp-blocked: after it +TCP +\d/m);
  const table = join(out, 'table.jsonl.gz');
  expect(await measure('--table', table)).toMatch(/2 sessions, \d\.\d\d MB/);
  const [quic, tcp] = gunzipSync(await readFile(table))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([quic.transport, tcp.transport]).toEqual(['quic', 'tcp']);
  for (const { changedMs, refusal, requests } of [quic, tcp]) {
    expect(refusal).toBe('');
    expect(changedMs).toHaveLength(1);
    expect(requests.status.every((status: number) => status === 200)).toBe(true);
    const index: number[] = requests.index;
    expect(index.toSorted((a, b) => a - b)).toEqual(index.map((_, at) => at));
  }
  const protocolsOf = ({ requests, changesBefore }: typeof quic, isAfter: boolean): Set<number> =>
    new Set(
      requests.protocol.filter((_: number, at: number) => requests.index[at] >= changesBefore === isAfter),
    );
  expect(protocolsOf(tcp, false)).toEqual(new Set([2]));
  expect(protocolsOf(tcp, true)).toEqual(new Set([2]));
  // The helper has taken to HTTP/2 at once, so that it knows all requests: otherwise it would tunnel some until it is sure of the origin.
  expect(protocolsOf(quic, true)).toEqual(new Set([2]));
  expect(protocolsOf(quic, false)).toContain(3);
  // The kernel's figures are those of TCP connections.
  expect(Math.max(...tcp.requests.segments)).toBeGreaterThan(0);
});
