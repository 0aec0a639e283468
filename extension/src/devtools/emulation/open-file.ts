import { currentLanguage, t } from '../../language/translate.ts';
import type { EmulationAnswer, EmulationRequest } from './emulation-messages.ts';
import type { OpenedFile } from './read-file.ts';

let opened = 0;

/**
 * Reads a file in a worker of its own, which ends with it: a hostile file slows down nothing else.
 *
 * @throws Error in one line to show
 */
export function openFile(file: File): Promise<OpenedFile> {
  const worker = new Worker('emulation-worker.js', { type: 'module' });
  const answered = new Promise<OpenedFile>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<EmulationAnswer>) => {
      if (data.kind === 'opened') resolve(data.opened);
      else if (data.kind === 'problem') reject(new Error(data.problem));
    });
    worker.addEventListener('error', () => reject(new Error(t('fileNotRead', { name: file.name }))));
  });
  worker.postMessage({ kind: 'open', file, language: currentLanguage() } satisfies EmulationRequest);
  opened += 1;
  const id = -opened;
  return answered
    .then(({ load, ...read }) => {
      const reason = load.problem;
      return { ...read, load: { ...load, id, problem: reason && t('predictFailed', { reason }) } };
    })
    .finally(() => worker.terminate());
}
