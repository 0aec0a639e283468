import { type RecordCommand, recordCommandWithOptions, recordOptions } from '../../src/record/options.ts';

/** What `npm run lab -- record` with these words would do. */
export function recordOptionsOf(words: string[]): RecordCommand {
  const command = recordCommandWithOptions();
  return recordOptions(command.parse(words, { from: 'user' }));
}
