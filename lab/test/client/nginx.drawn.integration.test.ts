import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { chromiumPath } from '../../src/browser/chromium.ts';
import { LAB_BINARY } from '../../src/client/build.ts';
import { Lab, labObstacle } from '../../src/client/lab.ts';
import { nginxProgram } from '../../src/client/nginx.ts';
import { frontPrograms } from '../../src/client/server-stack.ts';
import { MeasuringBrowser } from '../../src/loads/measuring-browser.ts';
import type { Site } from '../../src/sites/site.ts';
import { logged } from '../support/lab-log.ts';
import { allGone, descendants, firstLine } from '../support/lab-processes.ts';
import { FAR, MAIN, OLD, PAGE_REQUESTS, writeTinySite } from '../support/lab-site.ts';
import { check, LINK } from '../support/lab-transfers.ts';

const run = promisify(execFile);
const obstacle =
  (await labObstacle()) ??
  (await nginxProgram(console.warn).then(
    () => null,
    (error: Error) => error.message,
  ));
if (obstacle) console.warn(`Skipping the tests of nginx in the lab: ${obstacle}`);

const NETWORK = { ...LINK, rttMs: 4 };

/** The program of iproute2 that lists sockets. */
const SS = '/usr/bin/ss';

const isNginx = (pid: number): boolean => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'nginx';

/** The tiny site without HTTP/3. */
async function writeTcpSite(): Promise<string> {
  const dir = await writeTinySite();
  const file = join(dir, 'site.json');
  const site = JSON.parse(await readFile(file, 'utf8')) as Site;
  site.origins = [
    { origin: MAIN, protocols: ['h1', 'h2'], extraRttMs: 0, congestionControl: 'bbr', initialWindow: 30 },
    { origin: FAR, protocols: ['h2'], extraRttMs: 0, thinkMs: 80 },
    { origin: OLD, protocols: ['h1'], extraRttMs: 0 },
  ];
  await writeFile(file, JSON.stringify(site));
  return dir;
}

