/** Quantities as people type them: a number, alone or with its unit. */

/** What a number without a unit counts, and the units that may follow it. */
export interface Quantity {
  /** What is expected, for messages. */
  name: string;
  /** Two ways to write one, for messages. */
  examples: string;
  /** Factors by unit, in lower case. */
  units: Readonly<Record<string, number>>;
}

export const MILLISECONDS: Quantity = {
  name: 'milliseconds',
  examples: '60, 60ms or 0.06s',
  units: { ms: 1, s: 1_000 },
};
export const MEGABITS: Quantity = {
  name: 'Mbit/s',
  examples: '3, 3mbit or 3000kbit',
  units: {
    mbit: 1,
    'mbit/s': 1,
    mbps: 1,
    kbit: 1e-3,
    'kbit/s': 1e-3,
    kbps: 1e-3,
    gbit: 1e3,
    'gbit/s': 1e3,
    gbps: 1e3,
  },
};
export const FRACTION: Quantity = { name: 'a fraction', examples: '0.01 or 1%', units: { '%': 0.01 } };
export const PACKETS: Quantity = { name: 'packets', examples: '1 or 2.5', units: {} };
/** Decimal units as elsewhere, binary ones where they are named so. */
export const BYTES: Quantity = {
  name: 'bytes',
  examples: '500000, 500kB or 0.5MB',
  units: { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 },
};

const WITH_UNIT = /^\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z%/]+)\s*$/i;
/** What a product of two decimal numbers is rounded to, so that 2.9% is 0.029. */
const DIGITS = 12;

/** Reads `60`, `60ms` or `0.06s` as 60 milliseconds, and the like; NaN where the text is no such quantity. */
export function readQuantity(text: string, { units }: Quantity): number {
  const [, digits = '', unit = ''] = WITH_UNIT.exec(text) ?? [];
  const factor = Object.hasOwn(units, unit.toLowerCase()) ? units[unit.toLowerCase()]! : Number.NaN;
  if (unit !== '') return Number((Number(digits) * factor).toPrecision(DIGITS));
  return text.trim() === '' ? Number.NaN : Number(text);
}

/** What is expected of a quantity within bounds, for messages. */
export const expectedQuantity = (
  { name, examples }: Quantity,
  [min, max]: readonly [min: number, max: number],
): string => `${name} from ${min} to ${max}, such as ${examples}`;
