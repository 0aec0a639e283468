/**
 * The arrows between packages and between folders, for dependency-cruiser: `npm run lint`. Imports of types count as well.
 *
 * Tests are outside: they may use another package's test support.
 */

/** What the product code of each package may import of the others. */
const MAY_IMPORT = {
  contract: [],
  'pageload-emulator': ['contract'],
  'native-host': ['contract', 'pageload-emulator'],
  model: ['contract', 'pageload-emulator'],
  extension: ['contract', 'pageload-emulator', 'model'],
  lab: ['contract', 'pageload-emulator'],
  bench: ['contract', 'pageload-emulator', 'native-host', 'model', 'extension', 'lab'],
  e2e: ['contract', 'pageload-emulator', 'native-host', 'model', 'extension', 'lab'],
};
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

/** Folders beside each other in `src` and in the folders there. */
const folderRules = ['[^/]+/src', '[^/]+/src/[^/]+'].map((parent) => ({
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
    ...folderRules,
    {
      name: 'no-tests-in-the-product',
      comment: 'What ships imports nothing of the tests.',
      severity: 'error',
      from: { path: '^[^/]+/(src|bin)/' },
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
