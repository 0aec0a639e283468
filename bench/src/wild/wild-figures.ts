import { groupBy, quantile } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import { isTripled } from '../reading/longest-request.ts';
import { isExcessive, type JudgedFile } from './judge-file.ts';

/** Load times closer than this to the recorded one reproduce it. */
const REPRODUCED = 0.05;
/** Random loss that links by wire rarely exceed, a fraction; assumed. */
const LOSSY = 0.005;

/** Figures of the files of one recorder, or of all. */
interface WildFigures {
  files: number;
  refused: number;
  /** Files whose load time is read as another than the index has: of another navigation, or none. */
  otherLoad: number;
  /** Files that were read and record a load time. */
  judged: number;
  /** Share of `judged` whose recorded load time is reproduced within 5%; null, as the others, where `judged` is 0. */
  reproduced: number | null;
  /** Error of the expected load time, as a fraction of the recorded one. */
  medianError: number | null;
  p90Error: number | null;
  /** Share of `judged` whose recorded load time is within the 80% range of its own emulation. */
  inRange: number | null;
  /** Files with a request that is expected to take three times as long as it was recorded. */
  tripled: number;
  /** Files whose network is read as losing more than 0.5% at random. */
  lossy: number;
  /** Headlines that claim a gain. */
  claims: number;
  /** Those among them above twice the emulation's gain without a measurement. */
  excessive: number;
}

export function wildFigures(files: readonly JudgedFile[]): WildFigures {
  const loads = files.flatMap(({ recordedMs, expected, explained }) =>
    recordedMs === null || expected === undefined ? [] : [{ recordedMs, pltMs: expected.pltMs, explained }],
  );
  const errors = loads.map(({ recordedMs, pltMs }) => Math.abs(pltMs / recordedMs - 1));
  const shareOf = (count: number) => (loads.length === 0 ? null : count / loads.length);
  const claims = files.flatMap(({ claim }) => claim ?? []);
  return {
    files: files.length,
    refused: files.filter(({ refused }) => refused !== undefined).length,
    otherLoad: files.filter(isOtherLoad).length,
    judged: loads.length,
    reproduced: shareOf(errors.filter((error) => error <= REPRODUCED).length),
    medianError: errors.length === 0 ? null : quantile(errors, 0.5),
    p90Error: errors.length === 0 ? null : quantile(errors, 0.9),
    inRange: shareOf(
      loads.filter(
        ({ recordedMs, explained }) =>
          explained !== undefined && explained.low <= recordedMs && recordedMs <= explained.high,
      ).length,
    ),
    tripled: files.filter(({ longest }) => longest !== undefined && isTripled(longest)).length,
    lossy: files.filter(({ loss }) => loss !== undefined && loss > LOSSY).length,
    claims: claims.length,
    excessive: claims.filter(isExcessive).length,
  };
}

function isOtherLoad({ recordedMs, indexedMs, refused }: JudgedFile): boolean {
  if (refused !== undefined || indexedMs === undefined || indexedMs === recordedMs) return false;
  return indexedMs === null || recordedMs === null || Math.abs(recordedMs / indexedMs - 1) > REPRODUCED;
}

/** Figures over all files, and by recorder, the most frequent first. */
export function figuresByRecorder(files: readonly JudgedFile[]): {
  all: WildFigures;
  recorders: Record<string, WildFigures>;
} {
  const groups = [...groupBy(files, ({ recorder }) => recorder)].sort(
    ([a, ofA], [b, ofB]) => ofB.length - ofA.length || a.localeCompare(b),
  );
  return {
    all: wildFigures(files),
    recorders: Object.fromEntries(groups.map(([recorder, own]) => [recorder, wildFigures(own)])),
  };
}

/** The figures as a table, with the refused files below it. @param shown whether a line for each file follows */
export function renderWild(files: readonly JudgedFile[], shown: boolean): string {
  const { all, recorders } = figuresByRecorder(files);
  const rows = [
    [
      'Recorder',
      'files',
      'refused',
      'other load',
      'judged',
      'within 5%',
      'median',
      'p90',
      'in range',
      'tripled',
      'lossy',
      'gains',
      'excessive',
    ],
    ...Object.entries(recorders).map(([recorder, figures]) => [recorder, ...cellsOf(figures)]),
    ['all', ...cellsOf(all)],
  ];
  const refused = files.filter((file) => file.refused !== undefined);
  return [
    'Recorded load times beside those expected of the same page on the same network',
    table(rows, { numbers: true }),
    ...refused.map(({ file, refused: reason }) => `refused: ${file}: ${reason}`),
    ...(shown ? ['', table(fileRows(files), { numbers: true })] : []),
    '',
  ].join('\n');
}

function cellsOf(figures: WildFigures): string[] {
  const {
    files,
    refused,
    otherLoad,
    judged,
    reproduced,
    medianError,
    p90Error,
    inRange,
    tripled,
    lossy,
    claims,
    excessive,
  } = figures;
  return [
    ...[files, refused, otherLoad, judged].map(String),
    ...[percent(reproduced), percent(medianError, 1), percent(p90Error, 1), percent(inRange)],
    ...[tripled, lossy, claims, excessive].map(String),
  ];
}

function fileRows(files: readonly JudgedFile[]): string[][] {
  const worst = files
    .filter((file) => file.expected !== undefined)
    .sort((a, b) => errorOf(b) - errorOf(a) || a.file.localeCompare(b.file));
  return [
    ['File', 'recorded', 'expected', 'low', 'high', 'error', 'gain', 'emulated'],
    ...worst.map((file) => {
      const { pltMs, low, high } = file.expected!;
      const times = [file.recordedMs, pltMs, low, high, file.claim?.gainMs, file.claim?.emulatedMs];
      const [recorded, expected, lowest, highest, gain, emulated] = times.map((ms) =>
        ms === null || ms === undefined ? '' : ms.toFixed(0),
      ) as [string, string, string, string, string, string];
      const error = file.recordedMs === null ? '' : percent(errorOf(file), 1);
      return [file.file, recorded, expected, lowest, highest, error, gain, emulated];
    }),
  ];
}

/** Files without a recorded load time come last. */
function errorOf({ recordedMs, expected }: JudgedFile): number {
  return recordedMs === null || expected === undefined ? -1 : Math.abs(expected.pltMs / recordedMs - 1);
}

function percent(share: number | null, digits = 0): string {
  return share === null ? '' : `${(100 * share).toFixed(digits)}%`;
}
