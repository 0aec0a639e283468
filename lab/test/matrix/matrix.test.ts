import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { LoadProtocol } from '../../src/ground-truth/ground-truth.ts';
import { Assignments } from '../../src/matrix/assignments.ts';
import { Done, planLoads } from '../../src/matrix/matrix.ts';
import { isCachedWhole } from '../../src/matrix/matrix-page.ts';
import { addMatrixOptions, matrixOptions } from '../../src/matrix/options.ts';
import type { Site } from '../../src/sites/site.ts';
import { load, unreachable } from '../support/measured-loads.ts';

describe('the plan', () => {
  const axes = {
    pages: ['app', 'shop'],
    networks: ['fast', 'lte'],
    protocols: ['h1', 'h2', 'h3'] satisfies LoadProtocol[],
    views: ['cold' as const],
    seeds: [1, 2, 3],
  };

  it('completes a page, and a network within it, before the next', () => {
    const plan = planLoads({ ...axes });
    expect(plan).toHaveLength(2 * 2 * 3 * 3);
    const cells = plan.map(({ page, network }) => `${page} ${network}`);
    expect(cells.filter((cell, index) => cell !== cells[index - 1])).toEqual([
      'app fast',
      'app lte',
      'shop fast',
      'shop lte',
    ]);
  });

  it('lets the protocols of a seed take turns', () => {
    const first = planLoads({ ...axes }).slice(0, 9);
    expect(first.map(({ protocol, seed }) => `${seed} ${protocol}`)).toEqual([
      '1 h1',
      '1 h2',
      '1 h3',
      '2 h3',
      '2 h2',
      '2 h1',
      '3 h2',
      '3 h3',
      '3 h1',
    ]);
  });

  it('has assigned after the first natural load, which may determine it, in every cell', () => {
    const protocols: LoadProtocol[] = ['assigned', 'h1', 'natural'];
    const plan = planLoads({ ...axes, protocols });
    const cells = new Set(plan.map(({ page, network }) => `${page} ${network}`));
    expect(cells.size).toBe(4);
    for (const cell of cells) {
      const own = plan
        .filter(({ page, network }) => `${page} ${network}` === cell)
        .map(({ protocol, seed }) => `${seed} ${protocol}`);
      expect(own.indexOf('1 assigned'), own.join()).toBeGreaterThan(own.indexOf('1 natural'));
    }
    // Later it takes turns.
    const later = plan.filter(({ seed }) => seed > 1).map(({ protocol }) => protocol);
    expect(later.some((protocol, index) => protocol === 'natural' && later[index - 1] === 'assigned')).toBe(
      true,
    );
  });

  it('counts all seeds of a protocol as done after two without an answer, unless one of its loads had one', () => {
    const done = new Done();
    done.add(unreachable('h3', 1));
    expect(done.has(load('h3', 1))).toBe(true);
    expect(done.has(load('h3', 3))).toBe(false);
    done.add({ ...unreachable('h3', 2), disturbed: true });
    expect(done.has(load('h3', 3))).toBe(false);
    done.add(unreachable('h3', 2));
    expect(done.has(load('h3', 3))).toBe(true);
    expect(done.has({ ...load('h3', 3), network: 'lte' })).toBe(false);
    for (const seed of [1, 2]) done.add(unreachable('h1', seed));
    done.add(load('h1', 3));
    expect(done.has(load('h1', 4))).toBe(false);
  });

  it('needs only one seed where the network blocks the protocol', () => {
    const done = new Done(({ protocol }) => protocol === 'h3');
    done.add(unreachable('h3', 1));
    done.add(unreachable('h2', 1));
    expect(done.has(load('h3', 2))).toBe(true);
    expect(done.has(load('h2', 2))).toBe(false);
  });

  it("does not count a browser failure as the page's", () => {
    const done = new Done();
    done.add({ ...load('h2', 1), outcome: { ok: false, kind: 'browser', reason: 'crashed' } });
    expect(done.has(load('h2', 1))).toBe(false);
  });
});

