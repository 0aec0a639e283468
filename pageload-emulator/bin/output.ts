/** What the command prints: in the width and colours of a terminal where there is one, JSON with the digits that mean something. */
import { styleText } from 'node:util';
import { displayWidth, printableJson, withoutCommands, wrap } from '@hopwise/contract/terminal';

/** Significant digits of figures in JSON: no figure is known more exactly. */
const DIGITS = 4;
/** Columns that the last column of a table keeps; a narrower rest is not worth a hanging indent. */
const MIN_LAST_COLUMN = 24;
/** How far columns are indented that are moved to a line of their own. */
const MOVED_INDENT = 4;

/** Prints text for a person. */
export function print(text: string): void {
  const { isTTY, columns } = process.stdout;
  // A pseudo-terminal without a size reports 0 columns.
  const plain = withoutCommands(text);
  process.stdout.write(`${isTTY && columns ? fitWidth(plain, columns) : plain}\n`);
}

/** Writes a line to standard error. */
export function note(text: string): void {
  process.stderr.write(`${withoutCommands(text)}\n`);
}

/** Prints a value as JSON. */
export function printJson(value: unknown): void {
  process.stdout.write(`${toJson(value)}\n`);
}

/** A value as JSON, with sensible digits. */
export function toJson(value: unknown): string {
  return printableJson(JSON.stringify(value, roundFigure, 1));
}

/** A value as one line of JSON, with sensible digits. */
export const toJsonLine = (value: unknown): string => printableJson(JSON.stringify(value, roundFigure));

/** Rounds numbers as a replacer of JSON. */
export const roundFigure = (_key: string, value: unknown): unknown =>
  typeof value === 'number' ? roundNumber(value) : value;

/** Whole numbers stay as they are, others keep four significant digits, from 1000 on one decimal place. */
export function roundNumber(value: number): number {
  if (!Number.isFinite(value) || Number.isInteger(value)) return value;
  return Math.abs(value) >= 1000 ? Math.round(value * 10) / 10 : Number(value.toPrecision(DIGITS));
}

/** Colours text where standard output is a terminal that shows colours; `NO_COLOR` is kept. */
export function paint(format: Parameters<typeof styleText>[0], text: string): string {
  const { isTTY } = process.stdout;
  return isTTY && process.stdout.hasColors() ? styleText(format, text, { validateStream: false }) : text;
}

/**
 * Breaks lines that are wider than a terminal: between words, or in a table so that the last column goes on below itself, or the last
 * columns on a line of their own.
 */
export function fitWidth(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => (displayWidth(line) <= columns ? [line] : fitLine(line, columns)))
    .join('\n');
}

function fitLine(line: string, columns: number): string[] {
  const start = line.lastIndexOf('  ') + 2;
  const indent = start > 1 ? displayWidth(line.slice(0, start)) : 0;
  if (indent === 0) return wrap(line, columns);
  if (columns - indent < MIN_LAST_COLUMN) return moveLastColumns(line, columns);
  const [first = '', ...rest] = wrap(line.slice(start), columns - indent);
  return [line.slice(0, start) + first, ...rest.map((part) => ' '.repeat(indent) + part)];
}

/** Puts the columns that do not fit on a line of their own. */
function moveLastColumns(line: string, columns: number): string[] {
  const gaps = [...line.matchAll(/ {2,}/g)].filter(
    ({ index }) => index > 0 && displayWidth(line.slice(0, index)) <= columns,
  );
  const last = gaps.at(-1);
  if (last === undefined) return wrap(line, columns);
  const rest = line.slice(last.index).trim().replace(/ {2,}/g, '  ');
  return [
    line.slice(0, last.index),
    ...wrap(rest, columns - MOVED_INDENT).map((part) => ' '.repeat(MOVED_INDENT) + part),
  ];
}
