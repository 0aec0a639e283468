/**
 * Pages drawn from the web's own distribution: the published percentiles of the HTTP Archive's crawls. `web-7` is the
 * page of seed 7; `web-p75` has every measure at its 75th percentile.
 */
import { probit } from 'simple-statistics';
import { SeededRandom } from '../random.ts';
import type { KindName, SiteSpec } from './page-generator.ts';
import { type ByType, RESOURCE_TYPES, type TypeMeasures } from './plan.ts';

export const PERCENTILES = [10, 25, 50, 75, 90] as const;
/** Scores of the standard normal distribution at `PERCENTILES`. */
const SCORES = [-1.28155, -0.67449, 0, 0.67449, 1.28155] as const;

interface Published {
  /** Values at `PERCENTILES`. */
  values: readonly [number, number, number, number, number];
  source: string;
}

const WEIGHT_2025 = 'HTTP Archive, Web Almanac 2025, chapter Page Weight (crawl of July 2025)';
const WEIGHT_2024 = 'HTTP Archive, Web Almanac 2024, chapter Page Weight (crawl of October 2024)';
/** The Almanac's KB. */
const KB = 1024;
const kilobytes = (...values: [number, number, number, number, number]): Published['values'] =>
  values.map((value) => value * KB) as unknown as Published['values'];

/** Home pages, desktop and mobile together unless the source says otherwise. Bytes are counted on the wire. */
export const PUBLISHED = {
  requests: {
    values: [25, 45, 78, 125, 190],
    source: `${WEIGHT_2025}: distribution of request volume by page type`,
  },
  bytes: {
    values: kilobytes(589, 1361, 2710, 5422, 11_406),
    source: `${WEIGHT_2025}: page weight distribution by page type`,
  },
  origins: {
    values: [5, 8, 13, 20, 33],
    source:
      'HTTP Archive, Web Almanac 2020, chapter HTTP/2: distribution of the total number of connections per page; newer percentiles of hosts are not published, and with HTTP/2 an origin has about one connection',
  },
  htmlRequests: {
    values: [1, 1, 2, 6, 12],
    source: `${WEIGHT_2024}: HTML requests distribution by percentile, desktop; 2025 gives the 50th and the 90th percentile, the same`,
  },
  cssRequests: {
    values: [1, 3, 8, 16, 31],
    source: `${WEIGHT_2025}: distribution of CSS file requests by page type`,
  },
  jsRequests: {
    values: [4, 10, 22, 38, 65],
    source: `${WEIGHT_2025}: distribution of JavaScript request volume by page type`,
  },
  fontRequests: {
    values: [0, 2, 4, 7, 10],
    source: `${WEIGHT_2025}: distribution of font requests by page type`,
  },
  imageRequests: {
    values: [5, 10, 19, 35, 62],
    source: `${WEIGHT_2025}: distribution of image requests by page type`,
  },
  htmlBytes: {
    values: kilobytes(5, 14, 34, 79, 155),
    source: `${WEIGHT_2025}: distribution of HTML response sizes by page type`,
  },
  cssBytes: {
    values: kilobytes(7, 33, 79, 159, 274),
    source: `${WEIGHT_2025}: distribution of CSS response sizes by page type`,
  },
  jsBytes: {
    values: kilobytes(87, 275, 664, 1265, 1979),
    source: `${WEIGHT_2025}: JavaScript size distribution by page type`,
  },
  imageBytes: {
    values: kilobytes(74, 333, 1058, 2896, 6856),
    source: `${WEIGHT_2025}: desktop image size distribution by page type`,
  },
  /** Sizes of one response. */
  fontResponseBytes: {
    values: kilobytes(8, 14, 23, 45, 80),
    source: `${WEIGHT_2025}: distribution of font response sizes by device type, mobile`,
  },
} as const satisfies Record<string, Published>;

export type Measure = keyof typeof PUBLISHED;

/** What a page requests. */
export interface WebPage extends TypeMeasures {
  origins: number;
}

/** Pages are drawn between the 3rd and the 97th percentile, as nothing is published beyond. */
const FURTHEST_SCORE = 1.88;

/** Correlations of the normal scores of one page's measures. Assumed: no source has them. */
const SIZE_OF_PAGE = 0.8;
const SIZE_OF_TYPE = 0.9;

/** Minimum size of a generated response, by type. */
const MIN_BYTES: ByType = { html: 3500, css: 700, js: 700, font: 11_000, image: 200, data: 64 };

/**
 * The value of a measure that is `score` standard deviations from its median: between and beyond the published
 * percentiles its logarithm is linear in the score of the normal distribution.
 */
function valueAt(measure: Measure, score: number): number {
  const bounded = Math.min(FURTHEST_SCORE, Math.max(-FURTHEST_SCORE, score));
  const { values } = PUBLISHED[measure];
  const above = SCORES.findIndex((known) => known >= bounded);
  const upper = above < 0 ? SCORES.length - 1 : Math.max(1, above);
  const [low, high] = [Math.log1p(values[upper - 1] as number), Math.log1p(values[upper] as number)];
  const [from, to] = [SCORES[upper - 1] as number, SCORES[upper] as number];
  return Math.max(0, Math.expm1(low + ((high - low) * (bounded - from)) / (to - from)));
}

/** Requests and bytes of the types with published percentiles. */
type Named = Record<'requests' | 'bytes', Omit<ByType, 'data'>>;

