/** Messages in the language of the user interface. `_locales/` has what browsers show themselves: the manifest's. */
import { type Language, LOCALE } from '@hopwise/contract';
import { english } from './english.ts';

type English = typeof english;
export type MessageKey = keyof English;

/** Messages that differ by a number end in a plural category of `Intl.PluralRules`. */
type PluralKey = MessageKey extends infer K ? (K extends `${infer Stem}_other` ? Stem : never) : never;

type PlaceholdersIn<Text extends string> = Text extends `${string}$${infer Name}$${infer Rest}`
  ? Name | PlaceholdersIn<Rest>
  : never;
type PlaceholdersOf<K extends MessageKey> = PlaceholdersIn<English[K]>;
/** Messages without placeholders. */
export type PlainKey = { [K in MessageKey]: PlaceholdersOf<K> extends never ? K : never }[MessageKey];

type Values<Name extends string> = Record<Name, string | number>;
type Arguments<Name extends string> = [Name] extends [never] ? [] : [values: Values<Name>];

/** A language's messages by their keys. */
export type Messages = Partial<Record<string, string>>;

/** English in Node programs and tests; the bundles leave it out, because their pages load packaged files (`load-language.ts`). */
let messages: Messages = english;
let current: Language = 'en';
/** How the current language writes numbers; made with the first number, as it takes milliseconds and most loads that wake the worker show none. */
let rules: { numbers: Intl.NumberFormat; plurals: Intl.PluralRules } | null = null;

export function useLanguage(language: Language, its: Messages): void {
  current = language;
  messages = its;
  rules = null;
}

function findRules(): NonNullable<typeof rules> {
  const locale = LOCALE[current];
  rules ??= { numbers: new Intl.NumberFormat(locale), plurals: new Intl.PluralRules(locale) };
  return rules;
}

/** The language of the user interface. */
export const currentLanguage = (): Language => current;

/** The messages of the user interface: of all languages' files, the one that was loaded. */
export const currentMessages = (): Messages => messages;

/** Its locale for `Intl`. */
export const currentLocale = (): string => LOCALE[current];

/** A message with values in place of its placeholders; numbers are written as the language does. */
export function t<K extends MessageKey>(key: K, ...[values]: Arguments<PlaceholdersOf<K>>): string {
  return fill(key, values);
}

/** A message that has `$count$` in it, in the plural form of the count. */
export function plural<K extends PluralKey>(
  key: K,
  count: number,
  ...[values]: Arguments<
    Exclude<PlaceholdersOf<`${K}_other`> | PlaceholdersOf<`${K}_one` & MessageKey>, 'count'>
  >
): string {
  return fill(`${key}_${findRules().plurals.select(count)}`, { ...values, count });
}

function fill(key: string, values: Partial<Values<string>> = {}): string {
  const message = messages[key] ?? key;
  return message.replace(/\$(\w+)\$/g, (placeholder, name: string) => {
    const value = values[name] ?? placeholder;
    return typeof value === 'number' ? findRules().numbers.format(value) : value;
  });
}
