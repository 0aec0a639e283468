/** `npm start` in the lab: every part is real, every figure is a measured or an emulated one. */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { determinismScript } from '@hopwise/lab/browser/determinism';
import { bundledSite } from '@hopwise/lab/pages/bundled';
import { type GeneratedSite, writeSite } from '@hopwise/lab/sites/write-site';
import { expect, test } from '@playwright/test';
import { measureUntil } from '../../lab/test/attempts.ts';
import { isUnavailable, type RepeatedSpread, type Report, type Spread } from '../src/report/report.ts';
import { asNobody, start, startReport } from './start-command.ts';

const PROTOCOLS = ['h1', 'h2', 'h3'] as const;
const QUICK = ['--loads', '2', '--rounds', '1'];

function spread(value: unknown): RepeatedSpread {
  expect(value, JSON.stringify(value)).toMatchObject({
    median: expect.any(Number),
    low: expect.any(Number),
    high: expect.any(Number),
  });
  return value as RepeatedSpread;
}

function ordered({ low, median, high }: Spread): void {
  expect(low).toBeGreaterThan(0);
  expect(median).toBeGreaterThanOrEqual(low);
  expect(high).toBeGreaterThanOrEqual(median);
}

const medians = (report: Report, kind: 'predictedMs' | 'measuredMs') =>
  PROTOCOLS.map((protocol) => spread(report.protocols[protocol][kind]).median);

let lossy: ReturnType<typeof startReport> | undefined;
/** A run on a lossy link, one for all tests: a second try, which is another process, has its own. */
const lossyRun = () => {
  lossy ??= startReport(['--network', 'lossy', ...QUICK]);
  return lossy;
};

test('predicts, verifies and measures the page under each protocol, and proves each protocol', async () => {
  const { report, html, stdout } = await lossyRun();
  expect(report.page.requests).toBeGreaterThanOrEqual(60);
  expect(report.page.origins).toBeGreaterThanOrEqual(4);
  expect(report.network.set).toMatchObject({ name: 'lossy' });
  expect(report.network.estimated.rttMs).toBeGreaterThan(0);
  for (const protocol of PROTOCOLS) {
    const { predictedMs, verifiedMs, measuredMs } = report.protocols[protocol];
    ordered(spread(predictedMs));
    const verified = spread(verifiedMs);
    const measured = spread(measuredMs);
    ordered(verified);
    ordered(measured);
    expect(measured.n).toBe(2);
    expect(measured.requests).toBeGreaterThanOrEqual(2 * 60);
    expect(measured.proved, `${protocol}: requests with nextHopProtocol as forced`).toBe(measured.requests);
    expect(verified.requests).toBeGreaterThanOrEqual(60);
    expect(verified.proved, `${protocol}: transfers with libcurl's version as asked`).toBe(verified.requests);
  }
  expect(report.origins.length).toBeGreaterThanOrEqual(4);
  for (const origin of report.origins) {
    expect(PROTOCOLS).toContain(origin.protocol);
    expect(origin.confidence).toBeGreaterThan(0);
    expect(origin.confidence).toBeLessThanOrEqual(1);
    expect(origin.reason.length).toBeGreaterThan(10);
  }
  const { baseline, assignment } = report;
  expect(Object.keys(assignment.protocols)).toHaveLength(report.page.origins);
  ordered(assignment.predictedMs);
  for (const measuredMs of [baseline.measuredMs, assignment.measuredMs]) {
    const measured = spread(measuredMs);
    ordered(measured);
    expect(measured.n).toBe(2);
    expect(measured.proved).toBe(measured.requests);
  }
  const { h2 = 0, h3 = 0 } = baseline.protocols;
  expect(h2 + h3, 'requests whose protocol the browser chose').toBe(spread(baseline.measuredMs).requests);
  expect(stdout.trimEnd().split('\n').at(-1)).toMatch(
    /hopwise's assignment: [\d.]+ m?s → [\d.]+ m?s measured \([−+±]\d+%\)/,
  );
  expect(stdout).toContain('HTTP/3');
  expect(html).toContain('<title>hopwise report</title>');
});

test('a fast link gives another report than a lossy one', async () => {
  const { report: lossy } = await lossyRun();
  const slower = (report: Report) =>
    (['predictedMs', 'measuredMs'] as const).flatMap((kind) => {
      const before = medians(lossy, kind);
      return medians(report, kind).flatMap((median, index) =>
        median < before[index]! ? [] : [`${kind} ${PROTOCOLS[index]}: ${median}, ${before[index]} if lossy`],
      );
    });
  // A machine that is busy with other things can make any load slow.
  const { report } = await measureUntil(
    () => startReport(['--network', 'fast', ...QUICK]),
    (run) => slower(run.report).length === 0,
    3,
  );
  expect(slower(report)).toEqual([]);
  expect(report.network.estimated.rttMs).toBeLessThan(lossy.network.estimated.rttMs);
});

