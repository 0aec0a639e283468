/** The autopilot and the pin manager together, where the helper, the browser and the store answer in any order. */
import { type PinState, type ToHost, toHost } from '@hopwise/contract';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import { Autopilot } from '../../src/autopilot/autopilot.ts';
import { isRunning } from '../../src/autopilot/runs/autopilot-run.ts';
import { readRuns } from '../../src/autopilot/runs/run-log.ts';
import {
  AUTOPILOT_DEFAULTS,
  saveAutopilotSettings,
} from '../../src/autopilot/settings/autopilot-settings.ts';
import { HelperConnection } from '../../src/helper/helper-connection.ts';
import { PinManager } from '../../src/pins/worker/pin-manager.ts';
import type { Steering } from '../../src/pins/worker/steering.ts';
import type { StoredLoad } from '../../src/storage/loads.ts';
import { ownStorage } from '../../src/storage/own-storage.ts';
import { loadOf, requestOf } from '../evidence/stored-loads.ts';
import { SimulatedPort } from '../pins/worker/simulated-port.ts';
import { fetchMessages } from '../support/packaged-messages.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';

const stored = vi.hoisted(() => ({
  loads: new Map<number, unknown>(),
  /** Waits for the turn of a request to the store of loads. */
  wait: async (): Promise<void> => {},
}));

vi.mock('../../src/storage/own-storage.ts', async () => {
  const { StubbedStorage } = await import('../support/stubbed-storage.ts');
  return { ownStorage: slowed(new StubbedStorage()) };
});

vi.mock('../../src/storage/loads.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  getLoad: async (id: number) => {
    await stored.wait();
    return stored.loads.get(id);
  },
  getSummaries: async () => {
    await stored.wait();
    return [...stored.loads.values()];
  },
}));

const ORIGINS = ['https://a.test', 'https://b.test', 'https://c.test'];
const USERS_MINUTES = 60;
const PORT = 4321;

interface SlowStorage extends StubbedStorage {
  wait(): Promise<void>;
  /** Has modules read it anew, as they do in a new worker. */
  renew(): Promise<void>;
}

/** A store whose requests wait for their turn. */
function slowed(storage: StubbedStorage): SlowStorage {
  const { get, set, remove } = storage;
  const keys = new Set<string>();
  const slow: SlowStorage = Object.assign(storage, {
    wait: async () => {},
    renew: async () => {
      const items = { ...storage.items };
      await remove.call(storage, [...keys]);
      await set.call(storage, items);
    },
    get: async (key: string | null = null) => {
      if (key !== null) keys.add(key);
      await slow.wait();
      return get.call(storage, key);
    },
    set: async (items: Record<string, unknown>) => {
      await slow.wait();
      await set.call(storage, items);
    },
    remove: async (names: string | string[]) => {
      await slow.wait();
      await remove.call(storage, names);
    },
  });
  return slow;
}

