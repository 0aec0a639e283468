import type { VerifiedAssignment, VerifiedProtocol } from '@hopwise/contract';
import type { Decision, NetworkPath, Prediction, Recording } from '@hopwise/pageload-emulator';
import { type Knowledge, learnNetwork, predict } from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import { UDP_PRIOR } from '../../src/network/udp-prior.ts';
import { pageOf, pathOf, serverOf } from '../support/pages.ts';
import { randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';
import { VERIFICATION } from '../support/verification.ts';

const OPEN = pathOf({ rttMs: 60, downBps: 20e6 });
const POLICED = pathOf({ rttMs: 60, downBps: 20e6, udp: { kind: 'policed', bps: 1e6 } });

/** A page recorded over HTTP/2 whose origins all announce HTTP/3. */
function recorded(path: NetworkPath, seed = 1): Recording {
  const graph = randomPage(seed);
  const servers = randomServers(graph, seed);
  const assignment = Object.fromEntries(graph.origins.map((origin) => [origin, 'h2' as const]));
  const recording = recordLoad(graph, path, servers, assignment, seed);
  return { ...recording, requests: recording.requests.map((request) => ({ ...request, offersH3: true })) };
}

/**
 * A load that took far longer than the network explains, of http origins: all announce HTTP/3, which browsers ignore, and all but
 * the page's own withhold their protocols.
 */
function slowOverHttp(): Recording {
  const page = randomPage(1);
  const overH3 = Object.fromEntries(page.origins.map((origin) => [origin, 'h3' as const]));
  const recording = recordLoad(page, POLICED, randomServers(page, 1), overH3);
  const own = new URL(recording.url).origin;
  const requests = recording.requests.map((request) => ({
    ...request,
    url: request.url.replace('https:', 'http:'),
    protocol: request.url.startsWith(`${own}/`) ? ('h1' as const) : null,
    offersH3: true,
  }));
  return { ...recording, url: recording.url.replace('https:', 'http:'), requests };
}

function predictOn(path: NetworkPath, knowledge: Knowledge = {}, recording = recorded(path)): Prediction {
  const { lossBurst: _, ...network } = path;
  return predict(recording, { network, knowledge });
}

const decisionOn = (...asked: Parameters<typeof predictOn>): Decision => predictOn(...asked).decision;

/** Rounds of transfers of these lengths, milliseconds. */
function roundsOf(...totalsMs: number[]): VerifiedProtocol {
  return {
    unavailable: '',
    rounds: totalsMs.map((totalMs) => ({
      totalMs,
      bytes: 1e6,
      failed: 0,
      minRttMs: null,
      lossEvents: null,
      segmentsIn: null,
      retransmitted: null,
      transfers: [],
    })),
    medianMs: totalsMs[0]!,
    lowMs: Math.min(...totalsMs),
    highMs: Math.max(...totalsMs),
    provedRequests: 0,
    answeredRequests: 0,
  };
}

/** The rounds with three transfers each, of which this one fails. */
function failing<V extends VerifiedProtocol>(
  verified: V,
  failed: number,
  how: { error?: string; status?: number } = { error: 'the connection was reset' },
): V {
  const transfers = [0, 1, 2].map((index) => ({
    index,
    status: 200,
    protocol: 'h1' as const,
    bytes: 1000,
    startMs: 0,
    dnsMs: null,
    connectMs: null,
    handshakeMs: null,
    firstByteMs: 10,
    endMs: 20,
    newConnection: false,
    error: '',
    ...(index === failed && how),
  }));
  return { ...verified, rounds: verified.rounds.map((round) => ({ ...round, transfers })) };
}

/** A first visit in which the browser changed to HTTP/3 for its images' origin before it requested most of them. */
function changedToH3(path: NetworkPath): Recording {
  const images = Array.from({ length: 12 }, () => ({ origin: 1, bytes: 60_000, after: [0] }));
  const page = pageOf(
    [{ bytes: 30_000 }, { origin: 1, bytes: 500, after: [0] }, ...images],
    ['https://page.test', 'https://img.test'],
  );
  const recording = recordLoad(page, path, randomServers(page, 1), {
    'https://page.test': 'h2',
    'https://img.test': 'h3',
  });
  const requests = recording.requests.map((request) =>
    request.url === 'https://img.test/1' ? { ...request, protocol: 'h2' as const } : request,
  );
  return { ...recording, requests };
}

describe('decision', () => {
  it('explains a first visit by what carried most of its bytes, when the browser changed to HTTP/3 early', () => {
    const recording = changedToH3(POLICED);
    const { fit, decision } = predictOn(POLICED, {}, recording);
    expect(decision.baseline.visit).toBe('first');
    expect(fit.explainedMs! / recording.pltMs!).toBeGreaterThan(0.8);
    expect(decision.protocols.h2!.pltMs / recording.pltMs!).toBeLessThan(0.4);
    expect(decision.action.kind).toBe('avoid-h3');
  });

  it('keeps a page off HTTP/3 where UDP is held to a low rate, and says what that gains', () => {
    const { kind, action, baseline, verdict, best } = decisionOn(POLICED);
    expect({ kind, action: action.kind, needs: action.needs }).toEqual({
      kind: 'act',
      action: 'avoid-h3',
      needs: ['helper'],
    });
    expect(best).not.toBe('h3');
    expect(action.helps).toBeGreaterThan(0.95);
    expect(action.time.pltMs).toBeLessThan(baseline.pltMs / 1.5);
    expect(verdict).toMatch(/^Keep .* off HTTP\/3: [\d.]+ s → about [\d.]+ (s|ms) \(sure\)$/);
  });

  it('calls no gain over a policer sure that is less than 95% probable', () => {
    const { downBps } = OPEN;
    for (const [rttMs, seed] of [10, 30, 60].flatMap((each) =>
      [1, 2, 3].map((page) => [each, page] as const),
    )) {
      const recording = recorded(pathOf({ rttMs, downBps }), seed);
      const cluster = {
        ...learnNetwork(null, recording),
        loads: 1e6,
        policedBps: { mean: Math.log(1e6), spread: 0.1 },
        udp: { open: 0.05, policed: 0.95, blocked: 0 },
      };
      const { decision, network } = predict(recording, { network: { rttMs, downBps, loss: 0 }, cluster });
      expect(decision.action.kind).toBe('avoid-h3');
      expect(network.udpShares!.policed).toBeLessThan(0.95);
      expect(decision.verdict).toMatch(/\(likely\)$/);
    }
    expect(decisionOn(POLICED).action.sure).toBe(true);
  });

  it.each([1, 2, 3])(
    'is right about a load without HTTP/3 where UDP is then found to be policed, page %i',
    (seed) => {
      const path = pathOf({ rttMs: 60, downBps: 20e6 });
      const recording = recorded(path, seed);
      const pltMs = recording.pltMs!;
      const { fit, protocols, emulated } = predict(recording, {
        measured: { udp: { kind: 'policed', bps: 1e6 } },
      });
      const timeOf = (protocol: 'h2' | 'h3') => (protocols[protocol] as { pltMs: number }).pltMs;
      expect(timeOf('h2') / pltMs).toBeGreaterThan(0.9);
      expect(timeOf('h2') / pltMs).toBeLessThan(1.1);
      expect(fit.explainedMs! / pltMs).toBeGreaterThan(0.85);
      expect(fit.explainedMs! / pltMs).toBeLessThan(1.15);
      // Experience of other pages moves it by less than this; half of it is what a recorded load of another kind would make of it.
      expect(timeOf('h3') / (emulated.protocols.h3 as { pltMs: number }).pltMs).toBeGreaterThan(0.7);
    },
  );

  it('acts on no origin that does not matter to the page', () => {
    const origins = ['https://shop.test', 'https://cdn.test', 'https://bank.example'];
    const page = pageOf(
      [
        { bytes: 40_000 },
        ...Array.from({ length: 12 }, (_, i) => ({ origin: i % 2, bytes: 60_000, after: [0] })),
        { origin: 2, bytes: 43, after: [0] },
      ],
      origins,
    );
    const overH2 = Object.fromEntries(origins.map((origin) => [origin, 'h2' as const]));
    const recording = recordLoad(
      page,
      POLICED,
      origins.map((origin) => serverOf(origin)),
      overH2,
    );
    const offering = recording.requests.map((request) => ({ ...request, offersH3: true }));
    const { actions } = decisionOn(POLICED, {}, { ...recording, requests: offering });
    const avoiding = actions.find(({ kind }) => kind === 'avoid-h3')!;
    expect(avoiding.origins).toEqual(['https://shop.test', 'https://cdn.test']);
    expect(avoiding.assignment['https://bank.example']).toBe('h3');
    expect(actions.flatMap((each) => each.origins)).not.toContain('https://bank.example');
  });

  it('leaves the browser alone where HTTP/3 is right', () => {
    const { kind, action, verdict } = decisionOn(OPEN);
    expect({ kind, action: action.kind, gainMs: action.gainMs }).toEqual({
      kind: 'leave',
      action: 'leave',
      gainMs: 0,
    });
    expect(verdict).toMatch(/^All good\. No change would load this page noticeably faster$/);
  });

  it('asks to verify a load that took far longer than expected', () => {
    // Held to a low rate although the network is said to be open.
    const page = randomPage(1);
    const overH3 = Object.fromEntries(page.origins.map((origin) => [origin, 'h3' as const]));
    const recordedOn = (path: NetworkPath) => recordLoad(page, path, randomServers(page, 1), overH3);
    expect(predictOn(OPEN, {}, recordedOn(OPEN)).fit).toMatchObject({ understood: true, notes: [] });
    const slow = recordedOn(POLICED);
    const { decision, fit } = predictOn(OPEN, {}, slow);
    expect(decision).toMatchObject({ kind: 'unsure', action: { kind: 'leave' } });
    expect(fit).toMatchObject({ understood: false, recordedMs: slow.pltMs });
    expect(fit.explainedMs).toBeLessThan(slow.pltMs! / 1.5);
    expect(decision.verdict).toMatch(
      /^This load is not understood, verify it: it took .*; its emulation expects /,
    );
  });

  it('never advises to keep off HTTP/3 what does not offer it', () => {
    const recording = recorded(POLICED);
    const requests = recording.requests.map((request) => ({ ...request, offersH3: false }));
    const { actions, baseline } = decisionOn(POLICED, {}, { ...recording, requests });
    expect(actions.map(({ kind }) => kind)).not.toContain('avoid-h3');
    expect(Object.values(baseline.protocols)).not.toContain('h3');
  });

  describe('changes of servers', () => {
    /** The page of origins that are called otherwise, recorded over HTTP/2 and without offers of HTTP/3. */
    function named(hosts: (index: number) => string, recording = recorded(OPEN)): Recording {
      const moved = (url: string) => url.replace(/o(\d)\.test/, (_, index) => hosts(Number(index)));
      const requests = recording.requests.map((each) => ({ ...each, url: moved(each.url), offersH3: false }));
      return { ...recording, url: moved(recording.url), requests };
    }

    it.each([
      ['co.uk', ['https://www.shop.co.uk', 'https://cdn.shop.co.uk']],
      ['com', ['https://www.shop.com', 'https://cdn.shop.com']],
      ['github.io', ['https://www.shop.github.io', 'https://cdn.shop.github.io']],
    ])('are of the page’s own site only, under %s', (suffix, own) => {
      const hosts = (index: number) =>
        `${['www.shop', 'cdn.shop'][index] ?? `cdn.stranger${index}`}.${suffix}`;
      const { actions } = decisionOn(OPEN, {}, named(hosts));
      const offer = actions.find(({ kind }) => kind === 'offer-h3')!;
      expect(offer.origins.toSorted()).toEqual(own.toSorted());
    });

    it('to HTTP/3 help less often where nothing has shown that UDP passes, and may harm there', () => {
      const origin = 'https://shop.test';
      const page = pageOf([{ bytes: 20_000 }, { bytes: 30_000, after: [0] }], [origin]);
      const loaded = recordLoad(page, OPEN, [serverOf(origin)], { [origin]: 'h2' });
      const requests = loaded.requests.map((each) => ({ ...each, offersH3: false }));
      const offerOn = (network: Partial<NetworkPath>) =>
        predict({ ...loaded, requests }, { network }).decision.actions.find(
          ({ kind }) => kind === 'offer-h3',
        )!;
      const { udp, ...link } = OPEN;
      const [known, unknown] = [offerOn({ udp, ...link }), offerOn(link)];
      expect(unknown.helps / known.helps).toBeCloseTo(1 - UDP_PRIOR.policed - UDP_PRIOR.blocked, 2);
      expect(unknown.harms - known.harms).toBeCloseTo(UDP_PRIOR.policed, 2);
    });

    it('are none where all that could change are strangers', () => {
      const recording = recorded(OPEN);
      const onH3 = (url: string) => url.startsWith('https://o0.test/');
      const requests = recording.requests.map((each) => ({
        ...each,
        url: each.url.replace(/o([1-9])\.test/, 'cdn$1.stranger.test'),
        protocol: onH3(each.url) ? ('h3' as const) : ('h2' as const),
        offersH3: onH3(each.url),
      }));
      const { actions } = decisionOn(OPEN, {}, { ...recording, requests });
      expect(actions.map(({ kind }) => kind)).not.toContain('offer-h3');
    });

    it('begin with https where the page comes over http', () => {
      const recording = recorded(pathOf({ rttMs: 150, downBps: 20e6 }));
      const requests = recording.requests.map((each) => ({
        ...each,
        url: each.url.replace('https://o0', 'http://o0'),
        protocol: each.url.startsWith('https://o0') ? ('h1' as const) : each.protocol,
        offersH3: false,
      }));
      const http = { ...recording, url: recording.url.replace('https:', 'http:'), requests };
      const { actions, verdict } = decisionOn(OPEN, {}, http);
      expect(actions.map(({ kind }) => kind)).not.toContain('offer-h3');
      expect(verdict).not.toMatch(/with HTTP\/3/);
    });
  });

  it('expects no HTTP/3 of an http origin that announces it', () => {
    const recording = recorded(OPEN);
    const requests = recording.requests.map((request) => ({
      ...request,
      url: request.url.replace('https:', 'http:'),
      protocol: 'h1' as const,
    }));
    const { baseline } = decisionOn(OPEN, {}, { ...recording, requests });
    expect(new Set(Object.values(baseline.protocols))).toEqual(new Set(['h1']));
  });

  it('has nothing to verify after a slow load of http origins that withhold their protocols', () => {
    const { kind, verdict } = decisionOn(OPEN, {}, slowOverHttp());
    expect(kind).toBe('leave');
    expect(verdict).toMatch(/^This load is not understood: it took/);
  });

  it('lets measured loads whose ranges do not overlap decide against the emulation', () => {
    const before = decisionOn(OPEN);
    const avoided = before.actions.find(({ kind }) => kind === 'avoid-h3')!;
    const loads = [
      { under: 'browser' as const, pltMs: [3000, 3100, 3300], ageMs: 0 },
      { under: avoided.assignment, pltMs: [900, 950, 1000], ageMs: 0 },
    ];
    const recording = { ...recorded(OPEN), pltMs: 3050 };
    const { kind, action, verdict } = decisionOn(OPEN, { loads }, recording);
    expect({ kind, action: action.kind, helps: action.helps, measured: action.measured }).toEqual({
      kind: 'act',
      action: 'avoid-h3',
      helps: 1,
      measured: true,
    });
    expect(verdict).toMatch(/: 3\.\d s → (0\.9|1\.0) s \(measured\)$/);
  });

  it.each([
    { isRecordedComparable: true, pltMs: 3150 },
    { isRecordedComparable: false, pltMs: 3100 },
  ])(
    'counts the recorded load as a measured one unless it is no comparison: $isRecordedComparable',
    ({ isRecordedComparable, pltMs }) => {
      const loads = [{ under: 'browser' as const, pltMs: [3000, 3100, 3200], ageMs: 0 }];
      const recording = { ...recorded(OPEN), pltMs: 3300 };
      expect(decisionOn(OPEN, { loads, isRecordedComparable }, recording).baseline.pltMs).toBe(pltMs);
    },
  );

  it('says that an action gained nothing when measured loads are slower with it', () => {
    const predicted = decisionOn(POLICED);
    const loads = [
      { under: 'browser' as const, pltMs: [900, 950, 1000], ageMs: 0 },
      { under: predicted.action.assignment, pltMs: [3000, 3100, 3300], ageMs: 0 },
    ];
    const { action, actions } = decisionOn(POLICED, { loads }, { ...recorded(POLICED), pltMs: 940 });
    expect(action.kind).not.toBe('avoid-h3');
    expect(actions.find((each) => each.kind === 'avoid-h3')).toMatchObject({
      helps: 0,
      harms: 1,
      worthwhile: false,
    });
  });

  it('keeps the earlier answer until another one is surely better', () => {
    const first = decisionOn(OPEN);
    const hold = first.actions.find(({ kind }) => kind === 'force-protocol')!;
    const earlier: Decision = {
      ...first,
      kind: 'act',
      action: { ...hold, kind: 'leave', origins: [], protocol: null },
    };
    expect(decisionOn(OPEN, { earlier })).toMatchObject({ action: { kind: 'leave' }, changed: null });
    const changed = decisionOn(POLICED, { earlier: first });
    expect(changed.action.kind).toBe('avoid-h3');
    expect(changed.changed).toBe(`Before, the answer was: ${first.verdict}.`);
  });

  it('expects no HTTP/3 of servers that a verification found to offer it in vain', () => {
    const recording = recorded(OPEN);
    const [vain, ...rest] = Object.keys(decisionOn(OPEN).baseline.protocols);
    const origins = [vain!, ...rest].map((origin) => ({
      ...VERIFICATION.origins[0]!,
      origin,
      speaks: { h2: true, h3: origin !== vain },
    }));
    const protocolsAfter = (verdict: 'unknown' | 'blocked') => {
      const udp = {
        ...VERIFICATION.udp,
        verdict,
        quicBps: null,
        tcpBps: null,
        answered: verdict === 'unknown',
      };
      const verification = { ...VERIFICATION, protocols: {}, origins, udp };
      return decisionOn(OPEN, { verification }, recording).baseline.protocols;
    };
    expect(protocolsAfter('unknown')).toEqual({
      [vain!]: 'h2',
      ...Object.fromEntries(rest.map((origin) => [origin, 'h3'])),
    });
    expect(protocolsAfter('blocked')[vain!]).toBe('h3');
  });

  it('goes by transfers of the page under an assignment', () => {
    const before = decisionOn(OPEN);
    const avoided = before.actions.find(({ kind }) => kind === 'avoid-h3')!;
    const { protocols: own } = before.baseline;
    const under = (...totalsMs: number[]) => ({
      assignment: avoided.assignment,
      discoversH3: false,
      ...roundsOf(...totalsMs),
    });
    const verified = { ...VERIFICATION, protocols: { h1: failing(roundsOf(1500, 1520, 1510), 2) } };
    const gainOf = (assignments: VerifiedAssignment[]) => {
      const { actions } = decisionOn(OPEN, { verification: { ...verified, assignments } });
      return actions.find(({ kind }) => kind === 'avoid-h3')!.gain;
    };
    const faster = gainOf([under(1000, 1050, 1020)]);
    const slower = gainOf([under(2200, 2250, 2300)]);
    expect(faster).toBeGreaterThan(gainOf([]));
    expect(slower).toBeLessThan(gainOf([]));
    // What was cut short where the rival's transfer was whole ended too soon; what fails everywhere is lacked by both.
    expect(gainOf([failing(under(1000, 1050, 1020), 1)])).toBe(gainOf([]));
    expect(gainOf([failing(under(1000, 1050, 1020), 1, { status: 403 })])).toBe(gainOf([]));
    expect(gainOf([failing(under(1000, 1050, 1020), 2)])).toBe(faster);
    // Transfers under an assignment that is no candidate say nothing of the others.
    const foreign = { ...under(9000), assignment: { ...own, [Object.keys(own)[0]!]: 'h1' as const } };
    expect(gainOf([foreign])).toBe(gainOf([]));
  });

  it('compares with transfers of what browsers usually do, also where this one changed to HTTP/3 earlier', () => {
    const recording = changedToH3(POLICED);
    const { baseline, actions } = predictOn(POLICED, {}, recording).decision;
    const { assignment } = actions.find(({ kind }) => kind === 'avoid-h3')!;
    const gainOf = (usualMs: number) => {
      const usual = { assignment: baseline.protocols, discoversH3: true, ...roundsOf(usualMs, usualMs + 50) };
      const assignments = [usual, { assignment, discoversH3: false, ...roundsOf(1500, 1550) }];
      const verification = { ...VERIFICATION, assignments };
      const { decision } = predictOn(POLICED, { verification }, recording);
      return decision.actions.find(({ kind }) => kind === 'avoid-h3')!.gainMs;
    };
    expect(gainOf(9000)).toBeGreaterThan(gainOf(1600) + 100);
  });

  it('shows the first visit and later ones apart', () => {
    const { baseline } = decisionOn(POLICED);
    expect(baseline.visit).toBe('first');
    expect(baseline.laterPltMs).not.toBe(baseline.pltMs);
    const recording = recorded(OPEN);
    const requests = recording.requests.map((request) => ({ ...request, protocol: 'h3' as const }));
    expect(decisionOn(OPEN, {}, { ...recording, requests }).baseline.visit).toBe('later');
  });

  it('has figures that add up, on any page and network', () => {
    const networks = fc.record({
      rttMs: fc.integer({ min: 2, max: 300 }),
      downBps: fc.integer({ min: 1e6, max: 1e8 }),
      loss: fc.constantFrom(0, 0.001, 0.02),
      udp: fc.constantFrom<NetworkPath['udp']>(
        { kind: 'open' },
        { kind: 'blocked' },
        { kind: 'policed', bps: 5e5 },
      ),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), networks, (seed, network) => {
        const path = pathOf(network);
        const { baseline, action, actions, protocols } = decisionOn(path, {}, recorded(path, seed));
        expect(actions[0]).toBe(action);
        for (const { kind, time, gainMs, gain, helps, harms, sure, origins, assignment } of actions) {
          expect(time.low).toBeLessThanOrEqual(time.pltMs);
          expect(time.pltMs).toBeLessThanOrEqual(time.high);
          // What is left of the gain on the faster of both visits, as the chances are.
          const ownMs = kind === 'leave' ? baseline.pltMs : Math.min(baseline.pltMs, baseline.laterPltMs);
          expect(gainMs).toBeCloseTo(ownMs - time.pltMs, 6);
          expect(gain).toBeCloseTo(gainMs / ownMs, 9);
          expect(helps + harms).toBeLessThanOrEqual(1 + 1e-9);
          if (sure) expect(helps).toBeGreaterThanOrEqual(0.95);
          const moved = Object.keys(assignment).filter(
            (origin) => assignment[origin] !== baseline.protocols[origin],
          );
          expect(origins.toSorted()).toEqual(moved.toSorted());
          if (path.udp.kind === 'blocked') expect(Object.values(assignment)).not.toContain('h3');
        }
        for (const time of Object.values(protocols)) expect(time.pltMs).toBeGreaterThan(0);
      }),
      { numRuns: countRuns(12, 25), seed: 1 },
    );
  });
});
