import { describe, expect, it } from 'vitest';
import { isExcessive, type JudgedFile } from '../../src/wild/judge-file.ts';
import { parseIndex } from '../../src/wild/parse-index.ts';
import { figuresByRecorder, renderWild, wildFigures } from '../../src/wild/wild-figures.ts';

function judged(recordedMs: number | null, pltMs: number, more: Partial<JudgedFile> = {}): JudgedFile {
  const expected = { pltMs, low: 0.9 * pltMs, high: 1.1 * pltMs };
  // A later load scatters more than the recorded one.
  const explained = { low: 0.95 * pltMs, high: 1.05 * pltMs };
  return {
    file: 'a.har',
    recorder: 'X 1',
    recordedMs,
    expected,
    explained,
    verdict: '',
    elapsedMs: 1,
    ...more,
  };
}

describe('the figures of a folder', () => {
  // Errors of 4, 8 and 50%; the first is in the range of its emulation. One file has no load event.
  const files = [judged(1000, 1040), judged(1000, 1080), judged(1000, 500), judged(null, 700)];

  it('compare the load times of those files that have one', () => {
    const figures = wildFigures(files);
    expect(figures).toMatchObject({ files: 4, refused: 0, judged: 3 });
    expect(figures.reproduced).toBeCloseTo(1 / 3);
    expect(figures.medianError).toBeCloseTo(0.08);
    // Between 0.08 and 0.5, at 0.8 of the way.
    expect(figures.p90Error).toBeCloseTo(0.416);
    expect(figures.inRange).toBeCloseTo(1 / 3);
  });

  it('count files of which another load is taken', () => {
    const other = wildFigures([
      judged(1000, 1040, { indexedMs: 1010 }),
      judged(1000, 1040, { indexedMs: 9000 }),
      judged(null, 1040, { indexedMs: 9000 }),
      judged(null, 1040, { indexedMs: null }),
    ]);
    expect(other.otherLoad).toBe(2);
  });

  it('name refused files, which count as files only', () => {
    const refused: JudgedFile = {
      file: 'b.har',
      recorder: 'Y 2',
      refused: 'top level: expected JSON',
      recordedMs: null,
      elapsedMs: 1,
    };
    const { all, recorders } = figuresByRecorder([...files, refused]);
    expect(all).toMatchObject({ files: 5, refused: 1, judged: 3 });
    expect(recorders['Y 2']).toMatchObject({ files: 1, refused: 1, judged: 0, reproduced: null });
    expect(renderWild([...files, refused], false)).toContain('refused: b.har: top level: expected JSON');
  });

  it('count files with a request that takes over three times as long as recorded', () => {
    const longest = [undefined, 0, 3, 3.1].map((each) =>
      judged(1000, 1040, { ...(each !== undefined && { longest: each }) }),
    );
    expect(wildFigures(longest).tripled).toBe(1);
    expect(renderWild(longest, false)).toContain('tripled');
  });

  it('count files that are read as losing packets at random', () => {
    const losses = [undefined, 0, 0.005, 0.02].map((loss) =>
      judged(1000, 1040, { ...(loss !== undefined && { loss }) }),
    );
    expect(wildFigures(losses).lossy).toBe(1);
  });

  it('stand below their names', () => {
    const [, header = '', row = ''] = renderWild([judged(1000, 1040, { loss: 0.02 })], false).split('\n');
    for (const [name, figure] of [
      ['judged', '1'],
      ['within 5%', '100%'],
      ['median', '4.0%'],
      ['lossy', '1'],
      ['excessive', '0'],
    ] as const) {
      const end = header.indexOf(name) + name.length;
      expect(row.slice(0, end).endsWith(figure)).toBe(true);
    }
  });

  it('count headlines above twice the gain of the emulation, unless measured', () => {
    expect(isExcessive({ gainMs: 201, emulatedMs: 100, measured: false })).toBe(true);
    expect(isExcessive({ gainMs: 199, emulatedMs: 100, measured: false })).toBe(false);
    expect(isExcessive({ gainMs: 50, emulatedMs: -10, measured: false })).toBe(true);
    expect(isExcessive({ gainMs: 500, emulatedMs: 100, measured: true })).toBe(false);
  });
});

describe('an index', () => {
  it('has recorders and load times by file', () => {
    const index = parseIndex('file,recorder,requests,recordedPltMs\na.har,X 1,7,1200.5\nb.har,,3,\n');
    expect(index.get('a.har')).toEqual({ recorder: 'X 1', recordedMs: 1200.5 });
    expect(index.get('b.har')).toEqual({ recorder: 'unknown', recordedMs: null });
  });

  it('is refused with the place and what was expected there', () => {
    expect(() => parseIndex('name,recorder\n')).toThrow('line 1: expected a column "file"');
    expect(() => parseIndex('file,recorder,recordedPltMs\na.har,X,soon\n')).toThrow('line 2: expected');
  });
});
