/**
 * What `--help` prints for npm scripts that need no package for it, by their name in `hopwise.mjs`. Plain JavaScript without imports: it is
 * read before any package is installed.
 */

/** @type {Record<string, string>} */
export const HELPS = {
  setup: `npm run setup [-- OPTIONS]: installs what hopwise needs
  --check    only shows what is there and what is missing
  --yes      does not ask before it uses root
  --verbose  shows what each step prints`,

  build: `npm run build: compiles the TypeScript packages into dist/, and bundles the extension into extension/dist/
Other commands do so by themselves where a source is newer.`,

  lint: `npm run lint: checks formatting, Biome's rules, what packages and folders may import, and the types of the tests
It changes nothing: npx biome check --write . formats and sorts imports.`,

  test: `npm test [-- --only SUITES | --changed [--since COMMIT]] [--seed TEXT]
  --only SUITES   some of lint, python, unit, go, integration, e2e, alone, long, with commas between them; all but long unless
                  given (npm run test:long runs these)
  --changed       what the changes in the working tree can break: the tests of their packages and of those that use them
  --since COMMIT  with --changed: the changes since this commit; HEAD unless given
  --seed TEXT     draws which cases of repetitive tables run, and which of the files that start many browsers (npm run test:long
                  runs all); the commit unless given
Ends with the line "N passed, N failed".`,

  fresh: `npm run test:fresh [-- --only NAMES] [-- WORDS…]

Runs npm start and npm test, each in a bare Debian 12 root of its own with a fresh clone of HEAD, as root and as an ordinary
user with sudo. Of this machine the roots see its Node and how it reaches package registries. It needs root.

  --only NAMES  some of root-start, root-test, user-start, user-test, with commas between
  WORDS         for the commands, such as --only unit where --only names runs of npm test alone

What the commands print is in out/fresh/NAME.log.`,

  package: `npm run package [-- PART…]
  extension       the stores' packages of the extension
  helper          Debian packages, tarballs and installers of the helper
  command         the npm package hopwise: command and library without any dependency
  fixtures        the npm package @hopwise/playwright
  playwright DIR  the Playwright fixtures with what they depend on, into DIR for a project outside this checkout
  release         all of these but playwright, with checksums and a page about the release, in out/release/; publishes the
                  npm packages where every address in scripts/package/addresses.json is filled in
  release --dry-run
                  the same, and publishes nothing
Without a part the first four, in out/package/.`,
};
