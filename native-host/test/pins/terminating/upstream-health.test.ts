import { MINUTE_MS, type Protocol } from '@hopwise/contract';
import { beforeEach, describe, expect, it } from 'vitest';
import { type CheckedOrigin, UpstreamHealth } from '../../../src/pins/terminating/upstream-health.ts';
import { ENGINE_INFO, FakeEngine, settled } from './support/fake-engine.ts';

const ORIGIN = 'https://a.test:443';

function under(protocol: Protocol): CheckedOrigin {
  return { origin: ORIGIN, protocol, from: 'public', partition: '' };
}

let engine: FakeEngine;
let nowMs: number;
let health: UpstreamHealth;

beforeEach(() => {
  engine = new FakeEngine();
  nowMs = 1_000;
  health = new UpstreamHealth({ engine, now: () => nowMs, checkLimitMs: 20 });
});

describe('an origin', () => {
  it('is not good until it has answered', async () => {
    expect(health.isGood(ORIGIN, 'h3')).toBe(false);
    expect(health.isDue(ORIGIN, 'h3')).toBe(true);
    const check = health.check(under('h3'));
    // By the name that requests use, whose connections it may keep.
    expect(engine.last.request).toMatchObject({ protocol: 'h3', method: 'HEAD', url: 'https://a.test/' });
    expect(health.isGood(ORIGIN, 'h3')).toBe(false);
    engine.last.answer(500);
    expect(await check).toBeNull();
    expect(health.isGood(ORIGIN, 'h3')).toBe(true);
    expect(health.isGood(ORIGIN, 'h2')).toBe(false);
  });

  it('is nudged once at a time, over a kept connection and without a verdict', async () => {
    health.nudge(under('h3'));
    health.nudge(under('h3'));
    expect(engine.exchanges).toHaveLength(1);
    expect(engine.last.request).toMatchObject({ method: 'HEAD', freshConnection: false });
    engine.last.answer();
    await settled();
    expect(health.isGood(ORIGIN, 'h3')).toBe(false);
    health.nudge(under('h3'));
    expect(engine.exchanges).toHaveLength(2);
    // What comes back on the connections of one partition says nothing of another's.
    health.nudge({ ...under('h3'), partition: '7' });
    expect(engine.last.request.partition).toBe('7');
    expect(engine.exchanges).toHaveLength(3);
  });

  it('is asked by one check at a time', async () => {
    const checks = [health.check(under('h2')), health.check(under('h2'))];
    expect(health.isDue(ORIGIN, 'h2')).toBe(false);
    expect(engine.exchanges).toHaveLength(1);
    engine.last.answer();
    expect(await Promise.all(checks)).toEqual([null, null]);
  });

  it('is asked over a connection of its own, unless that is not wanted', () => {
    void health.check(under('h2'), 'kept');
    expect(engine.last.request.freshConnection).toBe(false);
    void health.check(under('h3'));
    expect(engine.last.request.freshConnection).toBe(true);
  });

  it('is what a fresh connection shows, whatever a kept one has meanwhile', async () => {
    const kept = health.check(under('h2'), 'kept');
    const fresh = health.check(under('h2'));
    expect(engine.exchanges).toHaveLength(2);
    expect(health.check(under('h2'), 'kept')).toBe(fresh);
    engine.exchanges[0]!.answer();
    await settled();
    expect(health.isGood(ORIGIN, 'h2')).toBe(false);
    engine.exchanges[1]!.fail('certificate');
    expect(await fresh).toMatchObject({ kind: 'unusable' });
    expect(await kept).toMatchObject({ kind: 'unusable' });
    expect(health.isGood(ORIGIN, 'h2')).toBe(false);
    expect(health.isDue(ORIGIN, 'h2')).toBe(false);
  });

  it('stays good for ten minutes, and is asked again after one', () => {
    health.noteAnswer(ORIGIN, 'h2');
    nowMs += MINUTE_MS - 1;
    expect(health.isDue(ORIGIN, 'h2')).toBe(false);
    nowMs += 1;
    expect(health.isDue(ORIGIN, 'h2')).toBe(true);
    nowMs += 9 * MINUTE_MS - 1;
    expect(health.isGood(ORIGIN, 'h2')).toBe(true);
    nowMs += 1;
    expect(health.isGood(ORIGIN, 'h2')).toBe(false);
  });

  it('is good no more once there is doubt', () => {
    health.noteAnswer(ORIGIN, 'h2');
    health.noteFailure(ORIGIN, 'h2');
    expect(health.isGood(ORIGIN, 'h2')).toBe(false);
    expect(health.isDue(ORIGIN, 'h2')).toBe(true);
  });
});

