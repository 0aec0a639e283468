/** A test's loads in Playwright's report. */
import type { TestInfo } from '@playwright/test';
import { type ReplayLoad, titleOf } from './load.ts';
import { renderLoads } from './loads-html.ts';

/**
 * An annotation and an attached recording for each load, all their figures in `loads.json`, and for a test that failed a report with
 * their waterfalls.
 */
export class LoadReport {
  readonly #info: TestInfo;
  readonly #loads: ReplayLoad[] = [];

  constructor(info: TestInfo) {
    this.#info = info;
  }

  async add(load: ReplayLoad): Promise<void> {
    this.#loads.push(load);
    this.#info.annotations.push({ type: 'load', description: summaryOf(load) });
    if (load.disturbedBy.length > 0) {
      this.#info.annotations.push({
        type: 'disturbed load',
        description: `${titleOf(load)}: ${load.disturbedBy.join(', ')}`,
      });
    }
    await this.#info.attach(`recording ${this.#loads.length}: ${titleOf(load)}`, {
      body: JSON.stringify(load.recording),
      contentType: 'application/json',
    });
  }

  async end(): Promise<void> {
    if (this.#loads.length === 0) return;
    const loads = this.#loads.map(({ recording: _recording, ...figures }) => figures);
    await this.#info.attach('loads.json', {
      body: JSON.stringify(loads, null, 1),
      contentType: 'application/json',
    });
    if (this.#info.status === this.#info.expectedStatus) return;
    await this.#info.attach('loads.html', {
      body: renderLoads(this.#loads, this.#info.title),
      contentType: 'text/html',
    });
  }
}

function summaryOf(load: ReplayLoad): string {
  const { requests, failed, proved, fcpMs, lcpMs } = load;
  const paints = [
    ...(fcpMs === null ? [] : [`FCP ${Math.round(fcpMs)} ms`]),
    ...(lcpMs === null ? [] : [`LCP ${Math.round(lcpMs)} ms`]),
  ];
  const counts = new Map<string, number>();
  for (const { protocol, fromCache } of requests) {
    const name = fromCache ? 'from cache' : (protocol ?? 'unknown');
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const protocols = [...counts].map(([protocol, count]) => `${count} ${protocol}`).join(', ');
  return [
    `${titleOf(load)}: PLT ${Math.round(load.pltMs)} ms`,
    ...paints,
    `${requests.length} requests (${protocols})${proved ? '' : ', not all on the protocol asked for'}`,
    ...(failed.length > 0 ? [`${failed.length} failed`] : []),
  ].join(', ');
}
