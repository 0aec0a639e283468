import type { Omissions } from '../choose/choose.ts';
import type { Sentences } from './sentences/english.ts';

/** Lists in sentences what was left out of an answer because emulating the page takes long. */
export function omissionNotes(
  { comparedOn, searchCut, untriedOrigins }: Omissions,
  { notes }: Sentences,
): string[] {
  return [
    ...(comparedOn === null ? [] : [notes.comparedOn(comparedOn)]),
    ...(searchCut ? [notes.searchCut()] : []),
    ...(untriedOrigins > 0 ? [notes.untriedOrigins(untriedOrigins)] : []),
  ];
}
