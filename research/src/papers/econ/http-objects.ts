import { join } from 'node:path';
import { median } from '@hopwise/contract';
import { browserProgram } from '@hopwise/lab/browser/browser-program';
import { Lab, labObstacle } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import { MeasuringBrowser } from '@hopwise/lab/loads/measuring-browser';
import type { Site } from '@hopwise/lab/sites/site';
import { writeSite } from '@hopwise/lab/sites/write-site';
import type { Recording } from '@hopwise/pageload-emulator';
import { lossBySegment } from '@hopwise/pageload-emulator/econ';
import { objectsLatencyMs } from '../../econ/objects-latency.ts';
import { TOLERANCE } from './page-choices.ts';

const PROTOCOLS = ['h1', 'h2'] as const;
type HttpProtocol = (typeof PROTOCOLS)[number];

/** Objects of one size that a page requests at once from one server. */
interface Experiment {
  /** Figure 10 has errors of predicted latencies, Figure 11 choices. */
  figure: 10 | 11;
  objects: number;
  objectBytes: number;
  loss: number;
  rttMs: number;
}

/** Table 3's network, because that of the figures is not stated. */
const MBPS = 50;
const RTT_MS = 30;
const INITIAL_WINDOW = 10;
const LOADS = 3;
/** A page of this many bytes is loaded once: it takes 80 s and more, and times scatter little. */
const LARGE_PAGE_BYTES = 400_000_000;
const TIMEOUT_MS = 900_000;
/** The number of trajectories over which ECON computes the mean. */
const TRAJECTORIES = 32;

export const EXPERIMENTS: readonly Experiment[] = [
  ...[10_000, 100_000, 1_000_000].flatMap((objectBytes) =>
    [5e-5, 1e-4, 5e-4].map(
      (loss): Experiment => ({ figure: 10, objects: 500, objectBytes, loss, rttMs: RTT_MS }),
    ),
  ),
  ...(
    [
      [10, 10_000],
      [500, 10_000],
      [10, 1_000_000],
      [500, 1_000_000],
    ] as const
  ).flatMap(([objects, objectBytes]) =>
    [1e-5, 1e-4].flatMap((loss) =>
      [50, 200].map((rttMs): Experiment => ({ figure: 11, objects, objectBytes, loss, rttMs })),
    ),
  ),
];

/** Milliseconds from the first request to the last response. */
export interface HttpTimes {
  experiment: Experiment;
  measured: Record<HttpProtocol, number>;
  econ: Record<HttpProtocol, number>;
}

/**
 * Loads each experiment's page in real Chromium over the emulated link, in turns under HTTP/1.1 and HTTP/2, and predicts it by ECON.
 *
 * @returns why this machine has no lab, or the times by experiment
 */
export async function measureHttp(seed: number, context: ProgramContext): Promise<string | HttpTimes[]> {
  const obstacle = await labObstacle();
  if (obstacle !== null) return obstacle;
  const { cleanup, signal, say } = context;
  const scratch = await makeScratch('run');
  cleanup.add('the sites of the objects', () => removeScratch(scratch));
  const times: HttpTimes[] = [];
  const kinds = [...new Set(EXPERIMENTS.map(nameOf))];
  for (const kind of kinds) {
    const own = EXPERIMENTS.filter((each) => nameOf(each) === kind);
    const { objects, objectBytes } = own[0]!;
    const dir = join(scratch, kind);
    await writeSite(objectsSite(objects, objectBytes), dir);
    const page = await ObjectsPage.open(dir, own[0]!, context);
    for (const experiment of own) {
      const measured: Record<HttpProtocol, number[]> = { h1: [], h2: [] };
      for (let load = 0; load < (isLarge(experiment) ? 1 : LOADS); load++) {
        for (const protocol of PROTOCOLS) {
          signal.throwIfAborted();
          measured[protocol].push(await page.load(protocol, experiment, seed * 1_000 + load));
        }
      }
      const found = {
        experiment,
        measured: { h1: median(measured.h1), h2: median(measured.h2) },
        econ: predictEcon(experiment),
      };
      const text = PROTOCOLS.map(
        (protocol) =>
          `${protocol} ${Math.round(found.measured[protocol])} ms, ECON ${Math.round(found.econ[protocol])} ms`,
      );
      say(`${kind}, loss ${100 * experiment.loss}%, ${experiment.rttMs} ms: ${text.join('; ')}`);
      times.push(found);
    }
    await page.close();
  }
  return times;
}

const isLarge = ({ objects, objectBytes }: Experiment): boolean => objects * objectBytes >= LARGE_PAGE_BYTES;

const nameOf = ({ objects, objectBytes }: Experiment): string => `${objects}x${objectBytes / 1000}kB`;

const ORIGIN = 'https://objects.test';

/** Small, because decoding takes time. Chromium would stop loading what it cannot decode. */
const SIDE_PIXELS = 8;

