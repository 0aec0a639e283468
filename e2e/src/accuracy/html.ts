/** An accuracy run as files for people: `index.html`, which needs nothing else and runs no script, and each chart as SVG. */
import { Window } from 'happy-dom';
import type { Chart } from '../truth/summary-charts.ts';
import { themeCss } from '../truth/summary-html.ts';

const STYLE = `
main { display: grid; gap: 16px; max-width: 1160px; margin: 0 auto; padding: 28px 24px 40px; }
h1 { font-size: 20px; }
.hw-card { overflow-x: auto; }
svg { display: block; max-width: 100%; height: auto; color: var(--hw-text); }
pre { margin: 0; font-size: 12px; line-height: 1.45; }
`;

/** @param tables as they are printed */
export async function renderAccuracyHtml(charts: readonly Chart[], tables: string): Promise<string> {
  const theme = await themeCss();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>hopwise: accuracy</title>
<style>${theme}${STYLE}</style>
</head>
<body>
<main>
<h1>Accuracy of predictions against measured page loads</h1>
${charts.map(({ title, svg }) => `<section class="hw-card"><h3>${escaped(title)}</h3>${svg}</section>`).join('\n')}
<section class="hw-card"><h3>Figures</h3><pre>${escaped(tables)}</pre></section>
</main>
</body>
</html>
`;
}

/** A chart for a file of its own, where there is no page to set colours. */
export async function standaloneSvg({ svg }: Chart): Promise<string> {
  const own =
    'svg { color: var(--hw-text); background: var(--hw-surface); font-family: system-ui, sans-serif; }';
  const style = `<style>${await themeCss()}${own}</style>`;
  return svg.replace('>', () => `>${style}`);
}

/** Names of pages and networks are whoever's who made the folder. */
function escaped(text: string): string {
  const window = new Window();
  const element = window.document.createElement('p');
  element.textContent = text;
  const html = element.innerHTML;
  window.close();
  return html;
}
