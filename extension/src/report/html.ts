import { currentLanguage, currentMessages, type Messages, t } from '../language/translate.ts';
import { pageHead } from './page-head.ts';
import type { Report, ReportWords } from './report.ts';

/** The bundle of `client.ts` with its styles: `report-client.js` and `report-client.css` of the built extension. */
interface ReportClient {
  script: string;
  style: string;
}

/**
 * The report as one file that needs nothing else, in the language of the user interface; in English in Node programs. It runs its own
 * script and no other, and may load nothing: it shows URLs and words that came from a page.
 */
export async function renderHtml(report: Report, { script, style }: ReportClient): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(script));
  const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
  const language = currentLanguage();
  const words: ReportWords = { language, messages: messagesNamedIn(script) };
  return `${pageHead(t('reportTitle'), style, `'sha256-${hash}'`, language)}
<body>
<main id="report"></main>
<script type="application/json" id="data">${embeddable(report)}</script>
<script type="application/json" id="words">${embeddable(words)}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** The messages that a script names: each report carries its own. */
function messagesNamedIn(script: string): Messages {
  const strings = new Set(script.match(/"\w+"/g));
  /** Messages that differ by a number are named without their plural category. */
  const isNamed = (key: string) => strings.has(`"${key}"`) || strings.has(`"${key.replace(/_[a-z]+$/, '')}"`);
  return Object.fromEntries(Object.entries(currentMessages()).filter(([key]) => isNamed(key)));
}

/** JSON that cannot end the `<script>` element that holds it, whatever a page put into its URLs. */
function embeddable(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}
