/** Bundles the script and the styles of the HTML report; the report carries both inside itself. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));

await build({
  entryPoints: [join(here, 'src/report/client.ts')],
  outdir: join(here, 'dist/report-client'),
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2023',
  conditions: ['source'],
  loader: { '.css': 'css' },
  logLevel: 'warning',
});
