import type { NetworkPath, Recording } from '@hopwise/contract';
import { documentOrigin, type ServedPage } from './advise/document.ts';
import { type AdvisedNetwork, type Gain, GainMeter } from './advise/gain.ts';
import { type HeadLink, headLinks } from './advise/head-links.ts';
import {
  type AdviceKind,
  IMPROVEMENTS,
  type Improvement,
  isOverHttp,
  type Visit,
} from './advise/improvements.ts';
import { isProven, MIN_GAIN, type Proof, proofOf } from './advise/proof.ts';
import { drawVisitors } from './advise/visitors.ts';
import type { NamedNetwork } from './network/network-list.ts';
import { pageQuestion } from './predict.ts';
import { siteKey } from './util/site.ts';
import { originOf } from './util/url.ts';

/** One change of servers, and what it gains. */
export interface ServerAdvice extends Gain {
  kind: AdviceKind;
  /** `Improvement.effort`. */
  effort: 1 | 2 | 3;
  visit: Visit;
  /** How often real loads kept such promises. */
  proof: Proof;
  /** Where to change it, and what the change gains at this origin alone, over all pages; largest gain first. */
  origins: { origin: string; gain: number }[];
  /** What the head of each page's document is to announce; for advice on that alone. */
  links?: { page: string; links: HeadLink[] }[];
}

export interface AdviseOptions {
  /** Networks of the visitors; that of each recording when absent. */
  networks?: readonly NamedNetwork[];
  /** Further hosts that can be changed, besides those of each page's own site. */
  ownHosts?: readonly string[];
  /** Also gives advice whose promises the lab has not shown to be kept. Default false. */
  unproven?: boolean;
  /** What gzip makes of responses whose bodies are known, bytes by URL. */
  gzipBytes?: ReadonlyMap<string, number>;
}

export interface ServerAdviceList {
  /** Whether a page comes over http, so that HTTP/2 and HTTP/3 are out of its reach. */
  needsHttps: boolean;
  /** The origins for which changes were tried. */
  owned: string[];
  /** The largest gain for its effort first. */
  advice: ServerAdvice[];
  /** Gain of all advice for first visits together; null for less than two. */
  together: number | null;
}

/** Scenarios in all for a page, and at least for a network. */
const SCENARIOS = 32;
const MIN_SCENARIOS = 8;
/** The network of a recording. */
const RECORDED = 'recorded';

/**
 * Finds changes of the servers of some pages that let them load sooner on first visits (or on later ones, where only these gain),
 * as emulated: no load was made with them.
 *
 * @param pages recordings, which all count alike
 * @throws EmulationError when a page does not load on a network
 */
