import { NO_PHASES, type RecordedRequest, type Recording } from '@hopwise/contract';
import { networkPosterior, predict } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { fitOf } from '../../src/decide/fit.ts';
import { describeFit } from '../../src/explain/fit-words.ts';
import { english } from '../../src/explain/sentences/english.ts';
import { pathOf } from '../support/pages.ts';
import { randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

const PATH = pathOf({ rttMs: 60, downBps: 20e6 });

function recorded(more: Partial<Recording> = {}): Recording {
  const graph = randomPage(3);
  const overH2 = Object.fromEntries(graph.origins.map((origin) => [origin, 'h2' as const]));
  return { ...recordLoad(graph, PATH, randomServers(graph, 3), overH2), ...more };
}

/** The same load of other hosts, answered by a server at an address. */
function at(host: string, remoteIp: string | null, recording = recorded()): Recording {
  const moved = (url: string) => url.replace(/o(\d)\.test/, `o$1.${host}`);
  const requests = recording.requests.map((each) => ({ ...each, url: moved(each.url), remoteIp }));
  return { ...recording, url: moved(recording.url), requests };
}

/** All handshakes and waits within a tenth of a millisecond. */
function hasty(recording: Recording): Recording {
  const requests = recording.requests.map((each) => {
    const { connectStartMs, requestStartMs } = each.phases;
    const phases = {
      ...each.phases,
      secureStartMs: connectStartMs === null ? null : connectStartMs + 0.1,
      connectEndMs: connectStartMs === null ? null : connectStartMs + 0.2,
      responseStartMs: requestStartMs === null ? null : requestStartMs + 0.1,
    };
    return { ...each, phases };
  });
  return { ...recording, requests };
}

describe('the fit of a recording', () => {
  it('says how much of the recorded load is explained', () => {
    const { fit } = predict(recorded());
    expect(fit).toMatchObject({ understood: true, notes: [] });
    expect(fit.summary).toMatch(/^The (emulation (explains|takes as long)|recorded load took)/);
    expect(fit.explainedMs! / fit.recordedMs!).toBeGreaterThan(0.7);
  });

  it('has a range that counts 60% of what the drawn networks differ by, all of it where only losses do', () => {
    const recording = recorded();
    const scenarios = [{ path: PATH, servers: [], seed: 1 }];
    const spread = 4;
    const pltMs = [1000 / spread, 1000, 1000 * spread];
    const spreadOn = (network: Parameters<typeof fitOf>[0]['network']) => {
      const candidate = { assignment: {}, discoversH3: false, pltMs };
      const { explained } = fitOf({
        recording,
        network,
        scenarios,
        recorded: candidate,
        isOtherNetwork: false,
      });
      return Math.log(explained!.high / explained!.low) / Math.log(spread);
    };
    // The outer times, twice the spread apart, but for the scatter around them of some 0.06 each.
    const drawn = spreadOn(networkPosterior(recording));
    expect(drawn).toBeGreaterThan(2 * 0.6 - 0.1);
    expect(drawn).toBeLessThan(2 * 0.6 + 0.1);
    const { lossBurst: _, ...given } = PATH;
    expect(spreadOn(networkPosterior(recording, { network: given }))).toBeGreaterThan(2 - 0.1);
  });

  it('has a misfit where only one of ten drawn networks takes as long as the load', () => {
    const misfitsAt = (pltMs: number) => {
      const recording = recorded({ pltMs });
      // One in ten takes five times as long.
      const candidate = { assignment: {}, discoversH3: false, pltMs: [...Array(9).fill(1000), 5000] };
      const scenarios = [{ path: PATH, servers: [], seed: 1 }];
      const network = networkPosterior(recording);
      const fit = fitOf({ recording, network, scenarios, recorded: candidate, isOtherNetwork: false });
      return fit.misfits.map(({ kind }) => kind);
    };
    expect(misfitsAt(5000)).toEqual(['load-time']);
    expect(misfitsAt(1100)).toEqual([]);
  });

  it('has a misfit where a load over HTTP/3 took less than behind a policer, not where it took longer', () => {
    const policed = { ...PATH, udp: { kind: 'policed' as const, bps: 2e6 } };
    const fitAt = (pltMs: number, given: Partial<typeof policed> = {}) => {
      const recording = recorded({ pltMs });
      const assignment = { [new URL(recording.url).origin]: 'h3' as const };
      const candidate = { assignment, discoversH3: false, pltMs: Array(10).fill(7000) };
      const scenarios = [{ path: policed, servers: [], seed: 1 }];
      const network = networkPosterior(recording, { network: given });
      return fitOf({ recording, network, scenarios, recorded: candidate, isOtherNetwork: false });
    };
    const misfitsAt = (...about: Parameters<typeof fitAt>) => fitAt(...about).misfits.map(({ kind }) => kind);
    const summaryAt = (...about: Parameters<typeof fitAt>) => describeFit(fitAt(...about), english).summary;
    expect(misfitsAt(4000)).toEqual(['load-time']);
    // What would be if UDP were policed is asked of any load.
    expect(misfitsAt(4000, { udp: policed.udp })).toEqual([]);
    // Such a load is not held against it in words either; one that the policer may have held back is.
    expect(summaryAt(4000, { udp: policed.udp })).toBe('');
    expect(summaryAt(7000, { udp: policed.udp })).toBe(
      'The recorded load took 7.0 s, as its emulation expects.',
    );
    expect(misfitsAt(7000)).toEqual([]);
    expect(misfitsAt(20_000)).toEqual([]);
  });

  it('asks for no verification of a page that came from the cache as a whole', () => {
    const load = recorded();
    const requests = load.requests.map((each) => ({
      ...each,
      ...{ startMs: 1, endMs: 4, fromCache: true },
      phases: { ...NO_PHASES, requestStartMs: 1, responseStartMs: 2 },
    }));
    const { fit, decision } = predict({ ...load, requests, pltMs: 10 });
    expect(fit.understood).toBe(false);
    expect(fit.notes).toEqual([
      'The page came from a cache or its service worker, so that nothing shows how its servers answer.',
    ]);
    expect(decision.kind).toBe('leave');
    // Its parts over the network are judged as ever.
    const [document, ...others] = load.requests;
    const partly = [{ ...document!, fromCache: true }, ...others];
    expect(predict({ ...load, requests: partly }).fit.notes.join()).not.toContain('from the cache');
  });

  it.each<[string, RecordedRequest['phases']]>([
    ['with how long it waited', { ...NO_PHASES, requestStartMs: 100, responseStartMs: 100 }],
    ['without', NO_PHASES],
  ])('has nothing to verify of a page that no server answered, recorded %s', (_, phases) => {
    const load = recorded();
    const failed = { status: 0, protocol: null, transferBytes: 0, connectionId: null, endMs: 100, phases };
    const requests = [{ ...load.requests[0]!, ...failed }];
    const { fit, decision } = predict({ ...load, requests, pltMs: 150 });
    expect(fit).toMatchObject({ reason: 'No server answered.', notes: ['No server answered.'] });
    expect(decision.kind).toBe('leave');
    expect(decision.verdict).toBe('This load is not understood: no server answered');
    // Where others answered, the page is judged as ever.
    const [document, other, ...rest] = load.requests;
    const partly = [document!, { ...other!, ...failed, startMs: 90 }, ...rest];
    expect(predict({ ...load, requests: partly }).fit.notes.join()).not.toContain('No server');
  });

  it('has nothing to verify of redirects that led to no page', () => {
    const load = recorded();
    const first = load.requests[0]!;
    const failed = { status: 0, protocol: null, transferBytes: 0, connectionId: null, phases: NO_PHASES };
    const initiator = (requestId: number) => ({
      kind: 'redirect' as const,
      requestId,
      source: 'recorded' as const,
    });
    const next = { ...first, id: 1, startMs: first.endMs, endMs: first.endMs + 80, initiator: initiator(0) };
    const last = { ...next, ...failed, id: 2, initiator: initiator(1) };
    const redirects = [{ ...first, status: 302 }, { ...next, status: 302 }, last];
    const { fit, decision } = predict({ ...load, requests: redirects, pltMs: last.endMs + 10 });
    expect(fit.notes).toEqual(['Its redirects led to no page.']);
    expect(decision).toMatchObject({
      kind: 'leave',
      verdict: 'This load is not understood: its redirects led to no page',
    });
    const answered = [{ ...first, status: 302 }, next];
    expect(predict({ ...load, requests: answered }).fit.notes.join()).not.toContain('redirects');
  });

  it('has no round trip to a proxy on the machine, behind which all sites have one address', () => {
    const load = hasty(at('example.org', '127.0.0.1'));
    const notes = (recording: Recording) => predict(recording).fit.notes.join();
    expect(notes(load)).not.toContain('is none of the internet');
    const requests = load.requests.map((each, index) =>
      index % 2 === 0 ? each : { ...each, url: each.url.replace('example.org', 'example.com') },
    );
    expect(notes({ ...load, requests })).toContain('is none of the internet');
  });

  it('needs a response that shows how long it was waited for, or a given round trip', () => {
    const load = recorded();
    const requests = load.requests.map((each) => ({ ...each, phases: NO_PHASES }));
    const unsplit = { ...load, requests };
    const { decision, fit } = predict(unsplit);
    expect(fit.notes).toEqual(['The recording does not show how long requests waited for their responses.']);
    expect(decision.verdict).toMatch(/^This load is not understood, verify it: the recording does not show/);
    expect(predict(unsplit, { network: { rttMs: 60 } }).fit.notes.join()).not.toContain('does not show');
    const [document, ...rest] = requests;
    const shown = { ...load, requests: [{ ...document!, phases: load.requests[0]!.phases }, ...rest] };
    expect(predict(shown).fit.notes.join()).not.toContain('does not show');
  });

  it('has a narrower range than a load to come', () => {
    const { fit, decision } = predict(recorded());
    const widthOf = ({ low, high }: { low: number; high: number }) => high / low;
    const { low, high } = fit.explainedRange!;
    expect(low).toBeLessThan(fit.explainedMs!);
    expect(high).toBeGreaterThan(fit.explainedMs!);
    expect(widthOf(decision.baseline)).toBeGreaterThan(widthOf(fit.explainedRange!));
  });

  it.each([
    [1000, true],
    [1300, true],
    [2100, false],
    [400, false],
  ])('compares a load of %d ms with one that is emulated in a second', (pltMs, understood) => {
    const recording = recorded({ pltMs });
    const network = networkPosterior(recording);
    const candidate = { assignment: {}, discoversH3: false, pltMs: [1000] };
    const about = { recording, network, scenarios: [], recorded: candidate };
    const fit = describeFit(fitOf({ ...about, isOtherNetwork: false }), english);
    expect(fit).toMatchObject({ recordedMs: pltMs, explainedMs: expect.closeTo(1000, 0), understood });
    expect(fit.reason).toBe(understood ? '' : fit.summary);
    expect(fit.notes).toEqual(understood ? [] : [expect.stringMatching(/ not understood\.$/)]);
    expect(fitOf({ ...about, isOtherNetwork: true }).misfits).toEqual([]);
  });

  it('calls the time of a recording without a load event a guess', () => {
    const { fit, decision } = predict(recorded({ pltMs: null }));
    expect(fit).toMatchObject({ understood: false, recordedMs: null, summary: '' });
    expect(decision.verdict).toMatch(/has no load event/);
  });

  it('calls a recording without a navigation a set of transfers', () => {
    const { fit, decision } = predict(recorded({ pltMs: null, missing: 'navigation' }));
    expect(fit.understood).toBe(false);
    expect(decision.verdict).toMatch(/has no navigation, only a set of transfers/);
    expect(decision.kind).not.toBe('act');
  });

  it('calls a recording of minutes a session', () => {
    const { fit } = predict(recorded({ pltMs: 400_000 }));
    expect(fit.notes[0]).toMatch(/is a session rather than a page load\.$/);
  });

  it.each([
    ['example.com', null, false],
    ['example.com', '93.184.215.14', false],
    ['example.com', '10.0.0.8', true],
    ['shop.internal', null, true],
    ['test', null, true],
  ])('doubts a round trip of 0.1 ms to %s at %s', (host, address, understood) => {
    const { fit, network } = predict(hasty(at(host, address)));
    expect(network.rttMs).toBeLessThan(1);
    const doubts = fit.notes.filter((note) => note.includes('round trip'));
    expect(doubts).toHaveLength(understood ? 0 : 1);
  });

  it('compares nothing on another network than that of the recording', () => {
    const { fit, decision } = predict(recorded(), { network: pathOf({ rttMs: 300, downBps: 1e6 }) });
    expect(fit).toMatchObject({ explainedMs: null, explainedRange: null, summary: '', understood: true });
    expect(decision.verdict).not.toMatch(/not understood/);
  });

  it('lets measured loads speak where the load is not understood', () => {
    const recording = recorded({ pltMs: null });
    const held = predict(recording).decision.actions.find(({ kind }) => kind === 'force-protocol')!;
    const knowledge = {
      loads: [
        { under: 'browser' as const, pltMs: [9000, 9100, 9200], ageMs: 0 },
        { under: held.assignment, pltMs: [1500, 1600, 1550], ageMs: 0 },
      ],
    };
    const { decision, fit } = predict(recording, { knowledge });
    expect(fit.understood).toBe(false);
    expect(decision).toMatchObject({ kind: 'act', action: { measured: true } });
  });
});

describe('one set of figures', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('is in every part of an answer: page %d', (seed) => {
    const graph = randomPage(seed);
    const overH2 = Object.fromEntries(graph.origins.map((origin) => [origin, 'h2' as const]));
    const recording = recordLoad(graph, PATH, randomServers(graph, seed), overH2, seed);
    const answer = predict(recording, { whatIf: {} });
    const { decision, protocols, origins, assignment, assignedPltMs, assigned } = answer;
    expect(answer.best).toBe(decision.best);
    expect(answer.confidence).toBe(decision.confidence);
    for (const [protocol, time] of Object.entries(decision.protocols)) {
      expect(protocols[protocol as 'h1']).toMatchObject(time);
    }
    for (const { assignment: own, time } of decision.actions) {
      const [only, ...others] = new Set(Object.values(own));
      if (others.length === 0 && decision.baseline.visit === 'later') {
        expect(time).toEqual(decision.protocols[only!]);
      }
    }
    expect(assigned.pltMs).toBe(assignedPltMs);
    for (const origin of origins) {
      expect(origin.protocol).toBe(assignment[origin.origin]);
      expect(origin.pltMs[origin.protocol]).toBe(assignedPltMs);
    }
    // Servers as they are change nothing.
    for (const time of Object.values(answer.whatIf!.protocols)) {
      expect(time).toMatchObject({ change: 0 });
    }
  });

  it('gives the page of one origin the same times and chances in all tables', () => {
    const graph = randomPage(2);
    const [first] = graph.origins as [string];
    const activities = graph.activities.map((each) =>
      each.kind === 'fetch' ? { ...each, origin: 0, url: each.url.replace(/^https:..[^/]+/, first) } : each,
    );
    const overH2 = { [first]: 'h2' as const };
    const page = { ...graph, origins: [first], activities };
    const { decision, origins } = predict(recordLoad(page, PATH, randomServers(page, 2), overH2));
    expect(origins).toHaveLength(1);
    for (const [protocol, ms] of Object.entries(origins[0]!.pltMs)) {
      expect(ms).toBe(decision.protocols[protocol as 'h1']!.pltMs);
    }
  });
});

