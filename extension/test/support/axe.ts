import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';

/** Source of axe, to run in a page before `listViolations`. */
export const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Violations of the page as it is, with the elements that have them. Runs in the page. */
export async function listViolations(): Promise<string[]> {
  const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } };
  const { violations } = await axe.run();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}
