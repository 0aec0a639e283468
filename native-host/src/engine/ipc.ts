import type { CurlVersion } from '../curl/libcurl.ts';
import type { RoundReport, RoundRequest, RoundTransferResult } from '../rounds/round.ts';

/** A started engine's libcurl. */
export interface EngineInfo extends CurlVersion {
  /** The path or name that the loader got. */
  path: string;
}

/** From the host to the engine's process. */
export type HostMessage =
  | { type: 'run'; id: number; request: RoundRequest }
  | { type: 'cancel'; id: number }
  // Answered by a message of the same type.
  | { type: 'alive' }
  // From now on the engine ends a host that does not send `alive` for a while.
  | { type: 'guard' };

/** From the engine's process to the host. */
export type ChildMessage =
  | { type: 'ready'; info: EngineInfo }
  | { type: 'unusable'; problem: string }
  | { type: 'result'; id: number; result: RoundTransferResult }
  | { type: 'report'; id: number; report: RoundReport }
  | { type: 'alive' }
  | { type: 'fault'; problem: string };

/** Descriptors of the engine's process; the IPC channel is 3. */
export const EXCHANGE_PIPE = 4;
export const SENT_MARKS_FILE = 5;
