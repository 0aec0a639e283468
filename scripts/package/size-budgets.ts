/** How large the parts of the extension may be, compressed as in a store package. */
import { readdir, readFile } from 'node:fs/promises';
import { join, matchesGlob } from 'node:path';
import { gzipSync } from 'node:zlib';

/**
 * Bytes, by file of the built extension; a `*` stands for several files, which count together. The worker imports `model.js`, the
 * emulator, and `learning.js`; what these have in common is in the shared files.
 */
const MAX_COMPRESSED_BYTES: Readonly<Record<string, number>> = {
  'content.js': 2_100,
  'content-detailed.js': 4_500,
  'worker.js': 50_700,
  'shared-*.js': 20_000,
  // The Public Suffix List takes 57 kB of it, and of the emulation's worker.
  'model.js': 130_000,
  'learning.js': 4_500,
  // ONNX Runtime Web, which is loaded while an `auto` pin's requests flow: in Chromium, and in Firefox.
  '{offscreen,tree-session}.js': 34_000,
  'ort-wasm-simd-threaded.wasm.gz': 3_750_000,
  'transport.onnx': 100_000,
  'welcome.js': 28_000,
  'options.js': 40_000,
  'popup.js': 50_000,
  // With D3 and the parts of the emulator that its tabs need.
  'panel{,-chunk-*}.js': 222_000,
  // What the tabs need in addition whose code is loaded when they are shown.
  'panel-*-tab-*.js': 24_000,
  // The whole emulator with the readers of other tools' files, ECON's model, and the layout of graphs.
  'emulation-worker.js': 285_000,
  // A part of every HTML report.
  'report-client.js': 91_000,
};

export interface Size {
  file: string;
  bytes: number;
  maxBytes: number;
}

/** The compressed sizes of the files that have a budget. */
export async function measureSizes(folder: string): Promise<Size[]> {
  const names = await readdir(folder);
  return Promise.all(
    Object.entries(MAX_COMPRESSED_BYTES).map(async ([file, maxBytes]) => {
      const own = names.filter((name) => matchesGlob(name, file));
      if (own.length === 0) throw new Error(`${folder}: expected ${file}, found none`);
      const contents = await Promise.all(own.map((name) => readFile(join(folder, name))));
      const sizes = contents.map((each) => gzipSync(each, { level: 9 }).length);
      return { file, bytes: sizes.reduce((sum, size) => sum + size, 0), maxBytes };
    }),
  );
}

/** @throws Error with one line for the files that are over their budgets */
export function checkSizes(sizes: readonly Size[]): void {
  const over = sizes.filter(({ bytes, maxBytes }) => bytes > maxBytes);
  if (over.length === 0) return;
  const words = over.map(
    ({ file, bytes, maxBytes }) => `${file} has ${bytes} bytes compressed, at most ${maxBytes} expected`,
  );
  throw new Error(words.join('; '));
}
