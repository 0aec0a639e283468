/** Failures end in one line that says what is wrong, where, and how to fix it. They leave nothing behind. */
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromiumPath } from '@hopwise/lab/browser/chromium';
import { expect, test } from '@playwright/test';
import { drawShare } from '../../scripts/suites/draw-share.ts';
import { writeSmallSite } from './small-site.ts';
import { asNobody, type Ended, type RunOptions, start as startCommand } from './start-command.ts';

let scratch: string;
/** A temporary folder of its own, so that the leftovers of other programs are not mistaken for the run's. */
let temporary: string;
test.beforeEach(async () => {
  // A short name: what a run makes in it must fit the address of a socket.
  scratch = await mkdtemp(join(tmpdir(), 'hw-'));
  temporary = join(scratch, 'tmp');
  await mkdir(temporary, { mode: 0o777 });
});

/** Options for a run that is short in all its steps, on the page of `writeSmallSite`. */
const quick = () => ['--page', scratch, '--network', 'fast', '--rounds', '1', '--keep-disturbed'];
/** Options for a run that reaches its last step soon and stays there. */
const long = () => [...quick(), '--loads', '20'];

/** Each of its loads and each round of its transfers lasts a second at least. */
const writeSlowSite = () => writeSmallSite(scratch, { thinkMs: 1000 });

const start = (args: string[], options: RunOptions = {}) =>
  startCommand(args, { ...options, env: { TMPDIR: temporary, ...options.env } });
test.afterEach(() => rm(scratch, { recursive: true, force: true }));

/** The one line on stderr that begins with `hopwise:`. */
function complaint(ended: Ended): string {
  expect(ended.code).not.toBe(0);
  const lines = ended.stderr.split('\n').filter((line) => /^hopwise:/.test(line));
  expect(lines, ended.stderr).toHaveLength(1);
  return lines[0] as string;
}

/** Command lines of the processes that a run started: all of them know its temporary folder. */
async function processes(): Promise<string[]> {
  const lines = (await readdir('/proc')).map(async (pid) => {
    if (!/^\d+$/.test(pid)) return '';
    try {
      const [command = '', environment = ''] = await Promise.all(
        ['cmdline', 'environ'].map((file) => readFile(join('/proc', pid, file), 'utf8')),
      );
      return `${command}${environment}`.includes(temporary)
        ? command.replaceAll('\0', ' ').slice(0, 200)
        : '';
    } catch {
      // It has ended meanwhile.
      return '';
    }
  });
  return (await Promise.all(lines)).filter((line) => line !== '');
}

/** What a run has in its temporary folder. */
const leftovers = () => readdir(temporary);

/** Waits until nothing of a run is left: the kernel takes a process back a moment after it was ended. */
async function expectNothingLeft(): Promise<void> {
  await expect.poll(processes, { timeout: 60_000 }).toEqual([]);
  // With what the folders contain, which names who wrote to them.
  expect(await readdir(temporary, { recursive: true })).toEqual([]);
}

/** Tests that each cost a run. @param count how many of them `npm test` runs */
function testSome(count: number, tests: Record<string, () => Promise<void>>): void {
  for (const [title, body] of drawShare(Object.entries(tests), count, ([title]) => title)) test(title, body);
}

