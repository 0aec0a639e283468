import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { countRuns, drawShare } from '../../../scripts/suites/draw-share.ts';
import { BUNDLED_PAGES, bundledSite } from '../../src/pages/bundled.ts';
import { generateSite, KINDS, type KindName, type SiteSpec } from '../../src/pages/page-generator.ts';
import { planPage } from '../../src/pages/plan.ts';
import { MIN_PNG_BYTES, pngOfSize } from '../../src/pages/png.ts';
import { SeededRandom } from '../../src/random.ts';
import { siteSchema } from '../../src/sites/site.ts';
import { type GeneratedSite, siteJson, writeSite } from '../../src/sites/write-site.ts';

const totalBytes = ({ files }: GeneratedSite) =>
  [...files.values()].reduce((sum, body) => sum + body.length, 0);

const small: SiteSpec = {
  kind: 'shop',
  seed: 5,
  name: 'small',
  requests: 40,
  origins: 4,
  bytes: 500_000,
  depth: 4,
};

/** Generated once, as it takes a second. */
const smallSite = generateSite(small);
const otherSite = generateSite({ ...small, name: 'other' });

describe('generateSite', () => {
  it.each(drawShare(Object.keys(BUNDLED_PAGES) as (keyof typeof BUNDLED_PAGES)[], 1))(
    'makes the bundled page %s with the specified measures',
    (page) => {
      const spec = BUNDLED_PAGES[page];
      const generated = bundledSite(page);
      const site = siteSchema.parse(generated.site);
      expect(site.resources).toHaveLength(spec.requests);
      expect(new Set(site.resources.map(({ origin }) => origin)).size).toBe(spec.origins);
      expect(site.origins).toHaveLength(spec.origins);
      expect(totalBytes(generated)).toBe(spec.bytes);
      expect(new Set(site.resources.map(({ origin, path }) => origin + path)).size).toBe(spec.requests);
    },
  );

  it('gives the same bytes for the same spec and others for another seed', () => {
    const first = smallSite;
    const again = generateSite(small);
    const other = generateSite({ ...small, seed: 6 });
    expect(siteJson(again.site)).toBe(siteJson(first.site));
    expect([...again.files]).toEqual([...first.files]);
    expect(siteJson(other.site)).not.toBe(siteJson(first.site));
  });

  it('names every body that it writes and writes every body that it names', () => {
    const { site, files } = generateSite({ ...small, kind: 'news' });
    const named = site.resources.map(({ body }) => ('file' in body ? body.file : null));
    expect(new Set(named)).toEqual(new Set(files.keys()));
  });

  it('links each resource from exactly one body', () => {
    const { site, files } = generateSite({ ...small, kind: 'app', requests: 60, depth: 6 });
    const texts = [...files]
      .filter(([path]) => !/\.(png|woff2)$/.test(path))
      .map(([, body]) => Buffer.from(body).toString());
    for (const { origin, path } of site.resources.filter((resource) => resource.path !== '/')) {
      const url = origin + path;
      expect(
        texts.filter((text) => text.includes(`"${url}"`)),
        url,
      ).toHaveLength(1);
    }
  });

  it.each([
    [{ requests: 1 }, /requests 1:/],
    [{ requests: 10.5 }, /requests 10.5:/],
    [{ requests: 12, depth: 15 }, /requests 12: a page of depth 15 .* at least \d+/],
    [{ origins: 0 }, /origins 0:/],
    [{ origins: 41 }, /origins 41:/],
    [{ bytes: 2000 }, /bytes 2000: .* at least \d+/],
    [{ depth: 1 }, /depth 1:/],
    [{ name: '../x' }, /name "\.\.\/x"/],
    [{ mix: { card: -1 } }, /mix\.card -1/],
    [{ mix: { document: 1 } }, /mix: no role "document"/],
    [{ kind: 'blog' as KindName }, /kind "blog": expected shop, news, app/],
  ] as [Partial<SiteSpec>, RegExp][])('refuses %j by name', (change, message) => {
    expect(() => generateSite({ ...small, ...change } as SiteSpec)).toThrow(message);
  });

  it('uses a given mix instead of its own shares', () => {
    const { site } = generateSite({ ...small, mix: { icon: 200 } });
    const icons = site.resources.filter(({ path }) => path.includes('/icon-'));
    expect(icons.length).toBeGreaterThan(small.requests / 2);
  });
});

