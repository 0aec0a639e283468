import type { Action, Decision, NetworkCluster, Prediction, Recording } from '@hopwise/pageload-emulator';
import { Window } from 'happy-dom';
import { describe, expect, test } from 'vitest';
import { formatDuration, formatDurations, formatUrl } from '../../src/ui/format.ts';
import {
  describeNetworkEvidence,
  formatBytes,
  formatGain,
  formatLoss,
  formatMbps,
  formatMs,
  formatShare,
  predictedWaterfall,
  readVerifiedTimes,
  recordedWaterfall,
  renderNetwork,
  renderOriginTable,
  renderProtocolChart,
  renderSummary,
  renderTimesTable,
  renderWaterfall,
} from '../../src/ui/index.ts';
import { shownEndMs } from '../../src/ui/waterfall.ts';
import { actionOf, decisionOf, LEAVE } from '../support/decisions.ts';
import { verificationOf } from '../support/verification.ts';

const document = new Window({ url: 'https://report.test/' }).document as unknown as Document;
const options = { document };

const HOSTILE = '<img src=x onerror=alert(1)>';
const PAGE = 'https://page.test/';

const paints = { firstContentfulPaintMs: 800, largestContentfulPaintMs: null };
const leave: Action = {
  ...LEAVE,
  assignment: { 'https://page.test': 'h3', 'https://cdn.test': 'h2' },
  time: { pltMs: 2400, low: 2200, high: 2600 },
  emulated: { pltMs: 2400, low: 2200, high: 2600 },
};
const protocols = {
  h1: { pltMs: 2990, low: 2700, high: 3400, ...paints },
  h2: { pltMs: 2704, low: 2500, high: 2900, ...paints },
  h3: { pltMs: 2380, low: 2200, high: 2600, ...paints },
};
const prediction: Prediction = {
  schema: 3,
  fit: {
    recordedMs: 2566,
    explainedMs: 2400,
    explainedRange: { low: 2200, high: 2600 },
    understood: true,
    reason: '',
    summary: 'The recorded load took 2.6 s; its emulation expects 2.4 s.',
    notes: [],
  },
  emulated: { protocols, best: 'h3', margin: 0.12, confidence: 0.9, decided: true },
  page: { url: PAGE, requests: 116, origins: 2, bytes: 3_779_894 },
  network: {
    rttMs: 62,
    downMbps: 18,
    upMbps: 6,
    loss: 0.003,
    lossBurst: 1,
    udp: 'open',
    queueBytes: 93_000,
    ranges: {
      rttMs: { low: 60, high: 64 },
      downMbps: { low: 15, high: 22 },
      upMbps: { low: 4, high: 9 },
      loss: { low: 0.001, high: 0.01 },
      lossBurst: { low: 1, high: 3 },
      queueBytes: { low: 60_000, high: 200_000 },
    },
    udpShares: { open: 0.95, policed: 0.02, blocked: 0.03 },
    source: {
      rttMs: 'given',
      downMbps: 'estimated',
      upMbps: 'assumed',
      loss: 'measured',
      lossBurst: 'assumed',
      udp: 'assumed',
      queueBytes: 'assumed',
    },
  },
  decision: {
    kind: 'leave',
    verdict: 'All good. No change would load this page noticeably faster',
    best: 'h3',
    confidence: 0.93,
    protocols: {
      h1: { pltMs: 2990, low: 2700, high: 3400 },
      h2: { pltMs: 2704, low: 2500, high: 2900 },
      h3: { pltMs: 2380, low: 2200, high: 2600 },
    },
    baseline: {
      pltMs: 2400,
      low: 2200,
      high: 2600,
      visit: 'later',
      protocols: leave.assignment,
      laterPltMs: 2400,
      emulated: { pltMs: 2400, low: 2200, high: 2600 },
      measured: false,
    },
    action: leave,
    actions: [leave],
    indifferentOrigins: 1,
    evidence: [{ kind: 'emulation', text: 'HTTP/3 is the fastest.' }],
    changed: null,
  },
  observed: { pltMs: 2566, protocols: { h2: 109 } },
  protocols,
  best: 'h3',
  margin: 0.12,
  confidence: 0.93,
  decided: true,
  reasons: [HOSTILE],
  assignment: { 'https://page.test': 'h3', 'https://cdn.test': 'h2' },
  assignedPltMs: 2290,
  assigned: {
    pltMs: 2290,
    low: 2100,
    high: 2500,
    margin: 0.04,
    confidence: 0.7,
    decided: false,
    reason: 'A mix might load it sooner.',
  },
  notes: [],
  origins: [
    {
      origin: 'https://page.test',
      requests: 7,
      bytes: 79_894,
      protocol: 'h3',
      margin: 0.08,
      confidence: 0.93,
      pltMs: { h2: 2600, h3: 2380 },
      reason: HOSTILE,
      decided: true,
    },
    {
      origin: 'https://cdn.test',
      requests: 109,
      bytes: 3_700_000,
      protocol: 'h2',
      margin: 0.01,
      confidence: 0.55,
      pltMs: {},
      reason: 'all alike',
      decided: false,
    },
  ],
  waterfall: {
    h3: [
      { requestId: 1, startMs: 70, sentMs: 75, firstByteMs: 130, endMs: 190 },
      { requestId: 0, startMs: 0, sentMs: 62, firstByteMs: 124, endMs: 140 },
    ],
  },
  elapsedMs: 3,
};

