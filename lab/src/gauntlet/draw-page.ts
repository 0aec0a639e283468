/** Pages of the gauntlet: structure, sizes, think times, and servers, drawn within a family. */
import type { ResourceType } from '@hopwise/pageload-emulator';
import type { SeededRandom } from '../random.ts';
import type { PlannedRequest, ReplayNode } from '../replay/node.ts';
import type { Site } from '../sites/site.ts';
import { drawServers } from './draw-servers.ts';
import { type Counts, FAMILIES, type Family } from './families.ts';
import { drawFrom, type Range, randomFor, type Split } from './splits.ts';

export type PageNode = ReplayNode<PlannedRequest>;

export interface DrawnPage {
  name: string;
  family: string;
  /** The document first; parents before their children. */
  nodes: PageNode[];
  origins: Site['origins'];
  cpuSlowdown: number;
}

/** Ranges that the splits divide among themselves. */
const PAGE_RANGES = {
  documentThinkMs: [4, 250],
  staticThinkMs: [0.3, 8],
  apiThinkMs: [10, 400],
} as const satisfies Record<string, Range>;

/** Factor of all sizes but documents': light pages can be measured on slow networks. */
const SIZE_FACTORS: Range = [0.12, 1];

/** Half of the processors are not slowed down. */
export const CPU_SLOWDOWNS = [1, 1, 1, 2, 2, 4] as const;

const HOSTS = {
  www: 'https://www.gauntlet.test',
  static: 'https://static.gauntlet.test',
  img: 'https://img.gauntlet.test',
  api: 'https://api.gauntlet.test',
  fonts: 'https://fonts.gauntlet.test',
} as const;
/** One for each script of another party, the frames and the beacons. */
const PARTIES = Array.from({ length: 7 }, (_, index) => `https://party-${index + 1}.test`);
/** All drawn pages list these, so that one lab with its browsers serves all of them. */
export const ORIGINS: readonly string[] = [...Object.values(HOSTS), ...PARTIES];

const EXTENSIONS: Partial<Record<ResourceType, string>> = {
  document: 'html',
  iframe: 'html',
  style: 'css',
  script: 'js',
  font: 'woff2',
  image: 'png',
};

/** @param number of the page within its split */
export function drawPage(split: Split, seed: number, number: number): DrawnPage {
  const name = `${split}-${seed}-${String(number).padStart(4, '0')}`;
  const random = randomFor(split, seed, 'page', number);
  const family = random.pick(FAMILIES[split]);
  const { nodes, cpuSlowdown } = new PageDraft(random, split, family);
  return { name, family: family.name, nodes, cpuSlowdown, origins: drawServers(random, split, ORIGINS) };
}

/** Makes the requests of one page. */
class PageDraft {
  readonly nodes: PageNode[] = [];
  readonly cpuSlowdown: number;
  readonly #random: SeededRandom;
  readonly #split: Split;
  readonly #family: Family;
  readonly #sizeFactor: number;

