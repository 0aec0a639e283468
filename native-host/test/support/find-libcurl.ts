import { Engine } from '../../src/engine/engine.ts';

/**
 * Finds libcurl once for all integration tests: each search starts an engine for every libcurl of the machine. What is
 * about the search itself takes the variable away again.
 */
export async function setup(): Promise<void> {
  if (process.env.HOPWISE_LIBCURL) return;
  const engine = new Engine();
  try {
    const { http3, path } = await engine.start();
    if (http3) process.env.HOPWISE_LIBCURL = path;
  } catch {
    // There is none: the tests that need it say so.
  } finally {
    await engine.close();
  }
}
