import { messageOf } from '@hopwise/contract';
import { loadLanguage } from './load-language.ts';
import { ShownError } from './shown-error.ts';

/** Returns the message of any error: in the language of the user interface if it is one for people to read. */
export async function describeError(error: unknown): Promise<string> {
  if (!(error instanceof ShownError)) return messageOf(error);
  await loadLanguage();
  return error.write();
}
