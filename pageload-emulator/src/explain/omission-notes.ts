import type { Omissions } from '../choose/choose.ts';
import { count } from './words.ts';

/** Lists in sentences what was left out of an answer because emulating the page takes long. */
export function omissionNotes({ comparedOn, searchCut, untriedOrigins }: Omissions): string[] {
  const notes: string[] = [];
  if (comparedOn !== null) notes.push(`The protocols were compared on ${count(comparedOn, 'network')} only.`);
  if (searchCut) notes.push('The search for the best mix of protocols was cut short.');
  if (untriedOrigins > 0) {
    notes.push(
      `Other protocols were not tried for ${count(untriedOrigins, 'origin')}, those that move fewest bytes.`,
    );
  }
  return notes;
}
