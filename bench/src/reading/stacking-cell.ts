/** Rows of `npm run model -- stack` from the emulated recordings of a cell, of which the true load times are known. */
import type { DrawnCell } from '@hopwise/lab/gauntlet/cells';
import { isUdpFree } from '@hopwise/lab/judge/rules';
import { PROTOCOLS, predict } from '@hopwise/pageload-emulator';
import { stackingFeatures } from '../accuracy/stacking-features.ts';
import { KNOWLEDGE, knownOf, type StackingRow } from '../accuracy/stacking-rows.ts';
import { FORMS, recordLoad } from './record-load.ts';
import { naturalTime, trueCell, trueTime, uniform } from './true-load.ts';

/** @param number of the cell among those drawn: which protocol is recorded, and in which form, takes turns */
export function stackingCell(drawn: DrawnCell, number: number): StackingRow[] {
  const cell = trueCell(drawn, number >> 1);
  const { path, graph } = cell;
  const isBlocked = path.udp.kind === 'blocked';
  const usable = PROTOCOLS.filter((protocol) => protocol !== 'h3' || !isBlocked);
  const costMs: StackingRow['costMs'] = Object.fromEntries(
    usable.map((protocol) => [protocol, trueTime(cell, protocol)]),
  );
  // As in the measured cells: a browser falls back, as it does by itself.
  if (isBlocked) costMs.h3 = naturalTime(cell);
  const rule = isUdpFree(drawn.network) ? 'h3' : 'h2';
  const recorded = usable[number % usable.length]!;
  const recording = recordLoad(cell, recorded, FORMS[number % FORMS.length]!);
  const pinned = uniform(graph, recorded);
  return KNOWLEDGE.map((knowledge): StackingRow => {
    const network = knownOf(path, knowledge);
    const prediction = predict(recording, { network, knowledge: { pinned, isOtherNetwork: false } });
    return {
      ...{ page: drawn.page.name, network: drawn.name, knowledge, recorded, udp: path.udp.kind },
      features: stackingFeatures(prediction, recording),
      ...{ decision: prediction.decision.best, rule, costMs },
    };
  });
}