/** Has answers come in any order, those over one channel in that of the requests. */
class Turns {
  readonly #scheduler: fc.Scheduler;
  readonly #last = new Map<string, Promise<void>>();
  /** What a worker that was stopped has asked for is never answered. */
  isStopped = false;

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
  }

  wait(channel: string): Promise<void> {
    const turn = (this.#last.get(channel) ?? Promise.resolve())
      .then(() => this.#scheduler.schedule(Promise.resolve(), channel))
      .then(() => (this.isStopped ? new Promise<void>(() => {}) : undefined));
    this.#last.set(channel, turn);
    return turn;
  }
}

/** The helper's side of a port. */
class Helper extends SimulatedPort {
  readonly #turns: Turns;
  pins: PinState[] = [];
  isAlive = true;
  /** The next pin of this origin is refused. */
  refused = '';

  constructor(turns: Turns) {
    super();
    this.#turns = turns;
  }

  postMessage(message: unknown): void {
    const asked = toHost.parse(message);
    void this.#turns.wait('to the helper').then(() => {
      if (this.isAlive) this.#receive(asked);
    });
  }

  #receive(asked: ToHost): void {
    const { type, id } = asked;
    if (type === 'pin') {
      const { origin, kind, minutes, persistent } = asked;
      if (this.refused === origin) {
        this.refused = '';
        this.#say({ type: 'error', id, code: 'unavailable', message: 'no such pin here' });
        return;
      }
      const expiresAtMs = minutes === null ? null : Date.now() + minutes * 60_000;
      this.pins = [
        ...this.pins.filter((pin) => pin.origin !== origin),
        { origin, kind, expiresAtMs, persistent, state: 'active', reason: '' },
      ];
    }
    if (type === 'unpin') this.pins = this.pins.filter(({ origin }) => origin !== asked.origin);
    if (type === 'pin' || type === 'unpin' || type === 'pins') this.report(id);
  }

  /** Sends the pins; without an id as an update that was not requested. */
  report(id = ''): void {
    this.#say({
      type: 'pins',
      id,
      port: this.pins.length > 0 ? PORT : 0,
      resets: 0,
      caHosts: [],
      launcher: '/usr/bin/hopwise-host',
      trials: [],
      trialToken: 't'.repeat(22),
      pins: this.pins,
    });
  }

  #say(message: object): void {
    if (!this.isAlive) return;
    void this.#turns.wait('from the helper').then(() => this.hand(message));
  }

  disconnect(): void {
    this.isAlive = false;
  }

  /** What it has sent before still arrives. */
  die(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    void this.#turns.wait('from the helper').then(() => this.end());
  }
}

/** `chrome.storage.session`: the browser carries out what it was asked for, also where the worker does not live to hear of it. */
class SessionStorage extends StubbedStorage {
  readonly #turns: Turns;

  constructor(turns: Turns, items: Record<string, unknown>) {
    super();
    this.#turns = turns;
    this.items = items;
  }

  override async get(key: string | null = null): Promise<Record<string, unknown>> {
    await this.#turns.wait('session');
    return super.get(key);
  }

  override async set(items: Record<string, unknown>): Promise<void> {
    await super.set(items);
    await this.#turns.wait('session');
  }

  override async remove(keys: string | string[]): Promise<void> {
    await super.remove(keys);
    await this.#turns.wait('session');
  }
}

/** One worker, from its start to its stop. */
class Worker {
  readonly turns: Turns;
  readonly pins: PinManager;
  readonly autopilot: Autopilot;
  helper: Helper | null = null;
  /** Origins that the browser sends to the helper. */
  steered: readonly string[] = [];
  /** Why the next route is not set. */
  obstacle = '';
  /** What the user has asked for and is not done. */
  asked = 0;

  constructor(scheduler: fc.Scheduler, session: Record<string, unknown>) {
    this.turns = new Turns(scheduler);
    const storage = new SessionStorage(this.turns, session);
    void (ownStorage as SlowStorage).renew();
    (ownStorage as SlowStorage).wait = () => this.turns.wait('own');
    stored.wait = () => this.turns.wait('loads');
    vi.stubGlobal('chrome', {
      i18n: { getUILanguage: () => 'en-GB' },
      runtime: { getManifest: () => ({}), getURL: (path: string) => path, lastError: undefined },
      permissions: { contains: async () => true },
      storage: { session: storage },
    });
    vi.stubGlobal('fetch', fetchMessages);
    this.pins = new PinManager(
      () => this.#createSteering(),
      (listener) => {
        this.helper = new Helper(this.turns);
        return new HelperConnection(listener, () => this.helper!);
      },
    );
    this.autopilot = new Autopilot(this.pins, async (load) => load);
  }

  get session(): Record<string, unknown> {
    return (chrome.storage.session as unknown as StubbedStorage).items;
  }

