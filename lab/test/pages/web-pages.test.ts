import { median, quantile } from '@hopwise/contract';
import { describe, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { generateSite, type SiteSpec } from '../../src/pages/page-generator.ts';
import { type ArchiveResourceType, RESOURCE_TYPES } from '../../src/pages/plan.ts';
import {
  drawWebPage,
  type Measure,
  PERCENTILES,
  PUBLISHED,
  type WebPage,
  webPageSpec,
} from '../../src/pages/web-pages.ts';
import type { GeneratedSite } from '../../src/sites/write-site.ts';

/** Tolerance of a percentile over `SEEDS` pages: the sampling error of the 90th percentile of image bytes is 4%. */
const TOLERANCE = 0.1;
const SEEDS = 3000;

const sum = (values: object): number => Object.values(values).reduce((total, value) => total + value, 0);

const MEASURED: Record<Exclude<Measure, 'fontResponseBytes'>, (page: WebPage) => number> = {
  requests: ({ requests }) => sum(requests),
  bytes: ({ bytes }) => sum(bytes),
  origins: ({ origins }) => origins,
  htmlRequests: ({ requests }) => requests.html,
  cssRequests: ({ requests }) => requests.css,
  jsRequests: ({ requests }) => requests.js,
  fontRequests: ({ requests }) => requests.font,
  imageRequests: ({ requests }) => requests.image,
  htmlBytes: ({ bytes }) => bytes.html,
  cssBytes: ({ bytes }) => bytes.css,
  jsBytes: ({ bytes }) => bytes.js,
  imageBytes: ({ bytes }) => bytes.image,
};

describe('pages drawn from the published distribution', () => {
  const pages = Array.from({ length: SEEDS }, (_, seed) => drawWebPage(seed));

  it.each(Object.keys(MEASURED) as (keyof typeof MEASURED)[])('have its percentiles of %s', (measure) => {
    const values = pages.map(MEASURED[measure]);
    for (const [index, percentile] of PERCENTILES.entries()) {
      const published = PUBLISHED[measure].values[index] as number;
      // Tolerances: half a request for counts, which are rounded; two kilobytes for minimum body sizes.
      const rounding = measure.endsWith('ytes') ? 2048 : 0.5;
      const off = Math.abs(quantile(values, percentile / 100) - published);
      expect(off, `p${percentile}: ${published}`).toBeLessThanOrEqual(TOLERANCE * published + rounding);
    }
  });

  it('are large in all measures when they are large in one', () => {
    const large = pages.filter((page) => sum(page.requests) > 125);
    const small = pages.filter((page) => sum(page.requests) < 45);
    const medianBytes = (of: WebPage[]) => median(of.map(({ bytes }) => sum(bytes)));
    expect(medianBytes(large)).toBeGreaterThan(3 * medianBytes(small));
  });

  it('name the source of every figure', () => {
    for (const { source } of Object.values(PUBLISHED))
      expect(source).toMatch(/^HTTP Archive, Web Almanac 20\d\d, chapter /);
  });
});

const TYPE_OF: Record<string, ArchiveResourceType> = {
  '': 'html',
  html: 'html',
  css: 'css',
  js: 'js',
  mjs: 'js',
  woff2: 'font',
  png: 'image',
  json: 'data',
};

function measuresOf({ site, files }: GeneratedSite): WebPage {
  const zeros = () => Object.fromEntries(RESOURCE_TYPES.map((type) => [type, 0])) as WebPage['bytes'];
  const page: WebPage = { requests: zeros(), bytes: zeros(), origins: site.origins.length };
  for (const { path, body } of site.resources) {
    const type = TYPE_OF[/\.(\w+)$/.exec(path)?.[1] ?? ''] as ArchiveResourceType;
    page.requests[type] += 1;
    page.bytes[type] += 'file' in body ? (files.get(body.file)?.length ?? 0) : body.bytes;
  }
  return page;
}

describe('the generated site', () => {
  it.each(drawShare(['web-p10', 'web-p50', 'web-p75', 'web-0', 'web-1', 'web-5', 'web-8'], 3))(
    'of %s has its measures',
    (name) => {
      const spec = webPageSpec(name) as SiteSpec & { types: WebPage };
      const page = measuresOf(generateSite(spec));
      expect(sum(page.requests)).toBe(spec.requests);
      expect(sum(page.bytes)).toBe(spec.bytes);
      expect(page.origins).toBe(spec.origins);
      for (const type of RESOURCE_TYPES) {
        // A resource needs a finder, which may replace another type's request.
        expect(Math.abs(page.requests[type] - spec.types.requests[type]), type).toBeLessThanOrEqual(3);
        const off = Math.abs(page.bytes[type] - spec.types.bytes[type]);
        expect(off, `bytes of ${type}`).toBeLessThanOrEqual(0.03 * spec.types.bytes[type] + 5000);
      }
    },
  );

  it('is always the same for one seed, and different for another', () => {
    const digest = (name: string) => JSON.stringify(generateSite(webPageSpec(name) as SiteSpec).site);
    expect(digest('web-4')).toBe(digest('web-4'));
    expect(digest('web-4')).not.toBe(digest('web-1'));
  });

  it.each(['web', 'web-', 'web-x', 'web-p33', 'web--1', 'web-1.5', '../web-1', 'web-1234567890'])(
    'is not named by %s',
    (name) => expect(webPageSpec(name)).toBeNull(),
  );
});
