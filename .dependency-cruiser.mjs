/**
 * The arrows between packages and between folders, for dependency-cruiser: `npm run lint`. Imports of types count as well.
 *
 * Tests are outside: they may use another package's test support.
 */

import { MAY_IMPORT } from './scripts/packages.mjs';

const PACKAGES = Object.keys(MAY_IMPORT);

const packageRules = PACKAGES.map((name) => {
  const allowed = [name, ...MAY_IMPORT[name]];
  return {
    name: `${name}-imports`,
    comment: `${name} may import ${MAY_IMPORT[name].join(', ') || 'no other package'}.`,
    severity: 'error',
    from: { path: `^${name}/(src|bin)/` },
    to: { path: `^(${PACKAGES.filter((other) => !allowed.includes(other)).join('|')})/` },
  };
});

/** `scripts/` is no package: it sets up, tests and packs the others. */
const scriptRules = [
  {
    name: 'nothing-imports-scripts',
    comment: 'Packages know nothing of what sets them up.',
    severity: 'error',
    from: { pathNot: '^scripts/' },
    to: { path: '^scripts/' },
  },
  {
    name: 'scripts-imports',
    comment: 'scripts may import contract, native-host (whose parts it packs) and the list of benches.',
    severity: 'error',
    from: { path: '^scripts/', pathNot: '^scripts/test/' },
    to: {
      path: `^(${PACKAGES.join('|')})/`,
      pathNot: '^((contract|native-host)/src/|bench/src/registry[.]mjs$)',
    },
  },
  {
    name: 'setup-imports',
    comment:
      'Set-up runs before any package is installed: it may import modules of Node and of itself alone.',
    severity: 'error',
    from: { path: '^scripts/(hopwise|setup/[^/]+)[.]mjs$' },
    to: { dependencyTypesNot: ['core'], pathNot: '^(scripts/setup/[^/]+|bench/src/registry)[.]mjs$' },
  },
];

/** Folders beside each other in `scripts`, in `src` and in the folders there. */
const folderRules = ['scripts', '[^/]+/src', '[^/]+/src/[^/]+'].map((parent) => ({
  name: 'folders-in-one-direction',
  comment:
    'Of two folders beside each other one may import the other: never both, and not by way of a third.',
  severity: 'error',
  scope: 'folder',
  from: { path: `^(${parent})/[^/]+$` },
  to: { path: '^$1/[^/]+$', circular: true },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...packageRules.filter(({ to }) => to.path !== '^()/'),
    ...scriptRules,
    ...folderRules,
    {
      name: 'no-tests-in-the-product',
      comment: 'What ships imports nothing of the tests.',
      severity: 'error',
      // Benches start the tests' servers and browsers; they do not ship.
      from: { path: '^([^/]+/(src|bin)|scripts)/', pathNot: '^(bench|research|scripts/test)/' },
      to: { path: '^[^/]+/(test|specs)/' },
    },
    {
      name: 'resolvable',
      comment: 'An import that leads nowhere would pass the other rules.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, path: '^([.]|@hopwise/)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    // Packages resolve to each other's sources, as in the tests.
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js'],
    },
  },
};