// What was asked for cannot be used.
testSome(4, {
  'an unknown network names the known ones': async () => {
    const ended = await start(['--network', 'carrier-pigeon', '--out', scratch]);
    expect(ended.code).toBe(2);
    expect(complaint(ended)).toMatch(/carrier-pigeon.*expected one of .*lossy/);
  },

  'a figure out of range names the option': async () => {
    const ended = await start(['--loss', '7', '--out', scratch]);
    expect(ended.code).toBe(2);
    expect(complaint(ended)).toMatch(/--loss.*from 0 to 0\.5/);
  },

  'a temporary folder whose path is too long': async () => {
    const long = join(temporary, 'x'.repeat(60));
    await mkdir(long);
    const ended = await start(['--out', scratch], { env: { TMPDIR: long } });
    expect(ended.code).toBe(1);
    expect(complaint(ended)).toMatch(/too long a path for Chromium: set TMPDIR/);
    expect(await readdir(long)).toEqual([]);
  },

  'a URL without TLS': async () => {
    const ended = await start(['http://127.0.0.1:9/', '--out', scratch]);
    expect(ended.code).toBe(2);
    expect(complaint(ended)).toContain('expected an https:// URL');
  },

  'an option of the lab beside a URL': async () => {
    const ended = await start(['https://127.0.0.1:4433/', '--network', 'lte', '--out', scratch]);
    expect(ended.code).toBe(2);
    expect(complaint(ended)).toMatch(/--network goes with the lab/);
  },

  'a page that is not there': async () => {
    const ended = await start(['--page', join(scratch, 'none.har'), '--out', scratch]);
    expect(ended.code).toBe(2);
    expect(complaint(ended)).toMatch(/none\.har.*no such file/);
  },

  'a broken HAR names the file and the place': async () => {
    const file = join(scratch, 'broken.har');
    await writeFile(file, '{"log": {"version": "1.2", "entries": [{"request": {"url": 7}}]}}');
    const ended = await start(['--page', file, '--out', scratch]);
    expect(ended.code).toBe(2);
    expect(complaint(ended)).toMatch(/broken\.har: .*entries\[0\]/);
  },

  'truncated JSON names the file': async () => {
    const file = join(scratch, 'cut.har');
    await writeFile(file, '{"log": {"version": "1.2", "entr');
    const ended = await start(['--page', file, '--out', scratch]);
    expect(ended.code).toBe(2);
    expect(complaint(ended)).toMatch(/cut\.har: .*JSON/);
  },

  'a site whose body is missing': async () => {
    await writeSmallSite(scratch, { image: { file: 'none.png' } });
    const ended = await start(['--page', scratch, '--out', scratch]);
    expect(ended.code).toBe(2);
    expect(complaint(ended)).toMatch(/site\.json: resources\[1\]\.body\.file: none\.png: no such file/);
  },
});

// What a run needs is not there, or does not answer.
testSome(3, {
  'a page that never fires its load event': async () => {
    await writeSmallSite(scratch, { thinkMs: 600_000 });
    const ended = await start(['--page', scratch, '--timeout', '3', '--out', scratch]);
    expect(ended.code).toBe(1);
    expect(complaint(ended)).toMatch(
      /https:\/\/small\.test\/ did not fire its load event within 3 s: .*--timeout/,
    );
    // A page has a minute by default.
    expect(ended.elapsedMs).toBeLessThan(50_000);
    await expectNothingLeft();
  },

  'no rights for the lab: the live run is offered': async () => {
    test.skip(process.getuid?.() !== 0, 'only root can become a user without rights');
    await writeSmallSite(scratch);
    for (const folder of [scratch, temporary]) await chmod(folder, 0o777);
    const ended = await start(['--page', scratch, '--out', scratch], {
      prefix: asNobody(scratch, 0o600),
      env: { HOME: scratch },
    });
    expect(ended.code).toBe(1);
    expect(complaint(ended)).toMatch(
      /\/dev\/net\/tun cannot be opened by this user: .*; without the lab: npm start -- https:\/\//,
    );
    expect(await leftovers()).toEqual([]);
  },

  'a libcurl that cannot be used': async () => {
    const env = { HOPWISE_LIBCURL: join(scratch, 'libcurl.so') };
    await writeSlowSite();
    const ended = await start([...quick(), '--out', scratch], { env });
    expect(ended.code).toBe(1);
    expect(complaint(ended)).toMatch(/libcurl/);
    await expectNothingLeft();
  },

  'a window without a display': async () => {
    const ended = await start(['--headed', '--out', scratch], { env: { DISPLAY: '', WAYLAND_DISPLAY: '' } });
    expect(ended.code).toBe(2);
    expect(complaint(ended)).toContain('DISPLAY');
  },

  'a browser that does not load the extension': async () => {
    const browser = join(scratch, 'browser');
    await writeFile(
      browser,
      `#!/bin/sh
for word do
  shift
  case $word in --load-extension=* | --disable-extensions-except=*) ;; *) set -- "$@" "$word" ;; esac
done
exec ${chromiumPath()} "$@"
`,
      { mode: 0o755 },
    );
    const ended = await start(['https://127.0.0.1:9/', '--out', scratch], {
      env: { HOPWISE_CHROMIUM: browser },
    });
    expect(ended.code).toBe(1);
    expect(complaint(ended)).toMatch(/Chromium with the extension did not start: .*unpacked extensions/);
    await expectNothingLeft();
  },

  'no Chromium': async () => {
    const ended = await start(['--out', scratch], { env: { HOPWISE_CHROMIUM: join(scratch, 'chromium') } });
    expect(ended.code).toBe(1);
    expect(complaint(ended)).toContain('HOPWISE_CHROMIUM');
  },

  'a URL at which nothing listens': async () => {
    // The system just handed this port out, so it is free; Chromium itself refuses well-known ports.
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const ended = await start([`https://127.0.0.1:${port}/`, '--out', scratch]);
    expect(ended.code).toBe(1);
    expect(complaint(ended)).toContain(
      `127.0.0.1:${port}/ cannot be loaded: ERR_CONNECTION_REFUSED (nothing listens there)`,
    );
  },

  'a report that cannot be written, before anything is measured': async () => {
    const file = join(scratch, 'file');
    await writeFile(file, '');
    await writeSlowSite();
    const ended = await start([...quick(), '--out', join(file, 'out')]);
    expect(ended.code).toBe(2);
    expect(complaint(ended)).toContain('--out');
    expect(ended.stderr).not.toContain('lab:');
  },
});