test('with UDP blocked HTTP/3 is unavailable, not slow', async () => {
  const { report, stdout } = await startReport(['--network', 'udp-blocked', ...QUICK]);
  const { predictedMs, verifiedMs, measuredMs } = report.protocols.h3;
  for (const time of [predictedMs, verifiedMs, measuredMs]) {
    expect(isUnavailable(time), JSON.stringify(time)).toBe(true);
  }
  expect(report.network.estimated.udp).toBe('blocked');
  expect(report.best).not.toBe('h3');
  expect(Object.values(report.assignment.protocols)).not.toContain('h3');
  expect(report.baseline.protocols.h3).toBeUndefined();
  ordered(spread(report.baseline.measuredMs));
  ordered(spread(report.assignment.measuredMs));
  for (const protocol of ['h1', 'h2'] as const) {
    ordered(spread(report.protocols[protocol].predictedMs));
    ordered(spread(report.protocols[protocol].verifiedMs));
    ordered(spread(report.protocols[protocol].measuredMs));
  }
  expect(stdout).toMatch(/HTTP\/3 is unavailable \(verified\): UDP is blocked/);
});

test('by default the page gains what a person feels', async () => {
  const { report, stdout } = await startReport(QUICK);
  expect(report.page.name).toBe('app');
  expect(report.network.set).toMatchObject({ name: 'udp-policed' });
  const before = spread(report.baseline.measuredMs).median;
  const after = spread(report.assignment.measuredMs).median;
  // 3.7 s and 1.5 s on a quiet machine.
  expect(after).toBeLessThan(0.67 * before);
  expect(spread(report.protocols.h3.measuredMs)).toMatchObject({ n: 1 });
  expect(stdout).toMatch(/hopwise's assignment: .* measured \(−\d+%\)/);
});

test('a link of one’s own, a recorded page with its chance and clock, JSON alone on stdout', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hw-page-'));
  try {
    await writeSite(chanceSite(), join(folder, 'chance'));
    const { report, stdout } = await startReport([
      ...QUICK,
      '--rtt',
      '40',
      '--down',
      '6',
      '--up',
      '2',
      '--loss',
      '0',
      '--udp',
      '2',
      '--page',
      join(folder, 'chance'),
      '--json',
    ]);
    expect(JSON.parse(stdout)).toEqual(report);
    expect(report.page).toMatchObject({ name: 'chance', requests: 3 });
    expect(report.network.set).toMatchObject({ rttMs: 40, downMbps: 6, upMbps: 2, loss: 0, udp: 2 });
    // The recording and every load drew the number that the site has.
    expect(report.warnings.filter((warning) => warning.includes('failed'))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** A page that asks for a URL made of chance and clock, and has no other. */
function chanceSite(): GeneratedSite {
  const origin = 'https://chance.test';
  const determinism = { seed: 7, epochMs: Date.UTC(2020, 5, 1) };
  const drawn = runInNewContext(
    `class Crypto {}; globalThis.Crypto = Crypto;
    ${determinismScript(determinism.seed, determinism.epochMs)} Math.random() + '/' + new Date().getUTCFullYear()`,
    { location: { origin, pathname: '/', search: '' }, parent: [] },
  ) as string;
  const resource = { origin, status: 200, thinkMs: 0 };
  const html = `<!doctype html><title>Chance</title><img src="/a.png" width="20" height="10">
    <script>document.write('<script src="/' + Math.random() + '/' + new Date().getUTCFullYear() + '"></' + 'script>')</script>`;
  return {
    site: {
      format: 'hopwise-site',
      version: 1,
      name: 'chance',
      entry: `${origin}/`,
      origins: [{ origin, protocols: ['h1', 'h2', 'h3'], extraRttMs: 0 }],
      resources: [
        { ...resource, path: '/', headers: { 'content-type': 'text/html' }, body: { file: 'index.html' } },
        {
          ...resource,
          path: '/a.png',
          headers: { 'content-type': 'image/png' },
          body: { filler: 'png', bytes: 60_000, width: 20, height: 10 },
        },
        {
          ...resource,
          path: `/${drawn}`,
          headers: { 'content-type': 'text/javascript' },
          body: { file: 'drawn.js' },
        },
      ],
      determinism,
    },
    files: new Map([
      ['index.html', Buffer.from(html)],
      ['drawn.js', Buffer.from('0')],
    ]),
  };
}

test('without root, where /dev/net/tun may be opened', async () => {
  test.skip(process.getuid?.() !== 0, 'only root can become another user');
  const folder = await mkdtemp(join(tmpdir(), 'hw-'));
  try {
    await chmod(folder, 0o777);
    await writeSite(bundledSite('app'), join(folder, 'app'));
    await chmod(join(folder, 'app'), 0o755);
    const ended = await start(
      [...QUICK, '--network', 'fast', '--page', join(folder, 'app'), '--out', join(folder, 'out')],
      {
        prefix: asNobody(folder, 0o666),
        env: { HOME: folder, TMPDIR: folder },
      },
    );
    expect(ended.code, ended.stderr).toBe(0);
    const report = JSON.parse(await readFile(join(folder, 'out/report.json'), 'utf8')) as Report;
    for (const protocol of PROTOCOLS) {
      const measured = spread(report.protocols[protocol].measuredMs);
      expect(measured.proved).toBe(measured.requests);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
