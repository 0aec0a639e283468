import { ask, type WhichLoad } from '../messages/page-messages.ts';

/**
 * Saves a load as a JSON file.
 *
 * @returns '' or why it could not be done
 */
export async function saveExport(which: WhichLoad): Promise<string> {
  const answer = await ask({ type: 'export', ...which });
  if (!answer.ok) return answer.error;
  const { host } = new URL(answer.export.recording.url);
  const blob = new Blob([JSON.stringify(answer.export, null, 1)], { type: 'application/json' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = `hopwise-${host.replace(/[^\w.-]/g, '_')}.json`;
  link.click();
  // The download has taken hold of the blob by the next turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
  return '';
}
