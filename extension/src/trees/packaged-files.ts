/** Files of the package, beside this code. */
import { type ModelDescription, readDescription } from './model-description.ts';

const DESCRIPTION = 'transport.json';
const TREES = 'transport.onnx';
/** ONNX Runtime's release, compressed from 14 MB to a quarter. */
const RUNTIME = 'ort-wasm-simd-threaded.wasm.gz';

export async function readPackagedDescription(): Promise<ModelDescription> {
  return readDescription(await (await fetchPackaged(DESCRIPTION)).json());
}

/** @throws Error where it is not the file that the description is of: cut off, or of another version */
export async function readPackagedTrees({ sha256 }: ModelDescription): Promise<Uint8Array> {
  const bytes = await (await fetchPackaged(TREES)).arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const found = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  if (found !== sha256) throw new Error(`${TREES}: expected SHA-256 ${sha256}, got ${found}`);
  return new Uint8Array(bytes);
}

/** The WebAssembly of ONNX Runtime Web. */
export async function readPackagedRuntime(): Promise<ArrayBuffer> {
  const { body } = await fetchPackaged(RUNTIME);
  return new Response(body!.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

async function fetchPackaged(name: string): Promise<Response> {
  try {
    return await fetch(chrome.runtime.getURL(name));
  } catch {
    throw new Error(`${name}: not in the package`);
  }
}