describe('planPage', () => {
  it('meets requests, origins and depth for any measures that it accepts', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...(Object.keys(KINDS) as KindName[])),
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.integer({ min: 30, max: 300 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 2, max: 10 }),
        (kind, seed, requests, origins, depth) => {
          const plan = planPage(
            { name: 'p', seed, requests, origins, depth, bytes: 1_000_000 },
            KINDS[kind].proportions,
          );
          expect(plan.resources).toHaveLength(requests);
          expect(new Set(plan.resources.map(({ origin }) => origin)).size).toBe(origins);
          expect(Math.max(...plan.resources.map((resource) => resource.depth))).toBe(depth);
          for (const resource of plan.resources.slice(1))
            expect(resource.parent!.id).toBeLessThan(resource.id);
        },
      ),
      { numRuns: countRuns(70, 200) },
    );
  });
});

describe('pngOfSize', () => {
  const noise = (count: number) => new SeededRandom(1).bytes(count);
  const draw = (width: number, height: number) => ({
    width,
    height,
    rgb: new Uint8Array(width * height * 3).fill(90),
  });

  it.each([MIN_PNG_BYTES, 129, 500, 20_000])('gives exactly %d bytes', (bytes) => {
    const png = Buffer.from(pngOfSize(draw, 320, 200, bytes, noise));
    expect(png).toHaveLength(bytes);
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect(png.subarray(-8, -4).toString()).toBe('IEND');
    const start = png.indexOf('IDAT');
    const rows = inflateSync(png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4)));
    expect(rows).toHaveLength((png.readUInt32BE(16) * 3 + 1) * png.readUInt32BE(20));
  });

  it('refuses sizes too small for a PNG', () => {
    expect(() => pngOfSize(draw, 320, 200, 40, noise)).toThrow(/no PNG of 40 bytes/);
  });
});

describe('writeSite', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hopwise-pages-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('writes site.json and the bodies, reproducibly, and nothing else', async () => {
    const generated = smallSite;
    await writeSite(generated, join(folder, 'a'));
    await writeSite(generated, join(folder, 'a'));
    expect(await readdir(folder)).toEqual(['a']);
    expect(await readFile(join(folder, 'a', 'site.json'), 'utf8')).toBe(siteJson(generated.site));
    for (const [path, body] of generated.files) {
      expect(Buffer.compare(await readFile(join(folder, 'a', path)), body), path).toBe(0);
    }
  });

  it('removes the files of the previous site', async () => {
    await writeSite(smallSite, join(folder, 'a'));
    await writeSite(otherSite, join(folder, 'a'));
    expect((await readdir(join(folder, 'a'))).some((name) => name.includes('small'))).toBe(false);
  });

  it('does not replace a folder that holds something else', async () => {
    await mkdir(join(folder, 'mine'));
    await writeFile(join(folder, 'mine', 'thesis.txt'), 'text');
    await expect(writeSite(smallSite, join(folder, 'mine'))).rejects.toThrow(
      /expected a site or nothing there, found thesis.txt/,
    );
    expect(await readFile(join(folder, 'mine', 'thesis.txt'), 'utf8')).toBe('text');
  });

  it('does not delete a foreign file beside a site', async () => {
    const dir = join(folder, 'a');
    const generated = smallSite;
    await writeSite(generated, dir);
    const [body = ''] = generated.files.keys();
    const own = join(dir, `${body}.notes`);
    await writeFile(own, 'text');
    await expect(writeSite(generated, dir)).rejects.toThrow(
      `${dir}: expected a site or nothing there, found ${body}.notes`,
    );
    expect(await readFile(own, 'utf8')).toBe('text');
    // Where site.json cannot be read, all other files count as foreign.
    await rm(own);
    await writeFile(join(dir, 'site.json'), '{');
    await expect(writeSite(otherSite, dir)).rejects.toThrow(/found /);
  });

  it('cleans up after a killed process: removes half a site, restores one moved aside', async () => {
    // No process has this id.
    const left = join(folder, `.hopwise-site-${2 ** 22 + 1}-abcdef`);
    await mkdir(join(left, 'new'), { recursive: true });
    await mkdir(join(left, 'aside', 'b'), { recursive: true });
    await writeFile(join(left, 'aside', 'b', 'site.json'), '{}');
    await writeSite(smallSite, join(folder, 'a'));
    expect((await readdir(folder)).toSorted()).toEqual(['a', 'b']);
    expect(await readFile(join(folder, 'b', 'site.json'), 'utf8')).toBe('{}');
  });

  it('refuses paths out of the folder and bodies that are missing', async () => {
    const generated = smallSite;
    const escaping = {
      site: generated.site,
      files: new Map([...generated.files, ['../x', new Uint8Array(1)]]),
    };
    await expect(writeSite(escaping, join(folder, 'b'))).rejects.toThrow('../x: expected a path below');
    await expect(writeSite({ site: generated.site, files: new Map() }, join(folder, 'b'))).rejects.toThrow(
      /no body for the file/,
    );
    expect(await readdir(folder)).toEqual([]);
  });
});
