import { describe, expect, it } from 'vitest';
import type { LabNetwork } from '../../src/client/networks.ts';
import { UserError } from '../../src/command/errors.ts';
import type { GroundTruthLoad } from '../../src/ground-truth/ground-truth.ts';
import type { FailedLoad } from '../../src/loads/measuring-browser.ts';
import { Assignments } from '../../src/matrix/assignments.ts';
import { Done, type PlannedLoad, planLoads } from '../../src/matrix/matrix.ts';
import type { MatrixPage } from '../../src/matrix/matrix-page.ts';
import { MatrixProgress } from '../../src/matrix/matrix-progress.ts';
import type { LabLoad, LabLoadRequest, MatrixLab } from '../../src/matrix/page-lab.ts';
import { isUdpBlocked, linkSeed, type MatrixRun, runMatrix } from '../../src/matrix/run-matrix.ts';
import { emptyRecording, noDrops } from '../support/measured-loads.ts';

const cable: LabNetwork = {
  rttMs: 28,
  downMbps: 40,
  upMbps: 8,
  loss: 0,
  lossBurst: 1,
  queue: { ms: 150 },
  udp: 'open',
};
const networks: Record<string, LabNetwork> = { cable, blocked: { ...cable, udp: 'blocked' } };

const page = (name: string): MatrixPage => ({
  name,
  dir: `/pages/${name}`,
  site: {
    format: 'hopwise-site',
    version: 1,
    name,
    entry: `https://${name}.test/`,
    origins: [{ origin: `https://${name}.test`, protocols: ['h1', 'h2', 'h3'], extraRttMs: 0 }],
    resources: [],
  },
  facts: { source: name, requests: 0, origins: 1, bytes: 0, digest: name },
});

const drops = { down: noDrops, up: noDrops };
const quiet = { latenessMs: 0.3, foreignCpu: 0.001, windowMs: 100 };
const busy = { latenessMs: 0.3, foreignCpu: 0.8, windowMs: 100 };

const good = (disturbance = quiet): LabLoad => ({
  load: {
    ok: true,
    pltMs: 100,
    fcpMs: null,
    lcpMs: null,
    requests: [],
    proved: true,
    failed: [],
    recording: emptyRecording,
  },
  disturbance,
  drops,
});
const bad = (kind: FailedLoad['kind'], disturbance = quiet): LabLoad => ({
  load: { ok: false, kind, reason: `${kind} it was` },
  disturbance,
  drops,
});

/** Outcomes of the next loads in the lab; further loads succeed. */
type Script = (LabLoad | Error)[];

class FakeLab implements MatrixLab {
  readonly #page: MatrixPage;
  readonly #script: Script;
  readonly #idle: typeof quiet;
  readonly requests: LabLoadRequest[];
  discarded = 0;
  closed = 0;

  constructor(page: MatrixPage, script: Script, requests: LabLoadRequest[], idle: typeof quiet) {
    this.#page = page;
    this.#script = script;
    this.requests = requests;
    this.#idle = idle;
  }

  canServe({ site }: MatrixPage): boolean {
    return site.origins[0]?.origin === this.#page.site.origins[0]?.origin;
  }

  async load(request: LabLoadRequest): Promise<LabLoad> {
    this.requests.push(request);
    const next = this.#script.shift() ?? good();
    if (next instanceof Error) throw next;
    return next;
  }

  async idle(): Promise<typeof quiet> {
    return this.#idle;
  }

  async discardBrowser(): Promise<void> {
    this.discarded++;
  }

  async close(): Promise<void> {
    this.closed++;
  }
}

interface Outcome {
  kept: GroundTruthLoad[];
  requests: LabLoadRequest[];
  labs: { page: string; lab: FakeLab }[];
  said: string;
}

const plan = (change: Partial<Parameters<typeof planLoads>[0]> = {}): PlannedLoad[] =>
  planLoads({
    pages: ['app'],
    networks: ['cable'],
    protocols: ['h2'],
    views: ['cold'],
    seeds: [1],
    ...change,
  });

function prepare(
  planned: PlannedLoad[],
  script: Script,
  { idle = quiet, ...change }: Partial<MatrixRun> & { idle?: typeof quiet } = {},
): { run: MatrixRun; outcome: Outcome } {
  const outcome: Outcome = { kept: [], requests: [], labs: [], said: '' };
  const stream = { isTTY: false, write: (text: string) => (outcome.said += text) };
  const run: MatrixRun = {
    plan: planned,
    done: new Done(({ protocol, network }) => isUdpBlocked(protocol, networks[network] as LabNetwork)),
    pages: ['app', 'shop'].map(page),
    networks,
    assignments: new Assignments(null),
    store: { append: async (load) => void outcome.kept.push(load) },
    async openLab(page) {
      const lab = new FakeLab(page, script, outcome.requests, idle);
      outcome.labs.push({ page: page.name, lab });
      return lab;
    },
    quietLimitMs: 1000,
    progress: new MatrixProgress(() => 1, stream as unknown as NodeJS.WriteStream),
    signal: new AbortController().signal,
    ...change,
  };
  return { run, outcome };
}

