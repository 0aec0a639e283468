import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/random.ts';
import { C_COMMENT, fit, HTML_COMMENT } from '../../src/replay/fit.ts';
import { siteFromRecording } from '../../src/replay/from-har.ts';
import { hostNames } from '../../src/replay/hosts.ts';
import { ReplayPaths } from '../../src/replay/paths.ts';
import { planReplay } from '../../src/replay/plan.ts';
import { siteSchema } from '../../src/sites/site.ts';
import { siteJson } from '../../src/sites/write-site.ts';
import { everything, recordingOf } from '../support/recordings.ts';

const limits = { maxRequests: 3000, maxOrigins: 400 };
const planned = (recording = everything) => {
  const plan = planReplay(recording, limits);
  return { ...plan, at: (id: number) => plan.nodes.find(({ request }) => request.id === id)! };
};
const parentId = (id: number) => planned().at(id).parent?.request.id;

describe('planReplay', () => {
  it('starts with the redirect and continues with its target', () => {
    const { entry, page, at } = planned();
    expect(entry.request.id).toBe(0);
    expect(page.request.id).toBe(1);
    expect(at(1)).toMatchObject({ means: 'redirect', type: 'document' });
  });

  it('skips cached and unanswered requests, and counts them', () => {
    expect(planned().skipped).toEqual([
      { id: 16, url: 'https://img.example/cached.png', reason: 'from the cache' },
      { id: 17, url: 'https://dead.example/x.js', reason: 'not answered' },
    ]);
  });

  it('places markup where it was found in the document', () => {
    // The document's body came from 150 to 250 ms; the image was found at 200 ms.
    expect(planned().at(4)).toMatchObject({ means: 'markup', place: 0.5 });
  });

  it('keeps chains of stylesheets and of scripts', () => {
    const { at } = planned();
    expect([parentId(8), parentId(7), parentId(2)]).toEqual([7, 2, 1]);
    expect([at(7).means, at(8).means, at(9).means]).toEqual(['style', 'style', 'style']);
    expect([parentId(12), parentId(11), parentId(10), parentId(3)]).toEqual([11, 10, 3, 1]);
  });

  it('turns the gap between a script and its request into work', () => {
    const { at } = planned();
    // a.js had arrived at 280 ms and requested b.js at 300 ms; nothing else ran.
    expect(at(3).busyMs).toBe(20);
    expect(at(10).delayMs).toBe(0);
  });

  it('makes a request wait for the one whose end it followed', () => {
    // 2.png started 5 ms after the answer to data, which the same script had requested.
    expect(planned().at(13)).toMatchObject({ after: { request: { id: 12 } }, delayMs: 5 });
  });

  it('attributes late markup to the last arrived script', () => {
    expect(planned().at(15)).toMatchObject({ means: 'script', parent: { request: { id: 11 } } });
  });

  it('delays requests that started after the load event, including those of frames', () => {
    const { at } = planned();
    expect(at(18)).toMatchObject({ afterLoad: true, delayMs: 100, parent: { request: { id: 11 } } });
    expect(at(19)).toMatchObject({ afterLoad: true, delayMs: 150, parent: { request: { id: 1 } } });
  });

  it('uses the wait of computed answers less the round trip as server time', () => {
    const recording = recordingOf([
      {
        url: 'https://a.example/',
        type: 'document',
        startMs: 0,
        endMs: 400,
        phases: {
          connectStartMs: 0,
          secureStartMs: 30,
          connectEndMs: 60,
          requestStartMs: 60,
          responseStartMs: 160,
        },
      },
      {
        url: 'https://a.example/1.png',
        type: 'image',
        startMs: 200,
        endMs: 400,
        by: ['parser', 0],
        phases: { requestStartMs: 200, responseStartMs: 235 },
      },
      {
        url: 'https://a.example/2.png',
        type: 'image',
        startMs: 200,
        endMs: 900,
        by: ['parser', 0],
        phases: { requestStartMs: 200, responseStartMs: 800 },
      },
      {
        url: 'https://b.example/3.png',
        type: 'image',
        startMs: 200,
        endMs: 900,
        by: ['parser', 0],
        phases: { connectStartMs: 200, connectEndMs: 280, requestStartMs: 280, responseStartMs: 360 },
      },
    ]);
    const { at, origins } = planned(recording);
    // 100 ms of wait, of which 30 are the round trip; images: the least wait of the origin, 35 − 30.
    expect([at(0).thinkMs, at(1).thinkMs, at(2).thinkMs, at(3).thinkMs]).toEqual([70, 5, 5, 0]);
    expect(origins.map(({ extraRttMs }) => extraRttMs)).toEqual([0, 50]);
  });

  it('keeps a tenth of an unexplained wait beyond a second', () => {
    const recording = recordingOf(
      [
        { url: 'https://a.example/', type: 'document', startMs: 0, endMs: 100 },
        { url: 'https://a.example/1.js', type: 'script', startMs: 60, endMs: 200, by: ['parser', 0] },
        { url: 'https://a.example/1.png', type: 'image', startMs: 900, endMs: 950, by: ['script', 1] },
        { url: 'https://a.example/2.png', type: 'image', startMs: 5300, endMs: 5400, by: ['script', 1] },
      ],
      6000,
    );
    const { at } = planned(recording);
    // The script works for 100 ms; then 600 and 5000 ms pass.
    expect([at(1).busyMs, at(2).delayMs, at(3).delayMs]).toEqual([100, 600, 1400]);
  });

  it("treats the common wait of simultaneous answers as queueing on the recording's link", () => {
    const answered = (url: string, startMs: number, waitMs: number, type: 'image' | 'fetch' = 'image') => ({
      url,
      type,
      startMs,
      endMs: startMs + waitMs + 10,
      by: ['parser', 0] as ['parser', number],
      phases: { requestStartMs: startMs, responseStartMs: startMs + waitMs },
    });
    const recording = recordingOf([
      {
        url: 'https://a.example/',
        type: 'document',
        startMs: 0,
        endMs: 50,
        phases: { connectStartMs: 0, connectEndMs: 20, requestStartMs: 20, responseStartMs: 40 },
      },
      ...[100, 110, 120].map((startMs) => answered(`https://a.example/${startMs}.png`, startMs, 20)),
      ...[300, 310].map((startMs) => answered(`https://a.example/${startMs}.png`, startMs, 220)),
      answered('https://a.example/data', 305, 260, 'fetch'),
      answered('https://a.example/quiet', 900, 60, 'fetch'),
    ]);
    const { at } = planned(recording);
    // 260 ms of wait less the round trip of 20 and the 200 that the images waited too; 60 less 20.
    expect([at(6).thinkMs, at(7).thinkMs]).toEqual([40, 40]);
  });

  it('computes the part of a load that no network can shorten', () => {
    const recording = recordingOf([
      { url: 'https://a.example/', type: 'document', startMs: 0, endMs: 100 },
      { url: 'https://a.example/1.js', type: 'script', startMs: 60, endMs: 200, by: ['parser', 0] },
      { url: 'https://a.example/2.js', type: 'script', startMs: 500, endMs: 600, by: ['script', 1] },
      { url: 'https://a.example/3.png', type: 'image', startMs: 650, endMs: 700, by: ['script', 2] },
    ]);
    // 300 ms between 1.js and 2.js, 50 between 2.js and the image.
    expect(siteFromRecording(recording, { name: 'fixed' }).fixedMs).toBe(
      350 + planned(recording).nodes.reduce((sum, { thinkMs }) => sum + thinkMs, 0),
    );
  });

  it('works without initiators', () => {
    const recording = recordingOf([
      { url: 'https://a.example/', type: 'document', startMs: 0, endMs: 100 },
      { url: 'https://a.example/1.js', type: 'script', startMs: 90, endMs: 200, by: ['other', null] },
      { url: 'https://a.example/2.png', type: 'image', startMs: 600, endMs: 700, by: ['other', null] },
    ]);
    const { at } = planned(recording);
    expect(at(1)).toMatchObject({ means: 'markup', parent: { request: { id: 0 } } });
    expect(at(2)).toMatchObject({ means: 'script', parent: { request: { id: 1 } } });
  });

  it('does not trust initiators that point forwards', () => {
    const recording = recordingOf([
      { url: 'https://a.example/', type: 'document', startMs: 0, endMs: 100, by: ['script', 1] },
      { url: 'https://a.example/1.js', type: 'script', startMs: 90, endMs: 200, by: ['script', 2] },
      { url: 'https://a.example/2.js', type: 'script', startMs: 95, endMs: 200, by: ['script', 1] },
    ]);
    expect(planned(recording).at(1).parent?.request.id).toBe(0);
  });

  it.each([
    [recordingOf([]), /expected one that was answered over the network, got none/],
    [recordingOf([{ url: 'nonsense', startMs: 0, endMs: 1 }]), /got none/],
  ])('refuses a recording without anything to replay', (recording, message) => {
    expect(() => planned(recording)).toThrow(message);
  });

  it('handles thousands of requests that wait for each other', () => {
    const polls = Array.from({ length: 2500 }, (_, index) => ({
      url: `https://a.example/poll/${index}`,
      type: 'fetch' as const,
      startMs: 100 + 2 * index,
      endMs: 101 + 2 * index,
      by: ['script', 1] as ['script', number],
    }));
    const recording = recordingOf(
      [
        { url: 'https://a.example/', type: 'document', startMs: 0, endMs: 50 },
        { url: 'https://a.example/poll.js', type: 'script', startMs: 40, endMs: 60, by: ['parser', 0] },
        ...polls,
      ],
      9000,
    );
    expect(siteFromRecording(recording, { name: 'polls' }).requests).toHaveLength(2502);
  });

  it('enforces its limits', () => {
    expect(() => planReplay(everything, { ...limits, maxRequests: 5 })).toThrow(
      'requests: expected at most 5, got 18',
    );
    expect(() => planReplay(everything, { ...limits, maxOrigins: 2 })).toThrow(
      'expected at most 2 origins, got 7',
    );
  });
});