const request = (id: number, url: string, startMs: number, responseStartMs: number | null) => ({
  id,
  url,
  protocol: responseStartMs === null ? null : ('h2' as const),
  startMs,
  endMs: startMs + 100,
  phases: {
    dnsStartMs: null,
    dnsEndMs: null,
    connectStartMs: responseStartMs === null ? null : startMs + 5,
    secureStartMs: null,
    connectEndMs: responseStartMs === null ? null : startMs + 35,
    requestStartMs: responseStartMs === null ? null : startMs + 40,
    responseStartMs,
  },
});
const recording = {
  url: PAGE,
  pltMs: 900,
  requests: [request(0, PAGE, 0, 80), request(1, `https://cdn.test/${HOSTILE}.png`, 70, null)],
} as unknown as Recording;

const gain = { beforeLoads: 2, afterLoads: 1, savedMs: { low: 0, high: 0 } };

test.each([
  ['does not repeat what is done', { 'https://cdn.test': 'h2' as const }, []],
  ['states what else to do', { 'https://page.test': 'h2' as const }, ['What to do.']],
  ['states nothing that promises less than 5% more', { 'https://page.test': 'h2' as const }, [], 2400],
])('the summary below measured pins %s', (_words, pinned, lines, afterMs = 2500) => {
  // The action is predicted to take 2300 ms: 4% less than 2400 ms, 8% less than 2500 ms.
  const pinGain = { ...gain, beforeMs: 4300, afterMs, effect: 'gains' as const };
  const decision = decisionOf([actionOf('avoid-h3', { 'https://cdn.test': 'h2' })], {
    verdict: 'What to do',
  });
  const summary = renderSummary({ ...prediction, decision }, { ...options, pinGain, pinned });
  expect(spaced(summary.querySelector('h2')!.textContent)).toContain('faster: 4.3 s → ');
  expect([...summary.querySelectorAll('.hw-instruction')].map((p) => p.textContent)).toEqual(lines);
});

test.each([
  [['https://cdn.test'], 'h2', 'Keep cdn.test off HTTP/3.'],
  [['https://cdn.test', 'https://b.test'], 'h2', 'Keep cdn.test and b.test off HTTP/3.'],
  [['https://cdn.test', 'https://b.test', 'https://c.test'], 'h2', 'Keep this page off HTTP/3.'],
  [['https://cdn.test', 'https://b.test', 'https://c.test'], 'h1', 'Hold cdn.test and 2 more to HTTP/1.1.'],
] as const)('the summary says what to do without the headline’s figures (%j)', (origins, protocol, words) => {
  const assignment = Object.fromEntries(origins.map((origin) => [origin, protocol]));
  const action = actionOf(protocol === 'h1' ? 'force-protocol' : 'avoid-h3', assignment);
  const summary = renderSummary({ ...prediction, decision: decisionOf([action]) }, options);
  expect(spaced(summary.querySelector('.hw-instruction')?.textContent)).toBe(words);
});