  constructor(random: SeededRandom, split: Split, family: Family) {
    this.#random = random;
    this.#split = split;
    this.#family = family;
    this.#sizeFactor = drawFrom(random, split, SIZE_FACTORS);
    this.cpuSlowdown = random.pick(CPU_SLOWDOWNS);
    const document = this.#add('document', HOSTS.www, null, {
      means: 'navigation',
      bytes: 1024 * this.#count(family.documentKb),
      thinkMs: this.#think('documentThinkMs'),
    });
    this.#addStyles(document);
    this.#addBlockingScripts(document);
    const tags = this.#addThirdParties(document);
    this.#addImages(document, this.#count(family.images), 0.1);
    this.#addFrames(document);
    this.#addApplication(document, tags);
  }

  #addStyles(document: PageNode): void {
    const styles = this.#times(this.#family.styles, () =>
      this.#add('style', HOSTS.static, document, { bytes: this.#bytes(12, 1) }),
    );
    const [first] = styles;
    if (first === undefined) return;
    this.#times(this.#family.fonts, () =>
      this.#add('font', HOSTS.fonts, first, { means: 'style', bytes: this.#bytes(22, 0.4) }),
    );
    this.#times(this.#family.backgrounds, () =>
      this.#add('image', HOSTS.static, this.#random.pick(styles), {
        means: 'style',
        bytes: this.#bytes(8, 0.8),
      }),
    );
  }

  #addBlockingScripts(document: PageNode): void {
    this.#times(this.#family.blockingScripts, () =>
      this.#add('script', HOSTS.static, document, {
        place: 0.02,
        blocksParser: true,
        bytes: this.#bytes(20, 0.8),
        busyMs: this.#count(this.#family.busyMs),
      }),
    );
  }

  /** Scripts of other parties: `new Image()` beacons, and later scripts. */
  #addThirdParties(document: PageNode): PageNode[] {
    const { thirdParties, preconnects, beacons, lateScripts, busyMs } = this.#family;
    const parties = this.#random.shuffle(PARTIES).slice(0, this.#count(thirdParties));
    document.connectsTo = [...this.#random.shuffle(Object.values(HOSTS).slice(1)), ...parties].slice(
      0,
      this.#count(preconnects),
    );
    const tags = parties.map((origin) =>
      this.#add('script', origin, document, {
        place: 0.05 + 0.9 * this.#random.fraction(),
        bytes: this.#bytes(18, 0.8),
        busyMs: Math.round(this.#count(busyMs) / 2),
        thinkMs: this.#think('staticThinkMs'),
      }),
    );
    for (const tag of tags) {
      this.#times(beacons, () =>
        this.#add('image', tag.origin, tag, {
          means: 'script',
          bytes: 43 + this.#random.int(0, 400),
          thinkMs: this.#think('apiThinkMs') / 4,
          delayMs: this.#random.pick([0, 0, 20, 150]),
        }),
      );
    }
    if (tags.length === 0) return tags;
    this.#times(lateScripts, () => {
      const parent = this.#random.pick(tags);
      const late = this.#add('script', this.#random.pick(PARTIES), parent, {
        means: 'script',
        bytes: this.#bytes(25, 0.8),
        busyMs: this.#count(busyMs),
        delayMs: this.#random.pick([0, 0, 50, 250]),
      });
      this.#times([0, 3], () =>
        this.#add('image', this.#random.pick([late.origin, HOSTS.img]), late, {
          means: 'script',
          bytes: this.#bytes(5, 1),
        }),
      );
    });
    return tags;
  }

  #addImages(document: PageNode, count: number, from: number): void {
    const medianKb = this.#count(this.#family.imageKb);
    const places = Array.from({ length: count }, () => from + (1 - from) * this.#random.fraction()).sort(
      (a, b) => a - b,
    );
    for (const place of places) {
      this.#add('image', document.type === 'iframe' ? document.origin : HOSTS.img, document, {
        place,
        bytes: this.#bytes(medianKb, 0.9),
      });
    }
  }

  #addFrames(document: PageNode): void {
    this.#times(this.#family.iframes, () => {
      const origin = this.#random.pick(PARTIES);
      const frame = this.#add('iframe', origin, document, {
        place: 0.3 + 0.6 * this.#random.fraction(),
        bytes: this.#bytes(6, 0.6),
        thinkMs: this.#think('documentThinkMs') / 2,
      });
      const script = this.#add('script', origin, frame, {
        bytes: this.#bytes(15, 0.8),
        busyMs: Math.round(this.#count(this.#family.busyMs) / 2),
      });
      this.#add('image', origin, script, { means: 'script', bytes: this.#bytes(12, 0.8) });
      this.#addImages(frame, this.#random.int(1, 3), 0.2);
    });
  }

  /** The page's own script at its end: a fan of `fetch()` calls, whose answers request images. */
  #addApplication(document: PageNode, tags: readonly PageNode[]): void {
    const calls = this.#count(this.#family.fan);
    if (calls === 0 && tags.length > 0) return;
    const script = this.#add('script', HOSTS.static, document, {
      place: 0.97,
      bytes: this.#bytes(45, 0.7),
      busyMs: this.#count(this.#family.busyMs),
    });
    const thinkMs = this.#think('apiThinkMs');
    for (let call = 0; call < calls; call++) {
      const answer = this.#add('fetch', HOSTS.api, script, {
        means: 'script',
        bytes: this.#bytes(3, 0.8),
        thinkMs: tenths(thinkMs * (0.7 + 0.6 * this.#random.fraction())),
      });
      if (call % 2 === 0) {
        this.#add('image', HOSTS.img, script, {
          means: 'script',
          after: answer,
          bytes: this.#bytes(6, 0.8),
        });
      }
    }
  }

  #add(type: ResourceType, origin: string, parent: PageNode | null, own: Partial<PageNode>): PageNode {
    const id = this.nodes.length;
    const path = type === 'document' ? '/' : `/${id}.${EXTENSIONS[type] ?? 'bin'}`;
    const node: PageNode = {
      request: { id, status: 200, renderBlocking: type === 'style' ? true : null },
      type,
      means: 'markup',
      origin,
      path,
      url: origin + path,
      method: 'GET',
      bytes: 0,
      thinkMs: this.#think('staticThinkMs'),
      parent,
      children: [],
      after: null,
      place: 0,
      order: id,
      delayMs: 0,
      afterLoad: false,
      busyMs: 0,
      blocksParser: false,
      ...own,
    };
    node.thinkMs = tenths(node.thinkMs);
    parent?.children.push(node);
    this.nodes.push(node);
    return node;
  }

  #count([low, high]: Counts): number {
    return this.#random.int(low, high);
  }

  #times<T>(counts: Counts, make: () => T): T[] {
    return Array.from({ length: this.#count(counts) }, make);
  }

  /** Log-normal. */
  #bytes(medianKb: number, sigma: number): number {
    const factor = this.#sizeFactor * Math.min(12, Math.max(0.06, this.#random.logNormal(sigma)));
    return Math.round(factor * medianKb * 1024);
  }

  #think(range: 'documentThinkMs' | 'staticThinkMs' | 'apiThinkMs'): number {
    return drawFrom(this.#random, this.#split, PAGE_RANGES[range]);
  }
}

const tenths = (value: number): number => Math.round(value * 10) / 10;
