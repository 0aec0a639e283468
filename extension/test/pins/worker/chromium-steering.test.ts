import { beforeEach, describe, expect, test, vi } from 'vitest';
import { english } from '../../../src/language/english.ts';
import { ChromiumSteering } from '../../../src/pins/worker/chromium-steering.ts';

const route = {
  port: 4321,
  origins: ['https://a.example', 'https://b.example'],
  trials: [],
};

type Listener = (details: Record<string, unknown>) => unknown;

/** The parts of Chromium's API in use: one proxy setting, which another party may control. */
function chromium() {
  const made = {
    calls: [] as string[],
    control: 'controllable_by_this_extension',
    value: { mode: 'system' } as { mode: string; pacScript?: { data: string } },
    scopes: new Set<string>(),
    onChange: new Set<Listener>(),
  };
  const event = (listeners: Set<Listener>) => ({
    addListener: (listener: Listener) => void listeners.add(listener),
    removeListener: (listener: Listener) => void listeners.delete(listener),
  });
  vi.stubGlobal('chrome', {
    proxy: {
      settings: {
        get: async () => ({ levelOfControl: made.control, value: made.value }),
        set: async ({ value, scope }: { value: typeof made.value; scope: string }) => {
          made.calls.push('set');
          made.scopes.add(scope);
          made.control = 'controlled_by_this_extension';
          made.value = value;
        },
        clear: async ({ scope }: { scope: string }) => {
          made.calls.push('clear');
          made.scopes.add(scope);
          made.control = 'controllable_by_this_extension';
          made.value = { mode: 'system' };
        },
        onChange: event(made.onChange),
      },
    },
    browsingData: {
      remove: async ({ since }: { since: number }, what: object) => {
        expect(Date.now() - since).toBeLessThan(1000);
        expect(what).toEqual({ cache: true });
        made.calls.push('forget');
      },
    },
  });
  return made;
}

let browser: ReturnType<typeof chromium>;
let lost: string[];
let steering: ChromiumSteering;

beforeEach(() => {
  browser = chromium();
  lost = [];
  steering = new ChromiumSteering((why) => void lost.push(why));
});

describe('the proxy settings', () => {
  test('are a PAC script for regular windows while something is pinned, and are cleared afterwards', async () => {
    await steering.setRoute(route);
    expect(browser.value).toMatchObject({
      mode: 'pac_script',
      pacScript: { data: expect.stringContaining('["https://a.example","https://b.example"]') },
    });
    await steering.clearRoute();
    expect(browser.value).toEqual({ mode: 'system' });
    expect(browser.calls).toEqual(['set', 'clear', 'forget']);
    expect([...browser.scopes]).toEqual(['regular_only']);
    expect(browser.onChange.size).toBe(0);
  });

  test('are set again each time, and the broken mark of HTTP/3 is reset only when an origin is removed', async () => {
    await steering.setRoute(route);
    const before = browser.value.pacScript!.data;
    await steering.setRoute(route);
    expect(browser.value.pacScript!.data).not.toBe(before);
    await steering.setRoute({ ...route, origins: ['https://b.example'] });
    expect(browser.calls).toEqual(['set', 'set', 'set', 'forget']);
    expect(browser.onChange.size).toBe(1);
  });

  test('the mark is reset when not every origin is pinned any longer, but not for an exception', async () => {
    const everyOrigin = { ports: [5001], exceptions: [], leftSites: [] };
    await steering.setRoute({ ...route, everyOrigin });
    await steering.setRoute({
      ...route,
      origins: [],
      everyOrigin: { ...everyOrigin, exceptions: ['https://c.example'] },
    });
    expect(browser.value.pacScript!.data).toContain('"https://c.example"');
    expect(browser.calls).toEqual(['set', 'set']);
    await steering.setRoute(route);
    expect(browser.calls).toEqual(['set', 'set', 'set', 'forget']);
  });

  test('the mark is reset when a site is left to the browser while every origin is pinned', async () => {
    const everyOrigin = { ports: [5001], exceptions: [], leftSites: ['c.example'] };
    await steering.setRoute({ ...route, everyOrigin });
    await steering.setRoute({ ...route, everyOrigin: { ...everyOrigin, leftSites: [] } });
    expect(browser.calls).toEqual(['set', 'set']);
    await steering.setRoute({ ...route, everyOrigin });
    expect(browser.calls).toEqual(['set', 'set', 'set', 'forget']);
  });

  test('the mark is left where other origins are to keep what is known of them', async () => {
    await steering.setRoute(route);
    await steering.setRoute({ ...route, origins: ['https://b.example'] }, { keepsAlternatives: true });
    await steering.clearRoute({ keepsAlternatives: true });
    expect(browser.calls).toEqual(['set', 'set', 'clear']);
  });

  test.each([
    ['not_controllable', 'system', 'steeringFixed'],
    ['controlled_by_other_extensions', 'pac_script', 'steeringOtherExtension'],
    ['controllable_by_this_extension', 'fixed_servers', 'steeringOtherProxy'],
    ['controllable_by_this_extension', 'pac_script', 'steeringOtherProxy'],
    ['controllable_by_this_extension', 'auto_detect', 'steeringOtherProxy'],
  ] as const)('are left unchanged when they are %s with %s', async (control, mode, key) => {
    Object.assign(browser, { control, value: { mode } });
    expect(await steering.findObstacle()).toBe(key);
    await expect(steering.setRoute(route)).rejects.toThrow(english[key]);
    await steering.clearRoute();
    expect(browser.calls).toEqual([]);
    expect(browser.onChange.size).toBe(0);
  });

  test('of an earlier worker are cleared', async () => {
    Object.assign(browser, { control: 'controlled_by_this_extension', value: { mode: 'pac_script' } });
    await steering.clearRoute();
    expect(browser.value).toEqual({ mode: 'system' });
  });

  test('taken over by another extension end the pins, and ours are cleared as well', async () => {
    await steering.setRoute(route);
    for (const listener of browser.onChange) listener({ levelOfControl: 'controlled_by_this_extension' });
    expect(lost).toEqual([]);
    browser.control = 'controlled_by_other_extensions';
    for (const listener of browser.onChange) listener({ levelOfControl: browser.control });
    expect(lost).toEqual(['steeringOtherExtension']);
    await steering.clearRoute();
    expect(browser.calls).toEqual(['set', 'clear', 'forget']);
  });
});
