/** A Vitest reporter for `npm test`: the outcome of a run as JSON, in the file that HOPWISE_TEST_OUTCOME names. */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestModule } from 'vitest/node';
import { ROOT } from '../setup/programs.mjs';
import { newOutcome } from './outcome.ts';

/** An error's message and the lines in which the expected and the received value differ. */
export function describeError(error: { message: string; diff?: string | undefined } | undefined): string {
  if (!error) return '';
  const differing = stripVTControlCharacters(error.diff ?? '')
    .split('\n')
    .filter((line) => /^[-+] (?!Expected|Received)/.test(line));
  return [error.message, ...differing].join('\n');
}

export default class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message: string }[]): void {
    const outcome = newOutcome();
    const addFailure = (where: string, what: string, why: string): void => {
      outcome.failed += 1;
      outcome.failures.push({ where, what, why });
    };
    for (const module of modules) {
      const where = relative(ROOT, module.moduleId);
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'failed') addFailure(where, test.fullName, describeError(errors?.at(-1)));
        else outcome[state === 'passed' ? 'passed' : 'skipped'] += 1;
      }
      // Errors of no test, such as a hook's.
      for (const { message } of module.errors()) addFailure(where, 'outside of its tests', message);
      for (const group of module.children.allSuites()) {
        for (const { message } of group.errors()) addFailure(where, group.fullName, message);
      }
      const { processorSeconds = null } = module.meta() as { processorSeconds?: number };
      outcome.files.push({ file: where, seconds: module.diagnostic().duration / 1000, processorSeconds });
    }
    for (const { message } of unhandled) addFailure('', 'an error that nothing caught', message);
    writeFileSync(process.env.HOPWISE_TEST_OUTCOME!, JSON.stringify(outcome));
  }
}