describe('hostNames', () => {
  it('makes http and https one host, and another port another', () => {
    const hosts = hostNames(['http://a.example/', 'https://a.example/x', 'https://a.example:8443/']);
    expect([...hosts.values()]).toEqual([
      'a.example.replay.test',
      'a.example.replay.test',
      'a.example.8443.replay2.test',
    ]);
  });

  it('gives any URLs valid names, one for each authority', () => {
    fc.assert(
      fc.property(fc.array(fc.webUrl({ withFragments: false }), { maxLength: 30 }), (urls) => {
        const hosts = hostNames(urls);
        for (const host of hosts.values()) {
          expect(host).toMatch(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+replay\d*\.test$/);
          expect(host.length).toBeLessThanOrEqual(120);
          expect(new URL(`https://${host}/`).host).toBe(host);
        }
        const authorities = new Set(urls.map((url) => new URL(url.replace(/^http:/, 'https:')).host));
        expect(new Set(hosts.values()).size).toBe(authorities.size);
      }),
    );
  });

  it('keeps the host recognisable, whatever it is', () => {
    const hosts = hostNames([
      'https://img.shop.example/',
      'https://192.0.2.7/',
      'https://[2001:db8::1]/',
      'https://_a.b_c/',
    ]);
    expect([...hosts.values()]).toEqual([
      'img.shop.example.replay.test',
      '192.0.2.7.replay2.test',
      '2001-db8--1.replay3.test',
      'a.b-c.replay4.test',
    ]);
  });

  it('makes each host a site of its own', () => {
    const hosts = hostNames(['https://a.example/', 'https://b.a.example/', 'https://c.example/']);
    expect(new Set([...hosts.values()].map((host) => host.split('.').slice(-2).join('.'))).size).toBe(3);
  });

  it('keeps names distinct that differ only beyond the cut', () => {
    const long = 'x'.repeat(60);
    const hosts = hostNames([`https://${long}.a.example/`, `https://${long}.b.example/`]);
    expect(new Set(hosts.values()).size).toBe(2);
  });
});

