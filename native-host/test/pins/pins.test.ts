import { MAX_PIN_MINUTES, MAX_PINS, MINUTE_MS } from '@hopwise/contract';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { RequestError } from '../../src/base/errors.ts';
import type { NewPin, Pin } from '../../src/pins/pin.ts';
import type { PinStore } from '../../src/pins/pin-store.ts';
import { Pins } from '../../src/pins/pins.ts';

const A = 'https://a.test';
const B = 'https://b.test:8443';

class MemoryStore implements PinStore {
  readonly kept = new Map<string, Pin>();
  broken = false;

  load(): ReturnType<PinStore['load']> {
    return {
      pins: [...this.kept.values()],
      problems: [{ problem: 'x.json is not used', fix: 'remove it' }],
    };
  }

  keep(pin: Pin): void {
    if (this.broken) throw new Error('no space left on device');
    this.kept.set(pin.origin, pin);
  }

  drop(origin: string): void {
    if (this.broken) throw new Error('read-only file system');
    this.kept.delete(origin);
  }
}

let store: MemoryStore;
let lines: string[];
let changes: string[];
let pins: Pins;

beforeEach(() => {
  vi.useFakeTimers();
  store = new MemoryStore();
  lines = [];
  changes = [];
  pins = open();
});

afterEach(() => {
  pins.close();
  vi.useRealTimers();
});

function open(): Pins {
  return new Pins({
    store,
    log: (line) => lines.push(line),
    onRouteChange: ({ origin }, cause) => changes.push(`${origin} ${cause}`),
  });
}

function pin(more: Partial<NewPin> = {}): NewPin {
  return { origin: A, kind: 'avoid-h3', minutes: null, persistent: false, ...more };
}

it('adds, replaces and removes', () => {
  pins.add(pin());
  pins.add(pin({ origin: B, kind: 'h2' }));
  pins.add(pin({ kind: 'h1' }));
  expect(pins.list()).toEqual([
    { origin: A, kind: 'h1', expiresAtMs: null, persistent: false, state: 'active', reason: '' },
    { origin: B, kind: 'h2', expiresAtMs: null, persistent: false, state: 'active', reason: '' },
  ]);
  expect(pins.remove(A)).toBe(true);
  expect(pins.remove(A)).toBe(false);
  expect(pins.findActive(A)).toBeNull();
  expect(pins.findActive(B)).toMatchObject({ kind: 'h2' });
  expect(changes).toEqual([`${A} pinned`, `${B} pinned`, `${A} pinned`, `${A} unpinned`]);
});

it('reports no route change when only the expiry changes', () => {
  pins.add(pin({ minutes: 1 }));
  pins.add(pin({ minutes: 5 }));
  expect(changes).toEqual([`${A} pinned`]);
  vi.advanceTimersByTime(2 * MINUTE_MS);
  expect(pins.findActive(A)).not.toBeNull();
});

it('ends a pin when its time is over, without being asked', () => {
  pins.add(pin({ minutes: 2 }));
  pins.add(pin({ origin: B }));
  vi.advanceTimersByTime(2 * MINUTE_MS - 1);
  expect(changes).toHaveLength(2);
  vi.advanceTimersByTime(1);
  expect(changes.slice(2)).toEqual([`${A} expired`]);
  expect(pins.list().map(({ origin }) => origin)).toEqual([B]);
});

it('sees on use that the clock was set ahead, before any timer', () => {
  pins.add(pin({ minutes: 60 }));
  vi.setSystemTime(Date.now() + 61 * MINUTE_MS);
  expect(pins.findActive(A)).toBeNull();
  expect(changes).toEqual([`${A} pinned`, `${A} expired`]);
});

it('sees by itself, before the pin is due, that the clock was set ahead', () => {
  pins.add(pin({ minutes: 60 }));
  vi.setSystemTime(Date.now() + 61 * MINUTE_MS);
  vi.advanceTimersByTime(MINUTE_MS);
  expect(changes).toEqual([`${A} pinned`, `${A} expired`]);
});

it('does not prolong a pin when the clock is set back', () => {
  pins.add(pin({ minutes: 2 }));
  vi.setSystemTime(Date.now() - 1000 * MINUTE_MS);
  vi.advanceTimersByTime(2 * MINUTE_MS);
  expect(pins.findActive(A)).toBeNull();
});

