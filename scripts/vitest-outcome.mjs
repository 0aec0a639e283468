/** A Vitest reporter for `npm test`: what became of each file, as JSON in the file that HOPWISE_TEST_OUTCOME names. */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ROOT } from './setup-programs.mjs';
import { newOutcome } from './test-summary.mjs';

export default class OutcomeReporter {
  onTestRunEnd(modules, unhandled) {
    const files = modules.map((module) => ofModule(module));
    writeFileSync(
      process.env.HOPWISE_TEST_OUTCOME,
      JSON.stringify({ files, unhandled: unhandled.map(({ message }) => message) }),
    );
  }
}

/** `isBroken`: something failed that is no test, such as a hook, and Vitest has not tried it twice. */
function ofModule(module) {
  const where = relative(ROOT, module.moduleId);
  const outcome = { ...newOutcome(), where, isBroken: false };
  for (const test of module.children.allTests()) {
    const { state, errors } = test.result();
    const trouble = { where, what: test.fullName, why: errors?.at(-1)?.message ?? '' };
    if (state === 'failed') {
      outcome.failed += 1;
      outcome.failures.push(trouble);
    } else if (state === 'passed') {
      outcome.passed += 1;
      const [first] = test.attempts();
      if (first?.state === 'failed') {
        outcome.secondTries.push({ ...trouble, why: first.errors?.[0]?.message ?? '' });
      }
    } else outcome.skipped += 1;
  }
  const others = [module, ...module.children.allSuites()];
  for (const { fullName, errors } of others.map((one) => ({
    fullName: one.fullName ?? '',
    errors: one.errors(),
  }))) {
    for (const { message } of errors) {
      outcome.failed += 1;
      outcome.failures.push({ where, what: fullName || 'outside of its tests', why: message });
      outcome.isBroken = true;
    }
  }
  return outcome;
}
