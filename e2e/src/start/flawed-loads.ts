import type { LoadProtocol } from '@hopwise/lab/ground-truth/ground-truth';

/** Fewer than `measureProtocols` would make, so that all that are asked for are made. */
const MAX_IN_A_ROW = 3;

type Flaw = 'disturbed' | 'incomplete';
type Verdict = 'keep' | 'repeat';

/** Decides which measured loads are made again, because other work disturbed them or requests failed in them, and counts them. */
export class FlawedLoads {
  readonly #keepsDisturbed: boolean;
  #repeatsLeft: number;
  #inARow = 0;
  /** URLs that fail in the first load, the browser's own choice: the page's own faults. */
  #failing: ReadonlySet<string> | null = null;
  readonly #counts = new Map<string, number>();

  /** @param maxRepeats in all: on a machine that is never quiet they would not end */
  constructor(maxRepeats: number, keepsDisturbed: boolean) {
    this.#repeatsLeft = maxRepeats;
    this.#keepsDisturbed = keepsDisturbed;
  }

  /** @param failed the requests that failed in a load */
  judge(protocol: LoadProtocol, failed: readonly { url: string }[], isDisturbed: boolean): Verdict {
    this.#failing ??= new Set(failed.map(({ url }) => url));
    const usual = this.#failing;
    // Without what these requests would have led to the load event comes too early.
    const isIncomplete = failed.some(({ url }) => !usual.has(url));
    const flaw: Flaw | null = isIncomplete ? 'incomplete' : isDisturbed ? 'disturbed' : null;
    const isRepeated =
      flaw !== null &&
      !(flaw === 'disturbed' && this.#keepsDisturbed) &&
      this.#repeatsLeft > 0 &&
      this.#inARow < MAX_IN_A_ROW;
    const verdict = isRepeated ? 'repeat' : 'keep';
    this.#inARow = isRepeated ? this.#inARow + 1 : 0;
    if (isRepeated) this.#repeatsLeft--;
    if (flaw !== null) {
      const name = nameCount(flaw, verdict, protocol);
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    }
    return verdict;
  }

  /** @returns a line each for the disturbed loads that were dropped and kept, and for those dropped as requests failed in them */
  describe(names: Record<LoadProtocol, string>): string[] {
    const line = (what: string, flaw: Flaw, verdict: Verdict) => {
      const counted = (Object.keys(names) as LoadProtocol[]).flatMap((protocol) => {
        const count = this.#counts.get(nameCount(flaw, verdict, protocol));
        return count === undefined ? [] : [`${count} of ${names[protocol]}`];
      });
      return counted.length > 0 ? [`${what}: ${counted.join(', ')}`] : [];
    };
    const byWhat = 'disturbed by late packets or other processes';
    return [
      ...line(`loads dropped and repeated, ${byWhat}`, 'disturbed', 'repeat'),
      ...line(`loads kept although ${byWhat}`, 'disturbed', 'keep'),
      ...line('loads dropped and repeated, as requests failed in them', 'incomplete', 'repeat'),
    ];
  }
}

const nameCount = (flaw: Flaw, verdict: Verdict, protocol: LoadProtocol) => `${flaw} ${verdict} ${protocol}`;
