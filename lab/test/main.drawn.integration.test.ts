/** `npm run lab` from end to end: a small matrix in the lab, killed in the middle and finished. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRecording } from '@hopwise/pageload-emulator';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { GroundTruthLoad } from '../src/ground-truth/ground-truth.ts';
import { readLoads } from '../src/ground-truth/store.ts';
import { ROOT } from '../src/paths.ts';
import { writeSite } from '../src/sites/write-site.ts';

const MAIN = join(ROOT, 'lab/dist/main.js');
const ORIGINS = ['https://www.tiny.test', 'https://static.tiny.test'] as const;

let folder: string;
let out: string;
let argv: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-matrix-'));
  out = join(folder, 'out');
  const page = `<!doctype html><title>Tiny</title><p>Tiny${Array.from(
    { length: 4 },
    (_, index) => `<img src="${ORIGINS[index % 2]}/${index}.png" width="10" height="10">`,
  ).join('')}`;
  await writeSite(
    {
      site: {
        format: 'hopwise-site',
        version: 1,
        name: 'tiny',
        entry: `${ORIGINS[0]}/`,
        origins: ORIGINS.map((origin) => ({ origin, protocols: ['h1', 'h2', 'h3'], extraRttMs: 0 })),
        resources: [
          {
            origin: ORIGINS[0],
            path: '/',
            status: 200,
            headers: { 'content-type': 'text/html' },
            body: { file: 'index.html' },
            thinkMs: 0,
          },
          ...Array.from({ length: 4 }, (_, index) => ({
            origin: ORIGINS[index % 2] as string,
            path: `/${index}.png`,
            status: 200,
            headers: { 'content-type': 'image/png' },
            body: { filler: 'png' as const, bytes: 3000, width: 10, height: 10 },
            thinkMs: 0,
          })),
        ],
      },
      files: new Map([['index.html', new TextEncoder().encode(page)]]),
    },
    join(folder, 'tiny'),
  );
  argv = [
    ...['--pages', join(folder, 'tiny'), '--networks', 'fast', '--protocols', 'h1,h2,h3'],
    // Loads are kept even when other processes disturb them.
    ...['--quiet-limit', '0'],
  ];
});

afterAll(() => rm(folder, { recursive: true, force: true }));

interface Run {
  child: ChildProcess;
  text(): string;
  ended: Promise<number | null>;
}

function start(args: string[]): Run {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, text: () => text, ended };
}

async function loads(dir = out): Promise<GroundTruthLoad[]> {
  const all: GroundTruthLoad[] = [];
  for await (const load of readLoads(dir)) all.push(load);
  return all;
}

async function untilLoads(count: number, run: Run, dir = out): Promise<void> {
  while ((await loads(dir)).length < count) {
    if (run.child.exitCode !== null) throw new Error(`ended early: ${run.text()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Command lines that contain `text`. */
async function processesWith(text: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.filter((line) => line.includes(text));
}

const name = ({ seed, protocol }: GroundTruthLoad) => `${seed} ${protocol}`;

it('continues after a kill, refuses a second run meanwhile, and ends with a summary', async () => {
  const first = start([...argv, '--out', out, '--seeds', '100']);
  await untilLoads(2, first);
  const second = start([...argv, '--out', out]);
  expect(await second.ended).toBe(1);
  expect(second.text()).toMatch(/process \d+ is measuring into this folder: wait for its end/);
  const ofFirst = `hopwise-run-${first.child.pid}-`;
  expect(await processesWith(ofFirst)).not.toEqual([]);
  first.child.kill('SIGKILL');
  await first.ended;
  await expect.poll(() => processesWith(ofFirst)).toEqual([]);
  const kept = await loads();
  expect(kept.length).toBeGreaterThanOrEqual(2);
  expect(kept.length).toBeLessThan(300);

  const seeds = Math.ceil(kept.length / 3) + 1;
  const third = start([...argv, '--out', out, '--seeds', String(seeds)]);
  expect(await third.ended, third.text()).toBe(0);
  // The killed run's scratch folders are gone too.
  expect((await readdir(tmpdir())).filter((entry) => entry.includes(`-${first.child.pid}-`))).toEqual([]);
  expect(third.text()).toContain(`${kept.length} of them exist already`);
  const all = await loads();
  expect(all.slice(0, kept.length)).toEqual(kept);
  expect(all).toHaveLength(3 * seeds);
  expect(new Set(all.map(name)).size).toBe(3 * seeds);
  expect(all.slice(0, 6).map(name)).toEqual(['1 h1', '1 h2', '1 h3', '2 h3', '2 h2', '2 h1']);
  expect(JSON.parse(await readFile(join(out, 'matrix.json'), 'utf8'))).toMatchObject({
    server: { quic: { stack: expect.stringMatching(/^quic-go \d/) } },
    scheduling: expect.stringMatching(/^(fifo|normal)$/),
    ipVersion: 4,
    timeoutMs: 120_000,
  });
  for (const { outcome, protocol, failures, disturbance } of all) {
    if (!outcome.ok) throw new Error(outcome.reason);
    expect(failures).toBeGreaterThanOrEqual(0);
    // From the navigation to the load event, without what follows.
    expect(disturbance.windowMs).toBeGreaterThanOrEqual(outcome.pltMs - 1);
    expect(outcome).toMatchObject({ proved: true, failed: [] });
    const { requests } = parseRecording(JSON.stringify(outcome.recording));
    expect(new Set(requests.map((request) => request.protocol))).toEqual(new Set([protocol]));
    expect(requests.length).toBeGreaterThanOrEqual(5);
  }
  expect(JSON.parse(await readFile(join(out, 'summary.json'), 'utf8'))).toMatchObject({
    format: 'hopwise-ground-truth-summary',
    loads: { kept: 3 * seeds, timeouts: 0, unreachable: 0, leftOut: { unproved: 0 } },
  });
  expect(await readFile(join(out, 'index.html'), 'utf8')).toContain('Ground truth');

  const fourth = start([...argv, '--out', out, '--congestion-control', 'reno']);
  expect(await fourth.ended).toBe(2);
  expect(fourth.text()).toMatch(/another server, congestionControl: cubic, now reno/);
});

