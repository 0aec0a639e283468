import { InputError, shown } from '../../util/input-error.ts';
import { urlKey } from './urls.ts';

/** Which page load of a file to take: its number from 1, or its URL. */
export type PageChoice = number | string;

/** How to read a file. */
export interface ReadOptions {
  /** Which of several page loads to take; the first that was answered when absent. */
  page?: PageChoice;
  /** Unix time in milliseconds: of the page loads of a chosen URL the one that began nearest to it is taken; the first when absent. */
  nearMs?: number;
  /** The option by which people choose a page load, such as `--page`: a note names it where others could be taken. */
  pageOption?: string;
}

/** How many page loads a message lists at most. */
const MAX_LISTED = 5;

/** The error of a choice that a file with the page loads of these names does not have. */
export function noSuchPage(names: readonly string[], choice: PageChoice): InputError {
  const listed = names.slice(0, MAX_LISTED).map((name, at) => `${at + 1} ${name}`);
  const others = names.length > MAX_LISTED ? `, … ${names.length}` : '';
  return new InputError(
    `page: expected one of the file's (${listed.join(', ')}${others}), got ${shown(choice)}`,
  );
}

/** Refuses a choice other than the one page load of a file. */
export function refuseOtherPage(url: string, choice: PageChoice | undefined): void {
  if (choice === undefined || choice === 1) return;
  if (typeof choice === 'number' || urlKey(choice) !== urlKey(url)) throw noSuchPage([url], choice);
}

/** Reads the choice of a page load: digits are a number, anything else a URL. */
export function pageChoice(text: string): PageChoice {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}
