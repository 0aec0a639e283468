/** The packages of this project, and the arrows between them. Plain data: the linter, the set-up and the tests read it. */

/**
 * What the product code of each package may import of the others.
 *
 * @type {Record<string, string[]>}
 */
export const MAY_IMPORT = {
  contract: [],
  'pageload-emulator': ['contract'],
  'native-host': ['contract', 'pageload-emulator'],
  model: ['contract'],
  extension: ['contract', 'pageload-emulator', 'model'],
  lab: ['contract', 'pageload-emulator', 'extension'],
  server: ['contract', 'pageload-emulator', 'model', 'extension'],
  bench: ['contract', 'pageload-emulator', 'native-host', 'model', 'extension', 'lab', 'server'],
  research: ['contract', 'pageload-emulator', 'native-host', 'model', 'extension', 'lab', 'bench'],
  e2e: ['contract', 'pageload-emulator', 'native-host', 'model', 'extension', 'lab'],
};

/**
 * What the tests of a package use besides: its programs or its test support.
 *
 * @type {Record<string, string[]>}
 */
export const TESTS_ALSO_USE = {
  extension: ['native-host', 'lab'],
  lab: ['native-host', 'bench'],
  server: ['bench', 'lab'],
  scripts: ['contract', 'pageload-emulator', 'native-host', 'extension', 'lab'],
};
