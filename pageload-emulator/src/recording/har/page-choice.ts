/** Which page load of a file to take: its number from 1, or its URL. */
export type PageChoice = number | string;

/** Reads the choice of a page load: digits are a number, anything else a URL. */
export function pageChoice(text: string): PageChoice {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}
