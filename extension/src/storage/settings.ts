import * as z from 'zod/mini';

const KEY = 'settings';

/** How long loads may be kept, in hours. */
export const AGE_LIMITS_HOURS = [1, 24, 7 * 24, 30 * 24] as const;

const fields = {
  /** After this time loads are removed. */
  ageLimitHours: z.literal([...AGE_LIMITS_HOURS]),
  /** Whether stored URLs keep their query strings. */
  keepsQueries: z.boolean(),
  /** Hosts, as `normalizeSite` returns them, on which and on whose subdomains nothing is recorded. */
  excludedSites: z.array(z.string().check(z.minLength(1), z.maxLength(253))).check(z.maxLength(1000)),
};

export const settingsChangeSchema = z.partial(z.object(fields));

/** What the user chose on the options page. */
export type Settings = z.infer<z.ZodMiniObject<typeof fields>>;

const DEFAULTS: Settings = { ageLimitHours: 7 * 24, keepsQueries: false, excludedSites: [] };

export async function readSettings(): Promise<Settings> {
  return {
    ...DEFAULTS,
    ...settingsChangeSchema.parse((await chrome.storage.local.get(KEY))[KEY] ?? {}),
  } as Settings;
}

export async function saveSettings(settings: Settings): Promise<void> {
  await chrome.storage.local.set({ [KEY]: settings });
}
