import { parseRecording } from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { chromiumHar, firefoxHar, START, webPageTestHar } from './hars.ts';
import { logEvents, logged, packet } from './netlogs.ts';
import { traceEvents } from './traces.ts';

/** JSON texts of one small page in each form that is read. */
export const VALID: Record<string, string> = {
  chromium: JSON.stringify(chromiumHar()),
  webPageTest: JSON.stringify(webPageTestHar()),
  firefox: JSON.stringify(firefoxHar()),
  devTools: JSON.stringify((chromiumHar() as { log: { entries: object[] } }).log.entries),
  plain: JSON.stringify({
    log: {
      entries: [
        { startedDateTime: START, request: { url: 'https://plain.test/' } },
        { startedDateTime: START, time: 50, request: { url: 'https://plain.test/x.js' } },
      ],
    },
  }),
  /** Read when it is asked for: the help of the fuzzer imports this file too. */
  get own() {
    return JSON.stringify(parseRecording(chromiumHar()));
  },
  trace: JSON.stringify({ traceEvents: traceEvents() }),
  netLog: JSON.stringify(logged([...logEvents(), packet(1, 240), packet(3, 241)])),
};

/** What may stand anywhere in a file that was not written by a recorder. */
const ODD: unknown[] = [
  null,
  '',
  'x',
  '-1',
  'constructor',
  '__proto__',
  'https://shop.test/',
  'data:,',
  '\u0000\n\ud800',
  'x'.repeat(70_000),
  true,
  0,
  -1,
  0.1,
  2 ** 53,
  1e10,
  1e15,
  -1e300,
  [],
  {},
  [null],
  nested(2_000),
];

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { parent: value };
  return value;
}

export interface Mutation {
  /** Which of all places in the file, from the top. */
  place: number;
  kind: 'remove' | 'replace' | 'repeat' | 'copy' | 'rename';
  odd: number;
}

/** One change of a JSON text. */
export const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(100_000),
  kind: fc.constantFrom<Mutation['kind'][]>('replace', 'remove', 'repeat', 'copy', 'rename'),
  odd: fc.nat(ODD.length - 1),
});

/** JSON text of a valid recording in which a few places were changed. */
export const mutatedText: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...Object.values(VALID)), fc.array(mutation, { minLength: 1, maxLength: 6 }))
  .map(([text, mutations]) => mutations.reduce(mutate, text))
  .chain((text) =>
    fc.oneof(
      { weight: 8, arbitrary: fc.constant(text) },
      { weight: 1, arbitrary: fc.nat(text.length).map((end) => text.slice(0, end)) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.nat(text.length), fc.string({ maxLength: 4 }))
          .map(([at, odd]) => text.slice(0, at) + odd + text.slice(at + odd.length)),
      },
      // JSON allows a key twice.
      { weight: 1, arbitrary: fc.constant(text.replace('{', '{"log":7,"entries":[],"requests":0,')) },
    ),
  );

/** @throws SyntaxError for a text that is not JSON */
export function mutate(text: string, { place, kind, odd }: Mutation): string {
  // Where the whole was removed, or copied into itself too often.
  if (text === '' || text.length > 1_000_000) return text;
  const root: { value: unknown } = { value: JSON.parse(text) };
  const places: { holder: Record<string, unknown>; key: string }[] = [];
  const visit = (holder: Record<string, unknown>, depth: number) => {
    if (depth > 20) return;
    for (const key of Object.keys(holder)) {
      places.push({ holder, key });
      const value = holder[key];
      if (typeof value === 'object' && value !== null) visit(value as Record<string, unknown>, depth + 1);
    }
  };
  visit(root, 0);
  const { holder, key } = places[place % places.length]!;
  const other = places[(place * 7 + odd) % places.length]!;
  switch (kind) {
    case 'remove':
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      break;
    case 'replace':
      holder[key] = ODD[odd];
      break;
    case 'repeat':
      if (Array.isArray(holder)) holder.push(holder[Number(key)], holder[Number(key)]);
      break;
    case 'copy':
      holder[key] = structuredClone(other.holder[other.key]);
      break;
    case 'rename':
      holder[other.key] = holder[key];
      break;
  }
  return JSON.stringify(root.value) ?? '';
}
