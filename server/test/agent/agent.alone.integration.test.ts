/** The agent beside real nginx and the kernel's TCP, in the lab's namespaces. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENT, type RunningAgent, ServerLab } from '@hopwise/bench/windows/server-lab';
import { parsePcwndCounts } from '@hopwise/pageload-emulator/econ';
import { afterAll, beforeAll, expect, it } from 'vitest';

const PATH = { rttMs: 30, loss: 0, lossBurst: 1, udp: 'open' as const };
const LONG = { ...PATH, downMbps: 100, upMbps: 100, queue: { ms: 100 } };
/** 10 segments fit into its queue, and so does each round of slow start after them; 40 do not. */
const TINY_BUFFER = { ...PATH, downMbps: 10, upMbps: 10, queue: { bytes: 20_000 } };
const clientsIn = (prefix: string) => Array.from({ length: 5 }, (_, index) => `${prefix}.${index + 1}`);
const FAST_CLIENTS = clientsIn('10.1.1');
const TINY_CLIENTS = clientsIn('10.2.1');
const BYTES = 60_000;
const TABLE = '199';

let folder: string;
let lab: ServerLab;
let agent: RunningAgent;
const state = () => join(folder, 'state');
const OPTIONS = ['--windows', '10,40', '--min-connections', '5', '--interval', '60', '--port', '9464'];
const startAgent = () => lab.startAgent([...OPTIONS, '--apply', '--state', state()]);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-agent-'));
  lab = await ServerLab.up(folder, LONG, [...FAST_CLIENTS, ...TINY_CLIENTS], [BYTES]);
});
afterAll(async () => {
  await agent?.end('SIGKILL');
  await lab?.down();
  rmSync(folder, { recursive: true });
});

/** Windows by prefix, as the kernel has them. */
async function windows(): Promise<Record<string, number>> {
  const text = await lab.inServer(['ip', 'route', 'show', 'table', TABLE]).catch(() => '');
  return Object.fromEntries(
    [...text.matchAll(/^(\S+) .*initcwnd (\d+)/gm)].map(([, prefix, window]) => [prefix, Number(window)]),
  );
}

const rules = () => lab.inServer(['ip', 'rule', 'show']);
const askAgent = (path: string, client = '') => lab.askAgent(9464, path, client);

/** Loss events a round that p(cwnd) of a new client has. */
async function lossRate(client: string): Promise<number> {
  const counts = parsePcwndCounts(await askAgent('/pcwnd', client));
  const sum = (name: 'rounds' | 'lossEvents') => counts.reduce((total, each) => total + each[name], 0);
  return sum('lossEvents') / sum('rounds');
}

/** Runs a command of the agent that ends by itself. @returns its exit code and what it printed */
async function command(...words: string[]): Promise<{ code: number; text: string }> {
  try {
    const text = await lab.inServer([process.execPath, '--conditions=source', AGENT, ...words]);
    return { code: 0, text };
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string };
    return { code, text: stderr };
  }
}

/**
 * Has clients request until the agent, which tries others meanwhile, has decided for this window and their prefix has it.
 *
 * @returns the number of requests
 */
async function settle(clients: readonly string[], prefix: string, wanted: number): Promise<number> {
  const before = agent.text.length;
  const said = () => agent.text.slice(before);
  const decision = () => [...said().matchAll(/a window of (\d+) is best/g)].at(-1)?.[1];
  for (let requests = 1; requests <= 300; requests++) {
    await lab.request(clients[requests % clients.length]!, BYTES);
    if (decision() === String(wanted) && (await windows())[prefix] === wanted) return requests;
  }
  throw new Error(`${prefix}: not ${wanted} within 300 requests; the agent said ${said()}`);
}

it('learns a large window behind a long path and a small one behind a tiny buffer', async () => {
  agent = await startAgent();
  appendFileSync(lab.log, `{"msec":"\n\0\0\n${'x'.repeat(20_000)}\n{"remote_addr":"10.9.9.9; reboot"}\n`);
  await settle(FAST_CLIENTS, '10.1.1.0/24', 40);
  await lab.configure(TINY_BUFFER);
  await settle(TINY_CLIENTS, '10.2.1.0/24', 10);
  expect(agent.text).toMatch(/a window of 40 loses too much; back to 10/);
});

it('serves counts of what it did, and p(cwnd) of a cluster', async () => {
  const metrics = await askAgent('/metrics');
  expect(metrics).toContain('hopwise_server_log_bad_lines_total 4\n');
  expect(metrics).toMatch(/hopwise_server_routes\{window="\d+"\} \d\n/);
  expect(metrics).not.toMatch(/10\.[12]\.1/);
  const [tiny, fast] = [await lossRate('10.2.1.77'), await lossRate('10.1.1.77')];
  expect(tiny).toBeGreaterThan(2 * fast);
  expect(await askAgent('/pcwnd', '10.9.9.9')).toContain('nothing was counted');
  expect(await askAgent('/pcwnd', '1; DROP')).toContain('Hopwise-Client: expected');
});

