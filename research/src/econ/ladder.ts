import { InputError } from '@hopwise/pageload-emulator';

/** The representations of a video. */
export interface Ladder {
  /** Playing time of a segment. */
  segmentSeconds: number;
  representations: { name: string; kbps: number }[];
}

const FORMS =
  'a ladder: {"segmentSeconds": 4, "representations": [{"name": "720p", "kbps": 3000}, …]}, or CSV with the columns name,kbps,seconds';
const MAX_KBPS = 1e7;
const MAX_SECONDS = 3600;
/** Ladders have some ten. */
const MAX_REPRESENTATIONS = 1000;

/**
 * Reads a ladder of bitrates: JSON, or CSV with the columns `kbps,seconds` and optionally `name` before them, one
 * representation a line. In JSON a representation may be its kbit/s alone.
 *
 * @throws InputError naming the place and what was expected there
 */
export function parseLadder(text: string): Ladder {
  const ladder = text.trimStart().startsWith('{') ? fromJson(text) : fromCsv(text);
  const { representations } = ladder;
  if (representations.length === 0 || representations.length > MAX_REPRESENTATIONS) {
    throw new InputError(
      `representations: expected 1 to ${MAX_REPRESENTATIONS}, got ${representations.length}`,
    );
  }
  return ladder;
}

function fromJson(text: string): Ladder {
  let content: { segmentSeconds?: unknown; representations?: unknown };
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new InputError(`top level: expected ${FORMS}, got ${(error as Error).message}`);
  }
  const { segmentSeconds, representations } = content;
  if (!Array.isArray(representations)) throw new InputError(`representations: expected an array in ${FORMS}`);
  return {
    segmentSeconds: within(segmentSeconds, 'segmentSeconds', 'seconds', MAX_SECONDS),
    representations: representations.map((entry: unknown, index) => {
      const place = `representations[${index}]`;
      if (typeof entry === 'number')
        return representation(undefined, within(entry, place, 'kbit/s', MAX_KBPS));
      const { name, kbps } = (entry ?? {}) as { name?: unknown; kbps?: unknown };
      if (name !== undefined && typeof name !== 'string') {
        throw new InputError(`${place}.name: expected text, got ${JSON.stringify(name)}`);
      }
      return representation(name, within(kbps, `${place}.kbps`, 'kbit/s', MAX_KBPS));
    }),
  };
}

function fromCsv(text: string): Ladder {
  const [head = '', ...lines] = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const columns = head.split(',').map((cell) => cell.trim());
  const has = (...names: string[]) => columns.join() === names.join();
  if (!has('kbps', 'seconds') && !has('name', 'kbps', 'seconds')) {
    throw new InputError(`line 1: expected ${FORMS}, got ${JSON.stringify(head.slice(0, 60))}`);
  }
  const ladder: Ladder = { segmentSeconds: 0, representations: [] };
  for (const [index, line] of lines.entries()) {
    const place = `line ${index + 2}`;
    const cells = line.split(',').map((cell) => cell.trim());
    if (cells.length !== columns.length) {
      throw new InputError(
        `${place}: expected ${columns.join(',')}, got ${JSON.stringify(line.slice(0, 60))}`,
      );
    }
    const [kbps, seconds] = cells.slice(-2);
    const segmentSeconds = within(numeric(seconds!), place, 'seconds', MAX_SECONDS);
    if (index > 0 && segmentSeconds !== ladder.segmentSeconds) {
      throw new InputError(
        `${place}: expected ${ladder.segmentSeconds} seconds as in the line before, got ${segmentSeconds}`,
      );
    }
    ladder.segmentSeconds = segmentSeconds;
    ladder.representations.push(
      representation(
        columns.length === 3 ? cells[0] : undefined,
        within(numeric(kbps!), place, 'kbit/s', MAX_KBPS),
      ),
    );
  }
  return ladder;
}

const representation = (name: string | undefined, kbps: number) => ({ name: name || `${kbps} kbit/s`, kbps });

const numeric = (cell: string): unknown => (cell === '' || Number.isNaN(Number(cell)) ? cell : Number(cell));

function within(value: unknown, place: string, unit: string, max: number): number {
  if (typeof value === 'number' && value > 0 && value <= max) return value;
  throw new InputError(`${place}: expected ${unit} above 0 and up to ${max}, got ${JSON.stringify(value)}`);
}
