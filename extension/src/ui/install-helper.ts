import { t } from '../language/translate.ts';
import { renderButton } from './controls.ts';

/** Where the first page says how to install the helper. */
export const INSTALL_PAGE = 'welcome.html#helper';

/** The button that opens the page with the helper's download for this system. */
export function renderInstallButton(): HTMLButtonElement {
  const open = () => chrome.tabs.create({ url: chrome.runtime.getURL(INSTALL_PAGE) });
  return renderButton(t('helperInstall'), open, {
    class: 'hw-button hw-button-primary hw-install',
  });
}
