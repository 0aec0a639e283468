import { PROTOCOL_NAME } from '@hopwise/contract';
import { type PlainKey, t } from '../../language/translate.ts';
import { formatBytes, formatMs } from '../../ui/format.ts';
import { nameType } from '../name-type.ts';
import type { RequestRow, SortKey } from './rows.ts';

/** A column of a waterfall between the requests' names and their bars. Its `key` is in the names of its classes. */
interface Column {
  key: Exclude<SortKey, 'name'>;
  label: PlainKey;
  /** What a cell shows; '' where it is unknown. */
  write(row: RequestRow): string;
}

export const COLUMNS: readonly Column[] = [
  { key: 'status', label: 'columnStatus', write: ({ request }) => writeStatus(request) },
  { key: 'type', label: 'toolType', write: ({ request }) => nameType(request.type) },
  {
    key: 'protocol',
    label: 'columnProtocol',
    write: ({ main }) => (main.protocol && PROTOCOL_NAME[main.protocol]) || '',
  },
  {
    key: 'priority',
    label: 'columnPriority',
    write: ({ request }) => (request.urgency == null ? '' : namePriority(request.urgency)),
  },
  { key: 'start', label: 'columnStart', write: ({ main }) => formatMs(main.startMs) },
  {
    key: 'size',
    label: 'columnSize',
    write: ({ request }) => (request.transferBytes === null ? '' : formatBytes(request.transferBytes)),
  },
  { key: 'duration', label: 'columnTime', write: ({ main }) => formatMs(main.endMs - main.startMs) },
];

/** Names of the first urgencies of RFC 9218, as the browser's own tools have them. */
const PRIORITIES: readonly PlainKey[] = [
  'priorityHighest',
  'priorityHigh',
  'priorityMedium',
  'priorityLow',
  'priorityLowest',
];

function namePriority(urgency: number): string {
  const name = PRIORITIES[urgency];
  return name === undefined ? String(urgency) : t(name);
}

function writeStatus({ status, fromCache }: RequestRow['request']): string {
  if (status !== 0) return String(status);
  return t(fromCache ? 'statusCached' : 'statusFailed');
}
