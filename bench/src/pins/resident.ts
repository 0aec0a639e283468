/** Memory of processes, from Linux's /proc (proc(5)). */
import { readFileSync } from 'node:fs';

export interface Resident {
  /** MiB of each process. */
  each: number[];
  /** MiB of all, with the pages of a file that several of them have mapped counted once. */
  together: number;
}

/** What the processes have resident now. */
export function resident(pids: readonly number[]): Resident {
  const each: number[] = [];
  const ofFiles = new Map<string, number>();
  let anonymous = 0;
  for (const pid of pids) {
    let total = 0;
    for (const { place, rssKb, anonymousKb } of mappings(pid)) {
      total += rssKb;
      anonymous += anonymousKb;
      ofFiles.set(place, Math.max(ofFiles.get(place) ?? 0, rssKb - anonymousKb));
    }
    each.push(total / 1024);
  }
  const files = [...ofFiles.values()].reduce((sum, kb) => sum + kb, 0);
  return { each, together: (anonymous + files) / 1024 };
}

function mappings(pid: number): { place: string; rssKb: number; anonymousKb: number }[] {
  const text = readFileSync(`/proc/${pid}/smaps`, 'utf8');
  return text.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m).map((mapping) => {
    const [, offset, file] = /^\S+ \S+ (\S+) \S+ \d+ *(.*)$/m.exec(mapping)!;
    const kb = (name: string): number => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(mapping)![1]);
    return { place: `${file} ${offset}`, rssKb: kb('Rss'), anonymousKb: kb('Anonymous') };
  });
}

const LOOK_MS = 250;

/** Samples processes until stopped. */
export class MostResident {
  #most: Resident;
  readonly #timer: NodeJS.Timeout;

  constructor(pids: readonly number[]) {
    this.#most = resident(pids);
    this.#timer = setInterval(() => {
      const now = resident(pids);
      if (now.together > this.#most.together) this.#most = now;
    }, LOOK_MS);
  }

  end(): Resident {
    clearInterval(this.#timer);
    return this.#most;
  }
}
