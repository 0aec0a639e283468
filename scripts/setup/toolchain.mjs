/** The programs of `npm run build` and `npm run lint` in their order: a script of Node below the checkout, and its arguments. */

export const BUILD = [['node_modules/.bin/tsc', '-b'], ['extension/build.mjs']];

/** Formatter and linter, imports between packages and folders, and types of what the build does not compile. */
export const LINT = [
  ['node_modules/.bin/biome', 'check', '.'],
  ['node_modules/.bin/depcruise', '*/{src,bin}', 'scripts'],
  ['node_modules/.bin/tsc', '-p', 'tsconfig.tests.json'],
];
