/** `npm start` in the lab: what needs no time of one run to be compared with another's. */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { isUnavailable, type Report } from '@hopwise/extension/report';
import { determinismScript } from '@hopwise/lab/browser/determinism';
import { type GeneratedSite, writeSite } from '@hopwise/lab/sites/write-site';
import { expect, test } from '@playwright/test';
import { ordered, PROTOCOLS, spread } from './report-figures.ts';
import { asNobody, libcurlForOthers, start, startReport } from './start-command.ts';

let folder: string;
test.beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hw-'));
  // One test runs as another user.
  await chmod(folder, 0o777);
  await writeSite(chanceSite(), join(folder, 'chance'));
  await chmod(join(folder, 'chance'), 0o755);
});
test.afterEach(() => rm(folder, { recursive: true, force: true }));

/** A short run of a small page. The other specs' browsers disturb its loads. */
const quick = () => ['--loads', '1', '--rounds', '1', '--keep-disturbed', '--page', join(folder, 'chance')];

test('with UDP blocked HTTP/3 is unavailable, not slow', async () => {
  const { report, stdout, stderr } = await startReport(['--network', 'udp-blocked', ...quick()]);
  const { predictedMs, verifiedMs, measuredMs } = report.protocols.h3;
  for (const time of [predictedMs, verifiedMs, measuredMs]) {
    expect(isUnavailable(time), JSON.stringify(time)).toBe(true);
  }
  expect(report.network.estimated.udp).toBe('blocked');
  expect(report.decision.best).not.toBe('h3');
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
  expect(stderr).toMatch(/ verifying: .*, 1 round$/m);
  expect(stderr).toMatch(/ measuring: 1 load in Chromium/);
});

test('a link of one’s own, a recorded page with its chance and clock, JSON alone on stdout', async () => {
  const { report, stdout } = await startReport([
    ...quick(),
    ...['--rtt', '40', '--down', '6', '--up', '2', '--loss', '0', '--udp', '2'],
    '--json',
  ]);
  expect(JSON.parse(stdout)).toEqual(report);
  const { requests, pltMs } = report.recording;
  const ofLoad = requests
    .filter(({ startMs }) => startMs < (pltMs ?? 0))
    .map(({ url }) => new URL(url).pathname);
  expect(ofLoad).toEqual(['/', '/a.png', expect.stringMatching(/^\/0\.\d+\/2020$/)]);
  expect(report.page).toMatchObject({ name: 'chance', requests: 3 });
  expect(report.network.set).toMatchObject({ rttMs: 40, downMbps: 6, upMbps: 2, loss: 0, udp: 2 });
  // The recording and every load drew the number that the site has.
  expect(report.warnings.filter((warning) => warning.includes('failed'))).toEqual([]);
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
  const ended = await start([...quick(), '--network', 'fast', '--out', join(folder, 'out')], {
    prefix: asNobody(folder, 0o666),
    env: { HOME: folder, TMPDIR: folder, HOPWISE_LIBCURL: await libcurlForOthers(folder) },
  });
  expect(ended.code, ended.stderr).toBe(0);
  const report = JSON.parse(await readFile(join(folder, 'out/report.json'), 'utf8')) as Report;
  for (const protocol of PROTOCOLS) {
    const measured = spread(report.protocols[protocol].measuredMs);
    expect(measured.requests).toBeGreaterThanOrEqual(3);
    expect(measured.proved).toBe(measured.requests);
  }
});
