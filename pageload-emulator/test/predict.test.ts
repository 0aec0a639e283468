import {
  estimateNetwork,
  type KnownNetwork,
  type LoadTime,
  networkPosterior,
  parseRecording,
  predict,
  type ServerProfile,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, chromiumHar, type HarTimings, harOf } from './support/hars.ts';

/** A document and `count` images from one origin. */
function gallery(count: number, timings: HarTimings = { wait: 60, receive: 10 }, bytes = 10_300): object {
  const image = (index: number) => {
    const entry = chromiumEntry(`https://a.test/${index}.png`, 200, timings, {
      _resourceType: 'image',
      _initiator: { type: 'parser', url: 'https://a.test/' },
    }) as { response: object };
    entry.response = { ...entry.response, _transferSize: bytes };
    return entry;
  };
  return harOf([
    chromiumEntry(
      'https://a.test/',
      0,
      { connect: 100, ssl: 50, wait: 90, receive: 5 },
      { _resourceType: 'document' },
    ),
    ...Array.from({ length: count }, (_, index) => image(index)),
  ]);
}

const GIVEN = {
  rttMs: 100,
  downBps: 20e6,
  upBps: 5e6,
  loss: 0,
  queueBytes: 250_000,
  udp: { kind: 'open' as const },
};

describe('network estimate', () => {
  it('takes the round trip from handshakes of new connections', () => {
    const { path, sources, servers } = estimateNetwork(parseRecording(chromiumHar()));
    // shop.test: TCP 5 to 35; cdn.test: TCP 150 to 190; a.css waited 30 only.
    expect(path.rttMs).toBeCloseTo(30, 6);
    expect(sources.rttMs).toBe('estimated');
    expect(servers.map(({ origin, extraRttMs }) => [origin, Math.round(extraRttMs)])).toEqual([
      ['https://shop.test', 0],
      ['https://cdn.test', 10],
    ]);
    expect(servers[0]!.dnsMs).toBeCloseTo(5, 6);
  });

  it('does not mistake waiting on a full link for distance or think time', () => {
    // 40 images of 100 kB keep the link full from 260 to 1260 ms; meanwhile an origin's only handshake takes 90.
    const recording = parseRecording(gallery(40, { wait: 60, receive: 1_000 }, 100_000));
    const last = recording.requests[recording.requests.length - 1]!;
    recording.requests.push({
      ...last,
      id: recording.requests.length,
      url: 'https://late.test/',
      startMs: 500,
      endMs: 1_000,
      phases: {
        dnsStartMs: null,
        dnsEndMs: null,
        connectStartMs: 500,
        secureStartMs: 590,
        connectEndMs: 680,
        requestStartMs: 680,
        responseStartMs: 990,
      },
    });
    const { path, servers } = estimateNetwork(recording);
    expect(path.rttMs).toBeLessThan(60);
    expect(servers.at(-1)).toMatchObject({ origin: 'https://late.test', thinkMs: 0 });
    // 90 less the path's 50 is all or nothing queueing: P(extra > x) = 30 / (30 + x) has its median of 0 to 40 at
    // 30 / ((1 + 30 / 70) / 2) - 30 = 12.
    expect(servers.at(-1)!.extraRttMs).toBeCloseTo(12, 6);
  });

  it('reports what it assumed when phases were withheld', () => {
    const recording = parseRecording(chromiumHar());
    for (const request of recording.requests) {
      for (const phase of Object.keys(request.phases)) Object.assign(request.phases, { [phase]: null });
      request.transferBytes = request.bodyBytes = request.decodedBytes = null;
    }
    const { sources, path } = estimateNetwork(recording);
    expect(sources).toEqual({
      rttMs: 'assumed',
      downBps: 'assumed',
      upBps: 'assumed',
      loss: 'assumed',
      lossBurst: 'assumed',
      queueBytes: 'assumed',
      udp: 'assumed',
    });
    expect(path.rttMs).toBeGreaterThan(0);
  });

  it('finds the rate of a link that a page kept busy', () => {
    // 25 images of 100 kB between 260 and 1260 ms: 2.5 MB in a second, 20 Mbit/s, 21 with packet headers.
    const recording = parseRecording(gallery(25, { wait: 60, receive: 1_000 }, 100_000));
    expect(estimateNetwork(recording).path.downBps / 1e6).toBeCloseTo(21, 1);
  });

  it('does not mistake a crowded link for a lossy one', () => {
    const recording = parseRecording(gallery(40, { wait: 60, receive: 1_000 }, 100_000));
    expect(estimateNetwork(recording).sources.loss).toBe('assumed');
  });

  it('recognises TLS 1.2 by its second round trip', () => {
    const slow = harOf([chromiumEntry('https://a.test/', 0, { connect: 150, ssl: 100, wait: 60 })]);
    expect(estimateNetwork(parseRecording(slow)).servers[0]!.tlsVersion).toBe('1.2');
    expect(estimateNetwork(parseRecording(gallery(1))).servers[0]!.tlsVersion).toBe('1.3');
  });

  it('offers protocols that were used or advertised', () => {
    const recording = parseRecording(chromiumHar());
    expect(estimateNetwork(recording).servers[0]!.offers).toEqual({ h1: true, h2: true, h3: true });
    for (const request of recording.requests) Object.assign(request, { offersH3: false, protocol: 'h1' });
    expect(estimateNetwork(recording).servers[0]!.offers).toEqual({ h1: true, h2: false, h3: false });
  });
});

