import { Window } from 'happy-dom';
import { beforeEach, expect, test, vi } from 'vitest';
import { renderAgeLimit } from '../../src/options/age-limit.ts';
import { SettingsClient } from '../../src/options/settings-client.ts';
import { readSettings } from '../../src/storage/settings.ts';
import '../support/own-database.ts';

const window = new Window();
let isGranted: boolean;
let onGranted: () => void;

beforeEach(() => {
  isGranted = false;
  vi.stubGlobal('document', window.document);
  vi.stubGlobal('chrome', {
    permissions: {
      contains: async () => isGranted,
      onAdded: { addListener: (listener: () => void) => (onGranted = listener) },
      onRemoved: { addListener: () => {} },
    },
    runtime: {
      sendMessage: async ({ change }: { change: object }) => ({
        ok: true,
        settings: { ...(await readSettings()), ...change },
        erased: { loads: 0 },
      }),
    },
  });
});

async function shown() {
  const card = renderAgeLimit(new SettingsClient(await readSettings(), () => {}));
  const isCut = () => card.textContent.includes('For now a day:');
  return { isCut, select: card.querySelector('select')! };
}

test('a limit of more than a day is said to be a day until removals from the history are heard of', async () => {
  const { isCut } = await shown();
  await vi.waitFor(() => expect(isCut()).toBe(true));
  isGranted = true;
  onGranted();
  await vi.waitFor(() => expect(isCut()).toBe(false));
});

test('a limit of a day is as long as it says', async () => {
  const { isCut, select } = await shown();
  await vi.waitFor(() => expect(isCut()).toBe(true));
  select.value = '24';
  select.dispatchEvent(new window.Event('change') as unknown as Event);
  await vi.waitFor(() => expect(isCut()).toBe(false));
});
