/** An accuracy run as one self-contained HTML file without scripts. */

import type { Chart } from '@hopwise/lab/output/charts';
import { escapeHtml } from '@hopwise/lab/output/escape-html';
import { staticPage } from '@hopwise/lab/output/static-page';

const STYLE = `
main { display: grid; gap: 16px; max-width: 1160px; margin: 0 auto; padding: 28px 24px 40px; }
h1 { font-size: 20px; }
.hw-card { overflow-x: auto; }
svg { display: block; max-width: 100%; height: auto; color: var(--hw-text); }
pre { margin: 0; font-size: 12px; line-height: 1.45; }
`;

/** @param tables as printed on the terminal */
export async function renderAccuracyHtml(charts: readonly Chart[], tables: string): Promise<string> {
  return staticPage(
    'hopwise: accuracy',
    STYLE,
    `<h1>Accuracy of predictions against measured page loads</h1>
${charts.map(({ title, svg }) => `<section class="hw-card"><h3>${escapeHtml(title)}</h3>${svg}</section>`).join('\n')}
<section class="hw-card"><h3>Figures</h3><pre>${escapeHtml(tables)}</pre></section>`,
  );
}
