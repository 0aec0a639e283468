import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LAB_BINARY } from '../../src/client/build.ts';
import { Lab, labObstacle } from '../../src/client/lab.ts';
import { measureUntil } from '../support/attempts.ts';
import { logged } from '../support/lab-log.ts';
import {
  allGone,
  descendants,
  firstLine,
  networkNamespace,
  parentOf,
  processesIn,
} from '../support/lab-processes.ts';
import { FAR, MAIN, OLD, writeTinySite } from '../support/lab-site.ts';
import { check, LINK } from '../support/lab-transfers.ts';

const run = promisify(execFile);
const obstacle = await labObstacle();
if (obstacle) console.warn(`Skipping the lab's integration tests: ${obstacle}`);

describe.skipIf(obstacle)('the lab', () => {
  let site: string;
  let lab: Lab;

  beforeAll(async () => {
    site = await writeTinySite();
    lab = await Lab.up({ site, network: LINK });
  });

  afterAll(async () => {
    await lab?.down();
    await rm(site, { recursive: true, force: true });
  });

  test('serves every protocol and logs it', async () => {
    await lab.configure(LINK);
    await lab.log();
    for (const protocol of ['h1', 'h2', 'h3']) {
      const transfers = await check(
        lab,
        '--protocol',
        protocol,
        `${MAIN}/`,
        `${FAR}/image.png?n=1`,
        `${FAR}/none`,
      );
      expect(transfers.map(({ protocol, status }) => [protocol, status])).toEqual([
        [protocol, 200],
        [protocol, 200],
        [protocol, 404],
      ]);
      const entries = await logged(lab, 3);
      expect(entries.map((e) => [e.origin, e.path, e.protocol, e.status, e.miss ?? false])).toEqual([
        [MAIN, '/', protocol, 200, false],
        [FAR, '/image.png?n=1', protocol, 200, false],
        [FAR, '/none', protocol, 404, true],
      ]);
    }
    expect((await lab.log()).entries).toEqual([]);
  });

  test('offers only an origin’s own protocols', async () => {
    await lab.configure({ ...LINK, rttMs: 2 });
    const [h1] = await check(lab, '--protocol', 'h1', `${OLD}/slow`);
    const [h2] = await check(lab, '--protocol', 'h2', `${OLD}/slow`);
    const [h3] = await check(lab, '--protocol', 'h3', '--timeout', '2s', `${OLD}/slow`);
    expect(h1).toMatchObject({ protocol: 'h1', status: 200 });
    expect(h1!.ttfbMs).toBeGreaterThan(60);
    expect(h2?.error).toBeTruthy();
    expect(h3?.error).toBeTruthy();
  });

  test('loses the same packets for the same seed', async () => {
    const lossy = { ...LINK, downMbps: 20, loss: 0.03, lossBurst: 2 };
    const lossesOf = async (seed: number) => {
      await lab.drain();
      await lab.configure({ ...lossy, seed });
      await lab.resetStats();
      await check(lab, '--protocol', 'h2', `${MAIN}/bytes?1000000`);
      const { down } = await lab.stats();
      expect(down.drops.loss).toBeGreaterThan(0);
      // The number of packets depends on TCP's reaction to losses; the packets that both runs sent are compared.
      return { lost: down.lost, packets: down.packets };
    };
    const [first, second, other] = [await lossesOf(5), await lossesOf(5), await lossesOf(6)];
    const common = Math.min(first.packets, second.packets);
    expect(first.lost.filter((n) => n < common)).toEqual(second.lost.filter((n) => n < common));
    expect(first.lost.filter((n) => n < 600)).not.toEqual(other.lost.filter((n) => n < 600));
  });

  test('blocks and polices UDP, and nothing else', async () => {
    await lab.configure({ ...LINK, udp: 'blocked' });
    await lab.resetStats();
    const [blocked] = await check(lab, '--protocol', 'h3', '--timeout', '1500ms', `${MAIN}/`);
    expect(blocked?.error).toBeTruthy();
    expect((await lab.stats()).up.drops.udpBlocked).toBeGreaterThan(0);
    expect((await check(lab, '--protocol', 'h2', `${MAIN}/`))[0]).toMatchObject({ status: 200 });

    await lab.configure({ ...LINK, udp: { policedMbps: 4 } });
    const [policed] = await check(lab, '--protocol', 'h3', `${MAIN}/bytes?1000000`);
    expect(policed).toMatchObject({ status: 200, bytes: 1e6 });
    expect(policed!.bitsPerSecond).toBeLessThan(4.2e6);
    const tcp = await measureUntil(
      async () => (await check(lab, '--protocol', 'h2', `${MAIN}/bytes?1000000`))[0]!,
      ({ bitsPerSecond }) => bitsPerSecond > 10e6,
    );
    expect(tcp.bitsPerSecond).toBeGreaterThan(10e6);
  });

  test('changes the link during a transfer', async () => {
    await lab.drain();
    await lab.configure({ ...LINK, downMbps: 2, rttMs: 10 });
    await lab.resetStats();
    const transfer = check(lab, '--protocol', 'h1', '--timeout', '60s', `${MAIN}/bytes?3000000`);
    await expect.poll(async () => (await lab.stats()).down.deliveredBytes).toBeGreaterThan(250_000);
    await lab.configure({ ...LINK, downMbps: 40, rttMs: 10 });
    // 2 of 24 Mbit are transferred after a second; the rest takes 0.6 s at one rate and 11 s at the other.
    const { totalMs } = (await transfer)[0]!;
    expect(totalMs).toBeGreaterThan(1000);
    expect(totalMs).toBeLessThan(9000);
  });

  test('drains', async () => {
    await lab.configure(LINK);
    await check(lab, `${MAIN}/`);
    expect(await lab.drain()).toBe(true);
  });

  test('resolves its origins and no other name, and reaches no other address', async () => {
    const inside = (...command: string[]) => {
      const [enter, ...rest] = lab.enterCommand(command);
      return run(enter as string, rest);
    };
    const { stdout } = await inside('/usr/bin/getent', 'hosts', 'www.lab.test');
    expect(stdout).toContain(lab.origins[0]!.address);
    const began = performance.now();
    await expect(inside('/usr/bin/getent', 'hosts', 'other.example')).rejects.toMatchObject({ code: 2 });
    // Querying a silent name server would take 5 s.
    expect(performance.now() - began).toBeLessThan(4000);
    await expect(inside('/bin/bash', '-c', 'echo > /dev/tcp/192.0.2.1/80')).rejects.toThrow('unreachable');
  });

  test('lets no connection learn from an earlier one, on either side', async () => {
    const server = descendants(await parentOf(lab.holderPid)).find((pid) => pid !== lab.holderPid);
    for (const pid of [lab.holderPid, server]) {
      const file = '/proc/sys/net/ipv4/tcp_no_metrics_save';
      // Without the mounts, which an ordinary user may not enter at the servers: the file shows the reader's network in any case.
      const enter = lab.facts.enter
        .map((word) => (word === String(lab.holderPid) ? String(pid) : word))
        .filter((word) => word !== '-m');
      const { stdout } = await run(enter[0]!, [...enter.slice(1), '/bin/cat', file]);
      expect(stdout).toBe('1\n');
    }
  });

  test('wraps a program with its arguments, folder, variables and open files', async () => {
    const script = await lab.wrapper('/bin/sh', { GREETING: "it's here" });
    const child = spawn(
      script,
      ['-c', 'pwd; echo "$GREETING, $1"; echo fourth >&4; readlink /proc/self/ns/net', 'sh', 'a b'],
      {
        cwd: site,
        stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'pipe'],
      },
    );
    const textOf = async (stream: AsyncIterable<Buffer>) => {
      let text = '';
      for await (const chunk of stream) text += chunk;
      return text;
    };
    const [out, fourth] = await Promise.all([textOf(child.stdout!), textOf(child.stdio[4] as Readable)]);
    expect(out.trim().split('\n')).toEqual([site, "it's here, a b", networkNamespace(lab.holderPid)]);
    expect(fourth).toBe('fourth\n');
  });

  test('refuses an invalid network', async () => {
    await expect(lab.configure({ ...LINK, loss: 3 })).rejects.toThrow(
      'network.loss: expected at most 0.9, got 3',
    );
    await expect(lab.configure({ ...LINK, loss: 0.8, lossBurst: 2 })).rejects.toThrow(
      /^lab: network: loss: /,
    );
  });

  test('keeps its private keys off the disk', () => {
    const dir = join(lab.caFile, '..');
    expect(statSync(dir).mode & 0o77).toBe(0);
    for (const name of readdirSync(dir))
      expect(readFileSync(join(dir, name), 'utf8')).not.toContain('PRIVATE KEY');
  });

  test('says in one line what is wrong with the site', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'hopwise-lab-test-site-'));
    await expect(Lab.up({ site: empty, network: LINK })).rejects.toThrow(
      `hopwise-lab: ${empty}/site.json: no such file or directory`,
    );
    await rm(empty, { recursive: true });
  });

  test('shuts down when aborted', async () => {
    const stop = new AbortController();
    const aborted = await Lab.up({ site, network: LINK, signal: stop.signal });
    stop.abort();
    await aborted.down();
    expect(existsSync(aborted.caFile)).toBe(false);
    expect(existsSync(`/proc/${aborted.holderPid}`)).toBe(false);
    await expect(Lab.up({ site, network: LINK, signal: stop.signal })).rejects.toThrow();
  });

  test('leaves nothing behind, even when killed', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'hopwise-lab-test-'));
    const config = join(dir, 'config.json');
    await writeFile(config, JSON.stringify({ site, network: LINK, dir: join(dir, 'scratch') }));
    const program = spawn(LAB_BINARY, ['up', '--config', config], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      const { holderPid } = await firstLine(program);
      const family = [program.pid!, ...descendants(program.pid!)];
      expect(family).toContain(holderPid);
      expect(family.length).toBeGreaterThanOrEqual(3);
      const namespaces = new Set(family.map(networkNamespace));
      namespaces.delete(networkNamespace('self'));
      // The client's and the servers'; an ordinary user's lab is in one of its own.
      expect(namespaces.size).toBe(process.getuid!() === 0 ? 2 : 3);
      program.kill('SIGKILL');
      await allGone(family);
      expect(processesIn(namespaces)).toEqual([]);
      expect(readdirSync('/sys/class/net')).not.toContain('lab0');
      expect(
        existsSync('/run/netns') ? readdirSync('/run/netns').filter((name) => name.includes('lab')) : [],
      ).toEqual([]);
    } finally {
      program.kill('SIGKILL');
      await rm(dir, { recursive: true, force: true });
    }
  });

  test('ends with its stdin and with SIGTERM, with exit code 0', async () => {
    for (const end of [(p: ChildProcess) => p.stdin!.end(), (p: ChildProcess) => p.kill('SIGTERM')]) {
      const dir = await mkdtemp(join(tmpdir(), 'hopwise-lab-test-'));
      const config = join(dir, 'config.json');
      await writeFile(config, JSON.stringify({ site, network: LINK }));
      const program = spawn(LAB_BINARY, ['up', '--config', config], { stdio: ['pipe', 'pipe', 'inherit'] });
      const exited = new Promise((resolve) => program.on('exit', (code, signal) => resolve(code ?? signal)));
      const { caFile } = await firstLine(program);
      const family = descendants(program.pid!);
      end(program);
      expect(await exited).toBe(0);
      await allGone(family);
      expect(existsSync(caFile)).toBe(false);
      await rm(dir, { recursive: true });
    }
  });
});
