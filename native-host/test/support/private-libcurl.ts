import { Engine } from '../../src/engine/engine.ts';

/** Path of the libcurl in the user's own home folder, for hosts that run with another one. */
export async function privateLibcurl(): Promise<string> {
  const engine = new Engine();
  const { path } = await engine.start();
  await engine.close();
  return path;
}
