import { Engine } from '../../src/engine/engine.ts';

/** Path of the libcurl found under the home folder of the person who runs this, for hosts that get another one. */
export async function privateLibcurl(): Promise<string> {
  const engine = new Engine();
  const { path } = await engine.start();
  await engine.close();
  return path;
}
