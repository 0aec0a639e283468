/** Pins with the proxy that they lead through, without a browser or a host. */
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  EVERY_ORIGIN,
  MAX_EXCEPTIONS,
  type PinWait,
  type Protocol,
  TRUST_TRIAL_PORT,
} from '@hopwise/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Lookup } from '../../src/dns/lookup.ts';
import type { NewPin, Pin } from '../../src/pins/pin.ts';
import { PinService, type PinServiceState } from '../../src/pins/pin-service.ts';
import type { PinStore } from '../../src/pins/pin-store.ts';
import type { Terminator, TerminatorHooks } from '../../src/pins/terminating/terminating-proxy.ts';
import {
  connectHead,
  type Heard,
  hear,
  Origin,
  openTunnel,
  PROXIED_HOST,
  say,
  until,
} from './proxy/support/peers.ts';

const GRACE_MS = 400;

let origin: Origin;
let kept: Pin[];
/** What `explainObstacle` of terminators to come returns. */
let problems: string;
let changes: number;
/** Origins and bytes of the exchanges that were reported. */
let reports: [string, number[]][];
let logged: string[];
const services: PinService[] = [];

beforeEach(async () => {
  kept = [];
  problems = '';
  changes = 0;
  reports = [];
  logged = [];
  origin = await Origin.listen(
    (socket) => socket.write('hello') && socket.resume().once('end', () => socket.end()),
  );
});

afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
  await origin.close();
});

const memory: PinStore = { load: () => ({ pins: kept, problems: [] }), keep: () => {}, drop: () => {} };

const TRIAL_TOKEN = 't'.repeat(22);

/** Answers in the origin's place; `problems` are its words on what cannot be pinned. */
class FakeTerminator implements Terminator {
  readonly hooks: TerminatorHooks;
  readonly pinned = new Map<string, Protocol | 'auto'>();
  readonly steered = new Map<string, Protocol>();
  problems = problems;
  waiting: PinWait | null = null;
  closed = false;
  readonly trialToken = TRIAL_TOKEN;

  constructor(hooks: TerminatorHooks) {
    this.hooks = hooks;
  }

  explainObstacle(): string {
    return this.problems;
  }

  pin(host: string, port: number, kind: Protocol | 'auto'): void {
    this.pinned.set(`${host}:${port}`, kind);
  }

  async steer(host: string, port: number, protocol: Protocol): Promise<string> {
    if (this.pinned.get(`${host}:${port}`) !== 'auto') return 'no such pin';
    this.steered.set(`${host}:${port}`, protocol);
    return '';
  }

  findProtocol(host: string, port: number): Protocol | null {
    return this.steered.get(`${host}:${port}`) ?? 'h2';
  }

  unpin(host: string, port: number): void {
    this.pinned.delete(`${host}:${port}`);
  }

  routeConnect(host: string, port: number): { kind: 'terminate'; accept(socket: Duplex): void } {
    const key = `${host}:${port}`;
    return { kind: 'terminate', accept: (socket) => socket.end(`${this.pinned.get(key)} to ${key}`) };
  }

  findWait(): PinWait | null {
    return this.waiting;
  }

  routeTrial(host: string): { kind: 'terminate'; accept(socket: Duplex): void } {
    return { kind: 'terminate', accept: (socket) => socket.end(`trial of ${host}`) };
  }

  listUntriedHosts(): string[] {
    return this.waiting ? [PROXIED_HOST] : [];
  }

  listCaHosts(): string[] {
    return [PROXIED_HOST];
  }

  close(): void {
    this.closed = true;
  }
}

function start(graceMs = GRACE_MS, lookup?: Lookup): { service: PinService; terminator: FakeTerminator } {
  let terminator!: FakeTerminator;
  const service = new PinService({
    store: memory,
    log: (line) => logged.push(line),
    onChange: () => {
      changes += 1;
    },
    onExchanges: (origin, exchanges) => reports.push([origin, exchanges.map(({ bodyBytes }) => bodyBytes)]),
    graceMs,
    ...(lookup && { lookup }),
    createTerminator: (hooks) => {
      terminator = new FakeTerminator(hooks);
      return terminator;
    },
  });
  services.push(service);
  return { service, terminator };
}

function target(): string {
  return `${PROXIED_HOST}:${origin.port}`;
}

function pin(more: Partial<NewPin> = {}): NewPin {
  return {
    origin: `https://${target()}`,
    kind: 'avoid-h3',
    minutes: null,
    persistent: false,
    allowLocal: true,
    ...more,
  };
}

