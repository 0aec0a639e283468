import { removeUserinfoInText } from '@hopwise/contract';
import { printable } from '@hopwise/contract/terminal';
import type { InputError } from '@hopwise/pageload-emulator';
import { note } from './output.ts';

/** Exit code for input that cannot be used. */
export const UNUSABLE = 2;

/** Names input that cannot be used, and has the command end with the exit code of that. */
export function refuse(error: InputError): void {
  note(`hopwise: ${printable(removeUserinfoInText(error.message), 600)}`);
  process.exitCode = UNUSABLE;
}