describe('renderProtocolChart', () => {
  const legendOf = (chart: HTMLElement) =>
    [...chart.querySelectorAll('.hw-legend li')].map((item) => item.textContent);
  const figure = renderProtocolChart(
    {
      prediction: {
        ...prediction,
        decision: { ...prediction.decision, protocols: { h1: prediction.decision.protocols.h1! } },
        protocols: { ...prediction.protocols, h2: { unavailable: 'none' }, h3: { unavailable: HOSTILE } },
      },
      verified: {
        h1: { medianMs: 2900, lowMs: 2800, highMs: 3000, runs: 3 },
        h3: { unavailable: 'no answer over UDP' },
      },
      measured: { h1: { medianMs: 3000, lowMs: 2950, highMs: 3100, runs: 5 } },
    },
    options,
  );

  test('has a range for each prediction, and separate marks for verified and measured times', () => {
    const marks = (label: string) => figure.querySelector(`[aria-label="${label}"]`)?.children.length;
    expect(figure.querySelectorAll('svg').length).toBe(1);
    expect(figure.querySelectorAll('[aria-label="bar"] rect, [aria-label="bar"] path').length).toBe(2);
    // Verified, measured; the first paint of HTTP/1.1, which is the only protocol with a time.
    expect(figure.querySelectorAll('[aria-label="dot"]').length).toBe(3);
    expect(marks('tick')).toBeGreaterThan(0);
    expect(legendOf(figure)).toEqual([
      'predicted: median, 10th to 90th percentile',
      expect.stringContaining('verified'),
      expect.stringContaining('measured'),
    ]);
  });

  test('lists unavailable protocols with the reason, as text', () => {
    expect(figure.textContent).toContain('not available');
    expect(figure.textContent).toContain(`HTTP/3, predicted: ${HOSTILE}`);
    expect(figure.textContent).toContain('HTTP/3, verified: no answer over UDP');
    expect(figure.querySelector('img')).toBeNull();
  });

  test('shows no marks for kinds of time that are absent', () => {
    const bare = renderProtocolChart({ prediction }, options);
    expect(legendOf(bare)).toEqual(['predicted: median, 10th to 90th percentile', 'fastest']);
    // Narrow charts have no columns for the paints.
    const narrow = renderProtocolChart({ prediction }, { ...options, width: 300 });
    expect(legendOf(narrow)).toEqual([
      'predicted: median, 10th to 90th percentile',
      '△first paint',
      'fastest',
    ]);
  });

  test('states the paints under each protocol, and outlines the fastest one', () => {
    const chart = renderProtocolChart({ prediction }, options);
    const described = chart.querySelector('svg')?.getAttribute('aria-description');
    expect(described).toContain('HTTP/2 paints: first 0.8 s, largest –');
    // The column's heading, one line below the other.
    expect([...chart.querySelectorAll('svg tspan')].map(({ textContent }) => textContent)).toEqual(
      expect.arrayContaining(['△ first', 'paint']),
    );
    expect(chart.querySelectorAll('[aria-label="rect"] rect, [aria-label="rect"] path')).toHaveLength(1);
  });

  test('has room for paints that come after the load event', () => {
    const late = {
      ...prediction.protocols.h2,
      largestContentfulPaintMs: 9000,
    } as Prediction['protocols']['h2'];
    const chart = renderProtocolChart(
      { prediction: { ...prediction, protocols: { ...prediction.protocols, h2: late } } },
      options,
    );
    const ticks = [...chart.querySelectorAll('[aria-label="x-axis tick label"] text')];
    expect(Number.parseFloat(ticks.at(-1)!.textContent!)).toBeGreaterThan(7);
  });

  test('marks HTTP/3 as hypothetical where no origin offers it, and does not outline it', () => {
    const chart = renderProtocolChart({ prediction, isH3Hypothetical: true }, options);
    expect(chart.textContent).toContain('its time is hypothetical');
    expect(chart.querySelector('svg')?.getAttribute('aria-description')).toContain(
      'HTTP/3 if offered predicted: 2.4 s',
    );
    expect(legendOf(chart)).not.toContain('fastest');
  });
});

