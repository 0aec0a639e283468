import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MESSAGE_VERSION, toExtension, verificationSchema } from '@hopwise/contract';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { connectHead } from './pins/proxy/support/peers.ts';
import { FIREFOX_ARGUMENTS, HostProcess } from './support/host-process.ts';
import { serveProgram } from './support/serve-program.ts';
import { planOf } from './support/server.ts';

const served = serveProgram();
let state: string;
let hosts: Host[] = [];

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'hopwise-state-'));
});

afterEach(async () => {
  for (const host of hosts) await host.end();
  hosts = [];
  rmSync(state, { recursive: true });
});

class Host extends HostProcess {
  constructor(env: NodeJS.ProcessEnv = {}, args?: string[]) {
    super({ XDG_STATE_HOME: state, HOPWISE_CA_FILE: served.server.caFile, ...env }, args);
    hosts.push(this);
  }
}

const PIN = {
  type: 'pin',
  origin: 'https://a.example',
  kind: 'avoid-h3',
  minutes: null,
  persistent: false,
} as const;

function logged(host: Host, words: string): boolean {
  return readFileSync(join(state, 'hopwise', 'host.log'), 'utf8').includes(` ${host.process.pid} ${words}`);
}

function probeMessage(id: string, paths: string[], rounds = 1): unknown {
  return {
    type: 'probe',
    id,
    plan: planOf(paths.map((path) => served.server.url(path))),
    protocols: ['h1', 'h2', 'h3'],
    rounds,
    budgetBytes: 1e8,
  };
}

it('says hello, probes and ends with its input', async () => {
  const launcher = '/usr/bin/hopwise-host';
  const host = new Host({ HOPWISE_LAUNCHER: launcher });
  host.send({ type: 'hello', id: 'h', version: MESSAGE_VERSION });
  expect(await host.next()).toMatchObject({
    type: 'hello',
    id: 'h',
    version: MESSAGE_VERSION,
    launcher,
    http3: true,
    problem: '',
  });
  host.send(probeMessage('p', ['/bytes/1000', '/bytes/2000', '/trickle/20000'], 2));
  const { progress, message } = await host.answer();
  expect(progress.length).toBeGreaterThan(0);
  expect(progress[0]).toMatchObject({ id: 'p', allTransfers: 18 });
  expect(message).toMatchObject({ type: 'probe-result', id: 'p', part: 0, parts: 1 });
  const text = message.type === 'probe-result' ? message.json : '';
  const verification = verificationSchema.parse(JSON.parse(text));
  for (const protocol of ['h1', 'h2', 'h3'] as const) {
    expect(verification.protocols[protocol]).toMatchObject({ provedRequests: 6, answeredRequests: 6 });
  }
  expect(await host.end()).toBe(0);
});

it('keeps compiled code and the place of libcurl for its next start', async () => {
  const found: unknown[] = [];
  for (let start = 0; start < 2; start++) {
    const host = new Host({ HOPWISE_LIBCURL: '' });
    host.send({ type: 'hello', id: 'h', version: MESSAGE_VERSION });
    expect(await host.next()).toMatchObject({ type: 'hello', http3: true });
    const { path } = JSON.parse(readFileSync(join(state, 'hopwise', 'libcurl.json'), 'utf8'));
    found.push(path);
    expect(await host.end()).toBe(0);
    expect(logged(host, 'engine ')).toBe(true);
    expect(readFileSync(join(state, 'hopwise', 'host.log'), 'utf8')).toContain(` from ${path}\n`);
  }
  expect(found[1]).toBe(found[0]);
  // Node before 22.8 keeps none.
  const keeps = Number(process.versions.node.split('.')[0]) > 22;
  expect(existsSync(join(state, 'hopwise', 'compiled'))).toBe(keeps);
});

