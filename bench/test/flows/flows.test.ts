import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { siteSchema } from '@hopwise/lab/sites/site';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flowSite } from '../../src/flows/flow-lab.ts';
import { renderFlows } from '../../src/flows/flows-table.ts';
import { FLOW_BYTES, FLOW_LOSSES, type FlowCell, flowGrid, HALVES, SENDERS } from '../../src/flows/grid.ts';
import { seedsOf } from '../../src/flows/measure.ts';
import { predictFlow } from '../../src/flows/predict-flow.ts';
import { scoreFlows, summarise, summaryOf } from '../../src/flows/score.ts';
import { type Flow, FlowStore, type FlowsFile, missingSeeds, readFlows } from '../../src/flows/store.ts';

const SETTING = { kernel: 'Linux 6.1', quic: 'quic-go 0.59.1', scheduling: 'fifo' as const };
const DROPS = { queue: 0, loss: 0, udpBlocked: 0, udpPoliced: 0, udpLoss: 0, device: 0 };

const flow = (seed: number, transferMs: number, changes: Partial<Flow> = {}): Flow => ({
  seed,
  sentMs: 100,
  totalMs: 100 + transferMs,
  packets: 20,
  drops: DROPS,
  latenessMs: 0.1,
  disturbed: [],
  ...changes,
});

/** A link without loss, on which flows are deterministic. */
const cell: FlowCell = {
  id: 'tuning_cubic_test',
  half: 'tuning',
  sender: 'cubic',
  bytes: 60_000,
  initialWindow: 10,
  network: {
    rttMs: 80,
    downMbps: 8,
    upMbps: 2,
    loss: 0,
    lossBurst: 1,
    queue: { bytes: 100_000 },
    udp: 'open',
  },
  expectedMs: 700,
};

const fileOf = (...flows: Flow[]): FlowsFile => ({
  format: 'hopwise-flows',
  version: 1,
  ...SETTING,
  cells: { [cell.id]: { network: cell.network, flows } },
});

describe('the grid', () => {
  const cells = flowGrid();

  it('has every sender, loss and size once in each half, with unique names', () => {
    for (const half of HALVES) {
      const drawn = cells.filter((each) => each.half === half);
      const kinds = drawn.map(({ sender, bytes, network }) => `${sender} ${bytes} ${network.loss}`);
      expect(new Set(kinds).size).toBe(SENDERS.length * FLOW_BYTES.length * FLOW_LOSSES.length);
      expect(drawn).toHaveLength(kinds.length);
    }
    expect(new Set(cells.map(({ id }) => id)).size).toBe(cells.length);
  });

  it('is the same every time, so that judging cells are never used for tuning', () => {
    expect(flowGrid()).toEqual(cells);
    const bare = (half: string) =>
      cells.filter((each) => each.half === half).map(({ id }) => id.slice(half.length));
    const tuned = new Set(bare('tuning'));
    const shared = bare('judged').filter((id) => tuned.has(id));
    expect(shared.length).toBeLessThan(5);
  });

  it('makes short flows on lossy links more often than long ones', () => {
    const lossy = { ...cell, network: { ...cell.network, loss: 0.01 } };
    expect(seedsOf(cell, 8)).toHaveLength(5);
    expect(seedsOf(lossy, 8)).toHaveLength(16);
    expect(seedsOf({ ...lossy, expectedMs: 5_000 }, 8)).toHaveLength(8);
    // No two cells lose the packets of the same numbers.
    const all = cells.flatMap((each) => seedsOf(each, 100));
    expect(new Set(all).size).toBe(all.length);
  });

  it('makes a site that the lab can read', () => {
    expect(siteSchema.parse(flowSite()).resources).toHaveLength(2 * FLOW_BYTES.length);
  });
});

