import { createReadStream } from 'node:fs';
import { RecordingBytes, readRecording } from '@hopwise/pageload-emulator';

/** Reads a HAR with bodies in it, of any size, in the memory that it takes without them; and notes on how it was read. */
export async function readLarge(file: string): Promise<{ requests: number; notes: string[] }> {
  const json = new RecordingBytes();
  for await (const bytes of createReadStream(file)) json.add(bytes as Uint8Array);
  const { recording, notes } = readRecording(json.end((kept) => new TextDecoder().decode(kept)));
  return { requests: recording.requests.length, notes };
}
