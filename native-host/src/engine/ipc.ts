import type { CurlVersion } from '../curl/libcurl.ts';
import type { RoundReport, RoundRequest, RoundTransferResult } from '../rounds/round.ts';

/** What a started engine says of itself. */
export interface EngineInfo extends CurlVersion {
  /** As given to the loader. */
  path: string;
}

/** From the host to the engine's process. */
export type HostMessage =
  | { type: 'run'; id: number; request: RoundRequest }
  | { type: 'cancel'; id: number }
  // Answered by the same.
  | { type: 'alive' };

/** From the engine's process to the host. */
export type ChildMessage =
  | { type: 'ready'; info: EngineInfo }
  | { type: 'unusable'; problem: string }
  | { type: 'result'; id: number; result: RoundTransferResult }
  | { type: 'report'; id: number; report: RoundReport }
  | { type: 'alive' }
  | { type: 'fault'; problem: string };

/** Descriptors of the engine's process beside the IPC channel, which is 3. */
export const EXCHANGE_PIPE = 4;
export const SENT_MARKS_FILE = 5;
