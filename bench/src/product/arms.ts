/** The browsers that are compared: real ones as they ship, without the extension and with it in several settings. */
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';

export const BROWSERS = { chromium: 'Chromium', firefox: 'Firefox' } as const;
export type BrowserName = keyof typeof BROWSERS;
export const BROWSER_NAMES = Object.keys(BROWSERS) as BrowserName[];

/** How an arm differs from the browser alone. */
export interface ArmSettings {
  says: string;
  protocol: ProtocolMode;
  /** `detailed`: allowed to record in detail from the start. `permissions`: one that does nothing, and has the same permissions. */
  extension: 'none' | 'whole' | 'detailed' | 'permissions';
  hasHelper: boolean;
  /** Whether each page is verified once, after its first visit. */
  verifies: boolean;
  /** Changes of the extension's settings, as its options page sends them. */
  changes: (
    | { type: 'change-autopilot'; change: { isOn?: boolean; explores?: boolean } }
    | {
        type: 'change-settings';
        change: { checksNetworks?: boolean; announcesStartRate?: boolean; recordsInDetail?: boolean };
      }
    | { type: 'switch-network'; keepsOffH3: boolean }
  )[];
  /** The one browser in which it means anything; all unless given. */
  onlyIn?: BrowserName;
  /** The protocols over which the servers ask for the start rate, and begin at it. */
  startsAtRate?: 'tcp' | 'h3';
}

const ALONE: ArmSettings = {
  says: 'the browser alone',
  protocol: 'natural',
  extension: 'none',
  hasHelper: false,
  verifies: false,
  changes: [],
};
const AUTO: ArmSettings = {
  ...ALONE,
  says: 'the extension, the helper and the autopilot',
  extension: 'whole',
  hasHelper: true,
  changes: [{ type: 'change-autopilot', change: { isOn: true } }],
};
const ANNOUNCING = {
  ...ALONE,
  // It has the permissions that the start rate needs. They alone do not make it record loads in detail.
  extension: 'detailed',
  changes: [{ type: 'change-settings', change: { announcesStartRate: true, recordsInDetail: false } }],
  // The permissions of `detailed` are asked for by a click in Firefox.
  onlyIn: 'chromium',
} as const satisfies ArmSettings;

export const ARMS = {
  off: ALONE,
  'off-again': { ...ALONE, says: 'the browser alone, measured a second time' },
  record: { ...ALONE, says: 'the extension alone, as it is installed', extension: 'whole' },
  permissions: {
    ...ALONE,
    says: 'an extension that does nothing and has the permissions of `detail`: what the browser itself does for them',
    extension: 'permissions',
    // Firefox does nothing for permissions that are not used.
    onlyIn: 'chromium',
  },
  detail: {
    ...ALONE,
    says: 'the extension alone, recording every load in detail',
    extension: 'detailed',
  },
  'start-rate': {
    ...ANNOUNCING,
    says: 'the extension alone, announcing the network’s rate to servers that begin at it over TCP; with it all servers of the run pace and offer no HTTP/3',
    startsAtRate: 'tcp',
  },
  'start-rate-h3': {
    ...ANNOUNCING,
    says: 'the extension alone, announcing the network’s rate to servers that begin at it over HTTP/3; with it all servers of the run are quiche and nginx, and offer it',
    startsAtRate: 'h3',
  },
  auto: AUTO,
  check: {
    ...AUTO,
    says: 'as `auto`, and it may check new networks by a small transfer',
    changes: [...AUTO.changes, { type: 'change-settings', change: { checksNetworks: true } }],
  },
  verify: { ...AUTO, says: 'as `auto`, and each page is verified after its first visit', verifies: true },
  explore: {
    ...AUTO,
    says: 'as `auto`, and it may try what is uncertain',
    changes: [{ type: 'change-autopilot', change: { isOn: true, explores: true } }],
  },
  'without-h3': {
    ...AUTO,
    says: 'the extension and the helper, HTTP/3 kept off on the network by the user',
    changes: [{ type: 'switch-network', keepsOffH3: true }],
  },
  h1: { ...ALONE, says: 'the browser alone, HTTP/1.1 forced', protocol: 'h1' },
  h2: { ...ALONE, says: 'the browser alone, without HTTP/3', protocol: 'h2' },
  h3: { ...ALONE, says: 'the browser alone, HTTP/3 forced', protocol: 'h3' },
} as const satisfies Record<string, ArmSettings>;

export type ProductArm = keyof typeof ARMS;
export const ARM_NAMES = Object.keys(ARMS) as ProductArm[];

/** Arms that a browser can be measured in besides `off`. */
export function listArms(browser: BrowserName): ProductArm[] {
  return ARM_NAMES.filter((name) => {
    const { onlyIn = browser }: ArmSettings = ARMS[name];
    return name !== 'off' && onlyIn === browser;
  });
}