describe.skipIf(obstacle)('nginx in the lab', () => {
  let dir: string;
  let lab: Lab;

  beforeAll(async () => {
    dir = await writeTcpSite();
    lab = await Lab.up({ site: dir, network: NETWORK, stack: 'nginx-quiche' });
  });

  afterEach(async () => {
    await lab.serve(dir);
    expect((await lab.log()).errors).toEqual([]);
  });

  afterAll(async () => {
    await lab?.down();
    await rm(dir, { recursive: true, force: true });
  });

  test('says which stack serves', () => {
    expect(lab.facts.tcp.stack).toMatch(/^nginx \d+\.\d+/);
    expect(lab.facts.quic).toBeNull();
  });

  test('serves HTTP/1.1 and 2, with the replay server’s answers and log', async () => {
    for (const protocol of ['h1', 'h2']) {
      await lab.log();
      const transfers = await check(
        lab,
        '--protocol',
        protocol,
        `${MAIN}/`,
        `${MAIN}/none`,
        `${MAIN}/bytes?400000`,
      );
      expect(transfers.map(({ protocol, status }) => [protocol, status])).toEqual([
        [protocol, 200],
        [protocol, 404],
        [protocol, 200],
      ]);
      expect(transfers[2]!.bytes).toBe(400_000);
      const entries = await logged(lab, 3);
      expect(entries.map((e) => [e.origin, e.path, e.protocol, e.status, e.bytes, e.miss ?? false])).toEqual([
        [MAIN, '/', protocol, 200, transfers[0]!.bytes, false],
        [MAIN, '/none', protocol, 404, transfers[1]!.bytes, true],
        [MAIN, '/bytes?400000', protocol, 200, 400_000, false],
      ]);
      // A connection each.
      expect(new Set(entries.map(({ connection }) => connection)).size).toBe(3);
    }
    await check(lab, '--keep', '--protocol', 'h2', `${MAIN}/image.png?n=0`, `${MAIN}/image.png?n=1`);
    const [first, second] = await logged(lab, 2);
    expect(second!.connection).toBe(first!.connection);
  });

  test('offers each origin’s protocols, also after a change', async () => {
    const spoken = async (origin: string) => {
      const answers = await Promise.all(
        ['h1', 'h2'].map(
          async (p) => (await check(lab, '--protocol', p, '--timeout', '5s', `${origin}/none`))[0]!,
        ),
      );
      return answers.filter(({ error }) => !error).map(({ protocol }) => protocol);
    };
    expect([await spoken(MAIN), await spoken(FAR), await spoken(OLD)]).toEqual([
      ['h1', 'h2'],
      ['h2'],
      ['h1'],
    ]);
    await lab.offer({ [MAIN]: 'h2', [FAR]: 'h2', [OLD]: 'h1' });
    expect(await spoken(MAIN)).toEqual(['h2']);
    await lab.offer(null);
    expect(await spoken(MAIN)).toEqual(['h1', 'h2']);
  });

  test('waits for think times', async () => {
    const [transfer] = await check(lab, '--protocol', 'h2', `${FAR}/image.png?n=0`);
    // TCP, TLS and the request take a round trip each.
    expect(transfer!.ttfbMs).toBeGreaterThan(80 + 3 * NETWORK.rttMs);
  });

  test.skipIf(!existsSync(SS))('has each origin’s congestion control', async () => {
    await lab.configure({ ...NETWORK, downMbps: 2 });
    try {
      expect([await senderTo(MAIN), await senderTo(OLD)]).toEqual(['bbr', 'cubic']);
      await lab.configureServers({ [MAIN]: { congestionControl: 'reno' } });
      expect(await senderTo(MAIN)).toBe('reno');
    } finally {
      await lab.configure(NETWORK);
    }
  });

  /** Congestion control of the server's TCP during a transfer, which is repeated until a list of sockets shows it. */
  async function senderTo(origin: string): Promise<string | undefined> {
    let over = false;
    const url = `${origin}/${origin === MAIN ? 'bytes?400000' : 'slow'}`;
    const transfer = async () => {
      while (!over) await check(lab, '--protocol', 'h1', url);
    };
    const look = async () => {
      const [server] = descendants(process.pid).filter((pid) => isNginx(pid));
      const user = lab.facts.rootless ? ['-U', '--preserve-credentials'] : [];
      const list = ['-t', String(server), ...user, '-n', SS, '-tiHO', 'state', 'established'];
      try {
        return await vi.waitFor(async () => {
          const seen = await run('nsenter', list);
          if (!seen.stdout.includes('cwnd')) throw new Error('no connection');
          return seen.stdout;
        }, 60_000);
      } finally {
        over = true;
      }
    };
    const [sockets] = await Promise.all([look(), transfer()]);
    return /\b(bbr|cubic|reno)\b/.exec(sockets)?.[1];
  }

  test('refuses what it cannot do', async () => {
    for (const [change, complaint] of [
      [{ pacingMbps: 8 }, `${MAIN}.pacingMbps: nginx cannot pace TCP: use the Go servers`],
      [
        { priorities: 'ignored' },
        `${MAIN}.priorities: nginx honours those of HTTP/2 always: use the Go servers to ignore them`,
      ],
      [
        { protocols: ['h3'] },
        `${MAIN}.protocols: h3 needs hopwise-quiche, which the lab was started without`,
      ],
    ] as const) {
      await expect(lab.configureServers({ [MAIN]: change as object })).rejects.toThrow(`lab: ${complaint}`);
    }
    expect((await check(lab, '--protocol', 'h1', `${MAIN}/`))[0]).toMatchObject({ status: 200 });
  });

  test('ends with the lab, however it ends', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hopwise-nginx-test-'));
    const config = join(folder, 'config.json');
    const fronts = await frontPrograms(dir);
    for (const end of ['the lab is killed', 'its stdin ends', 'nginx is killed'] as const) {
      const scratch = join(folder, end.replaceAll(' ', '-'));
      await writeFile(config, JSON.stringify({ site: dir, network: NETWORK, dir: scratch, fronts }));
      const program = spawn(LAB_BINARY, ['up', '--config', config], { stdio: ['pipe', 'pipe', 'pipe'] });
      let complaint = '';
      program.stderr.on('data', (text) => {
        complaint += text;
      });
      await firstLine(program);
      const family = descendants(program.pid!);
      const nginx = family.find(isNginx)!;
      expect(nginx).toBeDefined();
      if (end === 'the lab is killed') program.kill('SIGKILL');
      else if (end === 'nginx is killed') process.kill(nginx, 'SIGKILL');
      else program.stdin.end();
      await allGone([program.pid!, ...family]);
      if (end === 'nginx is killed')
        expect(complaint).toContain('hopwise-lab: nginx: ended unexpectedly: signal: killed');
      if (end !== 'the lab is killed') expect(existsSync(join(scratch, 'fronts'))).toBe(false);
    }
    await rm(folder, { recursive: true });
  });

  test.skipIf(!existsSync(chromiumPath()))(
    'serves Chromium, which resumes its sessions after a restart',
    async () => {
      const executablePath = await lab.wrapper(chromiumPath());
      for (const protocol of ['h1', 'h2'] as const) {
        // The page needs nothing of OLD, which has no HTTP/2.
        const serve = async () => {
          await lab.serve(dir);
          if (protocol === 'h1') await lab.configureServers({ [FAR]: { protocols: ['h1'] } });
        };
        await serve();
        await lab.log();
        const own = { executablePath, protocol, caSpki: lab.caSpki, hosts: lab.hosts };
        const browser = await MeasuringBrowser.launch(own);
        try {
          let cold: Awaited<ReturnType<typeof logged>> = [];
          let restartedMs = 0;
          const load = await browser.load(`${MAIN}/`, {
            timeoutMs: 20_000,
            view: 'warm',
            betweenViews: async () => {
              cold = await logged(lab, PAGE_REQUESTS);
              await serve();
              restartedMs = Date.now();
            },
          });
          expect(load).toMatchObject({ ok: true, failed: [] });
          // The first view's request for the icon may be logged late.
          const warm = (await logged(lab, PAGE_REQUESTS)).filter(({ startMs }) => startMs >= restartedMs);
          for (const entries of [cold, warm])
            expect(new Set(entries.map((e) => e.protocol))).toEqual(new Set([protocol]));
          expect(cold[0]!.resumed ?? false).toBe(false);
          expect(warm[0]!.resumed).toBe(true);
          // Numbers are not used again.
          expect(Math.min(...warm.map((e) => e.connection))).toBeGreaterThan(
            Math.max(...cold.map((e) => e.connection)),
          );
        } finally {
          await browser.close();
        }
      }
    },
  );
});
