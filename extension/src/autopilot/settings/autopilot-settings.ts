/** What the user chose for the autopilot on the options page. */
import { OBJECTIVES } from '@hopwise/model';
import * as z from 'zod/mini';
import { StoredItem } from '../../storage/stored-item.ts';
import { NETWORK_KINDS, TRAFFIC_KINDS } from './traffic-profiles.ts';

/** What may be done about a site's origins, whatever the prediction says. */
export const SITE_RULES = ['leave', 'avoid-h3', 'h1', 'h2', 'h3', 'auto'] as const;

export type SiteRule = (typeof SITE_RULES)[number];

/** Below 5% or 30 ms no action is worthwhile, see `decide/judge-action.ts` of the emulator. */
export const MIN_GAIN_RANGE = { min: 0.05, max: 0.9 } as const;
export const MIN_GAIN_MS_RANGE = { min: 30, max: 10_000 } as const;

const siteRule = z.object({
  /** A host, as `normalizeSite` returns it; its subdomains are included. */
  site: z.string().check(z.minLength(1), z.maxLength(253)),
  rule: z.enum(SITE_RULES),
});

const trafficRule = z.object({
  traffic: z.enum(TRAFFIC_KINDS),
  network: z.enum(NETWORK_KINDS),
  rule: z.enum(SITE_RULES),
});

/** The oldest is given up. */
export const MAX_NETWORK_RULES = 20;

const networkRule = z.object({
  /** Key of the network; '' for one that the helper does not recognise. */
  network: z.string().check(z.maxLength(22)),
  keepsOffH3: z.boolean(),
});

export type TrafficRule = z.infer<typeof trafficRule>;

const fields = {
  isOn: z.boolean(),
  /** Least predicted gain to act on, as a fraction of the load time. */
  minGain: z.number().check(z.gte(MIN_GAIN_RANGE.min), z.lte(MIN_GAIN_RANGE.max)),
  /** The least gain in milliseconds; an action must exceed both. */
  minGainMs: z.number().check(z.gte(MIN_GAIN_MS_RANGE.min), z.lte(MIN_GAIN_MS_RANGE.max)),
  /** Whether origins may also be held to a protocol, by a proxy that terminates TLS. */
  holdsProtocols: z.boolean(),
  /** Whether the next best choice is tried now and then, at a bounded cost. */
  explores: z.boolean(),
  /** What trials compare load times by. */
  objective: z.enum(OBJECTIVES),
  siteRules: z.array(siteRule).check(z.maxLength(500)),
  /** One for each kind of traffic and of network at most. */
  trafficRules: z.array(trafficRule).check(z.maxLength(TRAFFIC_KINDS.length * NETWORK_KINDS.length)),
  /** Where the user chose whether HTTP/3 is kept off; elsewhere it is where UDP is hindered. */
  networkRules: z.array(networkRule).check(z.maxLength(MAX_NETWORK_RULES)),
};

export const autopilotChangeSchema = z.partial(z.object(fields));

export type AutopilotSettings = z.infer<z.ZodMiniObject<typeof fields>>;

/** Twice the gain that makes an action worthwhile, so that a small error of the prediction does no harm. */
export const AUTOPILOT_DEFAULTS: AutopilotSettings = {
  isOn: false,
  minGain: 0.1,
  minGainMs: 100,
  holdsProtocols: false,
  explores: false,
  objective: 'median',
  siteRules: [],
  trafficRules: [],
  networkRules: [],
};

/** Settings that cannot be read leave the autopilot off. */
const stored = new StoredItem('own', 'autopilot', (value) => {
  const changed = autopilotChangeSchema.safeParse(value ?? {});
  return { ...AUTOPILOT_DEFAULTS, ...(changed.success ? changed.data : {}) } as AutopilotSettings;
});

export const readAutopilotSettings = (): Promise<AutopilotSettings> => stored.read();

export const saveAutopilotSettings = (settings: AutopilotSettings): Promise<void> => stored.write(settings);
