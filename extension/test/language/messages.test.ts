/** The messages of all languages, and their use in the sources. */
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { LANGUAGES } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { english } from '../../src/language/english.ts';
import { german } from '../../src/language/german.ts';
import type { MessageKey } from '../../src/language/translate.ts';

const SOURCES = new URL('../../src/', import.meta.url);
const MESSAGES = { en: english, de: german };
const germanMessages = Object.entries(german) as [MessageKey, string][];

/** The sources but for the messages themselves, without imports and comments, in which a key might stand too. */
async function readSources(): Promise<string> {
  const texts: string[] = [];
  const exclude = ['language/english.ts', 'language/german.ts'];
  for await (const path of glob('**/*.ts', { cwd: SOURCES.pathname, exclude }))
    texts.push(
      readFileSync(new URL(path, SOURCES), 'utf8').replace(/^import .*$|^\s*(\/\/|\*|\/\*).*$/gm, ''),
    );
  return texts.join('\n');
}

const placeholdersIn = (message: string): string[] => [
  ...new Set([...message.matchAll(/\$(\w+)\$/g)].map(([, name]) => name!)),
];

test('the German messages have the keys and placeholders of the English ones', () => {
  expect(Object.keys(german)).toEqual(Object.keys(english));
  for (const [key, message] of germanMessages)
    expect(placeholdersIn(message).sort(), key).toEqual(placeholdersIn(english[key]).sort());
});

test.each(LANGUAGES)('%s has every plural form that its counts need', (language) => {
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  const keys = Object.keys(MESSAGES[language]);
  for (const key of keys.filter((name) => name.endsWith('_other'))) {
    const stem = key.slice(0, -'other'.length);
    expect(keys.filter((name) => name.startsWith(stem)).sort(), key).toEqual(
      categories.map((category) => stem + category).sort(),
    );
  }
});

/** Written alike in both languages. */
const ALIKE = [
  'First Contentful Paint',
  'Largest Contentful Paint',
  'RTT',
  '$protocol$ in $count$',
  'Status',
  'Autopilot',
  'Median',
  'Browser',
  'HAR',
  'Server',
  'DSL',
  'Graph',
  'Details',
  'Zoom',
];
/** Words that no German sentence has. */
const ENGLISH = /\b(the|and|with|of|is|are|by|on|not|from|loads|requests?|origins?|pins?|packets?|pages?)\b/i;
/** One word for one thing, and the form of address: what is written otherwise, and how. */
const SAME_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bLadung(en)?\b/, 'Ladevorgang'],
  [/\bPins?\b/, 'Festlegung'],
  [/Kopfzeile|Kopffeld/, 'Header'],
  [/Darstellung\b.*(erste|größte)|(erste|größte) Darstellung/i, 'Anzeige'],
  [/HTTPS-Record/, 'HTTPS-Eintrag'],
  [/Einzelheiten zu|Einzelheiten der/, 'Details'],
  [/\b(du|dir|dich|deine?[mnrs]?)\b/i, 'Sie'],
  [/\d %/, 'a no-break space before %'],
  [/"/, '„…“'],
];

test('the German messages are German, and say the same thing by the same word', () => {
  const untranslated: string[] = [];
  const faults: string[] = [];
  for (const [key, message] of germanMessages) {
    const words = message.replace(/\$\w+\$|<[^>]*>/g, '');
    const isOfWords = /\p{L}{2}/u.test(words);
    if (isOfWords && message === english[key]) untranslated.push(message);
    const found = ENGLISH.exec(words);
    if (found) faults.push(`${key}: “${found[0]}” is English`);
    for (const [pattern, right] of SAME_WORDS)
      if (pattern.test(words)) faults.push(`${key}: ${pattern} instead of ${right}`);
  }
  expect([...new Set(untranslated)].sort()).toEqual(ALIKE.sort());
  expect(faults).toEqual([]);
});

/** How a message ends decides how it joins what follows. An abbreviation, and a colon where the figure follows the label. */
const OTHER_ENDS = ['columnConnections', 'autopilotMinGain'];

test('the German messages end as the English ones do', () => {
  const endOf = (message: string) => /[.:?…]?$/.exec(message)![0];
  const unlike = germanMessages
    .filter(([key, message]) => endOf(message) !== endOf(english[key]))
    .map(([key]) => key);
  expect(unlike.sort()).toEqual(OTHER_ENDS.toSorted());
});

test('every message is used', async () => {
  const sources = await readSources();
  const stems = new Set(Object.keys(english).map((key) => key.replace(/_(one|other)$/, '')));
  const unused = [...stems].filter((key) => !sources.includes(`'${key}'`));
  expect(unused).toEqual([]);
});

test.each(LANGUAGES)('the manifest has its texts in %s', (language) => {
  const manifest = readFileSync(new URL('../manifest.json', SOURCES), 'utf8');
  const ofManifest = JSON.parse(readFileSync(new URL(`_locales/${language}/messages.json`, SOURCES), 'utf8'));
  expect(Object.keys(ofManifest)).toEqual([...manifest.matchAll(/__MSG_(\w+)__/g)].map(([, key]) => key));
});