/** What a browser hears that opens a tunnel and closes its side when the first bytes have come. */
async function visit({ port }: PinServiceState, to = target()): Promise<Heard> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  let reset = false;
  socket
    .on('error', () => {
      reset = true;
    })
    .on('data', (chunk) => {
      chunks.push(chunk);
      if (Buffer.concat(chunks).toString().endsWith('hello')) socket.end();
    })
    .on('end', () => socket.end());
  socket.write(connectHead(to));
  await new Promise((resolve) => socket.once('close', resolve));
  return { bytes: Buffer.concat(chunks), reset };
}

/** An open tunnel that reads, and ends when the other side does. */
async function browserTunnel(port: number): Promise<Socket> {
  const tunnel = await openTunnel(port, target());
  return tunnel
    .on('error', () => {})
    .on('end', () => tunnel.end())
    .resume();
}

async function isClosed(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const refused = await Promise.race([
    once(socket, 'connect').then(() => false),
    new Promise<boolean>((resolve) => socket.once('error', () => resolve(true))),
  ]);
  socket.destroy();
  return refused;
}

it('listens only while there is a pin', async () => {
  const { service } = start();
  expect(await service.readState()).toMatchObject({ port: 0, pins: [], resets: 0 });
  await service.pin(pin());
  const state = await service.readState();
  expect((await visit(state)).bytes.toString()).toMatch(/200 Connection Established\r\n\r\nhello$/);
  service.unpin(pin().origin);
  expect(await service.readState()).toMatchObject({ port: 0, pins: [] });
  // The browser still has the old proxy settings.
  expect((await visit(state)).bytes.toString()).toMatch(/hello$/);
  await expect.poll(() => isClosed(state.port)).toBe(true);
  await service.pin(pin());
  const anew = await service.readState();
  expect((await visit(anew)).bytes.toString()).toMatch(/hello$/);
});

it('serves pinned origins only, and asks for the proxy settings to be set anew after a reset', async () => {
  const { service } = start();
  await service.pin(pin({ origin: 'https://other.test' }));
  expect(await visit(await service.readState())).toEqual({ bytes: Buffer.alloc(0), reset: true });
  expect(await service.readState()).toMatchObject({ resets: 1 });
  await until(() => changes === 1);
});

it('serves an origin for a time of grace only, though the proxy goes on for others', async () => {
  const { service } = start();
  await service.pin(pin());
  await service.pin(pin({ origin: 'https://other.test' }));
  service.unpin(pin().origin);
  const state = await service.readState();
  expect((await visit(state)).bytes.toString()).toMatch(/hello$/);
  await new Promise((resolve) => setTimeout(resolve, 2 * GRACE_MS));
  expect(await visit(state)).toEqual({ bytes: Buffer.alloc(0), reset: true });
});

it('does not cut what is under way when the last pin ends', async () => {
  const { service } = start(100);
  await service.pin(pin());
  const { port } = await service.readState();
  const tunnel = await browserTunnel(port);
  let heard = 0;
  tunnel.on('data', ({ length }) => {
    heard += length;
  });
  const talk = setInterval(() => {
    for (const socket of origin.sockets) socket.write('x');
  }, 20);
  service.unpin(pin().origin);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(tunnel.destroyed).toBe(false);
  const before = heard;
  await until(() => heard > before);
  clearInterval(talk);
  // Now it is idle: it ends, and with it the proxy.
  await once(tunnel, 'close');
  await expect.poll(() => isClosed(port)).toBe(true);
});

it('ends idle tunnels of an origin when its pin ends', async () => {
  const { service } = start();
  await service.pin(pin());
  const { port } = await service.readState();
  const tunnel = await browserTunnel(port);
  service.unpin(pin().origin);
  await once(tunnel, 'close');
});

it.each(['avoid-h3', 'h2'] as const)(
  'cuts the tunnels of a pin that was allowed a local origin when one as %s follows that is not',
  async (kind) => {
    const { service } = start(GRACE_MS, async () => [{ address: '127.0.0.1', family: 4 }]);
    const named = pin({ origin: `https://a.test:${origin.port}` });
    await service.pin(named);
    const { port } = await service.readState();
    const tunnel = await openTunnel(port, `a.test:${origin.port}`);
    const heard = hear(tunnel);
    let arrived = '';
    const [socket] = origin.sockets;
    socket!.on('data', (bytes) => {
      arrived += bytes;
    });
    tunnel.write('1');
    await until(() => arrived === '1');
    service.unpin(named.origin);
    // What was under way may end; the browser sends nothing new through it.
    tunnel.write('2');
    await until(() => arrived === '12');
    await service.pin({ ...named, kind, allowLocal: false });
    tunnel.write('3');
    await heard;
    expect(arrived).toBe('12');
  },
);

