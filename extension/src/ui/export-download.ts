import { sendLoadRequest, type WhichLoad } from '../messages/load-messages.ts';

/**
 * Downloads a load as a JSON file.
 *
 * @returns '' or the reason why it failed, as a message to show
 */
export async function downloadExport(which: WhichLoad): Promise<string> {
  const answer = await sendLoadRequest({ type: 'export', ...which });
  if (!answer.ok) return answer.error;
  const { host } = new URL(answer.export.recording.url);
  const blob = new Blob([JSON.stringify(answer.export, null, 1)], { type: 'application/json' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = `hopwise-${host.replace(/[^\w.-]/g, '_')}.json`;
  link.click();
  // By the next turn the download holds a reference to the blob.
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
  return '';
}
