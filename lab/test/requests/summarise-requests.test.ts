import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { EASY_NETWORK } from '../../src/client/networks.ts';
import { readSessions, type SessionRow } from '../../src/requests/session-row.ts';
import { showRequestTimes } from '../../src/requests/summarise-requests.ts';

/** Requests that begin each 100 ms, in order; UDP is blocked after `changedMs`. */
function session(
  transport: SessionRow['transport'],
  tookMs: number[],
  more: Partial<SessionRow> & { status?: number[] } = {},
): SessionRow {
  const { status = tookMs.map(() => 200), ...own } = more;
  const none = tookMs.map(() => null);
  return {
    condition: 'train-1-0000',
    split: 'train',
    change: 'udp-blocked',
    stack: 'go',
    transport,
    before: EASY_NETWORK,
    after: [{ network: { ...EASY_NETWORK, udp: 'blocked' }, forMs: null }],
    changesBefore: 2,
    changedMs: [150],
    refusal: '',
    requests: {
      index: tookMs.map((_, at) => at),
      startedMs: tookMs.map((_, at) => 100 * at),
      tookMs,
      status,
      bytes: tookMs.map(() => 10),
      protocol: none,
      endedMs: none,
      ttfbMs: none,
      completionMs: none,
      isReused: none,
      rttMs: none,
      segments: none,
      outOfOrder: none,
    },
    ...own,
  };
}

const rows = [
  session('tcp', [50, 90, 30, 40]),
  session('quic', [50, 900, 300, 100], { status: [200, 0, 200, 200] }),
];

const lines = (text: string) =>
  text
    .split('\n\n')[0]!
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/ {2,}/));

it('tells what requests took before a change, while it took place, and after it', () => {
  expect(lines(showRequestTimes(rows, null))).toEqual([
    ['before a change, UDP open', 'TCP', '1', '50', '50', '50', '50', '0'],
    ['QUIC', '1', '50', '50', '50', '50', '0', '0%'],
    ['udp-blocked: after it', 'TCP', '2', '35', '35', '39', '40', '0'],
    ['QUIC', '2', '200', '200', '280', '300', '0', '100%'],
    ['udp-blocked: in progress', 'TCP', '1', '90', '90', '90', '90', '0'],
    ['QUIC', '1', '900', '900', '900', '900', '1', '100%'],
  ]);
});

it('shows the same conditions beside those measured elsewhere, and no others', () => {
  const against = [
    session('tcp', [40, 80, 20, 30]),
    session('quic', [50, 6000, 6000, 6000]),
    session('tcp', [1, 2, 3, 4], { condition: 'train-1-0001' }),
  ];
  const only = session('tcp', [1, 1, 1, 1], { condition: 'train-1-0002' });
  const shown = lines(showRequestTimes([...rows, only], against));
  expect(shown[2]).toEqual([
    'udp-blocked: after it',
    'TCP',
    '2 → 2',
    '25 → 35',
    '25 → 35',
    '29 → 39',
    '30 → 40',
    '0 → 0',
  ]);
  expect(shown[3]!.slice(1, 3)).toEqual(['2 → 2', '6000 → 200']);
});

it('names steady networks by what they do to UDP', () => {
  const steady = { change: 'none', after: [], changesBefore: null, changedMs: [] };
  const on = (before: SessionRow['before']) => [
    session('tcp', [1], { ...steady, before }),
    session('quic', [1], { ...steady, before }),
  ];
  const text = showRequestTimes(
    [
      ...on({ ...EASY_NETWORK, udpLoss: 0.1 }),
      ...on({ ...EASY_NETWORK, udp: { policedMbps: 1 } }),
      ...on(EASY_NETWORK),
    ],
    null,
  );
  for (const kind of ['lossy', 'policed', 'open']) expect(text).toContain(`steady, UDP ${kind}`);
});

it('reads a folder and a table, and says in one line what cannot be read', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hopwise-sessions-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  await mkdir(join(dir, 'sessions'));
  const texts = rows.map((row) => JSON.stringify(row));
  await Promise.all(texts.map((text, at) => writeFile(join(dir, 'sessions', `${at}.json`), text)));
  const table = join(dir, 'table.gz');
  await writeFile(table, gzipSync(texts.map((text) => `${text}\n`).join('')));
  expect(await readSessions(dir)).toEqual(rows);
  expect(await readSessions(table)).toEqual(rows);

  const uneven = { ...rows[0]!, requests: { ...rows[0]!.requests, bytes: [1] } };
  for (const [text, complaint] of [
    ['{', /line 1: no JSON$/],
    ['{}', /line 1: no session: condition: .+$/],
    [JSON.stringify(uneven), /line 1: no session: : columns of unequal length$/],
  ] as const) {
    await writeFile(table, gzipSync(text));
    await expect(readSessions(table)).rejects.toThrow(complaint);
  }
  await writeFile(table, 'no gzip');
  await expect(readSessions(table)).rejects.toThrow(/^.*table\.gz: .+$/);
  await expect(readSessions(join(dir, 'none'))).rejects.toThrow(/expected sessions, but there is none/);
});
