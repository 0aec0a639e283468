/** Commands that are a script under Node 24, by their name in `hopwise.mjs`, each with the set-up that it needs. */
import { readFreshArguments, readPackageArguments, readTestArguments } from './arguments.mjs';
import { STEPS } from './steps.mjs';

/**
 * @typedef {object} Command
 * @property {string} script below the checkout
 * @property {(words: string[]) => object[]} steps the set-up that these arguments need
 * @property {(words: string[]) => unknown} [readArguments] refuses arguments that cannot be used, without any package
 * @property {boolean} [usesCommander] whether commander reads its arguments: those that cannot be used are refused before the set-up
 * @property {string} [calledAs] what a person types before its arguments, where the program has a name of its own too
 * @property {boolean} [inCheckout] whether it runs in the checkout, wherever it was called from: its arguments name no paths
 */

/** @type {Record<string, Command>} */
export const COMMANDS = {
  start: { script: 'e2e/dist/start/main.js', steps: stepsOfStart, usesCommander: true },
  test: {
    script: 'scripts/suites/main.ts',
    steps: () => STEPS.tests,
    readArguments: readTestArguments,
    inCheckout: true,
  },
  fresh: {
    script: 'scripts/fresh/main.ts',
    steps: () => STEPS.packages,
    readArguments: readFreshArguments,
    inCheckout: true,
  },
  lab: { script: 'lab/dist/main.js', steps: stepsOfLab, usesCommander: true },
  research: { script: 'research/src/main.ts', steps: stepsOfResearch, usesCommander: true },
  cli: {
    script: 'pageload-emulator/bin/hopwise.mjs',
    steps: () => STEPS.built,
    calledAs: 'npm run hopwise --',
  },
  helper: {
    script: 'native-host/bin/hopwise-host.mjs',
    steps: ({ length }) => (length > 0 ? STEPS.helper : STEPS.built),
    usesCommander: true,
    calledAs: 'npm run hopwise-host --',
  },
  package: {
    script: 'scripts/package/main.ts',
    steps: () => STEPS.built,
    readArguments: readPackageArguments,
  },
};

function stepsOfStart(words) {
  return words.some((word) => /^https?:\/\//.test(word)) ? STEPS.live : STEPS.lab;
}

function stepsOfLab(words) {
  switch (words[0]) {
    case 'summary':
      return STEPS.built;
    case 'advise':
    case 'check':
      return STEPS.check;
    case 'record': {
      const isUnchecked = words[words.indexOf('--check') + 1] === 'none' || words.includes('--check=none');
      return isUnchecked ? STEPS.record : STEPS.recordAndCheck;
    }
    default:
      return STEPS.matrix;
  }
}

function stepsOfResearch(words) {
  if (words.length === 0) return STEPS.built;
  if (words[0] !== 'papers') return STEPS.pcwnd;
  return [
    ...(words.includes('--quick') ? STEPS.built : STEPS.matrix),
    ...(words.some((word) => /^--data(=|$)/.test(word)) ? STEPS.model : []),
  ];
}
