import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pageHead } from '@hopwise/lab/output/page-head';
import { ROOT } from '@hopwise/lab/paths';
import type { Report } from './report.ts';

/** Script and styles, bundled by `build.mjs`. */
const REPORT_CLIENT_DIR = join(ROOT, 'e2e/dist/report-client');

/** JSON that cannot end the `<script>` element that holds it, whatever a page put into its URLs. */
function embeddable(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

/**
 * The report as one file that needs nothing else. It runs its own script and no other, and may
 * load nothing: it shows URLs and words that came from a page.
 */
export async function renderHtml(report: Report): Promise<string> {
  const [script, style] = await Promise.all([
    readFile(join(REPORT_CLIENT_DIR, 'client.js'), 'utf8'),
    readFile(join(REPORT_CLIENT_DIR, 'client.css'), 'utf8'),
  ]);
  const hash = createHash('sha256').update(script).digest('base64');
  return `${pageHead('hopwise report', style, `'sha256-${hash}'`)}
<body>
<main id="report"></main>
<script type="application/json" id="data">${embeddable(report)}</script>
<script>${script}</script>
</body>
</html>
`;
}
