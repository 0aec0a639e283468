import { helperCommand } from '../helper/helper-command.ts';
import { HelperError } from '../helper/helper-port.ts';
import { greetHelper, type Hello } from '../helper/native-client.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import { listInstallations } from './installations.ts';
import { renderState } from './step-state.ts';

const REASON =
  'The helper is a program beside the browser. It transfers a page under each HTTP version to check a prediction, and keeps a site on ' +
  'the version that you choose. Predictions work without it.';

/** The step that checks the helper, and says how to install it where it is missing. */
export function renderHelperStep(greet: () => Promise<Hello> = greetHelper): HTMLElement {
  const el = builder();
  const state = renderState();
  const again = el('button', { type: 'button', class: 'hw-button' }, 'Check again');
  const how = renderInstallations();
  how.hidden = true;
  const doctor = el('p', { class: 'hw-note' });

  const check = async () => {
    again.disabled = true;
    state.show('Looking for the helper …', false);
    doctor.replaceChildren();
    try {
      const hello = await greet();
      state.show(describeHelper(hello), hello.problem === '');
      doctor.replaceChildren('Checks everything: ', el('code', {}, helperCommand(hello.launcher, 'doctor')));
      how.hidden = true;
    } catch (error) {
      const isMissing = error instanceof HelperError && error.code === 'no-helper';
      state.show(isMissing ? 'The helper is not installed.' : (error as Error).message, false);
      how.hidden = !isMissing;
    }
    again.disabled = false;
  };
  again.addEventListener('click', () => void check());
  void check();
  return renderCard(
    '2. The helper (optional)',
    el('p', {}, REASON),
    state.element,
    doctor,
    how,
    el('div', { class: 'hw-row' }, again),
  );
}

/** One sentence: version, engine, and what is missing. */
export function describeHelper({ hostVersion, engine, problem }: Hello): string {
  const version = `Helper ${hostVersion} is installed`;
  if (problem !== '') return `${version}, but ${problem}`;
  return `${version} and can transfer over HTTP/1.1, HTTP/2 and HTTP/3 (${engine.split(' ')[0]}).`;
}

function renderInstallations(): HTMLElement {
  const el = builder();
  const { version } = chrome.runtime.getManifest();
  const installations = listInstallations(version, navigator.userAgent);
  const items = installations.flatMap(({ system, commands }) => [
    el('h3', {}, system),
    ...commands.map((command) => el('div', { class: 'hw-command' }, el('code', {}, command))),
  ]);
  const intro = `Download the helper’s package from the release ${version} of hopwise and run this in the folder of the download:`;
  return el('div', { class: 'hw-steps' }, el('p', {}, intro), ...items);
}
