import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Report, renderHtml } from '@hopwise/extension/report';
import { EXTENSION_DIR } from '@hopwise/lab/paths';

/** The report as one HTML file that needs nothing else: the built extension has its script and styles. */
export async function renderReport(report: Report): Promise<string> {
  const [script, style] = await Promise.all([
    readFile(join(EXTENSION_DIR, 'report-client.js'), 'utf8'),
    readFile(join(EXTENSION_DIR, 'report-client.css'), 'utf8'),
  ]);
  return renderHtml(report, { script, style });
}
