/** Files that the panel opens and saves, in Chromium; the commands read what it saves. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Recording } from '@hopwise/contract';
import { openPage } from '@hopwise/lab/pages/page-source';
import { parseRecording } from '@hopwise/pageload-emulator';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawShare } from '../../../../scripts/suites/draw-share.ts';
import { writeHar } from '../../../src/devtools/files/write-har.ts';
import { type ExtensionBrowser, launch } from '../../support/browser.ts';
import { largePage } from '../../support/large-page.ts';
import { openWithLoad } from '../../support/open-with-load.ts';
import { type Site, startSite } from '../../support/site.ts';

const command = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

let site: Site;
let browser: ExtensionBrowser;
let panel: Page;
let folder: string;
const errors: string[] = [];

/** A page whose requests go to a port of this machine where nothing listens. */
function localPage(count: number): Recording {
  const recording = largePage(count);
  for (const request of recording.requests) request.url = `https://127.0.0.1:9/${request.id}.png`;
  return { ...recording, url: recording.requests[0]!.url };
}

beforeAll(async () => {
  site = await startSite();
  folder = await mkdtemp(join(tmpdir(), 'hopwise-files-'));
  browser = await launch(fileURLToPath(new URL('../../../dist/chromium', import.meta.url)));
  panel = await openWithLoad(browser, `${site.url}/kept.html`, localPage(30), 'panel.html');
  panel.on('pageerror', (error) => errors.push(error.message));
  panel.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Saves what is shown in a format. @returns the file's path */
async function save(format: string): Promise<string> {
  const started = panel.waitForEvent('download');
  await panel.getByText('Export', { exact: true }).click();
  await panel.getByRole('button', { name: format }).click();
  const download = await started;
  const file = join(folder, download.suggestedFilename());
  await download.saveAs(file);
  return file;
}

const fileOf = (name: string, content: string | Buffer) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(content),
});
const open = (name: string, content: string | Buffer) =>
  panel.getByLabel('Recording to open').setInputFiles(fileOf(name, content));
const shown = () => panel.getByRole('region', { name: 'Opened file' });
const status = () => panel.locator('.hw-file-status');

test('the menu of formats lies above the heads of tables', async () => {
  const exporting = panel.getByText('Export', { exact: true });
  await panel.getByRole('tab', { name: 'Waterfall' }).click();
  await panel.locator('.hw-rows-head').waitFor();
  await exporting.click();
  const reached = await panel.locator('.hw-menu-items button').evaluateAll((buttons) =>
    buttons.map((button) => {
      const { left, top, width, height } = button.getBoundingClientRect();
      return button.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    }),
  );
  expect(reached).toEqual([true, true, true, true]);
  await exporting.click();
  await panel.getByRole('tab', { name: 'Overview' }).click();
});

describe('what is saved', () => {
  test.each(drawShare(['Recording with predictions', 'HAR'], 1))(
    '%s is read by each command',
    async (format) => {
      const file = await save(format);
      expect(parseRecording(await readFile(file, 'utf8')).requests).toHaveLength(30);

      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['--conditions=source', command('pageload-emulator/bin/hopwise.ts'), 'predict', file],
        { encoding: 'utf8' },
      );
      expect(stderr).toBe('');
      expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('HTTP/3') });

      // `npm start -- --page FILE` and the lab.
      const page = await openPage(file);
      expect(page.site.resources.length).toBeGreaterThan(0);

      const probe = spawnSync(
        process.execPath,
        [
          '--conditions=source',
          command('native-host/bin/hopwise-host.ts'),
          ...['probe', '--har', file, '--protocols', 'h2', '--rounds', '1'],
        ],
        { encoding: 'utf8' },
      );
      // It has read the page: nothing answers its transfers.
      expect(probe.stdout + probe.stderr).toMatch(/127\.0\.0\.1|HTTP\/2/);
      expect(probe.stderr).not.toContain('expected');
    },
  );

  test('the summary in Markdown has the verdict', async () => {
    const text = await readFile(await save('Summary in Markdown'), 'utf8');
    expect(text).toContain('## Load time');
    expect(text).toContain((await panel.locator('.hw-headline').textContent())!.replaceAll('\u00a0', ' '));
  });

  test('the report in HTML shows the verdict, and loads nothing', async () => {
    const file = await save('Report in HTML');
    const verdict = await panel.locator('.hw-headline').textContent();
    const page = await browser.context.newPage();
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(`file://${file}`);
    await page.locator('.hw-headline').waitFor();
    expect(await page.locator('.hw-headline').textContent()).toBe(verdict);
    expect(requested).toEqual([`file://${file}`]);
    await page.close();
  });
});

