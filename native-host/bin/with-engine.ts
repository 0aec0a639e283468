import { RequestError } from '../src/base/errors.ts';
import { Engine } from '../src/engine/engine.ts';
import { EXIT_INTERRUPTED, note } from './output.ts';

/**
 * Runs a command with an engine of its own, which ends with it. An interruption of the process aborts `signal`; the command then ends as
 * cancelled, whether it returns or throws the `RequestError` of that.
 *
 * @throws what `run` throws otherwise
 */
export async function withEngine(
  libcurl: string | undefined,
  run: (engine: Engine, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const engine = new Engine({ libcurl, remembersLibrary: true });
  const interrupt = new AbortController();
  const onInterrupt = (): void => interrupt.abort();
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onInterrupt);
  try {
    await run(engine, interrupt.signal).catch((fault) => {
      if (!(fault instanceof RequestError && fault.code === 'cancelled')) throw fault;
      interrupt.abort();
    });
    if (!interrupt.signal.aborted) return;
    note('cancelled');
    process.exitCode = EXIT_INTERRUPTED;
  } finally {
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onInterrupt);
    await engine.close();
  }
}
