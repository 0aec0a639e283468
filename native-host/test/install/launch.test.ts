import { expect, it } from 'vitest';
import { launchingBrowser } from '../../src/install/launch.ts';
import { CHROMIUM_ARGUMENTS, FIREFOX_ARGUMENTS } from '../support/host-process.ts';

it.each([
  [CHROMIUM_ARGUMENTS, 'chrome\n', 'chrome'],
  [CHROMIUM_ARGUMENTS, 'chromium\n', 'chromium'],
  [CHROMIUM_ARGUMENTS, 'msedge\n', 'edge'],
  [CHROMIUM_ARGUMENTS, 'brave\n', 'brave'],
  [CHROMIUM_ARGUMENTS, 'vivaldi-bin\n', 'chromium'],
  [CHROMIUM_ARGUMENTS, '', 'chromium'],
  [FIREFOX_ARGUMENTS, 'firefox-esr\n', 'firefox'],
])('takes %j under %j for %s', (args, processName, browser) => {
  expect(launchingBrowser(args, processName)).toBe(browser);
});
