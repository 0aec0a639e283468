import { Window } from 'happy-dom';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

test('a small lead has a recognisable colour, a large one the full colour', async () => {
  const window = new Window();
  vi.stubGlobal('window', window);
  vi.stubGlobal('document', window.document);
  const { renderWinnerMap } = await import('../../../src/devtools/what-if/winner-map-view.ts');
  const place = { rttMs: 5 };
  const map = renderWinnerMap(
    [
      { ...place, loss: 0, winner: 'h2', lead: 0.02 },
      { ...place, loss: 0.01, winner: 'h3', lead: 0.25 },
      { ...place, loss: 0.02, winner: 'h3', lead: 3 },
      { ...place, loss: 0.05, winner: null, lead: 0 },
    ],
    { rttMs: 5, loss: 0 },
    400,
  );
  const cells = [...map.querySelectorAll('rect[fill-opacity]')];
  const opacityOf = (words: string) =>
    Number(
      cells.find(({ textContent }) => textContent.includes(words))?.getAttribute('fill-opacity') ?? 'NaN',
    );
  expect(opacityOf('loss none')).toBeCloseTo(0.424);
  expect(opacityOf('loss 1%')).toBeCloseTo(0.7);
  expect(opacityOf('about equal')).toBeCloseTo(0.35);
  const swatches = [...map.querySelectorAll('.hw-legend .hw-swatch')].map(({ className }) => className);
  // The last one is as pale as the cells that it stands for.
  expect(swatches).toEqual([
    'hw-swatch hw-swatch-h2',
    'hw-swatch hw-swatch-h3',
    'hw-swatch hw-swatch-waiting',
  ]);
  expect(cells.filter((cell) => cell.getAttribute('fill') === 'var(--hw-h3)')).toHaveLength(2);
});
