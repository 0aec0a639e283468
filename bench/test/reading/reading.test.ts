import { drawCells } from '@hopwise/lab/gauntlet/cells';
import { describe, expect, it } from 'vitest';
import { judgeActions, renderActions } from '../../src/reading/judge-actions.ts';
import { judgeCell } from '../../src/reading/judge-cell.ts';
import { judgeDecisions, judgeRules, renderDecisions } from '../../src/reading/judge-decisions.ts';
import { judgeRanges, renderRanges } from '../../src/reading/judge-ranges.ts';
import { readingFigures, renderReadings } from '../../src/reading/reading-table.ts';
import { recordLoad } from '../../src/reading/record-load.ts';
import { stackingCell } from '../../src/reading/stacking-cell.ts';
import { naturalTime, trueCell, trueTime } from '../../src/reading/true-load.ts';

const CELL = trueCell(drawCells('validation', 1, 1)[0]!, 0);

describe('an emulated load of a drawn page', () => {
  it('is recorded with the true requests, in order of start', () => {
    const { requests, pltMs } = recordLoad(CELL, 'h2', 'stack');
    expect(new Set(requests.map(({ url }) => url))).toEqual(new Set(CELL.known.keys()));
    expect(requests.map(({ startMs }) => startMs)).toEqual(
      requests.map(({ startMs }) => startMs).sort((a, b) => a - b),
    );
    expect(pltMs! / trueTime(CELL, 'h2')).toBeGreaterThan(0.5);
    expect(pltMs! / trueTime(CELL, 'h2')).toBeLessThan(2);
  });

  it('names true parents by their stack, but of what waited for an answer the code, and helpers by the top frame', () => {
    const misnamed = (form: 'stack' | 'top') => {
      const { requests } = recordLoad(CELL, 'h2', form);
      return requests.flatMap(({ url, initiator: { requestId } }) => {
        const { parent, means } = CELL.known.get(url)!;
        const named = requestId === null ? null : requests[requestId]!;
        return parent === null || named!.url === parent ? [] : { means, type: named!.type };
      });
    };
    const ofAnswers = misnamed('stack');
    expect(ofAnswers.length).toBeGreaterThan(0);
    for (const { means, type } of ofAnswers) {
      expect(means).toBe('answer');
      expect(type).toMatch(/^(script|document|iframe)$/);
    }
    expect(misnamed('top').length).toBeGreaterThan(ofAnswers.length);
  });

  it('is judged under every protocol, form and knowledge', () => {
    const readings = judgeCell(CELL);
    const figures = readingFigures(readings).filter(({ group }) => group === 'all');
    expect(figures).toHaveLength(readings.length);
    for (const { regret, median } of figures) {
      expect(regret).toBeGreaterThanOrEqual(0);
      expect(median.h2).toBeLessThan(1);
    }
    expect(renderReadings(readings)).toContain('stack network h2');
  });

  it('is judged by what is recommended after several loads', () => {
    const judged = judgeActions(CELL, 0);
    expect(judged.map(({ loads, stretch }) => [loads, stretch])).toEqual([
      [0, 1],
      [4, 1],
      [12, 1],
      [4, 1.35],
      [12, 1.35],
    ]);
    for (const { actions } of judged) {
      expect(actions.length).toBeGreaterThan(0);
      for (const { gain } of actions) expect(gain).toBeLessThan(1);
    }
    expect(renderActions(judged)).toMatch(/12 +×1.35 +1 /);
  });

  it('is compared with the ranges that are stated of it', () => {
    const ranges = judgeRanges(CELL);
    const own = ranges.filter(({ compared }) => compared === 'the recorded load');
    const others = ranges.filter(({ compared }) => compared === 'loads under the others');
    // Each of three forms, with the network and with nothing known; nine loads of two other protocols each.
    expect(own).toHaveLength(18);
    expect(others).toHaveLength(36 * 9);
    for (const { isWithin, error, halfWidth } of own) {
      // A range is not much wider on one side of its median than on the other.
      if (isWithin) expect(Math.abs(error)).toBeLessThan(2 * halfWidth);
    }
    expect(renderRanges(ranges)).toMatch(/network +the recorded load +9 /);
  });

  it('is compared with what is decided from it', () => {
    const decisions = judgeDecisions(CELL);
    // Three protocols, three forms, three kinds of knowledge.
    expect(decisions).toHaveLength(27);
    const times = (['h1', 'h2', 'h3'] as const).map((protocol) => trueTime(CELL, protocol));
    const regrets = times.map((ms) => ms / Math.min(...times) - 1);
    for (const { regret, isRight } of decisions) {
      expect(regrets).toContain(regret);
      expect(isRight).toBe(regret! <= 0.05);
    }
    expect(renderDecisions(decisions)).toMatch(/top nothing h3 +1 /);
    const rules = judgeRules(CELL);
    expect(rules.slice(0, 3).map(({ regret }) => regret)).toEqual(regrets);
    expect(renderDecisions(decisions, rules)).toMatch(/^always h2 +1 +\d+\.\d% +0$/m);
  });

  it('counts only decided answers among those that are right', () => {
    const judged = (isDecided: boolean, isRight: boolean, regret: number | null) =>
      ({ form: 'top', knowledge: 'udp', recorded: 'h2', isClear: true, isDecided, isRight, regret }) as const;
    const text = renderDecisions([
      judged(true, true, 0),
      judged(true, false, 0.2),
      judged(false, true, 0.04),
      judged(false, false, null),
    ]);
    expect(text).toMatch(/top udp h2 +4 +100\.0% +50\.0% +50\.0% +8\.0% +1\b/);
  });

  it('gives rows to learn from, with true load times and features that tell nothing of them', () => {
    const drawn = drawCells('validation', 1, 1)[0]!;
    const rows = stackingCell(drawn, 0);
    expect(rows.map(({ knowledge }) => knowledge)).toEqual(['udp', 'estimated']);
    for (const { costMs, features, recorded } of rows) {
      for (const protocol of ['h1', 'h2', 'h3'] as const)
        expect(costMs[protocol]).toBe(trueTime(CELL, protocol));
      expect(recorded).toBe('h1');
      expect(features.h1Share).toBe(1);
      const leaked = Object.values(features).filter((value) => Object.values(costMs).includes(value ?? -1));
      // The recorded load is one of those.
      expect(leaked.every((value) => value === features.recordedMs)).toBe(true);
    }
  });

  it('costs what the browser falls back to where HTTP/3 is blocked', () => {
    const [drawn] = drawCells('validation', 1, 1);
    const blocked = { ...drawn!, network: { ...drawn!.network, udp: 'blocked' as const, udpLoss: 0 } };
    const cell = trueCell(blocked, 1);
    const [row] = stackingCell(blocked, 2);
    expect(row).toMatchObject({ udp: 'blocked', rule: 'h2', recorded: 'h1' });
    expect(row!.costMs.h3).toBe(naturalTime(cell));
    expect(row!.costMs.h3! / row!.costMs.h2!).toBeGreaterThan(0.9);
    expect(row!.costMs.h3! / row!.costMs.h2!).toBeLessThan(1.5);
  });
});