describe('waterfalls', () => {
  test('a recorded one has the phases that the browser reported', () => {
    const { rows, pltMs } = recordedWaterfall(recording);
    expect(pltMs).toBe(900);
    expect(rows[0]?.bars).toEqual([
      { phase: 'queued', startMs: 0, endMs: 5 },
      { phase: 'connecting', startMs: 5, endMs: 35 },
      { phase: 'queued', startMs: 35, endMs: 40 },
      { phase: 'waiting', startMs: 40, endMs: 80 },
      { phase: 'receiving', startMs: 80, endMs: 100 },
    ]);
    expect(rows[1]?.bars).toEqual([{ phase: 'whole', startMs: 70, endMs: 170 }]);
  });

  test('a predicted one is in order of start, and there is none for a protocol that cannot carry the page', () => {
    const rows = predictedWaterfall(recording, prediction, 'h3')?.rows;
    expect(rows?.map((row) => [row.requestId, row.protocol])).toEqual([
      [0, 'h3'],
      [1, 'h3'],
    ]);
    expect(predictedWaterfall(recording, prediction, 'h1')).toBeNull();
  });

  test('has a row for each request, names as text', () => {
    const figure = renderWaterfall(recordedWaterfall(recording), options);
    expect(figure.querySelectorAll('[aria-label="y-axis tick label"] text')).toHaveLength(2);
    expect(figure.querySelector('img')).toBeNull();
    expect(figure.textContent).toContain('protocol withheld');
    expect(figure.textContent).toContain('load event 900 ms');
  });

  test('has lines of its milestones that differ by their dashes, and a legend with their times', () => {
    const painted = {
      ...recording,
      domContentLoadedMs: 300,
      firstContentfulPaintMs: 400,
      largestContentfulPaintMs: 600,
    };
    const figure = renderWaterfall(recordedWaterfall(painted), options);
    const legend = [...figure.querySelectorAll('.hw-legend li')].map(({ textContent }) =>
      spaced(textContent),
    );
    expect(legend.slice(-4)).toEqual([
      'DOMContentLoaded (DCL) 300 ms',
      'First Contentful Paint (FCP) 400 ms',
      'Largest Contentful Paint (LCP) 600 ms',
      'load event 900 ms',
    ]);
    const dashes = [...figure.querySelectorAll('[aria-label="rule"]')].map((rule) =>
      rule.getAttribute('stroke-dasharray'),
    );
    expect(dashes).toEqual(['4 3', '2 2', '6 2 2 2', null]);
  });

  test('has its time axis outside the scrolling rows', () => {
    const scroller = renderWaterfall(recordedWaterfall(recording), options).querySelector('.hw-scroll')!;
    const [axis, rows] = scroller.querySelectorAll('svg');
    expect(scroller.getAttribute('aria-label')).toBe('Waterfall of 2 requests');
    expect(axis!.querySelector('[aria-label="x-axis tick label"]')!.textContent).toContain('200 ms');
    expect(rows!.querySelector('[aria-label="x-axis tick label"]')).toBeNull();
    expect(Number(axis!.getAttribute('width'))).toBe(Number(rows!.getAttribute('width')));
  });

  test('a stream that goes on for a minute leaves the load its room, and is marked', () => {
    const stream = { ...recording.requests[1]!, id: 2, url: `${PAGE}events`, type: 'fetch' as const };
    const requests = [...recording.requests, { ...stream, startMs: 90, endMs: 60_090 }];
    const figureOf = (pltMs: number | null) =>
      renderWaterfall(recordedWaterfall({ ...recording, requests, pltMs }), options).textContent;
    const ends = [900, null].map((pltMs) => shownEndMs(recordedWaterfall({ ...recording, requests, pltMs })));
    // 15% after the load event at 900 ms; without one after the image, which ends at 170 ms as the last that a load event waits for.
    expect(ends.map(Math.floor)).toEqual([1035, 195]);
    expect(figureOf(900)).toContain('→ 60 s');
    expect(figureOf(null)).toContain('→ 60 s');
    expect(figureOf(null)).toContain('no load event; end of the load at 170 ms, a guess');
    expect(renderWaterfall(recordedWaterfall(recording), options).textContent).not.toContain('→');
  });

  test('ends with the last response where that is sooner, or where nothing could hold the load up', () => {
    const rows = [{ endMs: 400 }, { endMs: 1000 }];
    expect(shownEndMs({ rows, loadEndMs: 900 })).toBe(1000);
    expect(shownEndMs({ rows, loadEndMs: 0 })).toBe(1000);
    expect(shownEndMs({ rows, loadEndMs: 100 })).toBeCloseTo(115);
  });

  test('narrow, has names in rows of their own', () => {
    const figure = renderWaterfall(recordedWaterfall(recording), { ...options, width: 300 });
    expect(figure.querySelectorAll('.hw-names text')).toHaveLength(2);
    expect(figure.querySelector('[aria-label="y-axis tick label"]')).toBeNull();
  });

  test.each([
    [`${PAGE}assets/main.js`, 34, 'main.js'],
    [`${PAGE}a/main.js?v=1`, 34, 'main.js?v=1'],
    ['https://cdn.test/main.js', 34, 'main.js · cdn.test'],
    // Images that differ at the ends of their names, and by a query that does not fit.
    [`${PAGE}product-of-the-year-number-10.png?width=1200`, 24, 'product-of-…ber-10.png?…'],
    [`${PAGE}product-of-the-year-number-11.png?width=1200`, 24, 'product-of-…ber-11.png?…'],
    ['https://images.static.provider.test/number-10-of-the-year.png', 30, 'number-…ar.png · …rovider.test'],
  ])('names %s in %i characters %s', (url, length, name) => {
    expect(formatUrl(url, PAGE, length)).toBe(name);
    expect(name.length).toBeLessThanOrEqual(length);
  });

  test.each([5, 9, 12])('a label of at most %i characters is no longer', (length) => {
    const label = formatUrl('https://cdn.example.com/very-long-name.js?x=12345', PAGE, length);
    expect(label.length).toBeLessThanOrEqual(length);
    expect(label).toContain('…');
  });

  test('states how many requests it leaves out', () => {
    const rows = Array.from({ length: 450 }, () => recordedWaterfall(recording).rows[0]!);
    const waterfall = { pageUrl: PAGE, pltMs: null, loadEndMs: 0, milestones: [], rows };
    const figure = renderWaterfall(waterfall, options);
    expect(figure.textContent).toContain('50 later requests are not shown.');
  });
});

const textsOf = (element: Element, row = 'tr') =>
  [...element.querySelectorAll(row)].map((one) => [...one.children].map(({ textContent }) => textContent));
const spaced = (text: string | null | undefined) => text?.replaceAll('\u00a0', ' ');
const withDecision = (decision: Decision, origins = prediction.origins): Prediction => ({
  ...prediction,
  decision,
  origins,
});
const advised = actionOf('avoid-h3', { 'https://cdn.test': 'h2' });

