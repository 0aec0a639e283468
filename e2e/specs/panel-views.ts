/** The panel's tabs, and the font in which views are compared. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const WEIGHTS = [400, 500, 600, 700];
/** Cells of the map of the fastest protocol: 8 loss rates, 9 round trips. */
const MAP_CELLS = 72;

/** Tabs of the panel, each with what it shows once it is complete. */
export const PANEL_TABS: readonly [id: string, complete: string][] = [
  ['overview', '.hw-headline'],
  ['origins', '.hw-origins tbody tr'],
  ['waterfall', '.hw-rows .hw-row'],
  ['connections', '.hw-connections-emulated [role=table]'],
  ['graph', '.hw-critical-step'],
  ['what-if', `.hw-what-if:has(.hw-bar-mark) [aria-label="cell"] :nth-child(${MAP_CELLS})`],
  ['servers', '[role=tabpanel] .hw-headline'],
  ['history', 'section:has(.hw-loads) + section p:not(:empty)'],
];

/**
 * Style sheet that draws all text in Inter, which is among the packages. With geometric precision the machine's settings of hinting do
 * not change the length.
 */
export function styleFont(): string {
  const { resolve } = createRequire(import.meta.url);
  const faces = WEIGHTS.map((weight) => {
    const font = readFileSync(
      resolve(`@fontsource/inter/files/inter-latin-${weight}-normal.woff2`),
      'base64',
    );
    return `@font-face { font-family: Inter; font-weight: ${weight}; src: url(data:font/woff2;base64,${font}); }`;
  });
  return `${faces.join('\n')}
    * { font-family: Inter !important; text-rendering: geometricPrecision !important; }
    `;
}
