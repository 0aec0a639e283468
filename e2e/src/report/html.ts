import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Report, renderHtml } from '@hopwise/extension/report';
import { ROOT } from '@hopwise/lab/paths';

/** The built extension, which has the report's script and styles. */
const EXTENSION_DIR = join(ROOT, 'extension/dist/chromium');

/** The report as one HTML file that needs nothing else. */
export async function renderReport(report: Report): Promise<string> {
  const [script, style] = await Promise.all([
    readFile(join(EXTENSION_DIR, 'report-client.js'), 'utf8'),
    readFile(join(EXTENSION_DIR, 'report-client.css'), 'utf8'),
  ]);
  return renderHtml(report, { script, style });
}
