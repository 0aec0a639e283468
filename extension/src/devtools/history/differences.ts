import type { RecordedRequest, Recording } from '@hopwise/contract';
import { t } from '../../language/translate.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import { formatBytes, formatGain, formatMs } from '../../ui/format.ts';
import { describePins, describeProtocols } from './page-history.ts';

/** One figure of two loads; `change` is '' where there is none to state. */
interface Difference {
  name: string;
  earlier: string;
  later: string;
  change: string;
}

/** What differs between two loads of a page, and what does not. */
export function listDifferences(earlier: StoredLoad, later: StoredLoad): Difference[] {
  const [a, b] = [earlier.recording, later.recording];
  const time = (name: string, of: (recording: Recording) => number | null) =>
    compareNumbers(name, of(a), of(b), formatMs, formatTimeChange);
  const count = (name: string, of: (request: RecordedRequest) => boolean) =>
    compareNumbers(name, a.requests.filter(of).length, b.requests.filter(of).length, String);
  const text = (name: string, of: (load: StoredLoad) => string): Difference => ({
    name,
    earlier: of(earlier),
    later: of(later),
    change: of(earlier) === of(later) ? '' : t('diffDiffers'),
  });
  return [
    time(t('loadEvent'), ({ pltMs }) => pltMs),
    time('DOMContentLoaded', ({ domContentLoadedMs }) => domContentLoadedMs),
    time(t('diffFirstPaint'), ({ firstContentfulPaintMs }) => firstContentfulPaintMs),
    time(t('diffLargestPaint'), ({ largestContentfulPaintMs }) => largestContentfulPaintMs),
    count(t('diffRequests'), () => true),
    count(t('diffCached'), ({ fromCache }) => fromCache),
    count(t('diffFailed'), ({ status, fromCache }) => status === 0 && !fromCache),
    compareNumbers(t('diffWire'), transferred(a), transferred(b), formatBytes),
    text(t('diffProtocols'), ({ recording }) => describeProtocols(recording)),
    text(t('diffPins'), ({ pinned }) => describePins(pinned)),
    text(t('diffBrowser'), ({ recording }) => recording.browser || t('unknown')),
  ];
}

/** Adds up the responses whose size is known. */
const transferred = ({ requests }: Recording) =>
  requests.reduce((sum, { transferBytes }) => sum + (transferBytes ?? 0), 0);

function compareNumbers(
  name: string,
  earlier: number | null,
  later: number | null,
  write: (value: number) => string,
  writeChange = (a: number, b: number) => write(Math.abs(b - a)),
): Difference {
  const words = (value: number | null) => (value === null ? '–' : write(value));
  const isSame = earlier === null || later === null || earlier === later;
  return {
    name,
    earlier: words(earlier),
    later: words(later),
    change: isSame ? '' : `${later > earlier ? '+' : '−'}${writeChange(earlier, later)}`,
  };
}

/** From a second on times are rounded: what they differ by is then that of what is shown, `10 s` and `8.4 s` by `1.6 s`. */
function formatTimeChange(aMs: number, bMs: number): string {
  const [shorterMs, longerMs] = [Math.min(aMs, bMs), Math.max(aMs, bMs)];
  return longerMs < 995 ? formatMs(longerMs - shorterMs) : formatGain(longerMs, shorterMs);
}
