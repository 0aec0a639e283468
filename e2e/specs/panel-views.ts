/** The panel's tabs, and the font in which views are compared. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';

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
  ['history', 'section:has(.hw-loads td:nth-child(2):not(:text-is("–"))) + section p:not(:empty)'],
];

const FONT = '* { font-family: Inter !important; text-rendering: geometricPrecision !important; }';

/**
 * Draws all text of a page in Inter, which is among the packages. With geometric precision the machine's settings of hinting do not
 * change the length. The fonts are given as bytes: the policy of the extension's pages lets a style sheet load none.
 *
 * @param more further style sheet
 */
export async function useFont(page: Page, more: string): Promise<void> {
  const { resolve } = createRequire(import.meta.url);
  const faces = WEIGHTS.map((weight) => {
    const path = resolve(`@fontsource/inter/files/inter-latin-${weight}-normal.woff2`);
    return { weight: String(weight), base64: readFileSync(path, 'base64') };
  });
  await page.evaluate(async (given) => {
    for (const { weight, base64 } of given) {
      const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
      document.fonts.add(await new FontFace('Inter', bytes, { weight }).load());
    }
  }, faces);
  await page.addStyleTag({ content: `${FONT}\n${more}` });
}
