import { EVERY_ORIGIN, MESSAGE_VERSION, type PinState, type ToHost, toHost } from '@hopwise/contract';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { HelperConnection } from '../../../src/helper/helper-connection.ts';
import { describeError } from '../../../src/language/describe-error.ts';
import { english } from '../../../src/language/english.ts';
import type { PlainKey } from '../../../src/language/translate.ts';
import type { PinLifetime } from '../../../src/pins/pin-messages.ts';
import type { PlannedPin } from '../../../src/pins/plan-pins.ts';
import { LINGER_MS, PinManager } from '../../../src/pins/worker/pin-manager.ts';
import { WAITING_PIN_DELAY_MS } from '../../../src/pins/worker/pin-routing.ts';
import type { Lifting, Route, Steering } from '../../../src/pins/worker/steering.ts';
import { ownStorage } from '../../../src/storage/own-storage.ts';
import { fetchMessages } from '../../support/packaged-messages.ts';
import { SimulatedPort } from './simulated-port.ts';

// Without the timers of IndexedDB in memory, as these tests set the clock.
vi.mock('../../../src/storage/own-storage.ts', async () => {
  const { StubbedStorage } = await import('../../support/stubbed-storage.ts');
  return { ownStorage: new StubbedStorage() };
});

const A = 'https://a.example';
const B = 'https://b.example';
const TRIAL_TOKEN = 't'.repeat(22);

const session = new Map<string, unknown>();
const storage = (kept: Map<string, unknown>) => ({
  get: async (key: string) => (kept.has(key) ? { [key]: structuredClone(kept.get(key)) } : {}),
  set: async (values: object) => {
    for (const [key, value] of Object.entries(values)) kept.set(key, structuredClone(value));
  },
  remove: async (key: string) => void kept.delete(key),
});

let allowed: boolean;
let hosts: FakeHost[];
/** Routes set in the browser, in order. */
let steered: (Route['origins'] | 'released')[];
/** How all other origins were routed. */
let everyOrigins: Route['everyOrigin'][];
/** How the browser's proxy settings were restored. */
let liftings: (Lifting | undefined)[];
let browserLanguage: string;
let obstacle: PlainKey | null;
/** Why the browser takes no route. */
let refusal: string;
/** Number of tests so far. */
let tests = 0;
let loseSteering: (why: PlainKey) => void;
/** URLs of the trust trials requested, and the outcome of the next one. */
let tried: string[];
let trial: (url: string) => Promise<unknown>;
/** Creates the next host. */
let nextHost: () => FakeHost;

/** The helper's side of a port. */
class FakeHost extends SimulatedPort {
  open = true;
  readonly asked: ToHost[] = [];
  pins: PinState[] = [];
  caHosts: string[] = [];
  trials: string[] = [];
  answers = true;
  /** Whether it knows pins of every origin. */
  isNew = true;
  exceptions: string[] = [];
  /** Origins whose pins it refuses. */
  refused: string[] = [];

  postMessage(message: unknown): void {
    const asked = toHost.parse(message);
    this.asked.push(asked);
    if (asked.type === 'pin') {
      const { origin, kind, minutes, persistent } = asked;
      if (this.refused.includes(origin)) {
        this.say({ type: 'error', id: asked.id, code: 'unavailable', message: 'no such pin here' });
        return;
      }
      const expiresAtMs = minutes === null ? null : Date.now() + minutes * 60_000;
      this.pins = [
        ...this.pins.filter((pin) => pin.origin !== origin),
        { origin, kind, expiresAtMs, persistent, state: 'active', reason: '' },
      ];
    }
    if (asked.type === 'unpin') this.pins = this.pins.filter(({ origin }) => origin !== asked.origin);
    if (asked.type === 'ping' && this.answers) this.say({ type: 'pong', id: asked.id });
    else if (asked.type !== 'hello' && this.answers) this.sendPins(asked.id);
  }

  /** Sends the pins; without an id as an update that was not requested. */
  sendPins(id = ''): void {
    const isEvery = this.pins.some(({ origin }) => origin === EVERY_ORIGIN);
    this.say({
      type: 'pins',
      id,
      port: this.pins.length > 0 ? 4321 : 0,
      resets: 0,
      caHosts: this.caHosts,
      launcher: '/usr/bin/hopwise-host',
      trials: this.trials,
      trialToken: TRIAL_TOKEN,
      pins: this.pins,
      ...(isEvery && this.isNew && { everyOrigin: { ports: [5001], exceptions: this.exceptions } }),
    });
  }