const INTERRUPTIONS = [
  { step: 'lab', delayMs: 100 },
  // While Chromium starts.
  { step: 'recording', delayMs: 50 },
  { step: 'recording', delayMs: 1500 },
  { step: 'verifying', delayMs: 700 },
  { step: 'measuring', delayMs: 100 },
  { step: 'measuring', delayMs: 3000 },
];

for (const { step, delayMs } of drawShare(INTERRUPTIONS, 1, ({ step, delayMs }) => `${step} ${delayMs}`)) {
  test(`Ctrl-C ${delayMs} ms into ${step} cleans up`, async () => {
    let sent = false;
    await writeSlowSite();
    const ended = await start([...long(), '--out', scratch], {
      onStderr(text, child) {
        if (sent || !text.includes(`${step}:`)) return;
        sent = true;
        setTimeout(() => child.kill('SIGINT'), delayMs);
      },
    });
    expect(ended.code, ended.stderr).toBe(130);
    expect(complaint(ended)).toContain('SIGINT');
    await expectNothingLeft();
  });
}

/** Steps in which a run is killed. */
const KILLED_IN = drawShare(['recording', 'verifying', 'measuring'], 1);

// A run is ended by something else than Ctrl-C.
testSome(1, {
  ...Object.fromEntries(
    KILLED_IN.map((step) => [
      `killed in ${step}, the lab and Chromium end too, and the next run removes what is left`,
      async () => {
        let running: string[] = [];
        let killed = false;
        await writeSlowSite();
        await start([...long(), '--out', scratch], {
          onStderr(text, child) {
            if (killed || !text.includes(`${step}:`)) return;
            killed = true;
            setTimeout(() => {
              void processes().then((found) => {
                running = found;
                child.kill('SIGKILL');
              });
            }, 1500);
          },
        });
        expect(running.length).toBeGreaterThan(3);
        await expect.poll(processes, { timeout: 60_000 }).toEqual([]);
        expect(await leftovers()).toHaveLength(1);
        await start(['--page', join(scratch, 'none')]);
        expect(await leftovers()).toEqual([]);
      },
    ]),
  ),
  'it ends with the npm script that started it, even when that is killed': async () => {
    let killed = false;
    await writeSlowSite();
    const ended = await start([...quick(), '--out', scratch], {
      viaScript: true,
      onStderr(text, child) {
        if (killed || !text.includes('verifying:')) return;
        killed = true;
        child.kill('SIGKILL');
      },
    });
    expect(complaint(ended)).toContain('the npm script ended');
    await expectNothingLeft();
  },

  'it ends and cleans up when its output is no longer read': async () => {
    let closed = false;
    await writeSlowSite();
    const ended = await start([...quick(), '--out', scratch], {
      onStderr(text, child) {
        if (closed || !text.includes('recording:')) return;
        closed = true;
        child.stderr?.destroy();
      },
    });
    expect(ended.code).toBe(130);
    await expectNothingLeft();
  },
});