test.each([
  ['that is percent-encoded', `${PAGE}%E2%80%AEsj.tobor`, '%E2%80%AEsj.tobor'],
  ['in a path', `${PAGE}\u202Esj.tobor`, '%E2%80%AEsj.tobor'],
  ['in a host', 'https://tset.\u202Egap\u0007/', 'https://tset.\uFFFDgap\uFFFD/'],
])('no name looks like another one by a character %s that turns text around', (_where, url, shown) => {
  const origin = url.split('/', 3).join('/');
  const added = { ...recording.requests[0]!, id: 2, url };
  const hostile = { ...recording, requests: [...recording.requests, added] };
  const views = [
    renderWaterfall(recordedWaterfall(hostile), options),
    renderOriginTable({ ...prediction, origins: [{ ...prediction.origins[0]!, origin }] }, options),
    renderSummary({ ...prediction, reasons: [url] }, options),
  ];
  const html = views.map(({ outerHTML }) => outerHTML).join('');
  expect(html).toContain(shown);
  expect(html).not.toMatch(/[^\P{Cc}\t\n]|[\u202A-\u202E]/u);
});

test('the origin table states what to do, and folds the origins that do not matter', () => {
  const origins = [
    ...prediction.origins,
    ...Array.from({ length: 3 }, (_, index) => ({
      ...prediction.origins[1]!,
      origin: `https://${index}.test`,
      bytes: 9,
    })),
  ];
  const decision = decisionOf([advised]);
  decision.baseline.protocols = { 'https://page.test': 'h3', 'https://cdn.test': 'h3' };
  const table = renderOriginTable(withDecision(decision, origins), options);
  expect(textsOf(table).map((cells) => cells.map(spaced))).toEqual([
    ['Origin', 'What to do', 'Gain', 'Why'],
    [
      'cdn.test',
      'avoid HTTP/3',
      '2.0 s',
      '109 requests, 3.7 MB, otherwise over HTTP/3. Faster in 97% of loads.',
    ],
    ['page.test', 'leave on HTTP/3', '–', HOSTILE],
  ]);
  const rest = table.querySelector('details')!;
  expect(rest.hasAttribute('open')).toBe(false);
  expect(rest.querySelector('summary')!.textContent).toBe('Nothing worth changing at 3 of 5 origins');
  expect(rest.querySelectorAll('li')).toHaveLength(3);
  const brief = renderOriginTable(withDecision(decision, origins), { ...options, brief: true });
  expect(textsOf(brief, 'tbody tr').map((cells) => cells.length)).toEqual([2, 2]);
  const first = renderOriginTable(withDecision(decision, origins), { ...options, limit: 1 });
  expect(textsOf(first, 'tbody tr')).toHaveLength(1);
  expect(first.textContent).toContain('and 1 more');
});

test.each<[string, Decision, (string | undefined)[]]>([
  [
    'the page’s gain, marked as that of all its origins together',
    decisionOf([actionOf('force-protocol', { 'https://page.test': 'h1', 'https://cdn.test': 'h2' })]),
    ['cdn.test hold to HTTP/2 2.0 s together', 'page.test hold to HTTP/1.1 2.0 s together'],
  ],
  [
    'no gain above the page’s, of another action',
    decisionOf([advised, actionOf('force-protocol', { 'https://page.test': 'h2' }, { gainMs: 2100 })]),
    ['cdn.test avoid HTTP/3 2.0 s', 'page.test leave on HTTP/3 –'],
  ],
  [
    'the gain over later visits, as the headline does, where these are faster by themselves',
    decisionOf([{ ...advised, gainMs: 1100 }], {
      baseline: { ...decisionOf([advised]).baseline, laterPltMs: 3400 },
    }),
    ['cdn.test avoid HTTP/3 1.1 s'],
  ],
  [
    'a gain that is not sure',
    decisionOf(
      [
        LEAVE,
        { ...advised, worthwhile: false, helps: 0.7, time: { pltMs: 3900, low: 3, high: 4 }, gainMs: 400 },
      ],
      {
        kind: 'unsure',
      },
    ),
    ['cdn.test verify first maybe 400 ms'],
  ],
  [
    'what the server’s owner can do',
    decisionOf([
      LEAVE,
      actionOf('offer-h3', { 'https://cdn.test': 'h3' }, { time: { pltMs: 3600, low: 3, high: 4 } }),
    ]),
    ['cdn.test offer HTTP/3 at the server 700 ms'],
  ],
  ['nothing where nothing matters', decisionOf([LEAVE]), []],
])('the origin table shows %s', (_words, decision, rows) => {
  const table = renderOriginTable(withDecision(decision), options);
  expect(textsOf(table, 'tbody tr').map((cells) => spaced(cells.slice(0, 3).join(' ')))).toEqual(rows);
});

test('the origin table shows the action below the origin’s name', () => {
  const action = ({ origin }: { origin: string }) => {
    const button = document.createElement('button');
    button.textContent = `pin ${origin}`;
    return button;
  };
  for (const brief of [true, false]) {
    const table = renderOriginTable(withDecision(decisionOf([advised])), { ...options, brief, action });
    expect(textsOf(table).map(([first]) => first)).toEqual(['Origin', 'cdn.testpin https://cdn.test']);
  }
});

