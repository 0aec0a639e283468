/** Judges what hopwise answers to a file that another tool recorded. */
import { median } from '@hopwise/contract';
import {
  type Action,
  type Assignment,
  type Decision,
  emulate,
  predict,
  promisingAction,
  type Recording,
  readPage,
} from '@hopwise/pageload-emulator';
import { longestRequest } from '../reading/longest-request.ts';

/** A headline that claims a gain. */
interface GainClaim {
  /** What the headline claims, milliseconds. */
  gainMs: number;
  /** What the same action gains in the emulation alone, milliseconds. */
  emulatedMs: number;
  /** Whether loads under the action were measured. */
  measured: boolean;
}

export interface JudgedFile {
  file: string;
  recorder: string;
  /** Why hopwise refused the file; absent where it read it. */
  refused?: string;
  /** The load time that hopwise reads; null where it reads none. */
  recordedMs: number | null;
  /** The load time in the folder's index; absent for a folder without one, null where the file has no load event. */
  indexedMs?: number | null;
  /** What the browser's own behaviour is expected to take, with its 80% range; absent for a refused file. */
  expected?: { pltMs: number; low: number; high: number };
  /** The range of the recorded load as it is emulated (`Fit.explainedRange`); absent without one. */
  explained?: { low: number; high: number };
  verdict?: string;
  /** The largest of the requests' emulated times over the recorded one (`longestRequest`), where the recorded load is emulated. */
  longest?: number;
  /** Random loss of the network as it is read, a fraction. */
  loss?: number;
  claim?: GainClaim;
  /** From the text to the answer. */
  elapsedMs: number;
}

/** A headline's gain above this multiple of the emulation's, without a measurement, is excessive. */
const MAX_CLAIM = 2;

/** Whether a headline claims more than the emulation and no measurement supports. */
export function isExcessive({ gainMs, emulatedMs, measured }: GainClaim): boolean {
  return !measured && gainMs > MAX_CLAIM * Math.max(0, emulatedMs);
}

/** Judges what hopwise says of a recording, by the load time that it reads from the file. */
export function judgeRecording(
  recording: Recording,
): Pick<JudgedFile, 'recordedMs' | 'expected' | 'explained' | 'verdict' | 'longest' | 'loss' | 'claim'> {
  const { decision, fit } = predict(recording);
  const { pltMs, low, high } = decision.baseline;
  const action = claimedAction(decision);
  const {
    graph,
    network: { path, servers },
  } = readPage(recording);
  const recordedMs = recording.pltMs;
  return {
    recordedMs: recordedMs !== null && recordedMs > 0 ? recordedMs : null,
    expected: { pltMs, low, high },
    ...(fit.explainedRange && { explained: fit.explainedRange }),
    verdict: decision.verdict,
    longest: longestRequest(recording, graph, path, servers, decision.baseline.protocols),
    loss: path.loss,
    ...(action !== null && { claim: claimOf(recording, decision, action) }),
  };
}

/** The action whose gain a headline names; null for a headline that names none. */
function claimedAction({ kind, action, actions, verdict }: Decision): Action | null {
  if (kind === 'act') return action;
  if (kind === 'unsure') {
    const promising = promisingAction(actions);
    return promising !== null && promising.gainMs > 0 ? promising : null;
  }
  const offer = actions.find((each) => each.kind === 'offer-h3' && each.worthwhile);
  return offer !== undefined && NAMES_TIMES.test(verdict) ? offer : null;
}

/** A headline that names two load times. */
const NAMES_TIMES = /→/;
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

function claimOf(recording: Recording, { baseline }: Decision, action: Action): GainClaim {
  const {
    graph,
    network: { path, servers },
  } = readPage(recording);
  const emulatedMs = (assignment: Assignment) =>
    median(SEEDS.map((seed) => emulate(graph, path, servers, assignment, { seed }).pltMs));
  return {
    gainMs: baseline.laterPltMs - action.time.pltMs,
    emulatedMs: emulatedMs(baseline.protocols) - emulatedMs(action.assignment),
    measured: action.measured,
  };
}