it('lifts a pin of the kind, keeps it listed, and pins again', () => {
  pins.add(pin({ kind: 'h3', persistent: true }));
  pins.lift(A, 'h2', 'of a former pin');
  pins.lift(B, 'h3', 'not pinned');
  expect(pins.findActive(A)).not.toBeNull();
  pins.lift(A, 'h3', `it refused\n${'x'.repeat(2000)}`);
  pins.lift(A, 'h3', 'once more');
  expect(pins.findActive(A)).toBeNull();
  const [lifted] = pins.list();
  expect(lifted).toMatchObject({ state: 'lifted', kind: 'h3' });
  expect(lifted!.reason).toMatch(/^it refused x{501}$/);
  // It is tried again in the next session.
  expect(store.kept.has(A)).toBe(true);
  pins.add(pin({ kind: 'h3' }));
  expect(pins.findActive(A)).toMatchObject({ state: 'active', reason: '' });
  expect(changes).toEqual([`${A} pinned`, `${A} lifted`, `${A} pinned`]);
});

it('has a limit, which replacing does not meet', () => {
  for (let index = 0; index < MAX_PINS; index += 1) pins.add(pin({ origin: `https://p${index}.test` }));
  expect(() => pins.add(pin())).toThrow(expect.objectContaining({ code: 'too-many' }) as RequestError);
  pins.add(pin({ origin: 'https://p0.test', kind: 'h1' }));
  pins.remove('https://p1.test');
  pins.add(pin());
  expect(pins.list()).toHaveLength(MAX_PINS);
});

it('keeps what is to outlive the session, and nothing else', () => {
  pins.add(pin({ persistent: true, minutes: 10 }));
  pins.add(pin({ origin: B }));
  expect([...store.kept.keys()]).toEqual([A]);
  pins.close();
  pins = open();
  pins.restore();
  expect(pins.list()).toMatchObject([{ origin: A, persistent: true, state: 'active' }]);
  expect(lines).toEqual(['stored pins: x.json is not used']);
  pins.add(pin());
  expect(store.kept.size).toBe(0);
  pins.add(pin({ persistent: true }));
  pins.remove(A);
  expect(store.kept.size).toBe(0);
});

it('drops what has expired between sessions, and bounds what was kept while the clock was ahead', () => {
  const nowMs = Date.now();
  store.kept.set(A, { origin: A, kind: 'avoid-h3', expiresAtMs: nowMs, persistent: true });
  store.kept.set(B, { origin: B, kind: 'avoid-h3', expiresAtMs: nowMs * 2, persistent: true });
  pins.restore();
  expect(pins.list()).toMatchObject([{ origin: B, expiresAtMs: nowMs + MAX_PIN_MINUTES * MINUTE_MS }]);
  expect([...store.kept.keys()]).toEqual([B]);
});

it('pins though the disk is full, and says that it is not kept', () => {
  store.broken = true;
  pins.add(pin({ persistent: true }));
  expect(pins.findActive(A)).toMatchObject({ persistent: false });
  expect(lines).toEqual([`pin ${A}: not kept: no space left on device`]);
});

it('has exactly the pins that a plain list would have, whatever happens in whatever order', () => {
  const origin = fc.constantFrom(A, B, 'https://c.test');
  const step = fc.oneof(
    fc.record({
      do: fc.constant('add' as const),
      origin,
      minutes: fc.option(fc.integer({ min: 1, max: 9 })),
    }),
    fc.record({ do: fc.constant('remove' as const), origin }),
    fc.record({ do: fc.constant('lift' as const), origin }),
    fc.record({ do: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 5 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const tried = open();
      const expected = new Map<string, { endMs: number; active: boolean }>();
      for (const one of steps) {
        if (one.do === 'add') {
          tried.add(pin({ origin: one.origin, minutes: one.minutes }));
          const endMs =
            one.minutes === null ? Number.POSITIVE_INFINITY : Date.now() + one.minutes * MINUTE_MS;
          expected.set(one.origin, { endMs, active: true });
        } else if (one.do === 'remove') {
          expect(tried.remove(one.origin)).toBe(expected.delete(one.origin));
        } else if (one.do === 'lift') {
          tried.lift(one.origin, 'avoid-h3', 'x');
          if (expected.has(one.origin)) expected.get(one.origin)!.active = false;
        } else vi.advanceTimersByTime(one.minutes * MINUTE_MS);
        for (const [key, { endMs }] of expected) if (endMs <= Date.now()) expected.delete(key);
        expect(
          Object.fromEntries(tried.list().map((found) => [found.origin, found.state === 'active'])),
        ).toEqual(Object.fromEntries([...expected].map(([key, { active }]) => [key, active])));
      }
      tried.close();
    }),
  );
});
