import { pageHead } from './page-head.ts';
import type { Report } from './report.ts';

/** The bundle of `client.ts` with its styles: `report-client.js` and `report-client.css` of the built extension. */
interface ReportClient {
  script: string;
  style: string;
}

/**
 * The report as one file that needs nothing else. It runs its own script and no other, and may load nothing: it shows URLs and
 * words that came from a page.
 */
export async function renderHtml(report: Report, { script, style }: ReportClient): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(script));
  const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return `${pageHead('hopwise report', style, `'sha256-${hash}'`)}
<body>
<main id="report"></main>
<script type="application/json" id="data">${embeddable(report)}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** JSON that cannot end the `<script>` element that holds it, whatever a page put into its URLs. */
function embeddable(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}
