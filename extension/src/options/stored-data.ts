import { type StoredData, sendMemoryRequest } from '../messages/memory-messages.ts';
import { builder } from '../ui/dom.ts';
import { formatBytes } from '../ui/format.ts';
import { renderSection } from './section.ts';

/** States how much is stored. */
export async function renderStoredData(): Promise<HTMLElement> {
  const el = builder();
  const answer = await sendMemoryRequest({ type: 'stored-data' });
  if (!answer.ok) return renderSection('What is stored', el('p', { class: 'hw-note' }, answer.error));
  const figures = listFigures(answer.stored).flatMap(([name, value]) => [
    el('dt', {}, name),
    el('dd', {}, value),
  ]);
  return renderSection('What is stored', el('dl', { class: 'hw-figures' }, ...figures));
}

function listFigures({ loads, bytes, oldestMs }: StoredData): [name: string, value: string][] {
  return [
    ['Page loads', String(loads)],
    ['Size', formatBytes(bytes)],
    ['Oldest', oldestMs === null ? 'none' : new Date(oldestMs).toLocaleString()],
  ];
}