test('the summary states the verdict, the evidence and the reasons as text', () => {
  const summary = renderSummary(prediction, options);
  expect(summary.querySelector('h2')?.textContent).toBe('All good.');
  expect(summary.querySelector('.hw-why')?.textContent).toBe(
    'No change would load this page noticeably faster.',
  );
  // How long the load took is said by the next sentence, and here where that does not.
  expect(summary.textContent).toContain('116 requests to 2 origins.The recorded load took 2.6\u00a0s;');
  const fit = { ...prediction.fit, summary: '' };
  expect(renderSummary({ ...prediction, fit }, options).textContent).toContain(
    '116 requests to 2 origins; this load took 2.6\u00a0s.',
  );
  const reasons = [...summary.querySelectorAll('.hw-reasons li')].map(({ textContent }) => textContent);
  expect(reasons).toEqual(['HTTP/3 is the fastest.', HOSTILE]);
  expect(summary.querySelector('img')).toBeNull();
});

test('the summary leaves out reasons where nothing is decided', () => {
  expect(renderSummary({ ...prediction, decided: false }, options).textContent).not.toContain(HOSTILE);
});

test('the summary says how well the load is explained, and what is not understood', () => {
  const fitOf = (fit: Partial<Prediction['fit']>) =>
    renderSummary({ ...prediction, fit: { ...prediction.fit, ...fit } }, options).querySelector('.hw-fit');
  expect(fitOf({})?.textContent).toBe('The recorded load took 2.6\u00a0s; its emulation expects 2.4\u00a0s.');
  expect(fitOf({})?.classList.contains('hw-note')).toBe(false);
  const strange = fitOf({ understood: false, notes: [`${HOSTILE}.`] });
  expect(strange?.textContent).toContain(HOSTILE);
  expect(strange?.classList.contains('hw-note')).toBe(true);
  expect(fitOf({ summary: '' })).toBeNull();
});

test('the summary says once how long a load took that is not understood', () => {
  const summary = 'The recorded load took 0.4 s; its emulation expects 1.1 s.';
  const notes = ['Why the load took 690 ms less is not understood.'];
  const fit = { ...prediction.fit, understood: false, explainedMs: 1130, reason: summary, summary, notes };
  const observed = { ...prediction.observed, pltMs: 440 };
  const decision = decisionOf([], { kind: 'unsure' });
  const shown = spaced(renderSummary({ ...prediction, fit, observed, decision }, options).textContent)!;
  expect(shown.split(summary)).toHaveLength(2);
  expect(shown).toContain(`2 origins.${notes[0]}`);
});

test('the summary shows what changed the answer, and the notes of the prediction', () => {
  const decision = {
    ...prediction.decision,
    changed: 'Before, the answer was: Nothing worth changing here.',
  };
  const notes = [HOSTILE, 'The search was cut short.'];
  const said = [...renderSummary({ ...prediction, decision, notes }, options).querySelectorAll('.hw-note')];
  expect(said.map(({ textContent }) => textContent)).toEqual([decision.changed, ...notes]);
});

test('the times table has a column for each kind of time', () => {
  const table = renderTimesTable(
    { prediction, verified: { h2: { medianMs: 2600, lowMs: 2500, highMs: 2650, runs: 3 } } },
    options,
  );
  const rows = [...table.querySelectorAll('tr')].map((row) =>
    [...row.children].map((cell) => cell.textContent),
  );
  expect(rows[0]).toEqual(['Protocol', 'Predicted', 'Verified']);
  expect(rows.slice(1)).toEqual([
    ['Browser’s own choice', '2.4\u00a0s2.2\u00a0s – 2.6\u00a0s', '–'],
    ['HTTP/1.1', '3.0\u00a0s2.7\u00a0s – 3.4\u00a0s', '–'],
    ['HTTP/2', '2.7\u00a0s2.5\u00a0s – 2.9\u00a0s', '2.6\u00a0s2.5\u00a0s – 2.6\u00a0s'],
    ['HTTP/3', '2.4\u00a0s2.2\u00a0s – 2.6\u00a0s', '–'],
  ]);
});

test('the bars of the times table are as long as the medians', () => {
  const lengths = (table: HTMLElement) =>
    [...table.querySelectorAll('.hw-bar')].map((bar) => bar.getAttribute('style'));
  // 2400, 2990, 2704 and 2380 ms as shares of 2990 ms.
  const widths = ['80.3%', '100.0%', '90.4%', '79.6%'].map((width) => `width: ${width}`);
  expect(lengths(renderTimesTable({ prediction }, { ...options, bars: true }))).toEqual(widths);
  expect(lengths(renderTimesTable({ prediction }, options))).toEqual([]);
});