  #createSteering(): Steering {
    const steer = async (origins: readonly string[]) => {
      await this.turns.wait('proxy');
      this.steered = origins;
    };
    return {
      findObstacle: async () => null,
      setRoute: async ({ origins }) => {
        const { obstacle } = this;
        this.obstacle = '';
        if (obstacle !== '') throw new Error(obstacle);
        await steer(origins);
      },
      clearRoute: () => steer([]),
    };
  }

  /** As the messages of the extension's pages do it. */
  async #serve(answer: Promise<unknown>): Promise<void> {
    this.asked += 1;
    // What is refused is shown, and changes nothing.
    await answer.catch(() => {});
    this.asked -= 1;
  }

  pinForUser(origins: readonly string[]): Promise<void> {
    const planned = origins.map((origin) => ({ origin, kind: 'avoid-h3' as const }));
    const lifetime = { minutes: USERS_MINUTES, persistent: false };
    return this.#serve(this.autopilot.handOver(origins, () => this.pins.pin(planned, lifetime)));
  }

  unpinForUser(origins: readonly string[]): Promise<void> {
    return this.#serve(this.autopilot.handleUnpin(origins, () => this.pins.unpin(origins)));
  }

  async eraseAll(): Promise<void> {
    await stored.wait();
    stored.loads.clear();
    await this.autopilot.forgetPages(() => true);
  }

  async switchOffAndOn(): Promise<void> {
    await this.autopilot.changeSettings({ isOn: false });
    await this.autopilot.changeSettings({ isOn: true });
  }

  /** The browser stops it, which closes the port. */
  stop(): void {
    this.turns.isStopped = true;
    this.helper?.disconnect();
  }
}

let loads = 0;

/** Stores a load of the first of these origins, with requests to all of them. */
function storeLoad(origins: readonly string[]): number {
  const id = ++loads;
  const [first] = origins;
  const url = `${first}/`;
  const requests = origins.map((origin, index) => requestOf(index, { url: `${origin}/` }));
  const load: StoredLoad = loadOf(id, { requestedUrl: url, recording: { url, requests } });
  stored.loads.set(id, load);
  return id;
}

const origin = fc.constantFrom(...ORIGINS);
const some = fc.subarray(ORIGINS, { minLength: 1 });

/** What happens, in words that a failure shows. */
const event = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('a page is loaded'), some) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('the user pins'), some) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('the user removes'), some) },
  {
    weight: 4,
    arbitrary: fc.tuple(
      fc.constantFrom('all is erased', 'all is undone', 'the network changes', 'it is switched off and on'),
      fc.constant<string[]>([]),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(
      fc.constantFrom(
        'the helper is killed',
        'the helper reports',
        'the browser takes no route',
        'the worker is stopped',
        'the worker is stopped',
      ),
      fc.constant<string[]>([]),
    ),
  },
  fc.tuple(
    fc.constantFrom('the helper lifts', 'the helper refuses', 'the command line removes'),
    origin.map((each) => [each]),
  ),
);

type Event = readonly [string, readonly string[]];

/** Events, each with the number of answers to wait for at least before it. */
const history = fc.array(fc.tuple(event, fc.nat({ max: 20 })), { minLength: 2, maxLength: 8 });