it('gives the terminator what is pinned to a protocol, until it lifts the pin', async () => {
  const { service, terminator } = start();
  await service.pin(pin({ kind: 'h3' }));
  const state = await service.readState();
  expect((await visit(state)).bytes.toString()).toMatch(`h3 to ${target()}`);
  terminator.hooks.onLifted(PROXIED_HOST, origin.port, 'it refused HTTP/3');
  expect(changes).toBe(1);
  expect(terminator.pinned.size).toBe(0);
  expect(await service.readState()).toMatchObject({
    port: 0,
    pins: [{ state: 'lifted', reason: 'it refused HTTP/3' }],
  });
  // It loads nevertheless.
  expect((await visit(state)).bytes.toString()).toMatch(/hello$/);
  await service.close();
  expect(terminator.closed).toBe(true);
});

it('tells the terminator of tunnels, and ends those of an origin when it is ready for it', async () => {
  const { service, terminator } = start();
  await service.pin(pin());
  const { port } = await service.readState();
  const isTunnelled = () =>
    [origin.port, origin.port + 1].map((each) => terminator.hooks.isTunnelled(PROXIED_HOST, each));
  expect(isTunnelled()).toEqual([false, false]);
  const tunnel = await browserTunnel(port);
  expect(isTunnelled()).toEqual([true, false]);
  terminator.hooks.onReady(PROXIED_HOST, origin.port);
  await once(tunnel, 'close');
  await until(() => !isTunnelled()[0]);
});

it('shows what a pin waits for, and reports a change', async () => {
  const { service, terminator } = start();
  terminator.waiting = 'answer';
  await service.pin(pin({ kind: 'h3' }));
  const before = await service.readState();
  expect(before).toMatchObject({
    caHosts: [PROXIED_HOST],
    trials: [PROXIED_HOST],
    trialToken: TRIAL_TOKEN,
    pins: [{ state: 'waiting', waitsFor: 'answer', reason: 'until the origin has answered over HTTP/3' }],
  });
  expect(before.port).toBeGreaterThan(0);
  terminator.waiting = null;
  terminator.hooks.onReady(PROXIED_HOST, origin.port);
  expect(changes).toBe(1);
  expect(await service.readState()).toMatchObject({ pins: [{ state: 'active', reason: '' }] });
  terminator.hooks.onDoubt();
  expect(changes).toBe(2);
});

it.each(['avoid-h3', 'h2'] as const)(
  'has a pin of this machine, as %s, wait for a browser that uses a proxy for it',
  async (kind) => {
    const { service } = start();
    const here = `127.0.0.1:${origin.port}`;
    await service.pin(pin({ origin: `https://${here}`, kind }));
    const state = await service.readState();
    expect(state.pins).toMatchObject([
      { state: 'waiting', waitsFor: 'proxy', reason: expect.stringContaining('allow_hijacking_localhost') },
    ]);
    expect(changes).toBe(0);
    await visit(state, here);
    await visit(state, here);
    expect(changes).toBe(1);
    expect((await service.readState()).pins).toMatchObject([{ state: 'active', reason: '' }]);
  },
);

it.each(['avoid-h3', 'h2'] as const)(
  'lifts a pin as %s whose origin turns out to be local, until that is allowed',
  async (kind) => {
    const { service, terminator } = start();
    const named = pin({ origin: 'https://a.test', kind, allowLocal: false });
    await service.pin(named);
    const reason = '127.0.0.1 is a loopback address, which a public page may not reach';
    terminator.hooks.onAddressRefused('a.test', 443, reason);
    expect(changes).toBe(1);
    expect(await service.readState()).toMatchObject({
      port: 0,
      pins: [{ kind, state: 'lifted', isAddressRefused: true, reason }],
    });
    await service.pin({ ...named, allowLocal: true });
    const { pins } = await service.readState();
    expect(pins).toMatchObject([{ kind, state: 'active', allowLocal: true, reason: '' }]);
    expect(pins[0]?.isAddressRefused).toBeUndefined();
  },
);

it.each([
  'https://127.0.0.1',
  'https://localhost:8443',
  'https://[::1]',
  'https://10.1.2.3',
  'https://[fd00::1]',
])('pins %s only if that is allowed', async (local) => {
  const { service } = start();
  await expect(service.pin(pin({ origin: local, allowLocal: false }))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('is not public: add --allow-local'),
  });
  await service.pin(pin({ origin: local }));
});

