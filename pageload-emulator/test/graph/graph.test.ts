import {
  buildGraph,
  type ComputeActivity,
  emulate,
  type FetchActivity,
  type PageGraph,
  parseRecording,
  type Recording,
  transferPlan,
} from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import { chromiumEntry, chromiumHar, harOf } from '../support/hars.ts';
import { pathOf } from '../support/pages.ts';

function fetches(graph: PageGraph): FetchActivity[] {
  return graph.activities.filter((activity) => activity.kind === 'fetch');
}

function computes(graph: PageGraph): ComputeActivity[] {
  return graph.activities.filter((activity) => activity.kind === 'compute');
}

function byPath(graph: PageGraph, path: string): FetchActivity {
  return fetches(graph).find(({ url }) => url.endsWith(path))!;
}

describe('page graph', () => {
  const recording = parseRecording(chromiumHar());
  const graph = buildGraph(recording);

  it('ends at the load event', () => {
    expect(fetches(graph).map(({ url }) => url)).not.toContain('https://shop.test/beacon');
    expect(graph.origins).toEqual(['https://shop.test', 'https://cdn.test']);
  });

  it('opens HTTP/3 as soon as it is announced where Firefox recorded the load', () => {
    expect(buildGraph({ ...recording, browser: 'Firefox 153' }).opensAnnouncedH3).toBe(true);
    expect(graph.opensAnnouncedH3).toBeUndefined();
  });

  it('starts a request when the part of the document in which the parser found it had arrived', () => {
    // Document arrives from 145 to 165; the stylesheet was asked for at 150: less than the parser takes after the beginning.
    expect(byPath(graph, '/a.css').after).toEqual([
      { activity: 0, kind: 'parser', fraction: 0, source: 'recorded' },
    ]);
    expect(byPath(graph, '/a.css').delayMs).toBeCloseTo(5, 6);
  });

  it('ascribes to nothing what was requested before any response began', () => {
    const early = {
      ...recording.requests[0]!,
      id: 1,
      url: 'https://shop.test/early.js',
      type: 'script' as const,
    };
    const requests = [
      recording.requests[0]!,
      {
        ...early,
        startMs: 20,
        initiator: { kind: 'other' as const, requestId: null, source: 'inferred' as const },
      },
    ];
    const [, found] = fetches(buildGraph({ ...recording, requests }));
    expect(found).toMatchObject({ url: early.url, after: [], delayMs: 20 });
  });

  it('leaves out a document from the cache, and begins with what it named when that was requested', () => {
    const [document, ...others] = recording.requests;
    const cached = {
      ...document!,
      endMs: 5,
      fromCache: true,
      transferBytes: 0,
      protocol: null,
      phases: { ...document!.phases, connectStartMs: null, requestStartMs: null, responseStartMs: 4 },
    };
    const fromCache = buildGraph({ ...recording, requests: [cached, ...others] });
    expect(fetches(fromCache).map(({ url }) => url)).not.toContain(document!.url);
    expect(byPath(fromCache, '/a.css')).toMatchObject({ after: [], delayMs: 150 });
    // What scripts and stylesheets led to still waits for them.
    expect(byPath(fromCache, '/f.woff2').after[0]!.activity).toBe(byPath(fromCache, '/a.css').id);
  });

  it('makes a font wait for its stylesheet and no longer than the browser did', () => {
    // a.css: 150 + wait 30 + receive 10 = 190; the font at 195.
    const font = byPath(graph, '/f.woff2');
    expect(font.after).toEqual([
      { activity: byPath(graph, '/a.css').id, kind: 'style', fraction: 1, source: 'recorded' },
    ]);
    expect(font.delayMs).toBeCloseTo(5, 6);
  });

  it('executes a script between its arrival and its first request', () => {
    // app.js: 150 + connect 80 + wait 50 + receive 10 = 290; its image at 310.
    const script = byPath(graph, '/app.js');
    const execution = computes(graph).find(({ after }) => after[0]!.activity === script.id)!;
    expect(execution.durationMs).toBeCloseTo(20, 6);
    const image = byPath(graph, '/late.png');
    expect(image.after.map(({ activity }) => activity)).toEqual([execution.id]);
    expect(image.delayMs).toBeCloseTo(0, 6);
  });

  it('ends with what the main thread did after the last arrival', () => {
    // late.png: 310 + 60 + 5 = 375, load at 500.
    expect(computes(graph).at(-1)).toMatchObject({ durationMs: 125, blocksLoad: true });
  });

  it('maps types to urgencies, a recorded one first', () => {
    expect(byPath(graph, '/a.css')).toMatchObject({ urgency: 0, incremental: false });
    // Recorded as Low: an async script.
    expect(byPath(graph, '/app.js')).toMatchObject({ urgency: 3, incremental: false });
    expect(byPath(graph, '/late.png')).toMatchObject({ urgency: 3, incremental: true });
  });

  it('gives scripts that do not block rendering a low urgency where none is recorded', () => {
    const urgencyOf = (renderBlocking: boolean | null) => {
      const requests = recording.requests.map((request) => ({ ...request, urgency: null, renderBlocking }));
      return byPath(buildGraph({ ...recording, requests }), '/app.js').urgency;
    };
    expect([false, true, null].map(urgencyOf)).toEqual([3, 1, 1]);
  });

  it('is the same where the recorder names no document for what the parser found', () => {
    // Scripts that block run in the order of their document.
    const blocking = (named: boolean) =>
      recording.requests.map((request) => {
        const { initiator, type } = request;
        const requestId = named ? initiator.requestId : null;
        const isFound = initiator.kind === 'parser';
        return {
          ...request,
          renderBlocking: isFound && (type === 'style' || type === 'script'),
          initiator: isFound ? { ...initiator, requestId } : initiator,
        };
      });
    const edges = (requests: Recording['requests']) =>
      buildGraph({ ...recording, requests }).activities.map(({ after }) =>
        after.map(({ activity }) => activity),
      );
    expect(edges(blocking(false))).toEqual(edges(blocking(true)));
  });

  it('does not count waiting for a connection as a delay', () => {
    // The parser found it at 150; it was blocked for 200 ms. Its start says 150.
    const entries = [
      chromiumEntry('https://a.test/', 0, { wait: 100, receive: 100 }, { _resourceType: 'document' }),
      chromiumEntry(
        'https://a.test/i.png',
        150,
        { blocked: 200, wait: 50 },
        {
          _resourceType: 'image',
          _initiator: { type: 'parser', url: 'https://a.test/' },
        },
      ),
    ];
    const image = byPath(buildGraph(parseRecording(harOf(entries))), '/i.png');
    // The parser's 10 ms before, four tenths of the document were there.
    expect(image.after[0]).toMatchObject({ activity: 0, fraction: 0.4 });
    expect(image.delayMs).toBeCloseTo(10, 6);
  });

  it('makes frames that the parser found late wait for what blocked it', () => {
    const entries = [
      chromiumEntry('https://a.test/', 0, { wait: 50 }, { _resourceType: 'document' }),
      chromiumEntry(
        'https://a.test/s.js',
        60,
        { wait: 140 },
        {
          _resourceType: 'script',
          _initiator: { type: 'parser', url: 'https://a.test/' },
        },
      ),
      chromiumEntry(
        'https://a.test/below.html',
        205,
        { wait: 20 },
        {
          _resourceType: 'document',
          _initiator: { type: 'parser', url: 'https://a.test/' },
        },
      ),
    ];
    const frame = byPath(buildGraph(parseRecording(harOf(entries))), '/below.html');
    // s.js arrived at 200, 5 ms before.
    expect(frame.after[1]).toEqual({ activity: 1, kind: 'execution', fraction: 1, source: 'inferred' });
    expect(frame.delayMs).toBeCloseTo(5, 6);
  });

  /** As recorded without initiators. @param documents of the requests' frames, by `RecordedRequest.id` */
  const withFramesAlone = (recorded: Recording, documents: readonly number[]): Recording => ({
    ...recorded,
    requests: recorded.requests.map((request) =>
      request.id === 0
        ? request
        : {
            ...request,
            initiator: { kind: 'parser', requestId: documents[request.id]!, source: 'inferred' },
          },
    ),
  });

  it('attributes a frame that begins after DOMContentLoaded to the script before it, where no recorder says who made it', () => {
    const frames = (domContentLoadedMs: number) => {
      const recording = parseRecording(
        harOf(
          [
            chromiumEntry('https://a.test/', 0, { wait: 50 }, { _resourceType: 'document' }),
            chromiumEntry('https://a.test/early.html', 60, { wait: 30 }, { _resourceType: 'document' }),
            chromiumEntry('https://a.test/s.js', 60, { wait: 2_940 }, { _resourceType: 'script' }),
            chromiumEntry('https://a.test/late.html', 3_010, { wait: 30 }, { _resourceType: 'document' }),
          ],
          { onContentLoad: domContentLoadedMs, onLoad: 3_050 },
        ),
      );
      const graph = buildGraph(withFramesAlone(recording, [0, 0, 0, 0]));
      return ['/early.html', '/late.html'].map((path) => {
        const { after, delayMs } = byPath(graph, path);
        return [after[0]!.activity, delayMs];
      });
    };
    // The script executes as an activity of its own, after that of its response.
    expect(frames(100)).toEqual([
      [0, expect.closeTo(10, 6)],
      [3, expect.closeTo(0, 6)],
    ]);
    // Its parser may have found it.
    expect(frames(3_040)[1]![0]).toBe(0);
  });

  it('attributes a late image to a script of its own frame, although one of the page has just arrived', () => {
    const recording = parseRecording(
      harOf(
        [
          chromiumEntry('https://a.test/', 0, { wait: 50 }, { _resourceType: 'document' }),
          chromiumEntry('https://a.test/frame.html', 60, { wait: 30 }, { _resourceType: 'document' }),
          chromiumEntry('https://a.test/page.js', 60, { wait: 940 }, { _resourceType: 'script' }),
          chromiumEntry('https://a.test/frame.js', 95, { wait: 855 }, { _resourceType: 'script' }),
          chromiumEntry('https://a.test/late.png', 1_010, { wait: 30 }, { _resourceType: 'image' }),
        ],
        { onContentLoad: 100, onLoad: 1_050 },
      ),
    );
    const graph = buildGraph(withFramesAlone(recording, [0, 0, 0, 1, 1]));
    const script = graph.activities[byPath(graph, '/late.png').after[0]!.activity]!;
    expect(recording.requests[script.requestId]!.url).toBe('https://a.test/frame.js');
  });

  const lateImage = (url: string, initiator: object) =>
    byPath(
      buildGraph(
        parseRecording(
          harOf([
            chromiumEntry('https://a.test/', 0, { wait: 50 }, { _resourceType: 'document' }),
            chromiumEntry(
              'https://a.test/s.js',
              60,
              { wait: 140 },
              { _resourceType: 'script', _initiator: { type: 'parser', url: 'https://a.test/' } },
            ),
            chromiumEntry(url, 212, { wait: 20 }, { _resourceType: 'image', _initiator: initiator }),
          ]),
        ),
      ),
      '/late.png',
    );

  it('attributes an image to the script before it when the document had ended long ago, whatever the recorder says', () => {
    // The document ended at 50 and s.js at 200; Chromium reports images that callbacks create as the parser's.
    const image = lateImage('https://a.test/late.png', { type: 'parser', url: 'https://a.test/' });
    expect(image.after).toEqual([{ activity: 2, kind: 'script', fraction: 1, source: 'inferred' }]);
    expect(image.delayMs).toBeCloseTo(0, 6);
  });

  it('does not doubt the script that a recorder names', () => {
    const image = lateImage('https://a.test/late.png', {
      type: 'script',
      stack: { callFrames: [{ url: 'https://a.test/' }] },
    });
    expect(image.after[0]).toMatchObject({ activity: 0, kind: 'script', source: 'recorded' });
  });

  it('ignores an initiator whose response had not begun', () => {
    const entries = [
      chromiumEntry('https://a.test/', 0, { wait: 50 }, { _resourceType: 'document' }),
      chromiumEntry('https://a.test/s.js', 60, { wait: 200 }, { _resourceType: 'script' }),
      chromiumEntry(
        'https://a.test/i.png',
        100,
        { wait: 20 },
        {
          _resourceType: 'image',
          _initiator: { type: 'script', stack: { callFrames: [{ url: 'https://a.test/s.js' }] } },
        },
      ),
    ];
    const image = byPath(buildGraph(parseRecording(harOf(entries))), '/i.png');
    expect(image.after).toEqual([{ activity: 0, kind: 'script', fraction: 1, source: 'inferred' }]);
  });

  it('lets frames and images delay the load event, but not API calls or later responses', () => {
    const typed = (url: string, startMs: number, type: string, wait = 20) =>
      chromiumEntry(url, startMs, { wait }, { _resourceType: type });
    const recording = parseRecording(
      harOf([
        typed('https://a.test/', 0, 'document'),
        typed('https://a.test/frame', 50, 'document'),
        typed('https://a.test/i.png', 50, 'image'),
        typed('https://a.test/lazy.png', 50, 'image', 900),
        typed('https://a.test/api', 50, 'xhr'),
        typed('https://a.test/b', 50, 'ping'),
      ]),
    );
    const blocking = fetches(buildGraph(recording)).filter(({ blocksLoad }) => blocksLoad);
    expect(blocking.map(({ url }) => url)).toEqual([
      'https://a.test/',
      'https://a.test/frame',
      'https://a.test/i.png',
    ]);
  });

  describe('of a page with modules and deferred scripts', () => {
    const origin = 'https://a.test';
    const from = (path: string) => ({ _initiator: { type: 'script', url: `${origin}${path}` } });
    const script = { _resourceType: 'script', _priority: 'High' };
    const times = { wait: 30, receive: 10 };
    // The document arrives from 100 to 200 and names main.mjs and last.js, which arrive at 190.
    const entries = [
      chromiumEntry(`${origin}/`, 0, { wait: 100, receive: 100 }, { _resourceType: 'document' }),
      chromiumEntry(`${origin}/main.mjs`, 150, times, {
        ...script,
        _initiator: { type: 'parser', url: `${origin}/` },
      }),
      chromiumEntry(`${origin}/last.js`, 150, times, {
        ...script,
        _priority: 'Low',
        _initiator: { type: 'parser', url: `${origin}/` },
      }),
      // Imported at 195, slow: until 895. Its own import: 900 to 940.
      chromiumEntry(
        `${origin}/part.mjs`,
        195,
        { wait: 600, receive: 100 },
        { ...script, ...from('/main.mjs') },
      ),
      chromiumEntry(`${origin}/leaf.mjs`, 900, times, { ...script, ...from('/part.mjs') }),
      // main.mjs runs from 940, last.js after it.
      chromiumEntry(`${origin}/of-main.json`, 960, times, { _resourceType: 'fetch', ...from('/main.mjs') }),
      chromiumEntry(`${origin}/of-last.json`, 975, times, { _resourceType: 'fetch', ...from('/last.js') }),
    ];
    const graph = buildGraph(parseRecording(harOf(entries, { onLoad: 1_100 })));
    const runBefore = (path: string) =>
      graph.activities[byPath(graph, path).after[0]!.activity] as ComputeActivity;

    it('evaluates a module when all that it imports has arrived', () => {
      const run = runBefore('/of-main.json');
      expect(run.after.map(({ activity }) => activity)).toEqual([
        byPath(graph, '/main.mjs').id,
        byPath(graph, '/leaf.mjs').id,
      ]);
      // 960 - 940.
      expect(run.durationMs).toBeCloseTo(20, 6);
      expect(byPath(graph, '/of-main.json').delayMs).toBeCloseTo(0, 6);
    });

    it('requests imports as soon as the module that names them has arrived', () => {
      const run = runBefore('/part.mjs');
      expect(run.after.map(({ activity }) => activity)).toEqual([byPath(graph, '/main.mjs').id]);
      // 195 - 190.
      expect(run.durationMs).toBeCloseTo(5, 6);
    });

    it('runs a deferred script after an earlier module, however long it has been there', () => {
      const run = runBefore('/of-last.json');
      expect(run.after.map(({ activity }) => activity)).toEqual([
        byPath(graph, '/last.js').id,
        runBefore('/of-main.json').id,
      ]);
      // 975 - 960.
      expect(run.durationMs).toBeCloseTo(15, 6);
    });
  });

  it('runs a script at the end of the body after a slow one in the head, and an asynchronous one at once', () => {
    const origin = 'https://a.test';
    const inMarkup = { _resourceType: 'script', _initiator: { type: 'parser', url: `${origin}/` } };
    const later = { ...inMarkup, _priority: 'Low', _renderBlocking: 'non_blocking' };
    const by = (path: string) => ({
      _resourceType: 'fetch',
      _initiator: { type: 'script', url: `${origin}${path}` },
    });
    const times = { wait: 30, receive: 10 };
    const slow = { wait: 700, receive: 10 };
    const entries = [
      chromiumEntry(`${origin}/`, 0, { wait: 100, receive: 10 }, { _resourceType: 'document' }),
      // Arrives at 860.
      chromiumEntry(`${origin}/head.js`, 150, slow, {
        ...inMarkup,
        _priority: 'High',
        _renderBlocking: 'blocking',
      }),
      // Both arrive at 190.
      chromiumEntry(`${origin}/async.js`, 150, times, later),
      chromiumEntry(`${origin}/last.js`, 150, times, later),
      chromiumEntry(`${origin}/of-async`, 200, times, by('/async.js')),
      chromiumEntry(`${origin}/of-last`, 880, times, by('/last.js')),
    ];
    const graph = buildGraph(parseRecording(harOf(entries, { onLoad: 1_000 })));
    const waits = (path: string) => {
      const run = graph.activities[byPath(graph, path).after[0]!.activity] as ComputeActivity;
      return { for: run.after.map(({ activity }) => activity), ms: run.durationMs };
    };
    const [head, async, last] = ['/head.js', '/async.js', '/last.js'].map((path) => byPath(graph, path).id);
    expect(waits('/of-async')).toEqual({ for: [async], ms: 10 });
    expect(waits('/of-last')).toEqual({ for: [last, head], ms: 20 });
    // What ran until 880 is not run once more before the load event.
    expect(computes(graph).at(-1)!.durationMs).toBeCloseTo(120, 6);
  });

  it('has only edges that point backwards for any recording', () => {
    const recorded = fc.record({
      startMs: fc.integer({ min: 0, max: 1_000 }),
      lengthMs: fc.integer({ min: 0, max: 500 }),
      type: fc.constantFrom('document', 'style', 'script', 'image', 'iframe', 'fetch', 'font'),
      asker: fc.nat(11),
      kind: fc.constantFrom('parser', 'script', 'style', 'redirect', 'other', 'preload'),
      cached: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(recorded, { minLength: 1, maxLength: 12 }),
        fc.option(fc.integer({ min: 1, max: 1_500 })),
        (all, plt) => {
          const base = parseRecording(chromiumHar()).requests[0]!;
          const recording = {
            ...parseRecording(chromiumHar()),
            pltMs: plt,
            requests: all.map(({ startMs, lengthMs, type, asker, kind, cached }, id) => ({
              ...base,
              id,
              url: `https://a.test/${id}`,
              type,
              startMs,
              endMs: startMs + lengthMs,
              fromCache: cached,
              renderBlocking: id % 4 === 1,
              phases: {
                ...base.phases,
                requestStartMs: startMs + lengthMs / 4,
                responseStartMs: id % 2 ? null : startMs + lengthMs / 2,
              },
              initiator: { kind, requestId: asker < all.length ? asker : null, source: 'recorded' },
            })),
          };
          const graph = buildGraph(parseRecording(recording as Recording));
          for (const [index, { id, after }] of graph.activities.entries()) {
            expect(id).toBe(index);
            for (const dependency of after) {
              expect(dependency.activity).toBeLessThan(index);
              expect(dependency.fraction).toBeGreaterThanOrEqual(0);
              expect(dependency.fraction).toBeLessThanOrEqual(1);
            }
          }
          expect(Number.isFinite(emulate(graph, pathOf(), [], {}).pltMs)).toBe(true);
        },
      ),
      { numRuns: countRuns(100, 300) },
    );
  });
});

