/**
 * Reads the arguments of npm scripts that need no package for it, by their name in `hopwise.mjs`: what cannot be used is refused before any
 * set-up. Plain JavaScript with Node's own modules, as the help (helps.mjs).
 */
import { parseArgs } from 'node:util';

/** Why arguments cannot be used, in one line that ends with where the help is. */
export class ArgumentError extends Error {
  /**
   * @param {string} command as a person types it before its arguments, such as `npm test --`
   * @param {string} problem the place, and what was expected there
   */
  constructor(command, problem) {
    super(`hopwise: ${problem} (see ${command} --help)`);
  }
}

const TEST = 'npm test --';
const FRESH = 'npm run test:fresh --';
const PACKAGE = 'npm run package --';

/** The suites of `npm test`, in their order. */
export const SUITE_NAMES = ['lint', 'python', 'unit', 'go', 'integration', 'e2e', 'alone', 'long'];

/** What `npm run test:fresh` runs, each in a root of its own. */
const FRESH_RUNS = ['root-start', 'root-test', 'user-start', 'user-test'];

/** The parts of `npm run package`. */
const PACKAGE_PARTS = ['extension', 'helper', 'command', 'fixtures'];

/** Parses options by their types, with Node's reason in the words of the other commands. */
function parseOptions(command, args, options) {
  try {
    return parseArgs({ args, options });
  } catch (error) {
    const [line] = error.message.split('\n');
    const problem = line
      .replace(/^Unexpected argument '(.*)'\. This command .*$/, 'expected options, got $1')
      .replace(/^(Unknown option .*)\. To specify .*$/, '$1')
      .replace(/'(-[^ ']*)(?: <value>)?'/, '$1');
    throw new ArgumentError(command, problem[0].toLowerCase() + problem.slice(1));
  }
}

/** The names of a list with commas, each one of those that are known. */
function readList(command, list, known) {
  const names = list.split(',');
  const unknown = names.filter((each) => !known.includes(each));
  if (unknown.length === 0) return names;
  throw new ArgumentError(
    command,
    `--only: expected some of ${known.join(',')}, got ${unknown.join(',') || 'nothing'}`,
  );
}

/** `npm test`: the named suites, or the changes to test, or null for neither. */
export function readTestArguments(words) {
  const { values } = parseOptions(TEST, words, {
    only: { type: 'string' },
    changed: { type: 'boolean' },
    since: { type: 'string' },
    seed: { type: 'string' },
  });
  const { only, changed = false, since = 'HEAD', seed = null } = values;
  if (values.since !== undefined && !changed) throw new ArgumentError(TEST, '--since goes with --changed');
  if (changed && only !== undefined) throw new ArgumentError(TEST, 'expected --only or --changed, got both');
  const suites = only === undefined ? null : readList(TEST, only, SUITE_NAMES);
  return { suites, since: changed ? since : null, seed };
}

/** `npm run test:fresh`: the runs, and after `--` words for their commands; those for `npm test` are read here, before its root is made. */
export function readFreshArguments(args) {
  const end = args.indexOf('--');
  const [own, words] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
  const { values } = parseOptions(FRESH, own, { only: { type: 'string' } });
  const runs = values.only === undefined ? FRESH_RUNS : readList(FRESH, values.only, FRESH_RUNS);
  if (runs.some((run) => run.endsWith('-test'))) readTestArguments(words);
  return { runs, words };
}

/**
 * `npm run package`: a folder for the Playwright fixtures, or a release, or parts.
 *
 * @param {string[]} words
 */
export function readPackageArguments(words) {
  const [name, ...more] = words;
  if (name === 'playwright') {
    const [folder] = more;
    if (folder === undefined || folder.startsWith('-') || more.length > 1)
      throw new ArgumentError(PACKAGE, 'playwright: expected one folder');
    return { playwright: folder, release: null, parts: [] };
  }
  if (name === 'release') {
    const other = more.find((word) => word !== '--dry-run');
    if (other !== undefined)
      throw new ArgumentError(PACKAGE, `release: expected --dry-run or nothing, got ${other}`);
    return { playwright: null, release: { isDry: more.length > 0 }, parts: PACKAGE_PARTS };
  }
  const parts = name === undefined ? PACKAGE_PARTS : [name, ...more];
  const unknown = parts.find((part) => !PACKAGE_PARTS.includes(part));
  if (unknown !== undefined) {
    const known = PACKAGE_PARTS.join(', ');
    throw new ArgumentError(
      PACKAGE,
      `expected some of ${known}, or release, or playwright DIR, got ${unknown}`,
    );
  }
  return { playwright: null, release: null, parts };
}