describe('prediction', () => {
  it('has the fields and the arithmetic of the contract', () => {
    const prediction = predict(parseRecording(chromiumHar()), { network: GIVEN, waterfall: true });
    expect(prediction.page).toEqual({
      url: 'https://shop.test/',
      requests: 5,
      origins: 2,
      bytes: 5 * 10_300,
    });
    expect(prediction.observed).toEqual({ pltMs: 500, protocols: { h2: 6 } });
    expect(prediction.network).toMatchObject({ rttMs: 100, downMbps: 20, upMbps: 5, loss: 0, udp: 'open' });
    const { lossBurst, ...source } = prediction.network.source;
    expect(new Set(Object.values(source))).toEqual(new Set(['given']));
    expect(lossBurst).toBe('assumed');
    const times = Object.values(prediction.protocols).map((time) => (time as LoadTime).pltMs);
    const [best, second] = times.sort((a, b) => a - b);
    expect(prediction.margin).toBeCloseTo((second! - best!) / second!, 9);
    expect((prediction.protocols[prediction.best] as LoadTime).pltMs).toBe(best);
    for (const protocol of ['h1', 'h2', 'h3'] as const) {
      expect(prediction.waterfall[protocol]).toHaveLength(5);
      const { pltMs, low, high } = prediction.protocols[protocol] as LoadTime;
      expect(low).toBeLessThan(pltMs);
      expect(high).toBeGreaterThan(pltMs);
    }
    expect(predict(parseRecording(chromiumHar()), { network: GIVEN }).waterfall).toEqual({});
    expect(prediction.assigned.pltMs).toBe(prediction.assignedPltMs);
    expect(Object.keys(prediction.assignment)).toEqual(['https://shop.test', 'https://cdn.test']);
    expect(prediction.origins.map(({ origin }) => origin)).toEqual(Object.keys(prediction.assignment));
    expect(JSON.parse(JSON.stringify(prediction))).toEqual(prediction);
  });

  it('is deterministic', () => {
    const load = () => ({ ...predict(parseRecording(chromiumHar())), elapsedMs: 0 });
    expect(load()).toEqual(load());
  });

  it('shows on a long path that HTTP/3 saves a round trip', () => {
    const prediction = predict(parseRecording(gallery(6)), { network: { ...GIVEN, rttMs: 250 } });
    expect(prediction).toMatchObject({ best: 'h3', decision: { best: 'h3' } });
    expect(prediction.decision.confidence).toBeGreaterThan(0.8);
    const gain = (prediction.protocols.h2 as LoadTime).pltMs - (prediction.protocols.h3 as LoadTime).pltMs;
    expect(gain).toBeGreaterThan(200);
    expect(prediction.reasons.join(' ')).toMatch(/ready after 1 round trip of 250 ms instead of 2/);
  });

  it('shows requests that wait for a connection', () => {
    const prediction = predict(parseRecording(gallery(60, undefined, 800)), { network: GIVEN });
    const h1 = prediction.emulated.protocols.h1 as LoadTime;
    const h2 = prediction.emulated.protocols.h2 as LoadTime;
    // 60 images on six connections take ten round trips instead of one or few.
    expect(h1.pltMs - h2.pltMs).toBeGreaterThan(400);
  });

  it('does not offer HTTP/3 when UDP is blocked', () => {
    const prediction = predict(parseRecording(chromiumHar()), {
      network: { ...GIVEN, udp: { kind: 'blocked' } },
    });
    expect(prediction.protocols.h3).toEqual({ unavailable: 'UDP is blocked on this network' });
    expect(prediction.best).not.toBe('h3');
    expect(Object.values(prediction.assignment)).not.toContain('h3');
    expect(prediction.waterfall.h3).toBeUndefined();
  });

  it('avoids HTTP/3 when UDP is policed', () => {
    const prediction = predict(parseRecording(gallery(30, undefined, 60_000)), {
      network: { ...GIVEN, udp: { kind: 'policed', bps: 1e6 } },
    });
    expect(prediction.network.udp).toBe(1);
    expect(prediction.best).not.toBe('h3');
    expect(prediction.assignment['https://a.test']).not.toBe('h3');
    const best = prediction.protocols[prediction.best] as LoadTime;
    expect((prediction.protocols.h3 as LoadTime).pltMs).toBeGreaterThan(2 * best.pltMs);
  });

  it('assigns only what an origin offers, while uniform predictions cover all protocols', () => {
    const recording = parseRecording(gallery(6));
    const servers: (Partial<ServerProfile> & { origin: string })[] = [
      { origin: 'https://a.test', offers: { h1: true, h2: true, h3: false } },
    ];
    const prediction = predict(recording, { network: { ...GIVEN, rttMs: 250 }, servers });
    expect(prediction.best).toBe('h3');
    expect(prediction.assignment['https://a.test']).not.toBe('h3');
    expect(prediction.origins[0]!.pltMs).not.toHaveProperty('h3');
  });

  it('says so when nothing wins', () => {
    // One small document on a near server: milliseconds.
    const recording = parseRecording(
      harOf([chromiumEntry('https://a.test/', 0, { connect: 4, ssl: 2, wait: 400 })]),
    );
    const prediction = predict(recording, { network: { ...GIVEN, rttMs: 2 } });
    expect(prediction.decided).toBe(false);
    expect(prediction.reasons).toEqual([]);
    expect(prediction.decision.verdict).toContain('The protocols are about equal');
  });

  it('has wider ranges when less is known', () => {
    const recording = parseRecording(gallery(30));
    const spread = ({ high, low, pltMs }: LoadTime) => (high - low) / pltMs;
    const { path } = networkPosterior(recording);
    const sure = predict(recording, { network: path }).protocols.h2 as LoadTime;
    const unsure = predict(recording).protocols.h2 as LoadTime;
    // The emulator's own error and the browser's scatter remain where the network is known.
    expect(spread(sure)).toBeGreaterThan(0.05);
    expect(spread(unsure)).toBeGreaterThan(spread(sure));
  });

  it('prefers given figures to measured ones, and those to its own estimate', () => {
    const { network } = predict(parseRecording(chromiumHar()), {
      measured: { rttMs: 33, loss: { events: 10, packets: 1000 } },
      network: { loss: 0.02 },
      seeds: 2,
    });
    expect(network.rttMs / 33).toBeCloseTo(1, 1);
    expect(network).toMatchObject({
      loss: 0.02,
      source: { rttMs: 'measured', loss: 'given', upMbps: 'assumed' },
    });
  });

  it('takes the given length of loss bursts, else single losses', () => {
    const recording = parseRecording(gallery(25, { wait: 60, receive: 1_000 }, 100_000));
    const at = (network: KnownNetwork) => {
      const { h1, h2, h3 } = predict(recording, { network }).protocols;
      return [h1, h2, h3];
    };
    const lossy = { ...GIVEN, loss: 0.02 };
    expect(at({ ...lossy, lossBurst: 1 })).toEqual(at(lossy));
    expect(at({ ...lossy, lossBurst: 8 })).not.toEqual(at(lossy));
    expect(() => at({ ...lossy, lossBurst: 0 })).toThrow(/lossBurst ≥ 1/);
  });
});