it('lifts stored pins of local addresses that were not allowed', async () => {
  kept = [{ origin: `https://${target()}`, kind: 'avoid-h3', expiresAtMs: null, persistent: true }];
  const { service } = start();
  expect(await service.readState()).toMatchObject({
    port: 0,
    pins: [{ state: 'lifted', isAddressRefused: true }],
  });
});

it('lets a host be tried for trust without a pin of that port', async () => {
  const { service } = start();
  await service.pin(pin({ kind: 'h3' }));
  const { port } = await service.readState();
  const heard = await say(port, connectHead(`${PROXIED_HOST}:${TRUST_TRIAL_PORT}`));
  expect(heard.bytes.toString()).toMatch(/trial of 0\.0\.0\.0$/);
});

it('refuses what the terminator cannot do, with its words', async () => {
  const { service, terminator } = start();
  terminator.problems = 'there is no local CA: hopwise-host ca create https://a.test';
  await expect(service.pin(pin({ kind: 'h1' }))).rejects.toMatchObject({
    code: 'unavailable',
    message: terminator.problems,
  });
  await service.pin(pin());
});

it('changes the way of an origin when it is pinned otherwise', async () => {
  const { service, terminator } = start();
  await service.pin(pin());
  const { port } = await service.readState();
  const tunnel = await browserTunnel(port);
  await service.pin(pin({ kind: 'h1' }));
  await once(tunnel, 'close');
  expect((await visit(await service.readState())).bytes.toString()).toMatch(`h1 to ${target()}`);
  await service.pin(pin());
  expect(terminator.pinned.size).toBe(0);
  terminator.hooks.onLifted(PROXIED_HOST, origin.port, 'of the former pin');
  expect(changes).toBe(0);
  expect((await visit(await service.readState())).bytes.toString()).toMatch(/hello$/);
});

it('brings kept pins back, those lifted that cannot be had any more', async () => {
  problems = 'no local CA';
  kept = [pin({ persistent: true }), pin({ origin: 'https://b.test', kind: 'h2', persistent: true })].map(
    ({ minutes: expiresAtMs, ...rest }) => ({ ...rest, expiresAtMs }),
  );
  const { service } = start();
  const state = await service.readState();
  expect(state.pins).toMatchObject([{ state: 'active' }, { kind: 'h2', state: 'lifted' }]);
  expect((await visit(state)).bytes.toString()).toMatch(/hello$/);
});

it('pins nothing beside a proxy of the system, which may come and go', async () => {
  kept = [
    {
      origin: `https://${target()}`,
      kind: 'avoid-h3',
      expiresAtMs: null,
      persistent: true,
      allowLocal: true,
    },
  ];
  let where = 'GNOME’s network settings';
  const service = new PinService({
    store: memory,
    log: () => {},
    onChange: () => {},
    onExchanges: () => {},
    createTerminator: (hooks) => new FakeTerminator(hooks),
    systemProxy: async () => where,
  });
  services.push(service);
  const lifted = { state: 'lifted', reason: expect.stringContaining('set in GNOME’s network settings') };
  expect(await service.readState()).toMatchObject({ port: 0, pins: [lifted] });
  await expect(service.pin(pin())).rejects.toMatchObject({ code: 'unavailable' });
  where = '';
  await service.pin(pin());
  expect(await service.readState()).toMatchObject({ pins: [{ state: 'active' }] });
  // The check runs in parallel with the pin, which is lifted by its result.
  where = 'GNOME’s network settings';
  await service.pin(pin());
  await expect.poll(() => service.readState()).toMatchObject({ port: 0, pins: [lifted] });
});

it('closes everything at the end', async () => {
  const { service } = start();
  await service.pin(pin());
  const { port } = await service.readState();
  const tunnel = await browserTunnel(port);
  const closed = new Promise((resolve) => tunnel.once('close', resolve));
  await service.close();
  await closed;
  expect(await isClosed(port)).toBe(true);
  await expect(service.pin(pin())).rejects.toMatchObject({ code: 'internal' });
  expect(changes).toBe(0);
  await expect(say(port, 'x')).resolves.toMatchObject({ bytes: Buffer.alloc(0) });
});