it('logs origins, never whole URLs, for its user alone', async () => {
  const host = new Host();
  host.send(probeMessage('p', ['/bytes/1000?secret=token']));
  await host.answer();
  await host.end();
  const log = join(state, 'hopwise', 'host.log');
  expect(statSync(log).mode & 0o777).toBe(0o600);
  const text = readFileSync(log, 'utf8');
  expect(text).toContain(`probe of https://localhost:${served.server.port}: done`);
  expect(text).not.toMatch(/secret|token|\/bytes/);
});

it('does one probe at a time and cancels it', async () => {
  const host = new Host();
  host.send(probeMessage('a', ['/trickle/5000000']));
  host.send(probeMessage('b', ['/bytes/10']));
  expect((await host.answer()).message).toMatchObject({ type: 'error', id: 'b', code: 'busy' });
  host.send({ type: 'cancel', id: 'b' });
  host.send({ type: 'cancel', id: 'a' });
  expect((await host.answer()).message).toMatchObject({ type: 'error', id: 'a', code: 'cancelled' });
  host.send(probeMessage('c', ['/bytes/10']));
  expect((await host.answer()).message).toMatchObject({ type: 'probe-result', id: 'c' });
});

it('answers a bad message in one line and goes on', async () => {
  const host = new Host();
  host.send({ type: 'probe', id: 'x', plan: { pageUrl: 'ftp://a' } });
  const message = await host.next();
  expect(message).toMatchObject({ type: 'error', id: 'x', code: 'bad-message' });
  expect(message.type === 'error' && message.message).toMatch(/^plan\./);
  host.send('text');
  expect(await host.next()).toMatchObject({ type: 'error', id: '', code: 'bad-message' });
  host.send({ type: 'hello', id: 'h', version: MESSAGE_VERSION });
  expect(await host.next()).toMatchObject({ type: 'hello' });
});

it.each([MESSAGE_VERSION - 1, MESSAGE_VERSION + 1])('refuses an extension of version %i', async (version) => {
  const host = new Host();
  host.send({ type: 'hello', id: 'h', version });
  expect(await host.next()).toMatchObject({ type: 'error', id: 'h', code: 'version' });
});

it('ends with one clear error after bytes that are no frame', async () => {
  const host = new Host();
  host.process.stdin!.write('GET / HTTP/1.1\r\n\r\n');
  const message = await host.next();
  expect(message).toMatchObject({ type: 'error', id: '', code: 'bad-message' });
  expect(message.type === 'error' && message.message).toContain('not a native-messaging frame');
  expect(await host.exit).toBe(1);
});

it('reports a crash of its engine and continues with a new one', async () => {
  const host = new Host();
  host.send({ type: 'hello', id: 'h', version: MESSAGE_VERSION });
  await host.next();
  const [engine] = children(host.process.pid!);
  host.send(probeMessage('a', ['/trickle/5000000']));
  await served.server.seen(1);
  process.kill(engine!, 'SIGKILL');
  const { message } = await host.answer();
  expect(message).toMatchObject({ type: 'error', id: 'a', code: 'engine-died' });
  host.send(probeMessage('b', ['/bytes/10']));
  expect((await host.answer()).message).toMatchObject({ type: 'probe-result', id: 'b' });
});

it('ends its engine when the browser ends during a probe', async () => {
  const host = new Host();
  host.send(probeMessage('a', ['/bytes/10', '/trickle/5000000']));
  await host.next();
  const [engine] = children(host.process.pid!);
  host.process.stdout!.destroy();
  expect(await host.end()).toBe(0);
  await gone(engine!);
});

it('ends with its input though its engine hangs', async () => {
  const host = new Host();
  host.send(probeMessage('a', ['/bytes/10', '/trickle/5000000']));
  await host.next();
  const [engine] = children(host.process.pid!);
  process.kill(engine!, 'SIGSTOP');
  const begin = performance.now();
  expect(await host.end()).toBe(0);
  expect(performance.now() - begin).toBeLessThan(30_000);
  await gone(engine!);
});