  say(message: object): void {
    queueMicrotask(() => this.hand(message));
  }

  disconnect(): void {
    this.open = false;
  }

  die(): void {
    this.end();
  }
}

function worker(): PinManager {
  const test = tests;
  const makeSteering = (onLost: (why: PlainKey) => void): Steering => {
    loseSteering = onLost;
    return {
      findObstacle: async () => obstacle,
      setRoute: async ({ port, origins, trials, everyOrigin }: Route) => {
        expect(port).toBe(4321);
        // Workers of earlier tests still try their trials again.
        if (test !== tests) return;
        if (refusal !== '') throw new Error(refusal);
        everyOrigins.push(everyOrigin);
        steered.push([...origins, ...trials]);
      },
      clearRoute: async (lifting) => {
        if (test !== tests) return;
        steered.push('released');
        liftings.push(lifting);
      },
    };
  };
  return new PinManager(
    makeSteering,
    (listener) => {
      const host = nextHost();
      hosts.push(host);
      return new HelperConnection(listener, () => host);
    },
    (url) => {
      tried.push(url);
      return trial(url);
    },
  );
}

const wish = (
  origin: string,
  minutes: number | null = 60,
  persistent = false,
): [PlannedPin[], PinLifetime] => [[{ origin, kind: 'avoid-h3' }], { minutes, persistent }];
const states = (pins: PinState[]) => pins.map(({ origin, state }) => `${origin} ${state}`);

