/** Unix times, as powers of ten: those of this century have 10 digits in seconds, 13 in milliseconds, 16 in microseconds, 19 in nanoseconds. */
const UNITS = [1e17, 1e14, 1e11, 1e8] as const;
const MS_PER_UNIT = [1e-6, 1e-3, 1, 1e3] as const;
/** There was no HTTP before. */
const EARLIEST_MS = Date.parse('1990-01-01');
/** No date is longer, with the name of its time zone. */
const MAX_LENGTH = 200;
/** The text of a serialised .NET date. */
const DOT_NET = /^\/Date\((\d+)[-+\d]*\)\/$/;
/** A zone's name after its offset, which Java's `ZonedDateTime` adds. */
const ZONE_NAME = /\[[^\]]*\]$/;
/** Clocks of twelve hours, wherever they name the half of the day. */
const HALF_DAY = /[\s\u202f]*([ap])\.?m\.?/i;

/**
 * A date and time that a recorder wrote, as text that `Date.parse` reads: ISO 8601 as it is, also where its hours count to twelve, a
 * comma or colon is its decimal point, or its zone is written in another way; Unix times in any unit.
 *
 * @returns null for what is no date
 */
export function isoDate(value: unknown): string | null {
  if (typeof value === 'string' && value.length > MAX_LENGTH) return null;
  const unixTime = typeof value === 'string' ? (DOT_NET.exec(value)?.[1] ?? value) : value;
  if (typeof unixTime === 'number' || (typeof unixTime === 'string' && /^\d{9,20}(\.\d+)?$/.test(unixTime)))
    return fromUnixTime(Number(unixTime));
  if (typeof value !== 'string') return null;
  const text = Number.isNaN(Date.parse(value)) ? inIso(value) : value;
  return Number.isNaN(Date.parse(text)) ? null : text;
}

/** Whether a date that `isoDate` returned is the zero of a clock, which recorders write for what has none. */
export const isClockZero = (date: string): boolean => Date.parse(date) < EARLIEST_MS;

function fromUnixTime(time: number): string | null {
  const unit = UNITS.findIndex((least) => time >= least);
  const date = new Date(unit < 0 ? Number.NaN : time * MS_PER_UNIT[unit]!);
  return date.getTime() >= EARLIEST_MS ? date.toISOString() : null;
}

function inIso(text: string): string {
  const dotted = withOffset(text.trim().replace(ZONE_NAME, '')).replace(/(:\d\d:\d\d)[,:](\d)/, '$1.$2');
  const half = HALF_DAY.exec(dotted)?.[1]?.toLowerCase();
  if (half === undefined) return dotted;
  return dotted
    .replace(HALF_DAY, '')
    .replace(/([T ])(\d\d?)(?=:)/, (_, before, hours) => {
      return `${before}${String((Number(hours) % 12) + (half === 'p' ? 12 : 0)).padStart(2, '0')}`;
    })
    .replace(/\s+(?=[-+Z])/, '');
}

/** A date whose offset is of whole hours only (Java's pattern `X`), follows `GMT`, or has a `Z` after it (Python's `isoformat() + 'Z'`). */
function withOffset(text: string): string {
  return text
    .replace(/\s*(?:GMT|UTC)(?=[-+]\d|$)/i, (name, at: number) =>
      at + name.length === text.length ? 'Z' : '',
    )
    .replace(/([-+]\d\d:?\d\d)Z$/i, '$1')
    .replace(/(:\d\d(?:[.,:]\d+)?[-+]\d\d)$/, '$1:00');
}