it('ends with its input though the browser has read none of its messages', async () => {
  const host = new Host();
  // More than the pipe holds.
  for (let request = 0; request < 3000; request += 1) host.send({ type: 'pins', id: String(request) });
  const begin = performance.now();
  expect(await host.end()).toBe(0);
  // It would wait for its reader for ever. A busy machine takes seconds for the messages.
  expect(performance.now() - begin).toBeLessThan(30_000);
});

it('is ended by its engine when it hangs while browsers depend on it', async () => {
  const host = new Host();
  const { port } = await host.askPins({ ...PIN, id: 'p' });
  await expect.poll(() => logged(host, 'engine libcurl')).toBe(true);
  const [engine] = children(host.process.pid!);
  const silent = connect(port, '127.0.0.1').on('error', () => {});
  await once(silent, 'connect');
  const begin = performance.now();
  host.process.kill('SIGSTOP');
  silent.write(connectHead('a.example:443'));
  await new Promise((resolve) => silent.once('close', resolve));
  expect(performance.now() - begin).toBeLessThan(5000);
  await host.exit;
  expect(host.process.signalCode).toBe('SIGKILL');
  await gone(engine!);
});

it('replaces an engine that hangs while nothing is transferred', async () => {
  const host = new Host();
  await host.askPins({ ...PIN, id: 'p' });
  await expect.poll(() => logged(host, 'engine libcurl')).toBe(true);
  const [engine] = children(host.process.pid!);
  process.kill(engine!, 'SIGSTOP');
  await gone(engine!);
  await expect.poll(() => children(host.process.pid!)).toHaveLength(1);
  expect(await host.askPins({ type: 'pins', id: 'q' })).toMatchObject({ pins: [{ state: 'active' }] });
});

it('answers a ping at once', async () => {
  const host = new Host();
  host.send({ type: 'ping', id: 'a' });
  expect(await host.next()).toEqual({ type: 'pong', id: 'a' });
});

it('leaves no engine behind when it is killed', async () => {
  const host = new Host();
  host.send({ type: 'hello', id: 'h', version: MESSAGE_VERSION });
  await host.next();
  const [engine] = children(host.process.pid!);
  host.process.kill('SIGKILL');
  await host.exit;
  await gone(engine!);
});

it('checks itself on request, and names a fix for what fails', async () => {
  const host = new Host({ HOPWISE_CA_FILE: '/nonexistent/ca.pem' });
  host.send({ type: 'doctor', id: 'd' });
  const answer = toExtension.parse(await host.next());
  if (answer.type !== 'doctor') throw new Error(`${answer.type} instead of doctor`);
  expect(answer.id).toBe('d');
  const find = (wanted: string) => answer.checks.find(({ name }) => name === wanted);
  expect(find('Node')).toMatchObject({ ok: true, detail: expect.stringContaining(process.version), fix: '' });
  expect(find('CA bundle')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('/nonexistent/ca.pem'),
    fix: 'name an existing file or unset it',
  });
});

it('says in hello and to a probe what is missing', async () => {
  const host = new Host({ HOPWISE_LIBCURL: '/nowhere/libcurl.so' });
  host.send({ type: 'hello', id: 'h', version: MESSAGE_VERSION });
  const hello = await host.next();
  expect(hello).toMatchObject({ type: 'hello', engine: '', http3: false });
  expect(hello.type === 'hello' && hello.problem).toContain('/nowhere/libcurl.so');
  host.send(probeMessage('p', ['/']));
  expect(await host.next()).toMatchObject({ type: 'error', id: 'p', code: 'no-engine' });
});

it('takes the arguments of Firefox', async () => {
  const host = new Host({}, FIREFOX_ARGUMENTS);
  host.send({ type: 'hello', id: 'h', version: MESSAGE_VERSION });
  expect(await host.next()).toMatchObject({ type: 'hello', id: 'h' });
});

/** Waits for the end of a child process, which follows its parent's. */
async function gone(pid: number): Promise<void> {
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
}

/** Process ids of the children of `pid`. */
function children(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(/\s+/).filter(Boolean).map(Number);
}