describe('transfer plan', () => {
  const recording = parseRecording(chromiumHar());
  const plan = transferPlan(buildGraph(recording), recording, 'Agent/1')!;

  it('keeps order, dependencies and computations', () => {
    expect(plan).toMatchObject({ pageUrl: 'https://shop.test/', userAgent: 'Agent/1' });
    const summary = plan.transfers.map(({ url, after, delayMs }) => [url, after, Math.round(delayMs)]);
    expect(summary).toEqual([
      ['https://shop.test/', [], 0],
      ['https://shop.test/a.css', [0], 5],
      ['https://cdn.test/app.js', [0], 5],
      ['https://shop.test/f.woff2', [1], 5],
      // The script's 20 ms of execution.
      ['https://cdn.test/late.png', [2], 20],
    ]);
  });

  it('leaves out all but https GETs, whose dependencies it inherits', () => {
    const changed = structuredClone(recording);
    changed.requests[1]!.method = 'POST';
    const short = transferPlan(buildGraph(changed), changed, '')!;
    expect(short.transfers.map(({ url }) => url)).not.toContain('https://shop.test/a.css');
    expect(short.transfers.find(({ url }) => url.endsWith('woff2'))!.after).toEqual([0]);
  });

  it('leaves out media, which the load event does not wait for', () => {
    const changed = structuredClone(recording);
    const image = changed.requests.find(({ url }) => url.endsWith('late.png'))!;
    image.type = 'media';
    const short = transferPlan(buildGraph(changed), changed, '')!;
    expect(short.transfers.map(({ url }) => url)).not.toContain('https://cdn.test/late.png');
  });

  it('is null for a page without https', () => {
    const plain = parseRecording(harOf([chromiumEntry('http://a.test/', 0, {})]));
    expect(transferPlan(buildGraph(plain), plain, '')).toBeNull();
  });
});
