/** What an index of recordings says of a file. */
export interface IndexedFile {
  recorder: string;
  /** Null where the file records no load event. */
  recordedMs: number | null;
}

const COLUMNS = ['file', 'recorder', 'recordedPltMs'] as const;

/**
 * Parses an `index.csv` with the columns `file`, `recorder`, `recordedPltMs`, and any others.
 *
 * @throws RangeError naming the line and what was expected there
 */
export function parseIndex(text: string): ReadonlyMap<string, IndexedFile> {
  const [header = '', ...lines] = text.trim().split(/\r?\n/);
  const names = header.split(',');
  const [file, recorder, recordedPltMs] = COLUMNS.map((column) => {
    const at = names.indexOf(column);
    if (at < 0) throw new RangeError(`line 1: expected a column "${column}", got ${header.slice(0, 80)}`);
    return at;
  }) as [number, number, number];
  return new Map(
    lines.map((line, index) => {
      const values = line.split(',');
      const recorded = values[recordedPltMs] ?? '';
      const recordedMs = recorded === '' ? null : Number(recorded);
      if (Number.isNaN(recordedMs) || !values[file])
        throw new RangeError(`line ${index + 2}: expected a file and a load time, got ${line.slice(0, 80)}`);
      return [values[file], { recorder: values[recorder] || 'unknown', recordedMs }];
    }),
  );
}
