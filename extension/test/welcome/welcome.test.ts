/** The first page after an installation. */
import { MESSAGE_VERSION } from '@hopwise/contract';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Hello } from '../../src/helper/helper-connection.ts';
import { HelperError } from '../../src/helper/helper-port.ts';
import { parseSitePattern } from '../../src/ui/site-access.ts';
import { renderHelperStep } from '../../src/welcome/helper-step.ts';
import { renderHistoryStep } from '../../src/welcome/history-step.ts';
import { listInstallations } from '../../src/welcome/installations.ts';
import { renderLaterPermissions } from '../../src/welcome/later-permissions.ts';
import { openWelcome } from '../../src/welcome/open-welcome.ts';
import { renderPageAccess } from '../../src/welcome/page-access.ts';

const LINUX = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0.0.0';

let granted: string[];
let asked: unknown[];
let opened: unknown[];
let installType: string;

beforeEach(() => {
  granted = [];
  asked = [];
  opened = [];
  installType = 'normal';
  vi.stubGlobal('document', new Window().document);
  vi.stubGlobal('navigator', { userAgent: LINUX });
  const hasAll = () => granted.includes('https://*/*');
  vi.stubGlobal('chrome', {
    management: { getSelf: async () => ({ installType }) },
    tabs: { create: async (tab: unknown) => void opened.push(tab) },
    runtime: {
      getURL: (path: string) => `chrome-extension://id/${path}`,
      getManifest: () => ({ version: '1.2.0' }),
    },
    permissions: {
      contains: async () => hasAll(),
      getAll: async () => ({ origins: granted }),
      request: async ({ origins }: { origins: string[] }) => {
        asked.push(origins);
        granted.push(...origins);
        return true;
      },
    },
  });
});
afterEach(() => vi.unstubAllGlobals());

describe('the page opens', () => {
  test.each([
    ['after an installation', 'install', 'normal', 1],
    ['not after an update', 'update', 'normal', 0],
    ['not for a developer who loads the extension unpacked', 'install', 'development', 0],
  ] as const)('%s', async (_, reason, type, tabs) => {
    installType = type;
    await openWelcome(reason);
    expect(opened).toEqual(Array(tabs).fill({ url: 'chrome-extension://id/welcome.html' }));
  });
});

test.each([
  ['example.org', '*://*.example.org/*'],
  [' https://www.example.org:8443/a?b ', '*://*.www.example.org/*'],
  ['127.0.0.1', '*://127.0.0.1/*'],
  ['bücher.example', '*://*.xn--bcher-kva.example/*'],
  ['', null],
  ['*', null],
  ['a b', null],
  ['https://user@example.org/', null],
  ['https://[::1]/', null],
])('the site "%s" has the pattern %s', (text, pattern) => {
  expect(parseSitePattern(text)).toBe(pattern);
});

test.each([
  [
    ['webRequest', 'history'],
    ['Make it faster', 'Allow detailed recordings'],
  ],
  // Where it costs nothing it is required.
  [['proxy', 'history'], ['Make it faster']],
])('of %j it says what a click asks for later, and why', (optional, features) => {
  chrome.runtime.getManifest = () =>
    ({ optional_permissions: optional }) as unknown as chrome.runtime.ManifestV3;
  const rows = [...renderLaterPermissions().querySelectorAll('tbody tr')];
  expect(rows.map((row) => row.querySelector('th')!.textContent)).toEqual(features);
  for (const row of rows) {
    const cells = [...row.querySelectorAll('td')].map(({ textContent }) => textContent);
    expect(cells).toEqual([expect.stringMatching(/\w/), expect.stringMatching(/\w/)]);
  }
});

test('to hear of deletions from the history is asked for with its reason', async () => {
  const held: string[] = [];
  const contains = async ({ permissions = [] }: chrome.permissions.Permissions) =>
    permissions.every((name) => held.includes(name));
  const request = async ({ permissions = [] }: chrome.permissions.Permissions) =>
    held.push(...permissions) > 0;
  vi.stubGlobal('chrome', { ...chrome, permissions: { contains, request } });
  const element = await renderHistoryStep();
  const state = () => element.querySelector('[role=status]')!.textContent;
  expect(element.textContent).toContain(
    'Pages that you remove from the browser’s history should be erased here too.',
  );
  expect(state()).toContain('It erases all that it stores about pages after a day.');
  element.querySelector('button')!.click();
  await vi.waitFor(() => expect(state()).toContain('are erased here too'));
  expect(held).toEqual(['history']);
  expect(element.querySelector('button')!.parentElement!.hidden).toBe(true);
});