describe('options', () => {
  const parse = (...args: string[]) => {
    const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    return matrixOptions(addMatrixOptions(command).parse(args, { from: 'user' }));
  };

  it('has a default for everything', () => {
    expect(parse()).toMatchObject({
      pages: ['shop', 'news', 'app'],
      networks: ['all'],
      protocols: ['h1', 'h2', 'h3', 'natural'],
      seeds: [1, 2, 3, 4, 5],
      views: ['cold'],
      ipVersion: 4,
    });
  });

  it('accepts networks from a file, and IPv6', () => {
    expect(parse('--network-file', 'own.json', '--networks', 'dorm', '--ip', '6')).toMatchObject({
      networkFile: 'own.json',
      networks: ['dorm'],
      ipVersion: 6,
    });
  });

  it('reads lists, seeds and limits', () => {
    expect(parse('--pages', 'a.har, shop', '--seeds', '6-8', '--limit-minutes', '1.5')).toMatchObject({
      pages: ['a.har', 'shop'],
      seeds: [6, 7, 8],
      limitMs: 90_000,
    });
  });

  it.each([
    [['--protocols', 'h1,h4'], /expected some of h1, h2, h3, natural, assigned, got "h4"/],
    [['--seeds', '0'], /expected a number of seeds/],
    [['--seeds', '9-3'], /expected a number of seeds/],
    [['--limit-minutes', '-1'], /expected minutes/],
    [['--pages', 'a,,b'], /expected names separated by commas/],
    [['--protocols', 'h1,assigned'], /expected natural and the cold view too/],
    [['--assignments', 'a.json'], /--assignments needs/],
    [['--browser', 'other'], /headless-shell, full/],
    [['--ip', '5'], /4, 6/],
  ])('refuses %j', (args, message) => {
    expect(() => parse(...args)).toThrow(message);
  });
});

describe('isCachedWhole', () => {
  const site = (...controls: (string | undefined)[]): Site => ({
    format: 'hopwise-site',
    version: 1,
    name: 'a',
    entry: 'https://a.test/',
    origins: [],
    resources: controls.map((control, index) => ({
      origin: 'https://a.test',
      path: `/${index}`,
      status: 200,
      headers: { ...(control !== undefined && { 'Cache-Control': control }) },
      body: { filler: 'bytes', bytes: 1 },
      thinkMs: 0,
    })),
  });

  it('is true where every answer may be reused without revalidation', () => {
    expect(isCachedWhole(site('public, max-age=3600', 'max-age=1'))).toBe(true);
    for (const control of ['no-cache', 'no-store', 'max-age=0', 'max-age=60, no-cache', undefined])
      expect(isCachedWhole(site('max-age=3600', control)), control).toBe(false);
  });
});

describe('assignments', () => {
  const origin = 'https://app.test';
  const site = {
    format: 'hopwise-site' as const,
    version: 1 as const,
    name: 'app',
    entry: `${origin}/`,
    origins: [{ origin, protocols: ['h1' as const, 'h2' as const], extraRttMs: 0 }],
    resources: [],
  };

  it('uses the file’s, and names missing ones', () => {
    const file = { app: { fast: { [origin]: 'h1' as const }, lte: { [origin]: 'h3' as const } } };
    const assignments = new Assignments(file);
    expect(assignments.of('app', 'fast', site)).toEqual({ [origin]: 'h1' });
    expect(() => assignments.of('app', 'lte', site)).toThrow(
      /lte, https:\/\/app\.test: expected h1 or h2, got h3/,
    );
    expect(() => assignments.of('app', 'slow', site)).toThrow('expected one for page app, network slow');
  });

  it('keeps the assignment that a cell was measured with', () => {
    const assigned = { ...load('assigned', 1), assignment: { [origin]: 'h2' as const } };
    const again = new Assignments(null);
    again.add(assigned);
    expect(again.of('app', 'fast', site)).toEqual({ [origin]: 'h2' });
    expect(again.of('app', 'lte', site)).toBeNull();
    const other = new Assignments({ app: { fast: { [origin]: 'h1' } } });
    other.add(assigned);
    expect(() => other.of('app', 'fast', site)).toThrow(/loads under another assignment/);
  });
});
