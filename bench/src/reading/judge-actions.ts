/** What is recommended to do about a page after it was loaded several times, and what that truly gains. */
import { mean, median } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import { SeededRandom } from '@hopwise/lab/random';
import { type Assignment, emulate, originOf, predict, type Recording } from '@hopwise/pageload-emulator';
import { recordLoadBy } from './record-load.ts';
import { type TrueCell, trueTimesOf, uniform } from './true-load.ts';

/** Loads by the browser itself that were measured beside the recorded one. */
const LOADS = [0, 4, 12];
/** Measured times over those that the recorded load suggests: servers and processors are slower at one time than at another. */
const STRETCHES = [1, 1.35];
/** Standard deviation of the logarithm of a measured load's time beyond its own losses. */
const SCATTER = 0.05;
/** Seeds of the measured loads' losses. */
const FIRST_SEED = 301;
/** One in so many origins offers no HTTP/3. */
const PLAIN_ORIGINS = 3;
/** An action that makes pages slower by more is harmful. */
const HARM = 0.02;

/** One action of a decision beside the truth. */
interface JudgedAction {
  /** What the load time is said to shrink by, and truly shrinks by, as fractions. */
  saidGain: number;
  gain: number;
  isWorthwhile: boolean;
  isSure: boolean;
}

/** The actions of a decision from one recording and measured loads. */
export interface JudgedActions {
  isPoliced: boolean;
  loads: number;
  stretch: number;
  actions: JudgedAction[];
  /** What is picked truly gains; null where the page is to be left. */
  pickedGain: number | null;
}

/** Judges what is recommended about a cell's page, whose browser uses HTTP/3 wherever it is offered. None where UDP is blocked. */
export function judgeActions(cell: TrueCell, number: number): JudgedActions[] {
  const { graph, path } = cell;
  if (path.udp.kind === 'blocked') return [];
  const plain = graph.origins.filter((_, index) => index % PLAIN_ORIGINS === 1);
  const natural: Assignment = {
    ...uniform(graph, 'h3'),
    ...Object.fromEntries(plain.map((origin) => [origin, 'h2' as const])),
  };
  const recording = withoutOffers(recordLoadBy(cell, natural, 'stack'), plain);
  const known = new Map<string, number>();
  const timeOf = (assignment: Assignment): number => {
    const key = graph.origins.map((origin) => assignment[origin]).join();
    const before = known.get(key) ?? median(trueTimesOf(cell, assignment));
    known.set(key, before);
    return before;
  };
  const naturalMs = timeOf(natural);
  const gainOf = ({ assignment }: { assignment: Assignment }) => 1 - timeOf(assignment) / naturalMs;
  return STRETCHES.flatMap((stretch) =>
    LOADS.filter((loads) => loads > 0 || stretch === 1).map((loads) => {
      const pltMs = measuredTimes(cell, natural, loads, number).map((ms) => stretch * ms);
      const knowledge = loads === 0 ? {} : { loads: [{ under: 'browser' as const, pltMs, ageMs: 0 }] };
      const { kind, action, actions } = predict(recording, { knowledge }).decision;
      return {
        isPoliced: path.udp.kind === 'policed',
        ...{ loads, stretch },
        actions: actions
          .filter((each) => each.kind !== 'leave')
          .map((each) => ({
            saidGain: each.gain,
            gain: gainOf(each),
            isWorthwhile: each.worthwhile,
            isSure: each.worthwhile && each.sure,
          })),
        pickedGain: kind === 'act' ? gainOf(action) : null,
      };
    }),
  );
}

/** The recording as of a page of which some servers offer no HTTP/3. */
function withoutOffers(recording: Recording, origins: readonly string[]): Recording {
  const requests = recording.requests.map((request) =>
    origins.includes(originOf(request.url)!) ? { ...request, offersH3: false } : request,
  );
  return { ...recording, requests };
}

function measuredTimes(
  { graph, path, servers }: TrueCell,
  assignment: Assignment,
  count: number,
  number: number,
): number[] {
  const random = new SeededRandom(number);
  return Array.from({ length: count }, (_, index) => {
    const { pltMs } = emulate(graph, path, servers, assignment, { seed: FIRST_SEED + index });
    return pltMs * Math.exp(SCATTER * random.normal());
  });
}

export function renderActions(judged: readonly JudgedActions[]): string {
  const header = [
    ...['UDP', 'loads', 'took', 'pages', 'acted', 'harmful', 'gain of what is picked'],
    ...['worthwhile', 'of', 'slower', 'said', 'true', 'sure', 'slower'],
  ];
  const meanPercent = (values: readonly number[]) =>
    values.length === 0 ? '' : `${(100 * mean(values)).toFixed(1)}%`;
  const rows = [false, true].flatMap((isPoliced) =>
    STRETCHES.flatMap((stretch) =>
      LOADS.flatMap((loads) => {
        const own = judged.filter(
          (each) => each.isPoliced === isPoliced && each.stretch === stretch && each.loads === loads,
        );
        if (own.length === 0) return [];
        const acted = own.flatMap(({ pickedGain }) => pickedGain ?? []);
        const actions = own.flatMap((each) => each.actions);
        const worthwhile = actions.filter(({ isWorthwhile }) => isWorthwhile);
        const sure = actions.filter(({ isSure }) => isSure);
        const slower = (of: readonly JudgedAction[]) => `${of.filter(({ gain }) => gain < 0).length}`;
        return [
          [
            isPoliced ? 'policed' : 'open',
            ...[loads, `×${stretch}`, own.length, acted.length].map(String),
            `${acted.filter((gain) => gain < -HARM).length}`,
            meanPercent(own.map(({ pickedGain }) => pickedGain ?? 0)),
            ...[worthwhile.length, actions.length].map(String),
            slower(worthwhile),
            meanPercent(worthwhile.map(({ saidGain }) => saidGain)),
            meanPercent(worthwhile.map(({ gain }) => gain)),
            `${sure.length}`,
            slower(sure),
          ],
        ];
      }),
    ),
  );
  return `Actions\n${table([header, ...rows], { numbers: true })}\n`;
}