describe('ReplayPaths', () => {
  const pathOf = (url: string) => new ReplayPaths().of(url, 'a.test', 1);

  it('keeps the path and its length, and a digest for the query', () => {
    expect(pathOf('https://a.example/')).toBe('/');
    expect(pathOf('https://a.example/_next/static/css/2.css')).toBe('/_next/static/css/2.css');
    const path = pathOf('https://a.example/2.css?dpl=abcdefgh');
    expect(path).toMatch(/^\/2\.css\?[0-9a-f]{12}$/);
    expect(path).toHaveLength('/2.css?dpl=abcdefgh'.length);
  });

  it('keeps the last segments of a long path, and the end of a long last segment', () => {
    const long = `https://a.example/${'deep/'.repeat(30)}chunks/main.js`;
    expect(pathOf(long)).toMatch(/^\/(deep\/)+chunks\/main\.js\?[0-9a-f]+$/);
    expect(pathOf(long)).toHaveLength(new URL(long).pathname.length);
    expect(pathOf(`https://a.example/x/${'y'.repeat(90)}.png`)).toMatch(/^\/y{59}\.png\?[0-9a-f]{32}$/);
    expect(pathOf(`https://a.example/${'z'.repeat(5000)}`)).toHaveLength(2000);
  });

  it('has nothing in it that means something in HTML, CSS or a script', () => {
    expect(pathOf(`https://a.example/a&copy/b'c"d(e)//f%20g`)).toBe('/a-copy/b-c-22d-e--/f-20g');
  });

  it('keeps requests apart, on each host', () => {
    const paths = new ReplayPaths();
    const urls = [
      'https://a.example/x',
      'https://a.example/x?',
      'https://a.example/x?a',
      'https://a.example/x?b',
    ];
    const made = [...urls, ...urls].map((url, id) => paths.of(url, 'a.test', id));
    expect(new Set(made).size).toBe(8);
    expect(paths.of('https://b.example/x', 'b.test', 9)).toBe('/x');
    fc.assert(
      fc.property(fc.array(fc.webUrl({ withQueryParameters: true }), { maxLength: 40 }), (any) => {
        const all = new ReplayPaths();
        const drawn = any.map((url, id) => all.of(url, 'a.test', id));
        expect(new Set(drawn).size).toBe(any.length);
        for (const path of drawn) {
          expect(path).toMatch(/^\/[\w.~/-]*(\?[\w-]+)?$/);
          expect(new URL(`https://a.test${path}`).pathname + new URL(`https://a.test${path}`).search).toBe(
            path,
          );
        }
      }),
    );
  });
});