it('gives prefixes that only the log names no route', async () => {
  const before = await windows();
  const line = (index: number) =>
    `{"msec":"${Date.now() / 1000}","remote_addr":"11.${index >> 8}.${index & 255}.1","remote_port":"9","connection_time":"0","bytes_sent":"1"}\n`;
  appendFileSync(lab.log, Array.from({ length: 5000 }, (_, index) => line(index)).join(''));
  await lab.request(TINY_CLIENTS[0]!, BYTES);
  await expect
    .poll(async () => /log_lines_total (\d+)/.exec(await askAgent('/metrics'))?.[1])
    .toMatch(/^5\d{3}$/);
  expect(Object.keys(await windows())).toEqual(Object.keys(before));
});

it('refuses a second agent and an undo beside it in one line', async () => {
  const second = await command('run', '--log', lab.log, '--apply', '--state', join(folder, 'other'));
  expect(second.code).toBe(1);
  expect(second.text).toMatch(/^hopwise-server: another hopwise-server uses routing table 199: [^\n]*\n$/);
  expect(await command('undo')).toMatchObject({
    code: 1,
    text: expect.stringContaining('takes its routes back itself'),
  });
});

it('finds its routes again after SIGKILL, takes them back, and still knows what it learned', async () => {
  // What is learned is stored at the end and every 10 s. Ctrl-C also ends ss.
  const code = await agent.interrupt();
  expect(code, agent.text).toBe(0);
  expect(await windows()).toEqual({});
  expect(await rules()).not.toContain(TABLE);

  agent = await startAgent();
  await lab.configure(LONG);
  // Learning anew would take ten: five with each window.
  expect(await settle(FAST_CLIENTS, '10.1.1.0/24', 40)).toBeLessThan(10);
  await agent.end('SIGKILL');
  expect(Object.keys(await windows())).toEqual(['10.1.1.0/24']);
  agent = await startAgent();
  await agent.said(/took back 1 routes/);
  await settle(FAST_CLIENTS, '10.1.1.0/24', 40);

  await agent.end('SIGKILL');
  // As after a kill in the middle of a change: a route of a batch whose rest is missing, and a rule that is gone.
  const half = `10.3.0.0/16 dev lab0 initcwnd 40 table ${TABLE} proto ${TABLE}`;
  await lab.inServer(['ip', 'route', 'add', ...half.split(' ')]);
  await lab.inServer(['ip', 'rule', 'del', 'lookup', TABLE]);
  expect(await command('undo')).toEqual({ code: 0, text: 'took back 2 routes\n' });
  expect(await windows()).toEqual({});
  expect(await rules()).not.toContain(TABLE);
});

it('goes on where the disk is full, names the file, and leaves it as it was', async () => {
  const disk = join(folder, 'disk');
  const before = readFileSync(join(state(), 'learned.json'), 'utf8');
  const fill = `mkdir ${disk} && mount -t tmpfs -o size=64k tmpfs ${disk} && cp ${state()}/key ${state()}/learned.json ${disk}/ && (cat /dev/zero > ${disk}/fill 2> /dev/null || true)`;
  const around = `${fill}; "$@" & agent=$!; trap 'kill $agent' TERM; wait $agent; wait $agent; cp ${disk}/learned.json ${folder}/after.json`;
  agent = await lab.startAgent(
    [...OPTIONS, '--apply', '--state', disk],
    ['unshare', '-m', 'sh', '-c', around, 'sh'],
  );
  await settle(FAST_CLIENTS, '10.1.1.0/24', 40);
  await agent.end();
  expect(agent.text).toContain(
    'learned.json: expected a file that can be written, but its disk is full; it stays as it was',
  );
  expect(readFileSync(join(folder, 'after.json'), 'utf8')).toBe(before);
  expect(await windows()).toEqual({});
});

it('shows without --apply what it would do, and does nothing', async () => {
  agent = await lab.startAgent([...OPTIONS, '--state', state()]);
  await lab.request(FAST_CLIENTS[0]!, BYTES);
  await agent.said(
    /^would run: ip route replace 10\.1\.1\.0\/24 dev lab0 .*initcwnd 40 table 199 proto 199$/m,
  );
  expect(await windows()).toEqual({});
  expect(await rules()).not.toContain(TABLE);
  expect(await agent.end()).toBe(0);
});
