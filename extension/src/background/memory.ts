/** What the extension remembers: how much it is. */
import type { StoredData } from '../messages/memory-messages.ts';
import { getAllLoads } from '../storage/loads.ts';

export async function measureStoredData(): Promise<StoredData> {
  const loads = await getAllLoads();
  const [oldest] = loads;
  return {
    loads: loads.length,
    bytes: loads.reduce((sum, load) => sum + new TextEncoder().encode(JSON.stringify(load)).length, 0),
    oldestMs: oldest ? Date.parse(oldest.recording.recordedAt) : null,
  };
}
