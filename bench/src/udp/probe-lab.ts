/** The lab serving one page, which is recorded once in Chromium and then probed by the native host's command. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { firstLine, type Verification, verificationSchema } from '@hopwise/contract';
import { browserProgram } from '@hopwise/lab/browser/browser-program';
import { siteInitScript } from '@hopwise/lab/browser/determinism';
import { Lab, type LabStats } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import { MeasuringBrowser } from '@hopwise/lab/loads/measuring-browser';
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import type { PageSource } from '@hopwise/lab/pages/page-source';
import { HOST_SCRIPT } from '@hopwise/lab/paths';
import { PROTOCOLS, type Protocol, planNetworkCheck, type Recording } from '@hopwise/pageload-emulator';

/** Kinds of rounds of a probe: three protocols, and the recommended and the browser's own assignment. */
export const MAX_ROUND_KINDS = 5;
const LOAD_TIMEOUT_MS = 60_000;
/** Limit for a verification of a page with hundreds of resources, as JSON. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

interface ProbeSettings {
  /** All unless given. */
  protocols?: readonly Protocol[];
  rounds: number;
  /** Maximum bytes; null for the command's own limit. */
  budgetBytes: number | null;
}

export class ProbeLab {
  readonly #page: PageSource;
  readonly #lab: Lab;
  readonly #dir: string;
  readonly #signal: AbortSignal;

  private constructor(page: PageSource, lab: Lab, dir: string, signal: AbortSignal) {
    this.#page = page;
    this.#lab = lab;
    this.#dir = dir;
    this.#signal = signal;
  }

  /** @param dir for recordings */
  static async up(
    page: PageSource,
    network: LabNetwork,
    dir: string,
    signal: AbortSignal,
  ): Promise<ProbeLab> {
    await mkdir(dir, { recursive: true });
    return new ProbeLab(page, await Lab.up({ site: page.dir, network, signal }), dir, signal);
  }

  down(): Promise<void> {
    return this.#lab.down();
  }

  /**
   * Loads the page once.
   *
   * @throws UserError when it does not load
   */
  async load(protocol: ProtocolMode): Promise<{ pltMs: number; recording: Recording }> {
    const { site } = this.#page;
    const browser = await MeasuringBrowser.launch({
      executablePath: await this.#lab.wrapper(browserProgram('headless-shell')),
      protocol,
      caSpki: this.#lab.caSpki,
      hosts: this.#lab.hosts,
    });
    try {
      const options = { timeoutMs: LOAD_TIMEOUT_MS, ...siteInitScript(site), record: true };
      const load = await browser.load(site.entry, options);
      if (!load.ok) throw new UserError(`${this.#page.name}: ${load.reason}`);
      return { pltMs: load.pltMs, recording: load.recording! };
    } finally {
      await browser.close();
    }
  }

  /** Configures another network or seed on the empty link. */
  async configure(network: LabNetwork): Promise<void> {
    await this.#lab.drain();
    await this.#lab.configure(network);
  }

  /** Counts of the link since `resetStats`. */
  stats(): Promise<LabStats> {
    return this.#lab.stats();
  }

  resetStats(): Promise<void> {
    return this.#lab.resetStats();
  }

  /** Runs `hopwise-host probe` on the current link. */
  async probe(
    recording: Recording,
    { protocols = PROTOCOLS, rounds, budgetBytes }: ProbeSettings,
  ): Promise<Verification> {
    const file = join(this.#dir, `${this.#page.name.replace(/[^\w-]/g, '-')}.json`);
    await writeFile(file, JSON.stringify(recording));
    const node = await this.#lab.wrapper(process.execPath, { HOPWISE_CA_FILE: this.#lab.caFile });
    const which = ['--protocols', protocols.join(), '--rounds', String(rounds)];
    const args = [HOST_SCRIPT, 'probe', '--har', file, ...which, '--json'];
    if (budgetBytes !== null) args.push('--budget', String(budgetBytes));
    const { stdout } = await promisify(execFile)(node, args, {
      maxBuffer: MAX_OUTPUT_BYTES,
      signal: this.#signal,
    }).catch((error) => {
      throw new UserError(`hopwise-host probe: ${error.stderr ? firstLine(error.stderr) : firstLine(error)}`);
    });
    return verificationSchema.parse(JSON.parse(stdout));
  }
}

/** Response bytes of a recording on the wire. */
export function bytesOf({ requests }: Recording): number {
  return requests.reduce((sum, { transferBytes }) => sum + (transferBytes ?? 0), 0);
}

/** The part of a recording that the extension's check of a network transfers. @throws UserError when it would transfer nothing */
export function partForCheck(recording: Recording): Recording {
  const plan = planNetworkCheck(recording, '');
  if (plan === null)
    throw new UserError(`${recording.url} has no server whose responses a check would transfer`);
  const requests = plan.transfers.map(({ url }, id) => ({
    ...recording.requests.find((request) => request.url === url && !request.fromCache)!,
    id,
    startMs: 0,
    initiator: { kind: 'navigation', requestId: null, source: 'recorded' } as const,
  }));
  return { ...recording, requests };
}