function happen(worker: Worker, [what, origins]: Event): Promise<unknown> | undefined {
  const { autopilot, helper } = worker;
  const own = helper?.isAlive ? helper : null;
  const [first = ''] = origins;
  switch (what) {
    case 'a page is loaded':
      return autopilot.handleLoad(storeLoad(origins));
    case 'the user pins':
      return worker.pinForUser(origins);
    case 'the user removes':
      return worker.unpinForUser(origins);
    case 'all is erased':
      return worker.eraseAll();
    case 'all is undone':
      return autopilot.undoAll();
    case 'the network changes':
      return autopilot.handleNetworkChange();
    case 'it is switched off and on':
      return worker.switchOffAndOn();
    case 'the helper is killed':
      own?.die();
      break;
    case 'the helper reports':
      own?.report();
      break;
    case 'the browser takes no route':
      worker.obstacle = 'Another extension controls it.';
      break;
    case 'the helper lifts':
      if (own === null) break;
      own.pins = own.pins.map((pin) =>
        pin.origin === first ? { ...pin, state: 'lifted', reason: 'the server refused' } : pin,
      );
      own.report();
      break;
    case 'the helper refuses':
      if (own !== null) own.refused = first;
      break;
    case 'the command line removes':
      if (own === null) break;
      own.pins = own.pins.filter((pin) => pin.origin !== first);
      own.report();
      break;
    default:
      throw new Error(what);
  }
  return undefined;
}

/** Has the events happen while the answers to what they ask for come. */
async function run(events: readonly (readonly [Event, number])[], scheduler: fc.Scheduler): Promise<Worker> {
  stored.loads.clear();
  (ownStorage as SlowStorage).wait = async () => {};
  await ownStorage.remove(Object.keys(await ownStorage.get(null)));
  const siteRules = ORIGINS.map((each) => ({ site: new URL(each).hostname, rule: 'avoid-h3' as const }));
  let worker = new Worker(scheduler, {});
  (ownStorage as SlowStorage).wait = async () => {};
  await saveAutopilotSettings({ ...AUTOPILOT_DEFAULTS, isOn: true, siteRules });
  (ownStorage as SlowStorage).wait = () => worker.turns.wait('own');

  const turns = new Turns(scheduler);
  for (const [each, pause] of events) {
    for (let count = 0; count < pause; count++) void turns.wait('events');
    void turns.wait('events').then(() => {
      if (each[0] !== 'the worker is stopped') void happen(worker, each)?.catch(() => {});
      // A page that gets no answer says so to the user, who looks.
      else if (worker.asked === 0) {
        worker.stop();
        worker = new Worker(scheduler, worker.session);
      }
    });
  }
  await settle(scheduler);
  // As the options page asks for it.
  void worker.autopilot.getState();
  await settle(scheduler);
  return worker;
}

/** Waits until nothing is under way. */
async function settle(scheduler: fc.Scheduler): Promise<void> {
  const everythingElse = () => new Promise((resolve) => setImmediate(resolve));
  await everythingElse();
  while (scheduler.count() > 0) {
    await scheduler.waitNext(1);
    await everythingElse();
  }
}

const sorted = (origins: readonly string[]) => [...origins].sort();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('whatever happens in whatever order, a pin of the autopilot is one of a run that goes on', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.scheduler(), async (events, scheduler) => {
      const worker = await run(events, scheduler);
      (ownStorage as SlowStorage).wait = async () => {};
      const pins = await worker.pins.listPins();
      const current = pins.filter(({ state }) => state !== 'lifted');
      const pinned = sorted(current.map(({ origin }) => origin));
      expect(new Set(pins.map(({ origin }) => origin)).size, 'one pin an origin').toBe(pins.length);

      const inHelper = worker.helper?.isAlive ? worker.helper.pins : [];
      const active = inHelper.filter(({ state }) => state !== 'lifted').map(({ origin }) => origin);
      expect([sorted(active), sorted(worker.steered)], 'in the helper, in the browser').toEqual([
        pinned,
        pinned,
      ]);

      const isUsers = ({ expiresAtMs }: PinState) => expiresAtMs! - Date.now() <= USERS_MINUTES * 60_000;
      const own = current.filter((pin) => !isUsers(pin)).map(({ origin }) => origin);
      const running = (await readRuns()).filter(isRunning).flatMap((each) => each.pins);
      expect(sorted(running.map(({ origin }) => origin)), 'of running runs').toEqual(sorted(own));
      vi.clearAllTimers();
    }),
    { numRuns: countRuns(400, 5000) },
  );
});