describe('fit', () => {
  const pieces = [
    { place: 0, text: '<head>' },
    { place: 0.5, text: '<img>' },
    { place: 1, text: '</html>' },
  ];

  it('places pieces and fills to the byte', () => {
    const { body, encoding } = fit(pieces, 2000, HTML_COMMENT, new SeededRandom(1));
    const text = Buffer.from(body).toString();
    expect(encoding).toBeNull();
    expect(body).toHaveLength(2000);
    expect(text.indexOf('<img>')).toBe(1000);
    expect(text.endsWith('</html>')).toBe(true);
  });

  it('compresses text that does not fit, and reports it', () => {
    const many = Array.from({ length: 200 }, (_, index) => ({
      place: index / 200,
      text: `<img src="/${index}.png">`,
    }));
    const { body, encoding } = fit(many, 2500, HTML_COMMENT, new SeededRandom(1));
    expect(encoding).toBe('gzip');
    expect(body).toHaveLength(2500);
    const text = gunzipSync(body).toString();
    for (const piece of many) expect(text).toContain(piece.text);
  });

  it('never loses text, whatever the size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3000 }), (bytes) => {
        const { body, encoding } = fit(
          [{ place: 0, text: 'R(0,[]);' }],
          bytes,
          C_COMMENT,
          new SeededRandom(1),
        );
        expect((encoding === 'gzip' ? gunzipSync(body) : Buffer.from(body)).toString()).toContain('R(0,[]);');
        if (bytes >= 50) expect(body).toHaveLength(bytes);
      }),
    );
  });
});

describe('siteFromRecording', () => {
  it('gives a valid site with the recorded sizes, the same every time', () => {
    const first = siteFromRecording(everything, { name: 'everything' });
    const { site, files, requests } = first;
    siteSchema.parse(site);
    expect(siteJson(siteFromRecording(everything, { name: 'everything' }).site)).toBe(siteJson(site));
    expect(requests).toHaveLength(18);
    for (const [index, resource] of site.resources.entries()) {
      const { id } = requests[index]!;
      const bytes = 'file' in resource.body ? files.get(resource.body.file)!.length : resource.body.bytes;
      const recorded = everything.requests[id]!.bodyBytes!;
      expect(Math.abs(bytes - recorded), `${id}: ${bytes} for ${recorded}`).toBeLessThanOrEqual(
        recorded * 0.02,
      );
    }
  });

  it('keeps redirects', () => {
    const { site } = siteFromRecording(everything, { name: 'everything' });
    expect(site.resources[0]).toMatchObject({
      status: 301,
      headers: { location: `${site.resources[1]!.origin}${site.resources[1]!.path}` },
    });
    expect(site.entry).toBe(`${site.resources[0]!.origin}${site.resources[0]!.path}`);
  });

  it('keeps hostile URLs out of markup and scripts', () => {
    const recording = recordingOf([
      { url: 'https://a.example/', type: 'document', startMs: 0, endMs: 100, bodyBytes: 5000 },
      {
        url: 'https://a.example/%22%3E</script><script>alert(1)</script>',
        type: 'script',
        startMs: 90,
        endMs: 200,
        by: ['parser', 0],
      },
      { url: "https://a.example/');}*/body{x:y", type: 'style', startMs: 90, endMs: 200, by: ['parser', 0] },
    ]);
    const { files, site } = siteFromRecording(recording, { name: 'hostile' });
    for (const body of files.values()) expect(Buffer.from(body).toString()).not.toMatch(/alert\(|x:y/);
    for (const { path } of site.resources) expect(path).toMatch(/^\/[\w.~/-]*(\?[\w-]+)?$/);
  });
});