describe('predicted flows', () => {
  it('are round trips and the time on the wire', () => {
    const { transferMs, totalMs } = predictFlow(cell, [1]);
    // 60180 bytes in 43 packets: windows of 10, 20 and 13 are three round trips of 80 ms, and on the wire at
    // 1000 bytes a millisecond no packet waits for more than all.
    expect(transferMs[0]).toBeGreaterThan(3 * 80);
    expect(transferMs[0]).toBeLessThan(3 * 80 + 43 * 1.5);
    // TCP and TLS.
    expect(totalMs[0]! - transferMs[0]!).toBeGreaterThan(2 * 80);
  });
});

describe('scores', () => {
  it('compare medians, with the handshake and without', () => {
    const { transferMs, totalMs } = predictFlow(cell, [1]);
    const [score] = scoreFlows([cell], fileOf(flow(1, 200), flow(2, 240), flow(3, 260)));
    expect(score!.measured.median).toBe(240);
    expect(score!.error).toBeCloseTo(transferMs[0]! / 240 - 1, 9);
    expect(score!.totalError).toBeCloseTo(totalMs[0]! / 340 - 1, 9);
    // The second against the median of the first and third.
    expect(score!.noise).toBeCloseTo(Math.abs(240 / 230 - 1), 9);
  });

  it('leave out disturbed flows, and cells without other flows', () => {
    const late = flow(3, 9_000, { disturbed: ['a packet was 50 ms late'] });
    expect(scoreFlows([cell], fileOf(flow(1, 200), late))[0]).toMatchObject({ flows: 1 });
    expect(scoreFlows([cell], fileOf(late))).toEqual([]);
  });

  it('count a flow that never ended as longer than all others', () => {
    const stuck = flow(3, 59_900, { unfinished: true });
    const [score] = scoreFlows([cell], fileOf(flow(1, 200), flow(2, 300), stuck));
    expect(score!.measured.median).toBe(300);
    expect(scoreFlows([cell], fileOf(flow(1, 200), stuck, { ...stuck, seed: 4 }))).toEqual([]);
  });

  it('are summarised by sender and loss', () => {
    const scores = scoreFlows([cell], fileOf(flow(1, 200)));
    expect(summaryOf(scores, 'bbr', null)).toBeNull();
    expect(summarise(scores)).toEqual(summaryOf(scores, 'cubic', 0));
    const text = renderFlows(scores, true);
    expect(text).toContain('Tuned on');
    expect(text).not.toContain('Never tuned on');
    expect(text).toContain('measured 200 (200 to 200)');
  });
});

describe('the folder', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hopwise-flows-test-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('keeps each flow at once, and says which are missing', async () => {
    expect(await readFlows(dir)).toBeNull();
    const store = new FlowStore(dir, null, SETTING);
    await store.add(cell, flow(1, 200, { disturbed: ['a packet was 9 ms late'] }));
    await store.add(cell, flow(2, 210));
    const file = await readFlows(dir);
    expect(file).toEqual(store.file);
    expect(missingSeeds(file, cell, [1, 2, 3])).toEqual([1, 3]);
    await new FlowStore(dir, file, SETTING).add(cell, flow(1, 190));
    expect(missingSeeds(await readFlows(dir), cell, [1, 2, 3])).toEqual([3]);
  });

  it('refuses to mix kernels, and names the place in a file that it cannot use', async () => {
    const file = fileOf(flow(1, 200));
    expect(() => new FlowStore(dir, file, { ...SETTING, kernel: 'Linux 5.10' })).toThrow(
      /kernel Linux 6.1, not Linux 5.10/,
    );
    await writeFile(join(dir, 'flows.json'), JSON.stringify({ ...file, cells: { a: { flows: 3 } } }));
    await expect(readFlows(dir)).rejects.toThrow(/flows\.json: cells\.a\.network/);
    await writeFile(join(dir, 'flows.json'), '{');
    await expect(readFlows(dir)).rejects.toThrow(/expected JSON/);
    expect(await readFile(join(dir, 'flows.json'), 'utf8')).toBe('{');
  });
});