async function make(...args: Parameters<typeof prepare>) {
  const { run, outcome } = prepare(...args);
  return { result: await runMatrix(run), ...outcome };
}

const name = ({ page, protocol, seed }: PlannedLoad) => `${page} ${protocol} ${seed}`;

describe('runMatrix', () => {
  it('makes planned loads that are missing, in one lab for each page, with the same losses for every protocol', async () => {
    const planned = plan({ pages: ['app', 'shop'], protocols: ['h1', 'h2'], seeds: [1, 2] });
    const { run, outcome } = prepare(planned, []);
    run.done.add({ ...planned[0]!, outcome: { ok: true } as never, disturbed: false });
    const result = await runMatrix(run);
    expect(outcome.kept.map(name)).toEqual(planned.slice(1).map(name));
    expect(result).toMatchObject({ kept: 7, left: 0, dropped: 0, retried: 0, disturbed: 0, failed: 0 });
    expect(outcome.labs.map(({ page, lab }) => [page, lab.closed])).toEqual([
      ['app', 1],
      ['shop', 1],
    ]);
    for (const [index, { network }] of outcome.requests.entries()) {
      expect(network).toEqual({ ...cable, seed: linkSeed(outcome.kept[index]!) });
    }
    expect(new Set(outcome.requests.map(({ network }) => network.seed)).size).toBe(4);
  });

  it('keeps the lab for a page with the same origins', async () => {
    const { origins } = page('app').site;
    const pages = ['app', 'shop'].map(page).map((each) => ({ ...each, site: { ...each.site, origins } }));
    const { labs, requests } = await make(plan({ pages: ['app', 'shop'] }), [], { pages });
    expect(labs.map(({ page, lab }) => [page, lab.closed])).toEqual([['app', 1]]);
    expect(requests.map(({ page }) => page.name)).toEqual(['app', 'shop']);
  });

  it('drops a disturbed load and repeats it with the same losses', async () => {
    const { kept, requests, result } = await make(plan(), [good(busy), good(busy)]);
    expect(kept).toHaveLength(1);
    expect(kept[0]).toMatchObject({ repeated: 2, failures: 0, disturbed: false, disturbance: quiet });
    expect(result).toMatchObject({ kept: 1, dropped: 2, disturbed: 0 });
    expect(new Set(requests.map(({ network }) => network.seed)).size).toBe(1);
  });

  it('keeps a load that is disturbed five times, and marks it', async () => {
    const { kept, requests, result } = await make(
      plan(),
      Array.from({ length: 5 }, () => good(busy)),
    );
    expect(requests).toHaveLength(5);
    expect(kept[0]).toMatchObject({ repeated: 4, disturbed: true, disturbance: busy });
    expect(result).toMatchObject({ dropped: 4, disturbed: 1 });
  });

  it('keeps a disturbed load where the machine does not become quiet in time, with one warning', async () => {
    const { kept, said } = await make(plan({ seeds: [1, 2] }), [good(busy), good(busy)], {
      idle: busy,
      quietLimitMs: 20,
    });
    expect(kept.map(({ disturbed, repeated }) => [disturbed, repeated])).toEqual([
      [true, 0],
      [true, 0],
    ]);
    expect(said.match(/was not quiet within/g)).toHaveLength(1);
  });

  it('repeats a failed load with other losses, and counts it', async () => {
    const { kept, requests, result } = await make(plan(), [bad('timeout')]);
    expect(kept).toHaveLength(1);
    expect(kept[0]).toMatchObject({ failures: 1, repeated: 0, outcome: { ok: true } });
    expect(requests.map(({ network }) => network.seed)).toEqual([linkSeed(kept[0]!), linkSeed(kept[0]!, 1)]);
    expect(linkSeed(kept[0]!)).not.toBe(linkSeed(kept[0]!, 1));
    expect(result).toMatchObject({ kept: 1, retried: 1, failed: 0 });
  });

  it('keeps a load that fails twice, with its reason', async () => {
    const { kept, result } = await make(plan(), [bad('timeout'), bad('timeout')]);
    expect(kept[0]).toMatchObject({
      failures: 1,
      outcome: { ok: false, kind: 'timeout', reason: 'timeout it was' },
    });
    expect(result).toMatchObject({ kept: 1, retried: 1, failed: 1 });
  });

  it('does not count a stall of the machine as a failure of the protocol', async () => {
    const { kept, requests } = await make(plan(), [bad('unreachable', busy)]);
    expect(kept[0]).toMatchObject({ failures: 0, repeated: 1, outcome: { ok: true } });
    expect(new Set(requests.map(({ network }) => network.seed)).size).toBe(1);
  });

  it('tries HTTP/3 once where UDP is blocked, and no further seed', async () => {
    const planned = plan({ networks: ['blocked'], protocols: ['h3', 'h2'], seeds: [1, 2, 3] });
    const { kept, requests, result } = await make(planned, [bad('unreachable', busy)]);
    expect(kept.map(name)).toEqual(['app h3 1', 'app h2 1', 'app h2 2', 'app h2 3']);
    expect(kept[0]).toMatchObject({ failures: 0, repeated: 0, disturbed: false });
    expect(requests).toHaveLength(4);
    expect(result).toMatchObject({ kept: 4, left: 0, failed: 1 });
  });

  it('gives up a protocol on other networks after two seeds without an answer', async () => {
    const unreachable = Array.from({ length: 4 }, () => bad('unreachable'));
    const { kept } = await make(plan({ protocols: ['h3'], seeds: [1, 2, 3, 4] }), unreachable);
    expect(kept.map(name)).toEqual(['app h3 1', 'app h3 2']);
    const once = [bad('unreachable'), bad('unreachable'), good(), bad('unreachable'), bad('unreachable')];
    expect((await make(plan({ protocols: ['h3'], seeds: [1, 2, 3, 4] }), once)).kept).toHaveLength(4);
  });

  it('uses a fresh browser after one browser failure, and a fresh lab after two; keeps neither failure', async () => {
    const { kept, labs, result } = await make(plan(), [bad('browser'), bad('browser'), bad('browser')]);
    expect(kept).toHaveLength(1);
    expect(kept[0]).toMatchObject({ failures: 0, repeated: 0, outcome: { ok: true } });
    expect(result).toMatchObject({ kept: 1, retried: 0, failed: 0 });
    expect(labs.map(({ lab }) => [lab.discarded, lab.closed])).toEqual([
      [2, 1],
      [1, 1],
    ]);
  });

  it('restarts a broken lab, and stops with one line when it keeps breaking', async () => {
    const { kept, labs, said } = await make(plan({ seeds: [1, 2] }), [
      new Error('gone\nstack'),
      new Error('gone'),
      good(),
      bad('browser'),
    ]);
    expect(kept).toHaveLength(2);
    expect(labs).toHaveLength(3);
    expect(said.match(/starting lab and browser again: gone\n/g)).toHaveLength(2);

    const broken = prepare(plan(), [new Error('gone'), ...Array.from({ length: 4 }, () => bad('browser'))]);
    await expect(runMatrix(broken.run)).rejects.toMatchObject({
      name: 'UserError',
      exitCode: 1,
      message: expect.stringMatching(
        /^app, h2: lab and browser broke down 3 times in a row, at last: browser it was/,
      ),
    });
    expect(broken.outcome.kept).toEqual([]);
    expect(broken.outcome.labs.map(({ lab }) => lab.closed)).toEqual([1, 1, 1]);
  });

  it('does not retry input that the lab refuses', async () => {
    const { run, outcome } = prepare(plan(), [new UserError('site.json: line 3', 2)]);
    await expect(runMatrix(run)).rejects.toMatchObject({ exitCode: 2, message: 'site.json: line 3' });
    expect(outcome.labs.map(({ lab }) => lab.closed)).toEqual([1]);
  });

  it('starts no load after its time limit, and stops on abort', async () => {
    const { kept, result } = await make(plan({ seeds: [1, 2] }), [], { limitMs: -1 });
    expect(kept).toEqual([]);
    expect(result.left).toBe(2);

    const stop = new AbortController();
    const { run, outcome } = prepare(plan({ seeds: [1, 2] }), [], { signal: stop.signal });
    run.store.append = async (load) => {
      outcome.kept.push(load);
      stop.abort(new Error('enough'));
    };
    await expect(runMatrix(run)).rejects.toThrow('enough');
    expect(outcome.kept).toHaveLength(1);
    expect(outcome.labs.map(({ lab }) => lab.closed)).toEqual([1]);
  });

  it('measures an assignment only after a natural load to derive it from', async () => {
    const protocols: PlannedLoad['protocol'][] = ['natural', 'assigned'];
    const { kept, said, result } = await make(plan({ protocols }), [bad('timeout'), bad('timeout')]);
    expect(kept.map(name)).toEqual(['app natural 1']);
    expect(result.left).toBe(1);
    expect(said).toContain('app on cable: no natural load fired its load event');
  });
});