beforeEach(async () => {
  session.clear();
  await ownStorage.remove(Object.keys(await ownStorage.get(null)));
  allowed = true;
  hosts = [];
  steered = [];
  liftings = [];
  everyOrigins = [];
  tests += 1;
  obstacle = null;
  refusal = '';
  tried = [];
  trial = async () => {};
  browserLanguage = 'en-GB';
  nextHost = () => new FakeHost();
  vi.stubGlobal('chrome', {
    i18n: { getUILanguage: () => browserLanguage },
    runtime: {
      getManifest: () => ({ optional_permissions: ['browsingData'] }),
      getURL: (path: string) => path,
      lastError: undefined,
    },
    permissions: { contains: async () => allowed },
    storage: { session: storage(session) },
  });
  vi.stubGlobal('fetch', fetchMessages);
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a pin', () => {
  test('is created in the helper first and then in the browser; the port stays open for a while after the last pin', async () => {
    vi.useFakeTimers();
    const pins = worker();
    expect(states(await pins.pin(...wish(A)))).toEqual([`${A} active`]);
    expect(states(await pins.pin(...wish(B)))).toEqual([`${A} active`, `${B} active`]);
    expect(hosts).toHaveLength(1);
    expect(hosts[0]!.asked.map(({ type }) => type)).toEqual(['hello', 'pins', 'pin', 'pins', 'pin']);
    expect(states(await pins.unpin([A]))).toEqual([`${B} active`]);
    expect(hosts[0]!.open).toBe(true);
    expect(await pins.unpin([B])).toEqual([]);
    expect(steered).toEqual(['released', [A], [A, B], [B], [B], 'released', 'released']);
    // Transfers through open tunnels continue.
    await vi.advanceTimersByTimeAsync(LINGER_MS - 1);
    expect(hosts[0]!.open).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(hosts[0]!.open).toBe(false);
  });

  test('of one load ends without a reset of what is known of other origins', async () => {
    const pins = worker();
    await pins.pin(...wish(A));
    await pins.unpin([A], { keepsAlternatives: true });
    // At the start, by the request, and by the helper's report, when nothing is left to restore.
    expect(liftings).toEqual([undefined, { keepsAlternatives: true }, {}]);
  });

  test('that follows soon uses the same helper', async () => {
    vi.useFakeTimers();
    const pins = worker();
    await pins.pin(...wish(A, null));
    await pins.unpin([A]);
    await pins.pin(...wish(B, null));
    await vi.advanceTimersByTimeAsync(2 * LINGER_MS);
    expect(hosts.map(({ open }) => open)).toEqual([true]);
    expect(steered.at(-1)).toEqual([B]);
  });

  test('is known to have been active from its start to its end, for some minutes', async () => {
    vi.useFakeTimers();
    const sinceMs = Date.now();
    const pins = worker();
    await pins.pin(...wish(A));
    await vi.advanceTimersByTimeAsync(1000);
    await pins.pin(...wish(B));
    const first = { origin: A, kind: 'avoid-h3', allowsLocal: false, sinceMs, endedMs: null };
    const second = { ...first, origin: B, sinceMs: sinceMs + 1000 };
    expect(pins.periods).toEqual([first, second]);
    await vi.advanceTimersByTimeAsync(1000);
    const [a, b] = hosts[0]!.pins;
    hosts[0]!.pins = [{ ...a!, state: 'waiting', reason: 'for the origin' }, b!];
    hosts[0]!.sendPins();
    await vi.waitFor(() => expect(pins.periods[0]!.endedMs).toBeGreaterThanOrEqual(sinceMs + 2000));
    const nowMs = Date.now();
    const ended = { ...first, endedMs: pins.periods[0]!.endedMs };
    expect(pins.periods).toEqual([ended, second]);
    await pins.unpin([B]);
    expect(pins.periods).toEqual([ended, { ...second, endedMs: nowMs }]);
    await pins.pin(...wish(A));
    const again = { ...first, sinceMs: nowMs };
    expect(pins.periods).toContainEqual(again);
    await vi.advanceTimersByTimeAsync(11 * 60_000);
    await pins.pin(...wish(B));
    expect(pins.periods).toMatchObject([again, { origin: B, endedMs: null }]);
  });

  test('is lifted in the browser before the helper is asked', async () => {
    const pins = worker();
    await pins.pin(...wish(A));
    hosts[0]!.answers = false;
    const unpinned = pins.unpin([A]);
    await vi.waitFor(() => expect(hosts[0]!.asked.at(-1)).toMatchObject({ type: 'unpin', origin: A }));
    expect(steered.at(-1)).toBe('released');
    hosts[0]!.sendPins(hosts[0]!.asked.at(-1)!.id);
    expect(await unpinned).toEqual([]);
  });

  test.each<[string, string, { allowed?: boolean; obstacle?: PlainKey }, string]>([
    ['without the permissions', A, { allowed: false }, 'not been allowed'],
    ['beside another proxy', A, { obstacle: 'steeringOtherProxy' }, 'already uses a proxy'],
    ['to a name that no PAC script takes', 'https://a$.example', {}, 'unusual characters'],
  ])('is not created %s, and no helper is started', async (_name, origin, given, words) => {
    ({ allowed, obstacle } = { allowed: true, obstacle: null, ...given });
    await expect(worker().pin(...wish(origin))).rejects.toThrow(words);
    expect(hosts).toEqual([]);
    expect(steered).toEqual(['released']);
  });

  test('allows an origin without a public address when it is made, not when it is refused', async () => {
    const pins = worker();
    const [planned, lifetime] = wish(A);
    const wanted = planned.map((pin) => ({ ...pin, allowLocal: true }));
    nextHost = () => {
      const host = new FakeHost();
      host.refused = [A];
      return host;
    };
    await expect(pins.pin(wanted, lifetime)).rejects.toThrow();
    expect((await ownStorage.get('local-origins'))['local-origins']).toBeUndefined();
    nextHost = () => new FakeHost();
    await pins.pin(wanted, lifetime);
    expect((await ownStorage.get('local-origins'))['local-origins']).toEqual([A]);
    expect(hosts.at(-1)!.asked.at(-1)).toMatchObject({ type: 'pin', origin: A, allowLocal: true });
    // Later pins need no new permission.
    await pins.pin(planned, lifetime);
    expect(hosts.at(-1)!.asked.at(-1)).toMatchObject({ type: 'pin', origin: A, allowLocal: true });
  });

  test('refused by the helper leaves no port open', async () => {
    nextHost = () => {
      const host = new FakeHost();
      host.refused = [A];
      return host;
    };
    await expect(worker().pin(...wish(A))).rejects.toThrow('no such pin here');
    expect(hosts[0]!.open).toBe(false);
    expect(steered).toEqual(['released']);
  });

  test('times out when the helper does not answer', async () => {
    vi.useFakeTimers();
    nextHost = () => {
      const host = new FakeHost();
      host.answers = false;
      return host;
    };
    const refused = expect(worker().pin(...wish(A))).rejects.toThrow('did not answer within 15 s');
    await vi.advanceTimersByTimeAsync(16_000);
    await refused;
    expect(hosts[0]!.open).toBe(false);
  });

  test('lifted by the helper is listed with its reason until it is dismissed', async () => {
    const pins = worker();
    await pins.pin(...wish(A));
    await pins.pin(...wish(B));
    hosts[0]!.pins = hosts[0]!.pins.map((pin) =>
      pin.origin === A ? { ...pin, state: 'lifted', reason: 'the server refused' } : pin,
    );
    hosts[0]!.sendPins();
    await vi.waitFor(async () =>
      expect(states(await pins.listPins())).toEqual([`${B} active`, `${A} lifted`]),
    );
    expect((await pins.listPins())[1]!.reason).toBe('the server refused');
    expect(steered.at(-1)).toEqual([B]);
    expect(states(await pins.unpin([A]))).toEqual([`${B} active`]);
  });
});

