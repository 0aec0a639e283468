import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXTENSION_ID, MESSAGE_VERSION } from '@hopwise/contract';
import { frame, readFrames } from '../../../native-host/src/base/framing.ts';
import { readProcessorTimes, sumKinds } from '../recorder/processor-time.ts';

/** Questions that the extension starts the helper for: which network this is, and what the helper can do, before any transfer. */
export const QUESTIONS = {
  network: { type: 'network', id: 'question' },
  hello: { type: 'hello', id: 'question', version: MESSAGE_VERSION },
} as const;

type Question = keyof typeof QUESTIONS;

interface Start {
  /** Processor time of the helper and its engine up to the answer. */
  processorMs: number;
  /** From the start of the process to the answer. */
  answerMs: number;
}

/** Starts the helpers of several checkouts, each with a state folder of its own, as browsers do. */
export class HelperStarts {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(): Promise<HelperStarts> {
    return new HelperStarts(await mkdtemp(join(tmpdir(), 'hopwise-helper-')));
  }

  close(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }

  /**
   * Starts the built helper of a checkout, asks one question, and ends it.
   *
   * @param name of the checkout's state folder
   * @throws Error where it does not answer
   */
  async measure(checkout: string, name: string, question: Question): Promise<Start> {
    const script = join(checkout, 'native-host/dist/bin/hopwise-host.js');
    const startMs = performance.now();
    const helper = spawn(process.execPath, [script, `chrome-extension://${EXTENSION_ID}/`], {
      env: { ...process.env, XDG_STATE_HOME: join(this.#folder, name) },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(helper, 'exit');
    try {
      helper.stdin.write(frame(QUESTIONS[question], Number.MAX_SAFE_INTEGER));
      const { value, done } = await readFrames(helper.stdout).next();
      const answerMs = performance.now() - startMs;
      const type = done ? 'nothing' : (value as { type?: unknown } | null)?.type;
      if (type !== question) throw new Error(`${script}: expected the answer ${question}, got ${type}`);
      return { processorMs: sumKinds(readProcessorTimes(helper.pid!)), answerMs };
    } finally {
      helper.stdin.end();
      await ended;
    }
  }
}
