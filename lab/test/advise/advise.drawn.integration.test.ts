import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AdviceCell, measureCell } from '../../src/advise/measure-cell.ts';
import { prepareRecordBrowser, type RecordBrowser } from '../../src/advise/record-browser.ts';
import { chromiumPath } from '../../src/browser/chromium.ts';
import { Lab } from '../../src/client/lab.ts';
import type { LabNetwork } from '../../src/client/networks.ts';
import { MeasuringBrowser } from '../../src/loads/measuring-browser.ts';
import { writeSite } from '../../src/sites/write-site.ts';
import { smallPage } from './support/small-page.ts';

const path: LabNetwork = {
  rttMs: 60,
  downMbps: 20,
  upMbps: 10,
  loss: 0,
  lossBurst: 1,
  queue: { bdp: 2 },
  udp: 'open',
};

/** Measurements until one shows a first visit over HTTP/3. */
const ATTEMPTS = 4;

let folder: string;
let lab: Lab;
let records: RecordBrowser;
let cell: AdviceCell;
const browsers: MeasuringBrowser[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-advise-'));
  const dir = join(folder, 'site');
  await writeSite(smallPage, dir);
  lab = await Lab.up({ site: dir, network: path });
  records = await prepareRecordBrowser(lab, join(folder, 'names'));
  for (const executablePath of [await lab.wrapper(chromiumPath()), records.executablePath]) {
    const { caSpki, hosts } = lab;
    browsers.push(await MeasuringBrowser.launch({ executablePath, protocol: 'natural', caSpki, hosts }));
  }
  cell = await measureWithRecords({
    lab,
    browsers: { plain: browsers[0]!, withRecords: browsers[1]! },
    source: { name: 'small', dir, site: smallPage.site },
    network: 'here',
    path,
    stack: 'go',
    kinds: ['https-record', 'early-data'],
    loads: 1,
    timeoutMs: 30_000,
    keepsDisturbed: true,
    scratch: folder,
    onProgress: () => undefined,
    signal: new AbortController().signal,
  });
});

/** Chromium goes on without the HTTPS record where its answer comes later than the address, as it may on a busy machine. */
async function measureWithRecords(question: Parameters<typeof measureCell>[0]): Promise<AdviceCell> {
  for (let left = ATTEMPTS; ; left--) {
    const measured = await measureCell(question);
    if (measured.recordings['https-record']!.requests[0]!.protocol === 'h3' || left === 1) return measured;
  }
}

afterAll(async () => {
  for (const browser of browsers) await browser.close();
  records?.stop();
  await lab?.down();
  await rm(folder, { recursive: true, force: true });
});

const documentIn = (name: keyof AdviceCell['recordings']) => cell.recordings[name]!.requests[0]!;

it('begins first visits on HTTP/3 where names have HTTPS records, and only there', () => {
  expect(documentIn('offers-h3').protocol).toBe('h2');
  expect(documentIn('https-record').protocol).toBe('h3');
});

it('sends requests of later visits ahead of the handshake where early data is accepted', () => {
  const isEarly = ({ phases }: ReturnType<typeof documentIn>) =>
    phases.requestStartMs! < phases.connectEndMs!;
  expect(documentIn('later-visit').protocol).toBe('h3');
  expect(isEarly(documentIn('later-visit'))).toBe(false);
  expect(isEarly(documentIn('early-data'))).toBe(true);
});

it('has a load time for every set-up', () => {
  const names = ['early-data', 'https-record', 'later-visit', 'offers-h3'];
  expect(Object.keys(cell.timesMs).sort()).toEqual(names);
  for (const times of Object.values(cell.timesMs)) expect(times).toHaveLength(1);
});
