/**
 * The figures that the compared views show, kept beside their pictures: a change of the model alters no picture, and a picture may be
 * compared to the last row. `--update-snapshots=all` emulates them anew.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Prediction } from '@hopwise/contract';
import type { Page } from '@playwright/test';
import type { EmulationAnswer } from '../../extension/src/devtools/emulation/emulation-messages.ts';

const FILE = fileURLToPath(new URL('view-figures.json.gz', import.meta.url));

/** The figures of one page. */
export interface ViewFigures {
  prediction: Prediction;
  /** The answers of the panel's worker to its last question of each kind, in their order. */
  answers: EmulationAnswer[];
}

/** Null where they are to be emulated anew. */
export function readViewFigures(updateSnapshots: string): ViewFigures | null {
  if (updateSnapshots === 'all' || !existsSync(FILE)) return null;
  return JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as ViewFigures;
}

export function writeViewFigures(figures: ViewFigures): void {
  writeFileSync(FILE, gzipSync(JSON.stringify(figures), { level: 9 }));
}

/** Has the worker of a page's next documents answered at once, but to kinds of questions that have no answer here. */
export async function answerWorker(page: Page, answers: readonly EmulationAnswer[]): Promise<void> {
  await page.addInitScript((given) => {
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (this: Worker, request: { kind: string; id?: number }) {
      const own = given.filter(({ kind }) => kind === request.kind);
      if (own.length === 0) return postMessage.call(this, request);
      for (const answer of own) {
        const data = 'id' in answer ? { ...answer, id: request.id } : answer;
        queueMicrotask(() => this.dispatchEvent(new MessageEvent('message', { data })));
      }
    };
  }, answers);
}

/** Keeps what the worker of a page's next documents answers. @returns reads it */
export async function collectAnswers(page: Page): Promise<() => EmulationAnswer[]> {
  const all: EmulationAnswer[] = [];
  await page.exposeFunction('keepAnswer', (answer: EmulationAnswer) => void all.push(answer));
  await page.addInitScript(() => {
    const keep = (globalThis as unknown as { keepAnswer(answer: unknown): void }).keepAnswer;
    const { addEventListener } = Worker.prototype;
    const workers = new WeakSet<Worker>();
    Worker.prototype.addEventListener = function (
      this: Worker,
      ...args: Parameters<typeof addEventListener>
    ) {
      addEventListener.apply(this, args);
      if (workers.has(this)) return;
      workers.add(this);
      addEventListener.call(this, 'message', (event) => keep((event as MessageEvent).data));
    };
  });
  const questionOf = (answer: EmulationAnswer) => ('id' in answer ? answer.id : answer);
  return () => {
    const last = new Map(all.map((answer) => [answer.kind, questionOf(answer)]));
    return all.filter((answer) => last.get(answer.kind) === questionOf(answer));
  };
}