test('the times table has the browser’s first and later visits', () => {
  const decision = {
    ...prediction.decision,
    baseline: { ...prediction.decision.baseline, visit: 'first' as const, laterPltMs: 3100 },
  };
  const rows = textsOf(renderTimesTable({ prediction: withDecision(decision) }, options), 'tbody tr');
  expect(rows.slice(0, 2).map((cells) => cells.map(spaced))).toEqual([
    ['Browser’s own choice', '2.4 s2.2 s – 2.6 s'],
    ['Once HTTP/3 is known', '3.1 s'],
  ]);
});

test('the times of later visits are explained: by the row’s tooltip, and below the chart', () => {
  const explanation =
    'Once HTTP/3 is known: a later visit, when the browser remembers which servers offer HTTP/3.';
  const explained = (visit: 'first' | 'later') => {
    const baseline = { ...prediction.decision.baseline, visit, laterPltMs: 3100 };
    const comparison = { prediction: withDecision({ ...prediction.decision, baseline }) };
    return [
      ...[...renderTimesTable(comparison, options).querySelectorAll<HTMLElement>('tbody th')].map(
        ({ title }) => title,
      ),
      ...[...renderProtocolChart(comparison, options).querySelectorAll('.hw-note')].map(
        ({ textContent }) => textContent,
      ),
    ].filter((text) => text !== '');
  };
  expect(explained('first')).toEqual([explanation, explanation]);
  expect(explained('later')).toEqual([]);
});

test.each([
  [1, '210 ms(1 run)'],
  [3, '210 ms(3 runs)'],
])('equal times of %i runs are shown once', (runs, words) => {
  const once = { medianMs: 213, lowMs: 212, highMs: 214, runs };
  const short = { pltMs: 200, low: 150, high: 260 };
  const decision = { ...decisionOf([LEAVE]), protocols: { h2: short } };
  decision.baseline = { ...decision.baseline, ...short };
  const none = { unavailable: 'blocked' };
  const times = { h1: none, h2: { ...short, ...paints }, h3: none };
  const predicted = { ...withDecision(decision), protocols: times };
  const table = renderTimesTable({ prediction: predicted, verified: { h2: once } }, options);
  expect(spaced(textsOf(table, 'tbody tr')[2]![2])).toBe(words);
});

test('loads of the browser’s own choice and of the recommended action are rows of their own', () => {
  const comparison = {
    prediction,
    measured: { h2: { medianMs: 2650, lowMs: 2600, highMs: 2700, runs: 3 } },
    baseline: { medianMs: 4050, lowMs: 3900, highMs: 4200, runs: 3 },
    assigned: { unavailable: 'no answer' },
  };
  const table = renderTimesTable(comparison, options);
  const rows = [...table.querySelectorAll('tr')].map((row) =>
    [...row.children].map((cell) => cell.textContent),
  );
  expect(rows.map(([name]) => name)).toEqual([
    'Protocol',
    'Browser’s own choice',
    'HTTP/1.1',
    'HTTP/2',
    'HTTP/3',
    'hopwise’s action',
  ]);
  expect(rows[1]?.slice(1)).toEqual([
    '2.4\u00a0s2.2\u00a0s – 2.6\u00a0s',
    '4.0\u00a0s3.9\u00a0s – 4.2\u00a0s',
  ]);
  expect(rows[5]?.slice(1)).toEqual(['2.4\u00a0s2.2\u00a0s – 2.6\u00a0s', 'not available']);
  const chart = renderProtocolChart(comparison, options);
  expect(chart.textContent).toContain('hopwise’s action, measured: no answer');
  expect(chart.querySelector('svg')?.getAttribute('aria-description')).toContain(
    'Browser’s own choice measured: 4.0 s, 3.9 s to 4.2 s (3 runs)',
  );
});

test('the times table states why a verification ended early', () => {
  const table = renderTimesTable({ prediction, stopped: 'a server answered 429' }, options);
  expect(table.querySelector('caption')?.textContent).toBe(
    'The verification ended early: a server answered 429.',
  );
  expect(renderTimesTable({ prediction }, options).querySelector('caption')).toBeNull();
  const captionOf = (leftOut: number) =>
    renderTimesTable({ prediction, leftOut }, options).querySelector('caption')?.textContent;
  expect(captionOf(0)).toBeUndefined();
  expect(captionOf(1)).toBe('1 large file was skipped to limit data use.');
  expect(captionOf(2)).toBe('2 large files were skipped to limit data use.');
});

test('the network names the source of each figure', () => {
  const list = renderNetwork({ ...prediction.network, udp: 2.5 }, options);
  expect([...list.children].map((one) => [...one.children].map((part) => part.textContent))).toEqual([
    ['Round trip', '62 ms', 'given'],
    ['Down', '18 Mbit/s', 'estimated'],
    ['Up', '6 Mbit/s', 'assumed'],
    ['Loss', '0.3%', 'measured'],
    ['UDP', 'limited to 2.5 Mbit/s', 'assumed'],
    ['Queue', '41 ms', 'assumed'],
  ]);
});

