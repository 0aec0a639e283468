import { drawCells } from '@hopwise/lab/gauntlet/cells';
import { describe, expect, it } from 'vitest';
import { drawHeavyCells } from '../../src/reading/heavy-cells.ts';
import { recordLoad } from '../../src/reading/record-load.ts';
import { trueCell } from '../../src/reading/true-load.ts';

describe('heavy cells', () => {
  const cells = drawHeavyCells('train', 3, 3);

  it('have pages of 250 requests or more, each to a place of its own, from what was asked for before', () => {
    for (const { page } of cells) {
      expect(page.nodes.length).toBeGreaterThanOrEqual(250);
      expect(new Set(page.nodes.map(({ url }) => url)).size).toBe(page.nodes.length);
      expect(page.nodes.map(({ request }) => request.id)).toEqual(page.nodes.map((_, id) => id));
      const at = new Map(page.nodes.map((node, index) => [node, index]));
      for (const node of page.nodes.slice(1)) expect(at.get(node.parent!)).toBeLessThan(at.get(node)!);
      const origins = new Set(page.origins.map(({ origin }) => origin));
      expect(page.nodes.filter(({ origin }) => !origins.has(origin))).toEqual([]);
      expect(origins.size).toBeGreaterThan(30);
    }
  });

  it('have the networks of the ordinary ones, and the same page on both', () => {
    expect(cells.map(({ network }) => network)).toEqual(
      drawCells('train', 3, 3).map(({ network }) => network),
    );
    expect(cells[1]!.page).toBe(cells[0]!.page);
    const [document, ...others] = cells[0]!.page.nodes;
    expect(new Set(document!.children).size).toBe(document!.children.length);
    expect(document!.children.every((child) => others.includes(child))).toBe(true);
  });

  it('are loaded whole', () => {
    const { requests } = recordLoad(trueCell(cells[0]!, 0), 'h2', 'stack');
    expect(requests).toHaveLength(cells[0]!.page.nodes.length);
  });
});
