import type { Recording } from '@hopwise/contract';
import { InputError } from '@hopwise/pageload-emulator';
import { note } from './output.ts';
import { readInput, shownName } from './read-input.ts';

/**
 * Adds to a recording what a NetLog of the same load shows beside it: how many packets over QUIC were lost.
 *
 * @param log file of the NetLog; of several loads of the page in it the one nearest in time is taken
 * @throws InputError whose message names the log
 */
export async function withLoggedPackets(recording: Recording, log: string): Promise<Recording> {
  try {
    const nearMs = Date.parse(recording.recordedAt);
    const { quicPackets } = (await readInput(log, { page: recording.url, nearMs })).recording;
    if (quicPackets !== undefined) return { ...recording, quicPackets };
    note(`${shownName(log)}: no packet over HTTP/3 in it for this load`);
    return recording;
  } catch (error) {
    if (error instanceof InputError) throw new InputError(`${shownName(log)}: ${error.message}`);
    throw error;
  }
}