test('a pin whose removal the browser does not follow is lifted with all others, rather than left in the helper', async () => {
  const pins = worker();
  await pins.pin(...wish(A));
  await pins.pin(...wish(B));
  refusal = 'Another extension';
  await expect(pins.unpin([A])).rejects.toThrow(refusal);
  expect(hosts[0]!.open).toBe(false);
  expect(states(await pins.listPins())).toEqual([`${B} lifted`]);
});

describe('a pin of every origin', () => {
  test('routes all origins but those that the helper cannot reach and the sites that are left', async () => {
    const pins = worker();
    await pins.leaveSites(['left.example']);
    expect(states(await pins.pin(...wish(EVERY_ORIGIN)))).toEqual([`${EVERY_ORIGIN} active`]);
    const everyOrigin = { ports: [5001], exceptions: [] as string[], leftSites: ['left.example'] };
    expect([steered.at(-1), everyOrigins]).toEqual([[], [everyOrigin]]);
    expect(pins.periods).toMatchObject([{ origin: EVERY_ORIGIN, endedMs: null, everyOrigin }]);
    hosts[0]!.exceptions = ['https://intranet.example'];
    hosts[0]!.sendPins();
    const after = { ...everyOrigin, exceptions: ['https://intranet.example'] };
    await vi.waitFor(() => expect(everyOrigins.at(-1)).toEqual(after));
    await pins.pin(...wish(A));
    expect([steered.at(-1), everyOrigins.at(-1)]).toEqual([[A], after]);
    await pins.leaveSites([]);
    expect(everyOrigins.at(-1)).toEqual({ ...after, leftSites: [] });
    const [{ everyOrigin: covered } = {}] = pins.periods.filter(({ origin }) => origin === EVERY_ORIGIN);
    expect(covered).toEqual({ ...after, leftSites: [] });
    await pins.unpin([EVERY_ORIGIN]);
    expect([steered.at(-1), everyOrigins.at(-1)]).toEqual([[A], undefined]);
    expect(pins.periods.find(({ origin }) => origin === EVERY_ORIGIN)?.endedMs).not.toBeNull();
  });

  test('is made again by the next worker, with the sites that are left', async () => {
    const pins = worker();
    await pins.leaveSites(['left.example']);
    await pins.pin(...wish(EVERY_ORIGIN));
    everyOrigins = [];
    worker();
    await vi.waitFor(() => expect(everyOrigins).toMatchObject([{ leftSites: ['left.example'] }]));
  });

  test('ends with the helper', async () => {
    const pins = worker();
    await pins.pin(...wish(EVERY_ORIGIN));
    hosts[0]!.die();
    await vi.waitFor(() => expect(steered.at(-1)).toBe('released'));
    expect(states(await pins.listPins())).toEqual([`${EVERY_ORIGIN} lifted`]);
  });

  test('is refused where the helper takes it for one of a single origin', async () => {
    nextHost = () => Object.assign(new FakeHost(), { isNew: false });
    const pins = worker();
    await expect(pins.pin(...wish(EVERY_ORIGIN))).rejects.toThrow('too old');
    expect([hosts[0]!.pins, await pins.listPins()]).toEqual([[], []]);
  });
});

