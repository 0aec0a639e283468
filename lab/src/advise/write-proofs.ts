/** Measured gains as the source and the documentation have them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isEnough, MEASURED_GAINS, type MeasuredGain, MIN_GAIN, proofOf } from '@hopwise/pageload-emulator';
import { replaceFile } from '../command/write-file.ts';
import { ROOT } from '../paths.ts';
import { TESTABLE } from './set-ups.ts';

const MODULE = join(ROOT, 'pageload-emulator/src/advise/measured-gains.ts');
const DOCUMENT = join(ROOT, 'lab/docs/advise.md');

/** Renews what `hopwise advise` goes by, and its tables in the documentation. Gains on other pages and networks stay. */
export async function writeProofs(measured: readonly MeasuredGain[]): Promise<void> {
  const gains = mergeGains(MEASURED_GAINS, measured);
  const [module, document] = await Promise.all([MODULE, DOCUMENT].map((file) => readFile(file, 'utf8')));
  await replaceFile(MODULE, withRows(module!, gains));
  await replaceFile(DOCUMENT, withTables(document!, gains));
}

/** All gains, with the later ones in place of earlier ones of the same advice, page and network. */
export function mergeGains(
  before: readonly MeasuredGain[],
  later: readonly MeasuredGain[],
): readonly MeasuredGain[] {
  const merged = new Map([...before, ...later].map((gain) => [gain.slice(0, 3).join(' '), gain]));
  return [...merged.values()];
}

const DECLARATION = 'export const MEASURED_GAINS: readonly MeasuredGain[] = [';

/** The module with other rows, as the formatter has them. */
export function withRows(module: string, gains: readonly MeasuredGain[]): string {
  const before = module.slice(0, module.indexOf(DECLARATION));
  const rows = gains.map(
    (gain) =>
      `  [${gain.map((each) => (typeof each === 'string' ? `'${each}'` : String(each))).join(', ')}],\n`,
  );
  return `${before}${DECLARATION}${rows.length === 0 ? '' : `\n${rows.join('')}`}];\n`;
}

const BEGIN = '<!-- Written by `npm run lab -- advise … --write`. -->';
const END = '<!-- End of what is written. -->';

/** The document with other tables between its marks. */
export function withTables(document: string, gains: readonly MeasuredGain[]): string {
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`${DOCUMENT}: expected ${BEGIN} and ${END}`);
  const networks = [...new Set(gains.map(([, , network]) => network))];
  const parts = [proofTable(gains), ...networks.map((network) => gainTable(network, gains))];
  return `${before}${BEGIN}\n\n${parts.join('\n\n')}\n\n${END}${after}`;
}

function proofTable(gains: readonly MeasuredGain[]): string {
  const rows = TESTABLE.map((kind) => {
    const measured = gains.filter(([each]) => each === kind).length;
    const proof = proofOf(kind, gains);
    return [kind, String(measured), String(proof.cells), String(proof.kept), isEnough(proof) ? 'yes' : 'no'];
  });
  return markdown(['advice', 'measured', 'given', 'kept', 'advised by default'], rows);
}

function gainTable(network: string, gains: readonly MeasuredGain[]): string {
  const own = gains.filter(([, , each]) => each === network);
  const pages = [...new Set(own.map(([, page]) => page))];
  const rows = TESTABLE.filter((kind) => own.some(([each]) => each === kind)).map((kind) => [
    kind,
    ...pages.map((page) => {
      const gain = own.find((each) => each[0] === kind && each[1] === page);
      return gain === undefined ? '' : cellText(gain);
    }),
  ]);
  return markdown([`\`${network}\``, ...pages], rows);
}

/** Writes "12; 9 (7 to 14)"; in brackets where the advice is not given. */
function cellText([, , , promised, ...measured]: MeasuredGain): string {
  const [gained, low, high] = measured.map((share) => (100 * share).toFixed(0));
  const text = `${(100 * promised).toFixed(0)}; ${gained} (${low} to ${high})`
    .replaceAll(/-(?=0\b)/g, '')
    .replaceAll('-', '−');
  return promised < MIN_GAIN ? `[${text}]` : text;
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