describe('access to pages', () => {
  const render = async () => {
    const element = await renderPageAccess();
    const choose = async (text: string) => {
      element.querySelector('input')!.value = text;
      element
        .querySelector('form')!
        .dispatchEvent(new (document.defaultView as unknown as Window).Event('submit') as never);
      await vi.waitFor(() => {});
    };
    return { element, choose, state: () => element.querySelector('[role=status]')!.textContent };
  };

  test('is given for one site', async () => {
    const { choose, state } = await render();
    expect(state()).toBe('hopwise has access to no site yet.');
    await choose('example.org');
    await vi.waitFor(() => expect(state()).toBe('hopwise may record the times of example.org.'));
    expect(asked).toEqual([['*://*.example.org/*']]);
  });

  test('is not asked for what names no site', async () => {
    const { choose, state } = await render();
    await choose('no site');
    expect(state()).toBe('“no site” is not a site. Enter a host such as example.org.');
    expect(asked).toEqual([]);
  });

  test('is given for all sites, and then not offered again', async () => {
    const { element, state } = await render();
    element.querySelector('button')!.click();
    await vi.waitFor(() => expect(state()).toMatch(/^hopwise may record the times of all sites\./));
    expect(asked).toEqual([['http://*/*', 'https://*/*']]);
    expect(element.querySelector('form')!.hidden).toBe(true);
  });
});

describe('the helper', () => {
  const hello: Hello = {
    type: 'hello',
    id: '1',
    version: MESSAGE_VERSION,
    hostVersion: '1.2.0',
    launcher: '/usr/bin/hopwise-host',
    engine: 'libcurl/8.14.1 GnuTLS/3.7.9',
    http3: true,
    problem: '',
  };
  const shown = async (greet: () => Promise<Hello>) => {
    const element = renderHelperStep(greet);
    const status = element.querySelector<HTMLElement>('[role=status]')!;
    await vi.waitFor(() => expect(status.textContent).not.toMatch(/^Looking/));
    const commands = element.querySelector<HTMLElement>('.hw-steps')!;
    return {
      text: status.textContent,
      ready: status.dataset.ready,
      commands: commands.hidden ? '' : commands.textContent,
      doctor: element.querySelector('.hw-note')!.textContent,
    };
  };

  test('is there', async () => {
    expect(await shown(async () => hello)).toEqual({
      text: 'Helper 1.2.0 is installed and can transfer over HTTP/1.1, HTTP/2 and HTTP/3 (libcurl/8.14.1).',
      ready: 'true',
      commands: '',
      doctor: 'Checks everything: /usr/bin/hopwise-host doctor',
    });
  });

  test('is there, and lacks HTTP/3', async () => {
    const problem = 'libcurl 7.88.1 has no HTTP/3: run /opt/hopwise-host setup';
    expect(await shown(async () => ({ ...hello, problem }))).toMatchObject({
      text: `Helper 1.2.0 is installed, but ${problem}`,
      ready: 'false',
    });
  });

  test('is missing: the page shows how to install it', async () => {
    const missing = await shown(async () => {
      throw new HelperError('no-helper', () => 'not installed');
    });
    expect(missing).toMatchObject({ text: 'The helper is not installed.', ready: 'false', doctor: '' });
    expect(missing.commands).toContain('sudo apt install ./hopwise-host_1.2.0_amd64.deb');
  });
});

test.each([
  [LINUX, ['sudo apt install ./hopwise-host_1.2.0_amd64.deb', './hopwise-host-1.2.0-linux-amd64/install.sh']],
  [
    'Mozilla/5.0 (X11; Linux aarch64) Firefox/153.0',
    ['sudo apt install ./hopwise-host_1.2.0_arm64.deb', './hopwise-host-1.2.0-linux-arm64/install.sh'],
  ],
  // Untried.
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Chrome/156.0.0.0', []],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/156.0.0.0', []],
  ['Mozilla/5.0 (Linux; Android 16) Firefox/153.0', []],
])('%s is offered the packages for its system', (userAgent, last) => {
  const offered = listInstallations('1.2.0', userAgent);
  expect(offered.map(({ commands }) => commands.at(-1))).toEqual(last);
});