describe('a transaction of several pins', () => {
  const C = 'https://c.example';
  const several: PlannedPin[] = [A, B, C].map((origin) => ({ origin, kind: 'avoid-h3' }));
  const hour: PinLifetime = { minutes: 60, persistent: false };

  test('makes them all before the browser is steered', async () => {
    const pins = worker();
    expect(states(await pins.pin(several, hour))).toEqual([`${A} active`, `${B} active`, `${C} active`]);
    expect(steered).toEqual(['released', [A, B, C]]);
  });

  test('of which the third is refused restores the pin that the first had replaced', async () => {
    const pins = worker();
    await pins.pin([{ origin: A, kind: 'h2' }], { minutes: 30, persistent: true });
    const [before] = await pins.listPins();
    hosts[0]!.refused = [C];
    await expect(pins.pin(several, hour)).rejects.toThrow('no such pin here');
    expect(await pins.listPins()).toEqual([{ ...before, expiresAtMs: expect.any(Number) }]);
    expect(hosts[0]!.asked.slice(4)).toMatchObject([
      { type: 'pin', origin: A, kind: 'avoid-h3' },
      { type: 'pin', origin: B, kind: 'avoid-h3' },
      { type: 'pin', origin: C, kind: 'avoid-h3' },
      { type: 'unpin', origin: B },
      { type: 'pin', origin: A, kind: 'h2', minutes: 30, persistent: true },
    ]);
    // B was never routed through the helper.
    expect(steered).toEqual(['released', [A], [A]]);
  });

  test('that is refused restores also a pin that only the helper knows, as a persistent one', async () => {
    const kept: PinState = {
      origin: A,
      kind: 'h3',
      expiresAtMs: null,
      persistent: true,
      state: 'active',
      reason: '',
    };
    nextHost = () => {
      const host = new FakeHost();
      host.pins = [kept];
      host.refused = [C];
      return host;
    };
    const pins = worker();
    await expect(pins.pin(several, hour)).rejects.toThrow('no such pin here');
    expect(await pins.listPins()).toEqual([kept]);
  });

  test('whose helper ends midway leaves no pin, and starts no other helper', async () => {
    const pins = worker();
    await pins.pin([{ origin: A, kind: 'h2' }], hour);
    const { postMessage } = hosts[0]!;
    hosts[0]!.postMessage = (message) => {
      if ((message as ToHost).type === 'pin' && (message as { origin?: string }).origin === C)
        hosts[0]!.die();
      else postMessage.call(hosts[0], message);
    };
    await expect(pins.pin(several, hour)).rejects.toThrow('helper stopped');
    expect(states(await pins.listPins())).toEqual([`${A} lifted`]);
    expect(steered.at(-1)).toBe('released');
    expect(hosts).toHaveLength(1);
  });

  test('is not undone by a message that the helper sent before its end', async () => {
    nextHost = () => {
      const host = new FakeHost();
      const { postMessage } = host;
      host.postMessage = (message) => {
        postMessage.call(host, message);
        if ((message as { origin?: string }).origin === B) host.sendPins();
      };
      return host;
    };
    const pins = worker();
    await pins.pin(several, hour);
    await pins.refreshPins();
    expect(states(await pins.listPins())).toEqual([`${A} active`, `${B} active`, `${C} active`]);
    expect(steered.filter((route) => route !== 'released').every((route) => route.length === 3)).toBe(true);
  });
});

