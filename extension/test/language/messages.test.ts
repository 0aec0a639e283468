/** The messages of all languages, and their use in the sources. */
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { LANGUAGES } from '@hopwise/contract';
import { expect, test } from 'vitest';

interface Message {
  message: string;
  placeholders?: Record<string, { content: string }>;
}

const SOURCES = new URL('../../src/', import.meta.url);
const messagesOf = (language: string): Record<string, Message> =>
  JSON.parse(readFileSync(new URL(`_locales/${language}/messages.json`, SOURCES), 'utf8'));

const english = messagesOf('en');
const manifest = readFileSync(new URL('../manifest.json', SOURCES), 'utf8');

/** The sources, without imports and comments, in which a key might stand too. */
async function readSources(): Promise<string> {
  const texts: string[] = [];
  for await (const path of glob('**/*.ts', { cwd: SOURCES.pathname }))
    texts.push(
      readFileSync(new URL(path, SOURCES), 'utf8').replace(/^import .*$|^\s*(\/\/|\*|\/\*).*$/gm, ''),
    );
  return texts.join('\n');
}

const placeholdersIn = (message: string): string[] => [
  ...new Set([...message.matchAll(/\$(\w+)\$/g)].map(([, name]) => name!)),
];

test.each(LANGUAGES)('%s has the messages and placeholders of English', (language) => {
  const own = messagesOf(language);
  expect(Object.keys(own)).toEqual(Object.keys(english));
  for (const [key, { message, placeholders = {} }] of Object.entries(own)) {
    expect(placeholdersIn(message).sort(), key).toEqual(Object.keys(placeholders).sort());
    expect(placeholders, key).toEqual(english[key]!.placeholders ?? {});
  }
});

test.each(LANGUAGES)('%s has every plural form that its counts need', (language) => {
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  const keys = Object.keys(messagesOf(language));
  for (const key of keys.filter((name) => name.endsWith('_other'))) {
    const stem = key.slice(0, -'other'.length);
    expect(keys.filter((name) => name.startsWith(stem)).sort(), key).toEqual(
      categories.map((category) => stem + category).sort(),
    );
  }
});

test('every message is used', async () => {
  const sources = await readSources();
  const stems = new Set(Object.keys(english).map((key) => key.replace(/_(one|other)$/, '')));
  const unused = [...stems].filter(
    (key) => !sources.includes(`'${key}'`) && !manifest.includes(`__MSG_${key}__`),
  );
  expect(unused).toEqual([]);
});