export function adviseServers(pages: readonly Recording[], options: AdviseOptions = {}): ServerAdviceList {
  const steps = adviseServersInSteps(pages, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * `adviseServers`, a kind of change at a time, so that other work can be done in between.
 *
 * @returns yields the share of the kinds that have been tried
 */
export function* adviseServersInSteps(
  pages: readonly Recording[],
  options: AdviseOptions = {},
): Generator<number, ServerAdviceList> {
  const subjects = pages.map((recording) => new Subject(recording, options));
  const advice: ServerAdvice[] = [];
  const tried = IMPROVEMENTS.filter(({ kind }) => options.unproven || isProven(kind));
  for (const [index, improvement] of tried.entries()) {
    yield index / tried.length;
    const all = meanGain(subjects.map((subject) => subject.gainOf(improvement)));
    if (all.gain < MIN_GAIN || all.harms >= all.helps) continue;
    const { kind, effort, visit } = improvement;
    const links =
      kind === 'preconnect' || kind === 'preload'
        ? { links: subjects.map((subject) => subject.linksFor(kind)) }
        : {};
    advice.push({
      kind,
      effort,
      visit,
      ...all,
      proof: proofOf(kind),
      origins: originGains(subjects, improvement),
      ...links,
    });
  }
  advice.sort((a, b) => b.gain / b.effort - a.gain / a.effort);
  const firstVisits = IMPROVEMENTS.filter(
    ({ kind, visit }) => visit === 'first' && advice.some((each) => each.kind === kind),
  );
  return {
    owned: [...new Set(subjects.flatMap(({ owned }) => owned))],
    needsHttps: pages.some((recording) => isOverHttp({ recording })),
    advice,
    together:
      firstVisits.length < 2
        ? null
        : meanGain(subjects.map((subject) => subject.gainTogether(firstVisits))).gain,
  };
}

/**
 * What one kind of advice gains on one network where every server follows it that can, as a share of the load time.
 *
 * @throws EmulationError when the page does not load on the network
 */
export function gainOfAdvice(
  recording: Recording,
  kind: AdviceKind,
  path: NetworkPath,
  { gzipBytes }: Pick<AdviseOptions, 'gzipBytes'> = {},
): number {
  const improvement = IMPROVEMENTS.find((each) => each.kind === kind)!;
  const hosts = new Set(recording.requests.map(({ url }) => hostOf(originOf(url) ?? '')));
  const networks = [{ name: 'given', share: 1, path }];
  const options = { networks, ownHosts: [...hosts], ...(gzipBytes && { gzipBytes }) };
  return new Subject(recording, options).gainOf(improvement).gain;
}

/** What the document's head could announce, by the advice on it. */
export function adviseHeadLinks(recording: Recording, kind: HeadLink['rel']): HeadLink[] {
  return headLinks(kind, { recording, graph: pageQuestion(recording, {}).question.graph });
}

/** One page for which advice is wanted. */
class Subject {
  readonly owned: readonly string[];
  readonly #page: ServedPage;
  readonly #servers: AdvisedNetwork['scenarios'][number]['servers'];
  readonly #meter: GainMeter;

  constructor(recording: Recording, { networks, ownHosts = [], gzipBytes }: AdviseOptions) {
    const { graph, servers, scenarios } = pageQuestion(recording, {}).question;
    const count = Math.max(MIN_SCENARIOS, Math.ceil(SCENARIOS / (networks?.length ?? 1)));
    const advised = networks?.map(({ name, share, path }) => ({
      name,
      share,
      scenarios: drawVisitors(path, servers, count),
    })) ?? [{ name: RECORDED, share: 1, scenarios: scenarios(count) }];
    this.#page = { recording, graph, ...(gzipBytes && { gzipBytes }) };
    this.#servers = servers;
    this.#meter = new GainMeter(this.#page, advised);
    const site = siteKey(documentOrigin(graph));
    this.owned = graph.origins.filter(
      (origin) => siteKey(origin) === site || ownHosts.includes(hostOf(origin)),
    );
  }

  /** @param origin the only one to change; all where it is possible when absent */
  gainOf(improvement: Improvement, origin?: string): Gain {
    const origins = this.placesOf(improvement).filter((each) => origin === undefined || each === origin);
    return this.#meter.measure([{ improvement, origins: new Set(origins) }]);
  }

  gainTogether(improvements: readonly Improvement[]): Gain {
    const changes = improvements.map((improvement) => ({
      improvement,
      origins: new Set(this.placesOf(improvement)),
    }));
    return this.#meter.measure(changes);
  }

  linksFor(kind: HeadLink['rel']): { page: string; links: HeadLink[] } {
    return { page: this.#page.recording.url, links: headLinks(kind, this.#page) };
  }

  /** Origins at which a change is possible. */
  placesOf({ isPossibleAt }: Improvement): string[] {
    return this.#servers
      .filter((server) => this.owned.includes(server.origin) && isPossibleAt(server, this.#page))
      .map(({ origin }) => origin);
  }
}

const hostOf = (origin: string): string => origin.replace(/^https?:\/\//, '');

function originGains(
  subjects: readonly Subject[],
  improvement: Improvement,
): { origin: string; gain: number }[] {
  const origins = [...new Set(subjects.flatMap((subject) => subject.placesOf(improvement)))];
  return origins
    .map((origin) => ({
      origin,
      gain: meanGain(subjects.map((subject) => subject.gainOf(improvement, origin))).gain,
    }))
    .sort((a, b) => b.gain - a.gain);
}

/** The mean over pages on the same networks. */
function meanGain(gains: readonly Gain[]): Gain {
  const meanOf = (value: (gain: Gain) => number) =>
    gains.reduce((sum, each) => sum + value(each), 0) / gains.length;
  return {
    gain: meanOf(({ gain }) => gain),
    helps: meanOf(({ helps }) => helps),
    harms: meanOf(({ harms }) => harms),
    networks: (gains[0]?.networks ?? []).map(({ name }, index) => ({
      name,
      gain: meanOf(({ networks }) => networks[index]!.gain),
    })),
  };
}