describe('a pin to a protocol', () => {
  const TRIAL = 'https://a.example:49151';
  const REASON = 'until this browser has shown that it trusts the local CA';
  const toH2 = (): [PlannedPin[], PinLifetime] => [
    [{ origin: A, kind: 'h2' }],
    { minutes: 60, persistent: false },
  ];
  const waiting = (origin = A): PinState => ({
    origin,
    kind: 'h2',
    expiresAtMs: null,
    persistent: false,
    state: 'waiting',
    reason: REASON,
  });

  /** A helper that waits for the trust trial; the test sends its messages. */
  function distrustful(): FakeHost {
    const host = new FakeHost();
    host.postMessage = (message) => {
      const asked = toHost.parse(message);
      host.asked.push(asked);
      if (asked.type === 'pin') host.pins = [waiting(asked.origin)];
      if (asked.type === 'pin') host.trials = ['a.example'];
      if (asked.type === 'unpin') host.pins = [];
      if (asked.type === 'unpin') host.trials = [];
      if (asked.type !== 'hello') host.sendPins(asked.id);
    };
    return host;
  }

  beforeEach(() => {
    nextHost = distrustful;
  });

  test('makes the browser request the trial, which is routed to the proxy only for that time', async () => {
    const pins = worker();
    let answer = () => {};
    trial = () =>
      new Promise<void>((resolve) => {
        answer = resolve;
      });
    expect(await pins.pin(...toH2())).toMatchObject([{ state: 'waiting', reason: REASON }]);
    // The page stays on its connections until the pin is active: it would keep using a tunnel.
    expect(steered.at(-1)).toEqual([TRIAL]);
    expect(tried).toEqual([`${TRIAL}/${TRIAL_TOKEN}`]);
    hosts[0]!.trials = [];
    hosts[0]!.pins = [{ ...waiting(), state: 'active', reason: '' }];
    hosts[0]!.sendPins();
    await vi.waitFor(async () => expect(states(await pins.listPins())).toEqual([`${A} active`]));
    answer();
    expect(steered.at(-1)).toEqual([A]);
    expect(tried).toHaveLength(1);
  });

  test('without news from the helper keeps waiting, and the route of the trial is removed', async () => {
    vi.useFakeTimers();
    const pins = worker();
    await pins.pin(...toH2());
    await vi.advanceTimersByTimeAsync(WAITING_PIN_DELAY_MS - 1);
    expect(steered.at(-1)).toBe('released');
    await vi.advanceTimersByTimeAsync(1);
    expect(steered.at(-1)).toEqual([A]);
    expect(await pins.listPins()).toMatchObject([{ state: 'waiting', reason: REASON }]);
    hosts[0]!.sendPins();
    await vi.advanceTimersByTimeAsync(0);
    expect(tried).toHaveLength(1);
    expect(steered.at(-1)).toEqual([A]);
  });

  test('is tried again when the user pins it again', async () => {
    const pins = worker();
    await pins.pin(...toH2());
    await vi.waitFor(() => expect(steered.at(-1)).toBe('released'));
    await pins.pin(...toH2());
    await vi.waitFor(() => expect(tried).toHaveLength(2));
  });

  test('retries a trial that failed in the browser at once, then by time', async () => {
    vi.useFakeTimers();
    trial = () => Promise.reject(new TypeError('Failed to fetch'));
    const pins = worker();
    await pins.pin(...toH2());
    await vi.advanceTimersByTimeAsync(10_000);
    expect(tried).toHaveLength(4);
    expect(steered.at(-1)).toEqual([A]);
    expect(await pins.listPins()).toMatchObject([{ state: 'waiting', reason: REASON }]);
    trial = async () => {};
    steered = [];
    await vi.advanceTimersByTimeAsync(10_000);
    expect(tried).toHaveLength(5);
    expect(steered).toContainEqual([A, `${A}:49151`]);
    expect(steered.at(-1)).toEqual([A]);
  });

  test('stops trials once the helper has lifted it', async () => {
    vi.useFakeTimers();
    trial = () => Promise.reject(new TypeError('Failed to fetch'));
    const pins = worker();
    await pins.pin(...toH2());
    hosts[0]!.trials = [];
    hosts[0]!.pins = [{ ...waiting(), state: 'lifted', reason: 'no trust' }];
    hosts[0]!.sendPins();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tried).toHaveLength(1);
    expect(steered.at(-1)).toBe('released');
    expect(await pins.listPins()).toMatchObject([{ state: 'lifted', reason: 'no trust' }]);
  });

  test('is tried once more with the next helper', async () => {
    const pins = worker();
    await pins.pin(...toH2());
    await vi.waitFor(() => expect(steered.at(-1)).toBe('released'));
    hosts[0]!.die();
    await pins.pin(...toH2());
    expect(hosts).toHaveLength(2);
    await vi.waitFor(() => expect(tried).toHaveLength(2));
  });

  test('tries no host that a PAC script cannot contain', async () => {
    nextHost = () => {
      const host = distrustful();
      host.trials = ['a.example"]; evil(); ["'];
      return host;
    };
    const pins = worker();
    await pins.refreshPins();
    expect(tried).toEqual([]);
  });
});

test('a refresh asks the helper once which hosts the CA covers, and ends it again', async () => {
  nextHost = () => {
    const host = new FakeHost();
    host.caHosts = ['a.example'];
    return host;
  };
  const pins = worker();
  expect(pins.caHosts).toBeNull();
  expect(await pins.refreshPins()).toEqual([]);
  expect(pins.caHosts).toEqual(['a.example']);
  expect(pins.launcher).toBe('/usr/bin/hopwise-host');
  expect(hosts[0]!.open).toBe(false);
  allowed = false;
  await expect(pins.refreshPins()).rejects.toThrow('not been allowed');
  expect(hosts).toHaveLength(1);
});

