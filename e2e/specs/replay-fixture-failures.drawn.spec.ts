/** What a test engineer gets when a replay cannot work: one line that says what, where and what was expected. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { ReplayProject } from './replay-project.ts';
import { writeSmallSite } from './small-site.ts';
import { asNobody } from './start-command.ts';

let project: ReplayProject;
test.beforeEach(async () => {
  project = await ReplayProject.linked();
});
test.afterEach(() => project.remove());

/** A configuration, the page `small` and a file with tests in the project's folder. */
async function write(tests: string, config = ''): Promise<void> {
  await writeFile(
    join(project.folder, 'playwright.config.ts'),
    `export default { testDir: 'tests', workers: 1, timeout: 60_000, ${config} };\n`,
  );
  await writeFile(join(project.folder, 'package.json'), '{"type": "module"}');
  await writeSmallSite(join(project.folder, 'small'));
  await mkdir(join(project.folder, 'tests'), { recursive: true });
  await writeFile(
    join(project.folder, 'tests/replay.spec.ts'),
    `import { expect, predictionOf, test } from '@hopwise/e2e/playwright';\n${tests}`,
  );
}

/** The errors that the list reporter shows, a line each. */
const complaints = (output: string): string[] =>
  output.split('\n').flatMap((line) => /^ {4}(?:\w*Error: .*)$/.exec(line)?.[0].trim() ?? []);

test('an unknown page, one that cannot be read, and an unknown network', async () => {
  await writeFile(join(project.folder, 'cut.har'), '{"log": {"version": "1.2", "entr');
  await write(`
    for (const options of [
      { page: 'none.har' },
      { page: 7 },
      { page: 'cut.har' },
      { page: 'app', network: 'lte-por' },
      { page: 'app', netwrk: 'lte' },
      undefined,
    ]) {
      test.describe(JSON.stringify(options) ?? 'none', () => {
        test.use({ replay: options as never });
        test('loads', async ({ load }) => void (await load()));
      });
    }
  `);
  const { code, output } = await project.test();
  expect(code).toBe(1);
  const lines = complaints(output);
  expect(lines, output).toHaveLength(6);
  for (const [index, words] of [
    /page \S*\/none\.har: expected shop, news, app, .*no such file/,
    /replay\.page: expected a string, got 7/,
    /cut\.har: .*JSON/,
    /network "lte-por": expected one of .*lte-poor/,
    /replay\.netwrk: expected no entry of this name/,
    /replay: expected a page to replay, as in test\.use/,
  ].entries()) {
    expect(lines[index]).toMatch(words);
  }
  expect(await project.leftovers()).toEqual([]);
});

test('HTTP/3 where UDP is blocked: the line says so, and the natural choice still loads', async () => {
  await write(`
    test.use({ replay: { page: 'small', network: 'udp-blocked', disturbed: 'keep' } });
    test('one after another', async ({ load }) => {
      const loaded = await load();
      expect(loaded).toLoadWithin(30_000);
      expect(predictionOf(loaded).protocols.h3).toEqual({ unavailable: 'UDP is blocked on this network' });
      expect.soft(loaded).toUseProtocol('h3');
      await load({ protocol: 'h3' });
    });
  `);
  const { output } = await project.test();
  const [wrong, unreachable, ...others] = complaints(output);
  expect(wrong, output).toMatch(/^Error: small, udp-blocked, natural: 2 of 2 requests were not on h3:$/);
  expect(unreachable).toMatch(
    /^ReplayError: small, udp-blocked, h3: UDP is blocked on this network: no answer for https:\/\/small\.test\//,
  );
  expect(others).toEqual([]);
});

test('no rights for the lab', async () => {
  test.skip(process.getuid?.() !== 0, 'only root can become a user without rights');
  await write(`
    test.use({ replay: { page: 'small', disturbed: 'keep' } });
    test('loads', async ({ load }) => void (await load()));
  `);
  await promisify(execFile)('chmod', ['-R', 'a+rwX', project.folder]);
  const { code, output } = await project.test({
    prefix: asNobody(project.folder, 0o600),
    env: { HOME: project.folder },
  });
  expect(code).toBe(1);
  expect(complaints(output), output).toEqual([
    expect.stringMatching(/^ReplayError: .*\/dev\/net\/tun cannot be opened by this user/),
  ]);
});

test('no Chromium', async () => {
  await write(`
    test.use({ replay: { page: 'small', disturbed: 'keep' } });
    test('loads', async ({ load }) => void (await load()));
  `);
  const { output } = await project.test({ env: { HOPWISE_CHROMIUM: join(project.folder, 'chromium') } });
  expect(complaints(output), output).toEqual([expect.stringContaining('HOPWISE_CHROMIUM names')]);
});

test('after a failure and a timeout nothing is left', async () => {
  await write(`
    test.use({ replay: { page: 'small', network: 'fast', disturbed: 'keep' } });
    test('fails', async ({ load }) => {
      await load();
      throw new Error('as it should');
    });
    test('hangs', async ({ load, replayPage, replayUrl }) => {
      test.setTimeout(2_000);
      await replayPage.goto(replayUrl);
      await load();
      await new Promise(() => {});
    });
    test('works', async ({ load }) => void (await load()));
  `);
  const { output } = await project.test();
  expect(output).toContain('1 passed');
  expect(output).toContain('as it should');
  expect(output).toMatch(/loads\.html.*text\/html/);
  expect(output).toContain('Test timeout of');
  await project.expectNothingLeft();
});

test('a killed worker takes its lab and its browsers along, and the next one removes what is left', async () => {
  await write(`
    import { spawnSync } from 'node:child_process';
    test.use({ replay: { page: 'app', network: '3g', disturbed: 'keep' } });
    test('is killed', async ({ load }) => {
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2_500);
      await load();
    });
    test('comes next', async ({ load }) => void (await load({ network: 'fast' })));
  `);
  const killed = await project.test({ args: ['-g', 'is killed'] });
  expect(killed.code).toBe(1);
  await expect.poll(() => project.processes(), { timeout: 60_000 }).toEqual([]);
  expect((await project.leftovers()).length).toBeGreaterThan(0);
  const next = await project.test({ args: ['-g', 'comes next'] });
  expect(next.output).toContain('1 passed');
  expect(await project.leftovers()).toEqual([]);
});