describe('what is opened', () => {
  const har = JSON.stringify(writeHar(largePage(40), '0.1.0'));

  const files: [name: string, content: string | Buffer][] = [
    ['page.har', har],
    ['page.har.gz', gzipSync(har)],
    ['recording.json', JSON.stringify(largePage(40))],
    ['\u202eload.json', JSON.stringify({ format: 'hopwise-load', version: 1, recording: largePage(40) })],
  ];

  test.each(drawShare(files, 2, ([name]) => name))(
    '%s is shown with its prediction, and closed',
    async (name, content) => {
      await open(name, content);
      await shown()
        .getByText(`Showing ${name.replace('\u202e', ' ')}.`)
        .waitFor();
      await panel.getByText('40 requests to 13 origins').waitFor();
      expect(await panel.locator('#page').textContent()).toBe('https://page.test/');
      // Pins and transfers are for the page in the tab.
      expect(await panel.getByRole('button', { name: 'Verify with real transfers' }).isVisible()).toBe(false);
      await shown().getByRole('button', { name: 'Close file' }).click();
      await panel.getByText('30 requests to').waitFor();
    },
  );

  test('an opened file is saved again', async () => {
    await open('page.har', har);
    await shown().waitFor();
    expect(parseRecording(await readFile(await save('Recording with'), 'utf8')).requests).toHaveLength(40);
    for (const name of ['Waterfall', 'Connections', 'What if']) {
      await panel.getByRole('tab', { name }).click();
    }
    await panel.locator('.hw-bar').first().waitFor();
    await panel.getByRole('tab', { name: 'Overview' }).click();
    await shown().getByRole('button', { name: 'Close file' }).click();
  });

  test('a file that is dropped anywhere is opened', async () => {
    const data = await panel.evaluateHandle((content) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], 'dropped.har'));
      return transfer;
    }, har);
    await panel.dispatchEvent('#page', 'dragover', { dataTransfer: data });
    expect(await panel.locator('body').getAttribute('class')).toContain('hw-drop-target');
    await panel.dispatchEvent('#page', 'drop', { dataTransfer: data });
    await shown().getByText('Showing dropped.har.').waitFor();
    expect(await panel.locator('body').getAttribute('class')).toBe('');
    await shown().getByRole('button', { name: 'Close file' }).click();
  });

  // A single entry that cannot be read is left out.
  const broken = structuredClone(writeHar(largePage(40), '0.1.0')) as { log: { entries: unknown } };
  broken.log.entries = 'long';

  const refused: [name: string, content: string | Buffer | (() => Buffer), expected: RegExp][] = [
    ['no.json', 'nonsense', /^no\.json: .*expected JSON, got /],
    ['empty.har', '', /^empty\.har: .*expected JSON, got /],
    ['array.json', '[[1]]', /^array\.json: \[0\]: expected an object, got an array$/],
    ['other.json', '{"a":1}', /^other\.json: top level: expected a HAR/],
    [
      'broken.har',
      JSON.stringify(broken),
      /^broken\.har: log\.entries: expected an array of entries, got "long"$/,
    ],
    ['bad.gz', Buffer.from([0x1f, 0x8b, 1, 2, 3]), /^bad\.gz: top level: expected gzip data, got /],
    ['deep.json', '['.repeat(200_000), /^deep\.json: .*expected /],
    [
      'bomb.har.gz',
      () => gzipSync(Buffer.alloc(400 * 1024 * 1024, '1')),
      /^bomb\.har\.gz: top level: expected at most 20 MiB of JSON without bodies, got more$/,
    ],
  ];

  test.each(drawShare(refused, 4, ([name]) => name))(
    '%s is refused in one line, and what was shown stays',
    async (name, content, expected) => {
      await open(name, typeof content === 'function' ? content() : content);
      await expect.poll(() => status().textContent(), { timeout: 60_000 }).toMatch(expected);
      expect(await shown().count()).toBe(0);
      await panel.getByText('30 requests to').waitFor();
    },
  );
});

test('no view has thrown or logged an error', () => {
  expect(errors).toEqual([]);
});
