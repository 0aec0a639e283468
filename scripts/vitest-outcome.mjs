/** A Vitest reporter for `npm test`: the outcome of a run (scripts/test-summary.mjs), as JSON in HOPWISE_TEST_OUTCOME's file. */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ROOT } from './setup-programs.mjs';
import { newOutcome } from './test-summary.mjs';

export default class OutcomeReporter {
  onTestRunEnd(modules, unhandled) {
    const outcome = newOutcome();
    const fail = (where, what, why) => {
      outcome.failed += 1;
      outcome.failures.push({ where, what, why });
    };
    for (const module of modules) {
      const where = relative(ROOT, module.moduleId);
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'failed') fail(where, test.fullName, errors?.at(-1)?.message ?? '');
        else outcome[state === 'passed' ? 'passed' : 'skipped'] += 1;
      }
      // Errors of no test, such as a hook's.
      for (const group of [module, ...module.children.allSuites()]) {
        for (const { message } of group.errors())
          fail(where, group.fullName ?? 'outside of its tests', message);
      }
    }
    for (const { message } of unhandled) fail('', 'an error that nothing caught', message);
    writeFileSync(process.env.HOPWISE_TEST_OUTCOME, JSON.stringify(outcome));
  }
}