describe('a pin of every origin', () => {
  const every: NewPin = {
    origin: EVERY_ORIGIN,
    kind: 'avoid-h3',
    minutes: null,
    persistent: false,
    allowLocal: false,
  };
  /** Names that were looked up, which are those that the proxy leads to. */
  let asked: string[];
  let answer: () => Promise<LookupAddress[]>;

  beforeEach(() => {
    asked = [];
    answer = () => Promise.reject(Object.assign(new Error('no network'), { code: 'EAI_AGAIN' }));
  });

  async function startPinned() {
    const { service } = start(GRACE_MS, async (host) => {
      if (host === PROXIED_HOST) return [{ address: host, family: 4 }];
      asked.push(host);
      return answer();
    });
    await service.pin(every);
    return service;
  }

  it('leads to all hosts but local ones, also through its further ports', async () => {
    const service = await startPinned();
    const state = await service.readState();
    const { ports, exceptions } = state.everyOrigin!;
    expect([new Set([...ports, state.port]).size, exceptions]).toEqual([9, []]);
    for (const port of [state.port, ...ports]) await visit({ ...state, port }, `a${port}.test:443`);
    expect(asked).toEqual([state.port, ...ports].map((port) => `a${port}.test`));
    for (const host of ['localhost', '127.0.0.1', '10.0.0.1', '[fd00::1]']) await visit(state, `${host}:443`);
    expect(asked).toHaveLength(9);
    expect(logged.filter((line) => /no route/.test(line))).toHaveLength(13);
    expect(logged.join()).not.toMatch(/test|localhost|10\.0\.0\.1/);
    // What fails for a while is no exception.
    expect((await service.readState()).everyOrigin?.exceptions).toEqual([]);
  });

  it.each([
    ['at an address that is not public', async () => [{ address: '10.0.0.1', family: 4 }]],
    ['without a name here', () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }))],
  ])('leaves an origin %s to the browser', async (_name, found) => {
    const service = await startPinned();
    answer = found;
    const state = await service.readState();
    expect(await visit(state, 'intranet.test:8443')).toEqual({ bytes: Buffer.alloc(0), reset: true });
    const after = await service.readState();
    expect(after.everyOrigin?.exceptions).toEqual(['https://intranet.test:8443']);
    expect(after.resets).toBeGreaterThan(state.resets);
    await visit(state, 'intranet.test:8443');
    expect(asked).toEqual(['intranet.test']);
    service.unpin(EVERY_ORIGIN);
    await service.pin(every);
    expect((await service.readState()).everyOrigin?.exceptions).toEqual([]);
  });

  it('gives up the oldest of too many exceptions', async () => {
    const service = await startPinned();
    answer = async () => [{ address: '127.0.0.1', family: 4 }];
    const state = await service.readState();
    for (let count = 0; count <= MAX_EXCEPTIONS; count++) await visit(state, `a${count}.test:443`);
    const { exceptions } = (await service.readState()).everyOrigin!;
    expect([exceptions.length, exceptions[0]]).toEqual([MAX_EXCEPTIONS, 'https://a1.test']);
  });

  it('yields to an origin’s own pin, and serves all for a time of grace after its end', async () => {
    const service = await startPinned();
    await service.pin(pin());
    const state = await service.readState();
    expect((await visit(state)).bytes.toString()).toMatch(/hello$/);
    service.unpin(EVERY_ORIGIN);
    expect((await service.readState()).everyOrigin).toBeUndefined();
    await visit(state, 'a.test:443');
    expect(asked).toEqual(['a.test']);
    await new Promise((resolve) => setTimeout(resolve, 2 * GRACE_MS));
    await visit(state, 'b.test:443');
    expect(asked).toEqual(['a.test']);
  });

  it.each([{ kind: 'h2' }, { persistent: true }, { allowLocal: true }] as const)(
    'is refused with %o',
    async (more) => {
      const { service } = start();
      await expect(service.pin({ ...every, ...more })).rejects.toMatchObject({ code: 'unavailable' });
    },
  );
});

it('an auto pin shows its protocol, is steered, and has its exchanges reported together', async () => {
  const { service, terminator } = start();
  const origin = `https://${target()}`;
  await service.pin({ origin, kind: 'auto', minutes: null, persistent: false, allowLocal: true });
  expect((await service.readState()).pins).toMatchObject([{ kind: 'auto', protocol: 'h2' }]);
  await service.steer(origin, 'h3');
  expect((await service.readState()).pins).toMatchObject([{ kind: 'auto', protocol: 'h3' }]);
  await expect(service.steer('https://elsewhere.test', 'h3')).rejects.toMatchObject({ code: 'unavailable' });
  const { host, port } = { host: PROXIED_HOST, port: Number(target().split(':')[1]) };
  for (const bodyBytes of [1, 2, 3]) {
    const times = { endedAtMs: 1, status: 200, ttfbMs: 1, completionMs: 2, isReused: true, tcp: null };
    terminator.hooks.onMeasured(host, port, { ...times, protocol: 'h3', bodyBytes });
  }
  await until(() => reports.length > 0);
  expect(reports).toEqual([[origin, [1, 2, 3]]]);
});