describe('without the helper', () => {
  test('the user’s settings are restored at once, and the reason is recorded', async () => {
    const pins = worker();
    await pins.pin(...wish(A));
    hosts[0]!.die();
    expect(steered.at(-1)).toBe('released');
    expect(await pins.listPins()).toEqual([
      expect.objectContaining({
        origin: A,
        state: 'lifted',
        reason: expect.stringContaining('helper stopped'),
      }),
    ]);
    expect(states(await pins.pin(...wish(A)))).toEqual([`${A} active`]);
    expect(hosts).toHaveLength(2);
  });

  test('a pin being created is refused', async () => {
    nextHost = () => {
      const host = new FakeHost();
      host.answers = false;
      return host;
    };
    const pins = worker();
    const refused = expect(pins.pin(...wish(A))).rejects.toThrow('helper stopped');
    await vi.waitFor(() => expect(hosts[0]?.asked).toHaveLength(2));
    hosts[0]!.die();
    await refused;
    expect(steered.at(-1)).toBe('released');
  });

  test.each([
    ['does not fit', { type: 'error', id: '', code: 'version', message: 'update the older one' }, 'update'],
    ['breaks its contract', { type: 'gossip' }, 'update or reinstall'],
  ])('the same with a helper that %s', async (_name, message, words) => {
    const pins = worker();
    await pins.pin(...wish(A));
    hosts[0]!.say(message);
    await vi.waitFor(async () => expect((await pins.listPins())[0]).toMatchObject({ state: 'lifted' }));
    expect((await pins.listPins())[0]!.reason).toContain(words);
    expect(hosts[0]!.open).toBe(false);
    expect(steered.at(-1)).toBe('released');
  });

  test.each([
    ['the browser no longer follows', async () => loseSteering('steeringOtherExtension')],
    [
      'the user revokes the permissions',
      async (pins: PinManager) => {
        allowed = false;
        await pins.handlePermissionRemoval();
      },
    ],
  ])('the same when %s', async (_name, happen) => {
    const pins = worker();
    await pins.pin(...wish(A));
    await happen(pins);
    await vi.waitFor(async () => expect(states(await pins.listPins())).toEqual([`${A} lifted`]));
    expect(hosts[0]!.open).toBe(false);
    expect(steered.at(-1)).toBe('released');
  });
});

describe('in a German browser', () => {
  const refusalOf = (request: Promise<unknown>) =>
    request.then(() => {
      throw new Error('it was not refused');
    }, describeError);

  beforeEach(() => {
    browserLanguage = 'de-DE';
  });

  test.each<[string, (pins: PinManager) => unknown, string]>([
    [
      'the helper ends',
      () => hosts[0]!.die(),
      'Das Hilfsprogramm hat sich ohne Angabe eines Grundes beendet.',
    ],
    [
      'another extension takes over the proxy settings',
      () => loseSteering('steeringOtherExtension'),
      'Eine andere Erweiterung bestimmt die Proxy-Einstellungen dieses Browsers. Deshalb sind keine Festlegungen möglich.',
    ],
    [
      'the user revokes the permissions',
      (pins) => {
        allowed = false;
        return pins.handlePermissionRemoval();
      },
      'Die Berechtigungen für Festlegungen wurden entzogen.',
    ],
  ])('pins end with their reason in German when %s', async (_what, happen, reason) => {
    const pins = worker();
    await pins.pin(...wish(A));
    await happen(pins);
    expect(await pins.listPins()).toMatchObject([{ origin: A, state: 'lifted', reason }]);
  });

  test('what a new worker cannot make again ends with its reason in German', async () => {
    await worker().pin(...wish(A));
    obstacle = 'steeringOtherProxy';
    const after = worker();
    await after.whenRestored();
    expect(await after.listPins()).toMatchObject([
      {
        state: 'lifted',
        reason:
          'Dieser Browser nutzt schon einen Proxy. Festlegungen würden ihn umgehen und sind deshalb nicht möglich.',
      },
    ]);
  });

  test.each<[string, string, () => void, string]>([
    [
      'without the permissions',
      A,
      () => {
        allowed = false;
      },
      'Festlegungen sind noch nicht erlaubt. Bitte zuerst „Schneller machen“ im Popup wählen.',
    ],
    [
      'beside a proxy',
      A,
      () => {
        obstacle = 'steeringFixed';
      },
      'Eine Richtlinie oder die Kommandozeile gibt die Proxy-Einstellungen dieses Browsers vor. Deshalb sind keine Festlegungen möglich.',
    ],
    [
      'to an unusual name',
      'https://a$.example',
      () => undefined,
      'Ursprünge mit ungewöhnlichen Zeichen im Namen lassen sich nicht festlegen.',
    ],
    [
      'to a local origin',
      'https://localhost',
      () => undefined,
      'Dieser Ursprung liegt auf diesem Computer oder in diesem Netz. Festlegen lässt er sich nur in der Kommandozeile, mit --allow-local.',
    ],
    [
      'of all pages with an old helper',
      EVERY_ORIGIN,
      () => {
        nextHost = () => Object.assign(new FakeHost(), { isNew: false });
      },
      'Das Hilfsprogramm ist zu alt, um HTTP/3 für alle Seiten auf einmal auszuschalten: Bitte aktualisieren.',
    ],
    [
      'that the helper refuses',
      A,
      () => {
        nextHost = () => Object.assign(new FakeHost(), { refused: [A] });
      },
      'Das Hilfsprogramm meldet: no such pin here',
    ],
  ])('a pin %s is refused in German', async (_what, origin, prepare, refusal) => {
    prepare();
    expect(await refusalOf(worker().pin(...wish(origin)))).toBe(refusal);
  });
});