it('measures an assignment and second visits, on networks from a file over IPv6, and warns of what predictions ignore', async () => {
  const own = join(folder, 'networks.json');
  const dorm = {
    title: 'Dormitory',
    rttMs: 20,
    downMbps: 50,
    upMbps: 20,
    loss: 0,
    lossBurst: 1,
    jitterMs: 2,
    queue: { ms: 50 },
    udp: 'open',
    source: { rttMs: 'measured' },
  };
  const args = (dir: string) => [
    ...['--pages', join(folder, 'tiny'), '--protocols', 'h3,natural,assigned', '--views', 'cold,warm'],
    ...['--seeds', '1', '--ip', '6'],
    ...['--network-file', own, '--networks', 'dorm', '--quiet-limit', '0', '--out', join(folder, dir)],
  ];
  await writeFile(own, JSON.stringify({ dorm }));
  const planned = start([...args('planned'), '--plan']);
  expect(await planned.ended, planned.text()).toBe(0);
  expect(planned.text()).toContain('6 loads: 1 page × 1 network × h3, natural, assigned × 1 seed');
  expect(planned.text()).toContain('dorm: jitterMs: ');
  expect(await readdir(folder)).not.toContain('planned');

  const run = start(args('dorm'));
  expect(await run.ended, run.text()).toBe(0);
  const all = await loads(join(folder, 'dorm'));
  expect(all.map(({ protocol, view }) => `${protocol} ${view}`)).toEqual([
    'h3 cold',
    'h3 warm',
    'natural cold',
    'natural warm',
    'assigned cold',
    'assigned warm',
  ]);
  for (const { outcome, network, protocol, view, assignment } of all) {
    if (!outcome.ok) throw new Error(outcome.reason);
    expect(outcome.proved).toBe(true);
    expect(network).toBe('dorm');
    // Servers offer nothing but the assignment.
    if (protocol === 'assigned') expect(Object.keys(assignment!)).toEqual([...ORIGINS]);
    if (view === 'warm') continue;
    const { requests } = parseRecording(JSON.stringify(outcome.recording));
    if (protocol === 'h3')
      expect(new Set(requests.map((request) => request.protocol))).toEqual(new Set(['h3']));
    for (const { remoteIp } of requests) expect(remoteIp).toMatch(/^\[?2001:2:/);
  }
  expect(JSON.parse(await readFile(join(folder, 'dorm/matrix.json'), 'utf8'))).toMatchObject({
    networks: { dorm: { title: 'Dormitory', network: { jitterMs: 2 } } },
    ipVersion: 6,
  });

  await writeFile(own, JSON.stringify({ dorm, cable: dorm }));
  const clash = start(args('clash'));
  expect(await clash.ended).toBe(2);
  expect(clash.text()).toMatch(
    /--network-file .*networks\.json: cable: lab\/networks\.json already has that name/,
  );
});

it('ends within seconds of Ctrl-C and keeps what was done', async () => {
  const stopped = join(folder, 'stopped');
  const run = start([...argv, '--out', stopped, '--seeds', '100']);
  await untilLoads(1, run, stopped);
  const at = performance.now();
  run.child.kill('SIGINT');
  expect(await run.ended, run.text()).toBe(130);
  // The limit for a load event is two minutes.
  expect(performance.now() - at).toBeLessThan(40_000);
  expect(run.text()).toContain('stopped by SIGINT');
  expect((await loads(stopped)).length).toBeGreaterThan(0);
});
