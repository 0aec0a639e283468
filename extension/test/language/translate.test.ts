import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { english } from '../../src/language/english.ts';
import { saveLanguageChoice } from '../../src/language/find-language.ts';
import { matchLanguage } from '../../src/language/languages.ts';
import { loadLanguage } from '../../src/language/load-language.ts';
import { plural, t, useLanguage } from '../../src/language/translate.ts';
import { formatBytes, formatDurations, formatGain, formatList, formatShare } from '../../src/ui/format.ts';
import { fetchMessages } from '../support/packaged-messages.ts';
import '../support/own-database.ts';

beforeEach(() => {
  vi.stubGlobal('chrome', {
    i18n: { getUILanguage: () => 'de-AT' },
    runtime: { getURL: (path: string) => path },
  });
  vi.stubGlobal('fetch', fetchMessages);
});

afterEach(() => {
  vi.unstubAllGlobals();
  useLanguage('en', english);
});

test('the language is the one of the browser, whatever its region, until the user chooses one', async () => {
  expect(await loadLanguage()).toBe('de');
  expect(t('cancel')).toBe('Abbrechen');
  await saveLanguageChoice('en');
  expect(await loadLanguage()).toBe('en');
  expect(t('cancel')).toBe('Cancel');
  await saveLanguageChoice(null);
  expect(await loadLanguage()).toBe('de');
});

test('the language is English for languages without messages', () => {
  expect(['de', 'de-CH', 'en-US', 'fr', 'den', ''].map(matchLanguage)).toEqual([
    'de',
    'de',
    'en',
    'en',
    'en',
    'en',
  ]);
});

test('values replace placeholders, and a count selects the plural form', () => {
  expect(t('numberExpected', { min: 30, max: 10_000 })).toBe('Expected a number from 30 to 10,000.');
  expect(plural('hours', 1)).toBe('1 hour');
  expect(plural('hours', 24)).toBe('24 hours');
  expect(plural('runOrigins', 1, { first: 'a.test' })).toBe('a.test and 1 other origin');
});

test('numbers, lists and shares are written as in German', async () => {
  await loadLanguage();
  expect(t('numberExpected', { min: 30, max: 10_000 })).toBe('Erwartet wird eine Zahl von 30 bis 10.000.');
  expect(formatDurations(4280, 2340)).toEqual(['4,3 s', '2,3 s']);
  // 4.3 - 2.3, as both are shown
  expect(formatGain(4280, 2340)).toBe('2,0 s');
  expect(formatBytes(1_250_000)).toBe('1,3 MB');
  expect(formatShare(0.12)).toBe('12\u00a0%');
  expect(formatList(['a', 'b', 'c'])).toBe('a, b und c');
});