function namedAt(scoreOf: (measure: Measure) => number): Named {
  const count = (measure: Measure) => Math.round(valueAt(measure, scoreOf(measure)));
  const requests = {
    html: Math.max(1, count('htmlRequests')),
    css: count('cssRequests'),
    js: count('jsRequests'),
    font: count('fontRequests'),
    image: count('imageRequests'),
  };
  const bytesOf = (type: keyof typeof requests, bytes: number) =>
    requests[type] === 0 ? 0 : Math.max(requests[type] * MIN_BYTES[type], bytes);
  return {
    requests,
    bytes: {
      html: bytesOf('html', count('htmlBytes')),
      css: bytesOf('css', count('cssBytes')),
      js: bytesOf('js', count('jsBytes')),
      font: bytesOf('font', requests.font * count('fontResponseBytes')),
      image: bytesOf('image', count('imageBytes')),
    },
  };
}

/** Adds what belongs to no named type: API calls, and in bytes also video, which the generator does not have. */
function withData(
  { requests, bytes }: Named,
  totalRequests: number,
  totalBytes: number,
  origins: number,
): WebPage {
  const data = Math.max(0, Math.round(totalRequests) - sumOf(requests));
  const rest = Math.round(totalBytes) - sumOf(bytes);
  return {
    requests: { ...requests, data },
    bytes: { ...bytes, data: data === 0 ? 0 : Math.max(data * MIN_BYTES.data, rest) },
    origins: Math.max(1, Math.min(Math.round(origins), sumOf(requests) + data)),
  };
}

/** The page with every measure at one of `PERCENTILES`. */
function typicalWebPage(percentile: (typeof PERCENTILES)[number]): WebPage {
  const score = SCORES[PERCENTILES.indexOf(percentile)] as number;
  const at = (measure: Measure) => valueAt(measure, score);
  return withData(
    namedAt(() => score),
    at('requests'),
    at('bytes'),
    at('origins'),
  );
}

/** The named types of the page of a seed, and how large the page is, as a normal score. */
function drawNamed(seed: number): { named: Named; size: number; random: SeededRandom } {
  const random = new SeededRandom(Math.imul(seed + 1, 0x9e3779b1));
  const size = random.normal();
  const types = Object.fromEntries(
    RESOURCE_TYPES.map((type) => [type, correlated(random, size, SIZE_OF_PAGE)]),
  ) as ByType;
  const scores = Object.fromEntries(
    (Object.keys(PUBLISHED) as Measure[]).flatMap((measure) => {
      const type = RESOURCE_TYPES.find((type) => measure.startsWith(type));
      return type === undefined ? [] : [[measure, correlated(random, types[type], SIZE_OF_TYPE)]];
    }),
  ) as Record<Measure, number>;
  return { named: namedAt((measure) => scores[measure]), size, random };
}

/** A normal score that has the given correlation with another. */
const correlated = (random: SeededRandom, score: number, correlation: number): number =>
  correlation * score + Math.sqrt(1 - correlation ** 2) * random.normal();

/** The page of a seed: every measure follows its published distribution, and large pages are large in most measures. */
export function drawWebPage(seed: number): WebPage {
  const { named, size, random } = drawNamed(seed);
  // The sum of the named types keeps its rank and gets the published total's value at that rank.
  return withData(
    named,
    valueAt('requests', scoreAmong(namedSums().requests, sumOf(named.requests))),
    valueAt('bytes', scoreAmong(namedSums().bytes, sumOf(named.bytes))),
    valueAt('origins', correlated(random, size, SIZE_OF_PAGE)),
  );
}

const PAGES_FOR_SUMS = 2000;
let sums: Record<'requests' | 'bytes', number[]> | undefined;

/** Sums over the named types of many pages, sorted. */
function namedSums(): Record<'requests' | 'bytes', number[]> {
  if (sums === undefined) {
    const pages = Array.from({ length: PAGES_FOR_SUMS }, (_, seed) => drawNamed(seed).named);
    const sorted = (of: 'requests' | 'bytes') => pages.map((page) => sumOf(page[of])).sort((a, b) => a - b);
    sums = { requests: sorted('requests'), bytes: sorted('bytes') };
  }
  return sums;
}

/** Normal score of the rank of `value` among `sorted`. */
function scoreAmong(sorted: number[], value: number): number {
  const below = sorted.filter((other) => other < value).length;
  const equal = sorted.filter((other) => other === value).length;
  return probit((below + equal / 2 + 0.5) / (sorted.length + 1));
}

const sumOf = (values: Partial<ByType>): number =>
  Object.values(values).reduce((sum, value) => sum + value, 0);

const KIND_NAMES: KindName[] = ['shop', 'news', 'app'];
/** For help texts and messages. */
export const WEB_PAGE_NAMES = 'web-SEED or web-p10, p25, p50, p75, p90';
const NAME = /^web-(?:p(10|25|50|75|90)|(\d{1,9}))$/;

/** @returns the measures of the page called `name`, such as `web-7` or `web-p75`; null for other names. */
export function webPageSpec(name: string): SiteSpec | null {
  const match = NAME.exec(name);
  if (match === null) return null;
  const percentile = PERCENTILES.find((percentile) => String(percentile) === match[1]) ?? null;
  const seed = percentile ?? Number(match[2]);
  const page = percentile === null ? drawWebPage(seed) : typicalWebPage(percentile);
  const random = new SeededRandom(Math.imul(seed + 1, 0x85ebca6b));
  const requests = sumOf(page.requests);
  return {
    kind: percentile === null ? (KIND_NAMES[seed % KIND_NAMES.length] as KindName) : 'shop',
    seed,
    name,
    requests,
    origins: page.origins,
    bytes: sumOf(page.bytes),
    // A chain of scripts needs scripts.
    depth: Math.max(3, Math.min(page.requests.js, percentile === null ? random.int(3, 6) : 5)),
    types: page,
  };
}
