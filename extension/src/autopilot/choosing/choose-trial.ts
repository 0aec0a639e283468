import type { Decision } from '@hopwise/contract';
import type { Arm, ChoiceReason, ExplorerQuestion } from '@hopwise/model';
import { pltOf } from '../../evidence/comparable-loads.ts';
import { isHeld } from '../../evidence/pin-outcomes.ts';
import { networkOf } from '../../load/used-network.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import { maskQuery } from '../../storage/strip-urls.ts';
import type { Experience } from '../learning/explorer-store.ts';
import { keyOfPage } from '../learning/learned.ts';
import type { PlannedRun } from '../runs/autopilot-run.ts';
import type { AutopilotSettings } from '../settings/autopilot-settings.ts';
import { listOptions, type Option } from './choose-run.ts';

const LEAVE = 'leave';

/**
 * Learns from a load, and chooses what to try with the next one of its page: TCP WISE's loop on protocols, see `Explorer`. What a trial
 * shows counts for the next decision, as every measured load with pins does.
 *
 * @param load not a first visit, which would show nothing of the next ones
 * @param reason why the load was made as it was
 * @param mayTry whether an option may be tried now
 * @returns null when nothing is to be tried
 */
export function chooseTrial(
  { explorer, scalesMs }: Experience,
  load: StoredLoad,
  decision: Decision,
  settings: AutopilotSettings,
  reason: ChoiceReason,
  mayTry: (option: Option) => boolean,
): PlannedRun | null {
  const options = listOptions(decision, settings);
  const current = nameOfLoad(load, options);
  if (current === null) return null;

  // A pinned load of a page without a public address shows no address: it is on the same network as those without the pin.
  const place = networkOf(load) === 'internet' ? 'internet' : 'local';
  const page = keyOfPage(place, maskQuery(load.recording.url));
  const leaving = armOfLeaving(decision);
  // Pages are compared by what the browser does by itself, also where pins came first.
  const scaleMs = scalesMs.get(page) ?? leaving.predicted!.pltMs;
  scalesMs.delete(page);
  scalesMs.set(page, scaleMs);

  const available = options.filter((option) => nameOf(option) === current || mayTry(option));
  const question: ExplorerQuestion = {
    clusters: [page, place],
    scaleMs,
    arms: [leaving, ...available.map(armOf)],
    minGain: settings.minGain,
    objective: settings.objective,
    random: Math.random,
  };
  explorer.note(question, { arm: current, reason }, pltOf(load));
  const chosen = explorer.choose(question);
  const option = available.find((each) => nameOf(each) === chosen.arm);
  const { reason: why } = chosen;
  if (why === 'best' || option === undefined) return null;
  const { pltMs: beforeMs } = leaving.predicted!;
  const predicted = { beforeMs, afterMs: option.action.time.pltMs };
  return { trigger: 'trial', reason: why, pins: option.pins, predicted };
}

/** Names an option alike on every page, so that pages can learn from each other. */
const nameOf = ({ action: { kind, protocol } }: Option): string => `${kind} ${protocol ?? 'several'}`;

const armOf = (option: Option): Arm => ({ name: nameOf(option), predicted: option.action.time });

/** What the browser does by itself on visits after the first. */
function armOfLeaving({ baseline: { pltMs, low, high, laterPltMs } }: Decision): Arm {
  const change = laterPltMs / pltMs;
  return { name: LEAVE, predicted: { pltMs: laterPltMs, low: low * change, high: high * change } };
}

/**
 * The arm that a load had; null for other pins. Off HTTP/3 are also kept those origins of which the load before did not show whether they
 * offer it, see `planUnknownOffers`: where they do not, that changes nothing.
 */
function nameOfLoad(load: StoredLoad, options: readonly Option[]): string | null {
  const pinned = Object.keys(load.pinned ?? {});
  if (pinned.length === 0) return LEAVE;
  const isKeptOff = pinned.every((origin) => isHeld(load, origin, 'avoid-h3'));
  const own = options.find(
    ({ action, pins }) =>
      pins.every(({ origin, kind }) => isHeld(load, origin, kind)) &&
      (pins.length === pinned.length || (action.kind === 'avoid-h3' && isKeptOff)),
  );
  return own === undefined ? null : nameOf(own);
}
