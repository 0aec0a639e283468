import { renderExample } from './example.ts';
import { renderHelperStep } from './helper-step.ts';
import { renderLaterPermissions } from './later-permissions.ts';
import { renderPageAccess } from './page-access.ts';

document
  .getElementById('content')!
  .replaceChildren(await renderPageAccess(), renderHelperStep(), renderExample(), renderLaterPermissions());