describe('a reason', () => {
  it('states no more than its arithmetic gives', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const graph = randomPage(seed);
      const path = pathOf({ rttMs: 2 + (seed % 5), downBps: 50e6, loss: seed % 2 === 0 ? 0.02 : 0 });
      const overH2 = Object.fromEntries(graph.origins.map((origin) => [origin, 'h2' as const]));
      const recording = recordLoad(graph, path, randomServers(graph, seed), overH2, seed);
      const { reasons, decision } = predict(recording);
      const { best, protocols } = decision;
      const times = Object.values(protocols).map(({ pltMs }) => pltMs);
      const nextMs = Math.min(...times.filter((ms) => ms !== protocols[best]!.pltMs));
      const savings = reasons.map((text) => Number(/saves (\d+) ms/.exec(text)?.[1] ?? 0));
      const sum = savings.reduce((a, b) => a + b, 0);
      // Rounding adds half a millisecond to each of three.
      expect(sum).toBeLessThanOrEqual(Math.max(0, nextMs - protocols[best]!.pltMs) + 2);
      for (const text of reasons) {
        const [, saved, rtt] =
          /saves (\d+) ms .*: a connection is ready after 1 round trip of (\d+) ms/.exec(text) ?? [];
        // No page here waits for more than a few connections one after the other.
        if (saved !== undefined) expect(Number(saved)).toBeLessThanOrEqual(1.3 * 4 * (Number(rtt) + 1));
      }
    }
  });
});