describe('a check that fails', () => {
  it.each(['certificate', 'engine-died'] as const)('by %s says that the pin is of no use', async (code) => {
    const check = health.check(under('h3'));
    engine.last.fail(code);
    expect(await check).toEqual({ kind: 'unusable', reason: code });
    expect(engine.exchanges).toHaveLength(1);
  });

  describe.each(['protocol', 'reset', 'connect'] as const)('by %s is made once more', (code) => {
    let check: Promise<unknown>;

    beforeEach(async () => {
      check = health.check(under('h3'));
      engine.last.fail(code);
      await settled();
      expect(engine.exchanges.map(({ request }) => request.protocol)).toEqual(['h3', 'h3']);
    });

    it('and succeeds if only that connection was affected', async () => {
      engine.last.answer();
      expect(await check).toBeNull();
    });

    it('and reports the second failure', async () => {
      engine.last.fail('certificate');
      expect(await check).toEqual({ kind: 'unusable', reason: 'certificate' });
    });
  });

  it.each(['protocol', 'reset'] as const)('by %s twice says that the pin is of no use', async (code) => {
    const check = health.check(under('h3'));
    for (let times = 0; times < 2; times += 1) {
      engine.last.fail(code);
      await settled();
    }
    expect(await check).toEqual({ kind: 'unusable', reason: code });
    expect(engine.exchanges).toHaveLength(2);
  });

  it.each([
    ['and is answered', () => engine.last.answer(), 'timeout'],
    ['and sees a certificate', () => engine.last.fail('certificate'), 'certificate'],
  ])('for want of a connection asks whether another protocol gets one, %s', async (_name, end, reason) => {
    const check = health.check(under('h3'));
    engine.last.fail('timeout');
    await settled();
    expect(engine.last.request.protocol).toBe('h2');
    end();
    expect(await check).toEqual({ kind: 'unusable', reason });
  });

  it('under every protocol reports the origin as unreachable, and is not repeated at once', async () => {
    const check = health.check(under('h3'));
    for (const protocol of ['h3', 'h3', 'h2', 'h1']) {
      expect(engine.last.request.protocol).toBe(protocol);
      engine.last.fail('connect');
      await settled();
    }
    expect(await check).toEqual({ kind: 'unreachable', reason: 'connect' });
    expect(health.isDue(ORIGIN, 'h3')).toBe(false);
    nowMs += 10_000;
    expect(health.isDue(ORIGIN, 'h3')).toBe(true);
  });

  it('leaves open whether the origin asks for a client certificate, which is asked again', async () => {
    const answers = [false, true];
    const asking = new UpstreamHealth({ engine, asksForCertificate: async () => answers.shift()! });
    const check = asking.check(under('h1'));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      engine.last.fail('connect');
      await settled();
    }
    expect(await check).toMatchObject({ kind: 'unreachable' });
    const next = asking.check(under('h1'));
    engine.last.answer();
    expect(await next).toMatchObject({
      kind: 'unusable',
      reason: expect.stringContaining('client certificate'),
    });
  });

  it('has a limit of time', async () => {
    const trouble = await health.check(under('h1'));
    expect(trouble).toEqual({ kind: 'unreachable', reason: 'no response within 20 ms' });
    expect(engine.exchanges.map(({ cancelled }) => cancelled)).toEqual([true, true]);
  });

  it('does not count the time that the engine takes to start', async () => {
    let start = (): void => {};
    engine.started = new Promise((resolve) => {
      start = () => resolve(ENGINE_INFO);
    });
    const check = health.check(under('h1'));
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(engine.last.cancelled).toBe(false);
    start();
    engine.last.answer();
    expect(await check).toBeNull();
  });
});
