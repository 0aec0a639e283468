import * as z from 'zod/mini';
import { StoredItem } from './stored-item.ts';

/** How long loads may be kept, in hours. */
export const AGE_LIMITS_HOURS = [1, 24, 7 * 24, 30 * 24] as const;

/** Choices of the data limits, bytes. */
export const VERIFICATION_LIMITS_BYTES = [1e6, 5e6, 20e6, 100e6] as const;
export const DAILY_LIMITS_BYTES = [10e6, 50e6, 200e6, 1e9] as const;

const fields = {
  /** After this time loads are removed. */
  ageLimitHours: z.literal([...AGE_LIMITS_HOURS]),
  /** Whether stored URLs keep their query strings. */
  keepsQueries: z.boolean(),
  /** Hosts, as `normalizeSite` returns them, on which and on whose subdomains nothing is recorded. */
  excludedSites: z.array(z.string().check(z.minLength(1), z.maxLength(253))).check(z.maxLength(1000)),
  /** Most that one verification may transfer, bytes; null for what the helper allows, a few times the page. */
  maxVerificationBytes: z.nullable(z.literal([...VERIFICATION_LIMITS_BYTES])),
  /** The limit for all verifications of a day; null for no limit. */
  maxDailyBytes: z.nullable(z.literal([...DAILY_LIMITS_BYTES])),
  /** Whether a small transfer finds out what a network does to UDP, at the first page on it. */
  checksNetworks: z.boolean(),
  /** Whether every load is recorded in detail, which slows pages down. */
  recordsInDetail: z.boolean(),
  /** Whether the network's rate is announced to servers that ask for it. */
  announcesStartRate: z.boolean(),
};

export const settingsChangeSchema = z.partial(z.object(fields));

/** What the user chose on the options page. */
export type Settings = z.infer<z.ZodMiniObject<typeof fields>>;

const DEFAULTS: Settings = {
  ageLimitHours: 7 * 24,
  keepsQueries: false,
  excludedSites: [],
  maxVerificationBytes: null,
  maxDailyBytes: null,
  checksNetworks: false,
  recordsInDetail: false,
  announcesStartRate: false,
};

/** Takes the defaults for what is missing or invalid, so that one such value does not keep the others from being read. */
function parseSettings(value: unknown): Settings {
  const stored = value !== null && typeof value === 'object' ? value : {};
  const settings: Record<string, unknown> = { ...DEFAULTS };
  for (const [name, schema] of Object.entries(fields)) {
    const field = schema.safeParse((stored as Record<string, unknown>)[name] ?? settings[name]);
    if (field.success) settings[name] = field.data;
    else
      console.warn(
        `hopwise: the setting ${name} is invalid and has its default: ${JSON.stringify(settings[name])}`,
      );
  }
  return settings as Settings;
}

const stored = new StoredItem<Settings>('own', 'settings', parseSettings);

export const readSettings = (): Promise<Settings> => stored.read();

export const saveSettings = (settings: Settings): Promise<void> => stored.write(settings);