/** A page with images of one size. */
function objectsSite(objects: number, objectBytes: number): { site: Site; files: Map<string, Uint8Array> } {
  const images = Array.from({ length: objects }, (_, index) => `<img src="/${index}">`).join('');
  const page = new TextEncoder().encode(`<!doctype html><title>objects</title>${images}`);
  const answer = { origin: ORIGIN, status: 200, thinkMs: 0 };
  const site: Site = {
    format: 'hopwise-site',
    version: 1,
    name: 'objects',
    entry: `${ORIGIN}/`,
    origins: [{ origin: ORIGIN, protocols: ['h1', 'h2'], extraRttMs: 0, initialWindow: INITIAL_WINDOW }],
    resources: [
      { ...answer, path: '/', headers: { 'content-type': 'text/html' }, body: { file: 'index.html' } },
      ...Array.from({ length: objects }, (_, index) => ({
        ...answer,
        path: `/${index}`,
        headers: { 'content-type': 'image/png' },
        body: { filler: 'png' as const, bytes: objectBytes, width: SIDE_PIXELS, height: SIDE_PIXELS },
      })),
    ],
  };
  return { site, files: new Map([['index.html', page]]) };
}

/** A page in a browser for each protocol. */
class ObjectsPage {
  readonly #lab: Lab;
  readonly #browsers: ReadonlyMap<HttpProtocol, MeasuringBrowser>;

  private constructor(lab: Lab, browsers: ReadonlyMap<HttpProtocol, MeasuringBrowser>) {
    this.#lab = lab;
    this.#browsers = browsers;
  }

  static async open(
    dir: string,
    experiment: Experiment,
    { cleanup, signal }: ProgramContext,
  ): Promise<ObjectsPage> {
    const lab = await Lab.up({ site: dir, network: linkOf(experiment), signal });
    cleanup.add('the lab', () => lab.down());
    const executablePath = await lab.wrapper(browserProgram('headless-shell'));
    const browsers = new Map<HttpProtocol, MeasuringBrowser>();
    for (const protocol of PROTOCOLS) {
      const browser = await MeasuringBrowser.launch({
        executablePath,
        protocol,
        caSpki: lab.caSpki,
        hosts: lab.hosts,
      });
      cleanup.add(`Chromium, ${protocol}`, () => browser.close());
      browsers.set(protocol, browser);
    }
    const page = new ObjectsPage(lab, browsers);
    // The first load of a process is slower, by less than a second.
    if (!isLarge(experiment)) for (const protocol of PROTOCOLS) await page.load(protocol, experiment, 0);
    return page;
  }

  async load(protocol: HttpProtocol, experiment: Experiment, seed: number): Promise<number> {
    await this.#lab.drain();
    await this.#lab.configure({ ...linkOf(experiment), seed });
    const load = await this.#browsers
      .get(protocol)!
      .load(`${ORIGIN}/`, { timeoutMs: TIMEOUT_MS, record: true });
    if (!load.ok) throw new UserError(`${nameOf(experiment)} under ${protocol}: ${load.reason}`);
    return objectsMs(load.recording!, experiment);
  }

  async close(): Promise<void> {
    for (const browser of this.#browsers.values()) await browser.close();
    await this.#lab.down();
  }
}

/**
 * From the first object's request to the last object's end: ECON's latency, with the page's connection open.
 *
 * @throws UserError where an object did not arrive whole
 */
export function objectsMs(
  { requests }: Pick<Recording, 'requests'>,
  { objects: count, objectBytes }: Pick<Experiment, 'objects' | 'objectBytes'>,
): number {
  const objects = requests.filter(
    ({ type, decodedBytes }) => type === 'image' && decodedBytes === objectBytes,
  );
  if (objects.length !== count)
    throw new UserError(`expected ${count} images of ${objectBytes} bytes, got ${objects.length}`);
  return Math.max(...objects.map(({ endMs }) => endMs)) - Math.min(...objects.map(({ startMs }) => startMs));
}

function linkOf({ loss, rttMs }: Experiment): LabNetwork {
  return { rttMs, downMbps: MBPS, upMbps: MBPS, loss, lossBurst: 1, queue: { bdp: 1 }, udp: 'open' };
}

function predictEcon({ objects, objectBytes, loss, rttMs }: Experiment): Record<HttpProtocol, number> {
  const downBps = MBPS * 1e6;
  const network = {
    rttMs,
    downBps,
    queueBytes: (downBps / 8_000) * rttMs,
    loss: () => lossBySegment(loss),
    congestionControl: 'cubic' as const,
    initialWindow: INITIAL_WINDOW,
    handshakeRounds: 2,
  };
  const latency = (protocol: HttpProtocol) =>
    objectsLatencyMs(protocol, objects, objectBytes, network, { trajectories: TRAJECTORIES });
  return { h1: latency('h1'), h2: latency('h2') };
}

/** Mean error of a protocol's latencies in Figure 10's experiments, a fraction. */
export function meanError(times: readonly HttpTimes[], protocol: HttpProtocol): number {
  const errors = times
    .filter(({ experiment }) => experiment.figure === 10)
    .map(({ econ, measured }) => Math.abs(econ[protocol] / measured[protocol] - 1));
  return errors.reduce((sum, error) => sum + error, 0) / errors.length;
}

/** Figure 11's scenarios, and in how many ECON's choice is the faster protocol, or close to it. */
export function countChoices(times: readonly HttpTimes[]): { right: number; all: number } {
  const own = times.filter(({ experiment }) => experiment.figure === 11);
  const isRight = ({ econ, measured }: HttpTimes) => {
    const chosen = econ.h1 < econ.h2 ? measured.h1 : measured.h2;
    return chosen <= (1 + TOLERANCE) * Math.min(measured.h1, measured.h2);
  };
  return { right: own.filter(isRight).length, all: own.length };
}