test('a verification becomes times, or the reason why there are none', () => {
  const none = {
    rounds: [],
    provedRequests: 0,
    answeredRequests: 0,
    medianMs: null,
    lowMs: null,
    highMs: null,
  };
  const verified = readVerifiedTimes(
    verificationOf({
      protocols: {
        h1: { ...none, unavailable: '', medianMs: 2, lowMs: 1, highMs: 3 },
        h2: { ...none, unavailable: '' },
        h3: { ...none, unavailable: 'blocked' },
      },
      assignments: [],
    }),
    prediction.decision,
  );
  expect(verified).toMatchObject({
    h1: { medianMs: 2, lowMs: 1, highMs: 3, runs: 0 },
    h2: { unavailable: 'no round was completed' },
    h3: { unavailable: 'blocked' },
  });
});

test('the browser’s own choice and the action show the rounds that requested the origins as they do', () => {
  const decision = decisionOf([
    actionOf('avoid-h3', { 'https://a.test': 'h3', 'https://b.test': 'h2' }),
    LEAVE,
  ]);
  decision.baseline = {
    ...decision.baseline,
    visit: 'later',
    protocols: { 'https://a.test': 'h3', 'https://b.test': 'h3' },
  };
  const httpsRecord = { state: 'absent' as const, alpn: [], port: null, target: '', ech: false, detail: '' };
  const origins = ['https://a.test', 'https://b.test'].map((origin) => ({
    origin,
    unreachable: '',
    h3Offered: { altSvc: [], httpsRecord },
    speaks: { h2: true, h3: true },
    tcp: null,
    quic: null,
  }));
  const timed = (medianMs: number) => ({
    unavailable: '',
    rounds: [],
    provedRequests: 0,
    answeredRequests: 0,
    medianMs,
    lowMs: medianMs,
    highMs: medianMs,
  });
  const protocols = { h2: timed(20), h3: timed(30) };
  const mixed = { assignment: decision.action.assignment, discoversH3: false, ...timed(10) };
  const verified = readVerifiedTimes(verificationOf({ protocols, origins, assignments: [mixed] }), decision);
  expect(verified).toMatchObject({ baseline: { medianMs: 30 }, assigned: { medianMs: 10 } });
  const table = renderTimesTable({ prediction: { ...prediction, decision }, verified }, options);
  expect(table.textContent).toContain('hopwise’s action');
  // A helper that knows no assignments leaves a reason in place of the action's time.
  const before = readVerifiedTimes(verificationOf({ protocols, origins }), decision);
  expect(before).toMatchObject({
    baseline: { medianMs: 30 },
    assigned: { unavailable: expect.stringContaining('older') },
  });
});

test.each([
  [formatMs(0.1), '0.1 ms'],
  [formatMs(9.96), '10 ms'],
  [formatMs(994), '994 ms'],
  [formatMs(999.6), '1.0 s'],
  [formatMs(12_340), '12 s'],
  [formatGain(2238, 882), '1.3 s'],
  [formatGain(1127, 814), '300 ms'],
  [formatGain(694, 460), '230 ms'],
  [formatGain(2310, 2290), '20 ms'],
  [formatGain(24_500, 5200), '19.8 s'],
  [formatDurations(2310, 33).join(' → '), '2.3 s → 30 ms'],
  [formatDurations(2310, 330).join(' → '), '2.3 s → 0.3 s'],
  [formatDuration(4), '4 ms'],
  [formatDuration(49), '50 ms'],
  [formatShare(0.001), '<1%'],
  [formatShare(0.999), '>99%'],
  [formatShare(1), '100%'],
  [formatBytes(999), '999 B'],
  [formatBytes(999_700), '1.0 MB'],
  [formatMbps(0.256), '0.26 Mbit/s'],
  [formatLoss(0), 'none'],
  [formatLoss(0.000_095), 'none'],
  [formatLoss(0.0044), '0.44%'],
])('%s is written %s', (written, expected) => {
  expect(written).toBe(expected);
});

test('the evidence of the network figures is described with its age', () => {
  const at = '2026-01-05T12:00:00.000Z';
  const cluster = (loads: number, minutesBefore: number) =>
    ({ loads, updatedAtMs: Date.parse(at) - minutesBefore * 60_000 }) as NetworkCluster;
  expect(describeNetworkEvidence(null, at)).toBe('Network estimated from this load only.');
  expect(describeNetworkEvidence(cluster(1, 0), at)).toBe(
    'Network estimated from this load and an earlier load, less than a minute before it.',
  );
  expect(describeNetworkEvidence(cluster(7, 3.5), at)).toBe(
    'Network estimated from this load and 7 earlier loads, the last 3 minutes before it.',
  );
  expect(describeNetworkEvidence(cluster(7, 61), at)).toContain('the last 1 hour before');
  expect(describeNetworkEvidence(cluster(7, 60 * 50), at)).toContain('the last 2 days before');
});