describe('a restarted worker', () => {
  test('restores the proxy settings first, then recreates the pins for their remaining time', async () => {
    const before = worker();
    await before.pin(...wish(A, 60));
    await before.pin(...wish(B, null));
    steered = [];
    const after = worker();
    await vi.waitFor(() => expect(steered).toEqual(['released', [A, B]]));
    expect(hosts[1]!.asked).toMatchObject([
      { type: 'hello', version: MESSAGE_VERSION },
      { type: 'pin', origin: A, minutes: 60 },
      { type: 'pin', origin: B, minutes: null },
      { type: 'pins' },
    ]);
    expect(states(await after.listPins())).toEqual([`${A} active`, `${B} active`]);
  });

  test('removes pins that were made for a session although it has not listed them yet, and no others', async () => {
    const before = worker();
    await before.pin(...wish(A));
    await before.pin(...wish(B, null, true));
    const after = worker();
    expect([await after.listPins(), after.isRestored]).toEqual([[], false]);
    const asMade = [A, B, 'https://c.example'].map((origin) => ({ origin, kind: 'avoid-h3' as const }));
    nextHost = () => Object.assign(new FakeHost(), { pins: hosts[0]!.pins.slice(1) });
    expect(states(await after.unpinMade(asMade))).toEqual([`${B} active`]);
    expect([hosts[1]!.pins.map(({ origin }) => origin), after.isRestored]).toEqual([[B], true]);
    // What has replaced one is another's.
    await after.pin([{ origin: A, kind: 'h2' }], { minutes: 60, persistent: false });
    expect(states(await after.unpinMade(asMade))).toEqual([`${B} active`, `${A} active`]);
  });

  test('starts no helper without pins', async () => {
    const before = worker();
    await before.pin(...wish(A));
    await before.unpin([A]);
    expect(await worker().listPins()).toEqual([]);
    expect(hosts).toHaveLength(1);
  });

  test('records why pins could not be recreated', async () => {
    const before = worker();
    await before.pin(...wish(A));
    obstacle = 'steeringOtherExtension';
    const after = worker();
    await vi.waitFor(async () =>
      expect(await after.listPins()).toMatchObject([
        { state: 'lifted', reason: english.steeringOtherExtension },
      ]),
    );
    expect(hosts).toHaveLength(1);
  });

  test('asks for persistent pins, and only for those', async () => {
    const before = worker();
    await before.pin(...wish(A, null, true));
    await before.pin(...wish(B));
    const { pins } = hosts[0]!;
    session.clear();
    nextHost = () => {
      const host = new FakeHost();
      host.pins = pins.filter(({ persistent }) => persistent);
      return host;
    };
    const after = worker();
    await vi.waitFor(() => expect(steered.at(-1)).toEqual([A]));
    expect(hosts[1]!.asked.map(({ type }) => type)).toEqual(['hello', 'pins']);
    await after.unpin([A]);
    session.clear();
    expect(await worker().listPins()).toEqual([]);
    expect(hosts).toHaveLength(2);
  });

  test('finds, when the browser starts, pins that the command line has created since', async () => {
    const kept: PinState = {
      origin: A,
      kind: 'avoid-h3',
      expiresAtMs: null,
      persistent: true,
      state: 'active',
      reason: '',
    };
    nextHost = () => {
      const host = new FakeHost();
      host.pins = [kept];
      return host;
    };
    const pins = worker();
    await pins.handleBrowserStart();
    expect(await pins.listPins()).toEqual([kept]);
    expect(steered.at(-1)).toEqual([A]);
    await pins.handleBrowserStart();
    expect(hosts).toHaveLength(1);
  });

  test('closes the port again when the browser starts and there are no pins, and does nothing unless pins are allowed', async () => {
    const pins = worker();
    await pins.handleBrowserStart();
    expect(hosts.map(({ open }) => open)).toEqual([false]);
    allowed = false;
    await pins.handleBrowserStart();
    expect(hosts).toHaveLength(1);
  });
});
