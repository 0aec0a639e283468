import { t } from '../language/translate.ts';
import { translatePage } from '../language/translate-page.ts';
import { builder } from '../ui/dom.ts';
import { renderAutopilotStep } from './autopilot-step.ts';
import { renderHelperStep } from './helper-step.ts';
import { renderHistoryStep } from './history-step.ts';
import { renderLaterPermissions } from './later-permissions.ts';
import { renderPageAccess } from './page-access.ts';
import { renderTryStep } from './try-step.ts';

await translatePage('welcomeTitle');
const el = builder();
document.getElementById('header')!.append(el('h1', {}, t('welcomeTitle')), el('p', {}, t('welcomeIntro')));
document
  .getElementById('content')!
  .replaceChildren(
    await renderPageAccess(),
    renderHelperStep(),
    renderTryStep(),
    await renderAutopilotStep(),
    await renderHistoryStep(),
    renderLaterPermissions(),
  );
// The page was empty when the browser looked for the part that the URL names.
if (location.hash === '#helper') document.getElementById('helper')?.scrollIntoView();
