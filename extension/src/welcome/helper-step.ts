import { greetHelper } from '../helper/ask-helper.ts';
import { helperCommand } from '../helper/helper-command.ts';
import type { Hello } from '../helper/helper-connection.ts';
import { HelperWatch } from '../helper/helper-watch.ts';
import { t } from '../language/translate.ts';
import { renderCard } from '../ui/card.ts';
import { renderButton } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { listInstallations } from './installations.ts';
import { renderState } from './step-state.ts';

/** The step that looks for the helper, and says how to install it for as long as it is missing. */
export function renderHelperStep(greet: () => Promise<Hello> = greetHelper): HTMLElement {
  const el = builder();
  const state = renderState();
  const how = renderInstallations();
  how.hidden = true;
  const doctor = el('p', { class: 'hw-note' });
  const helper = new HelperWatch(greet);

  const update = () => {
    const { hello, isMissing, problem } = helper;
    if (hello) state.show(describeHelper(hello), hello.problem === '');
    else state.show(isMissing ? t('helperMissing') : problem, false);
    doctor.replaceChildren(
      ...(hello ? [t('helperDoctor'), ' ', el('code', {}, helperCommand(hello.launcher, 'doctor'))] : []),
    );
    how.hidden = !isMissing;
  };
  helper.onChange(update);
  const again = renderButton(t('helperAgain'), async () => {
    again.setAttribute('aria-disabled', 'true');
    state.show(t('helperLooking'), false);
    await helper.look();
    update();
    again.removeAttribute('aria-disabled');
  });
  state.show(t('helperLooking'), false);
  void helper.look();
  const card = renderCard(
    t('helperTitle'),
    el('p', {}, t('helperReason')),
    state.element,
    doctor,
    how,
    el('div', { class: 'hw-row' }, again),
  );
  card.id = 'helper';
  return card;
}

/** One sentence: version, engine, and what is missing. */
function describeHelper({ hostVersion, engine, problem }: Hello): string {
  if (problem !== '') return t('helperProblem', { version: hostVersion, problem });
  return t('helperReady', { version: hostVersion, engine: engine.split(' ')[0]! });
}

function renderInstallations(): HTMLElement {
  const el = builder();
  const { version } = chrome.runtime.getManifest();
  const installations = listInstallations(version, navigator.userAgent);
  if (installations.length === 0) return el('div', { class: 'hw-steps' }, el('p', {}, t('helperLinuxOnly')));
  const items = installations.flatMap(({ system, commands }) => [
    el('h3', {}, system),
    ...commands.map((command) => el('div', { class: 'hw-command' }, el('code', {}, command))),
  ]);
  const found = el('p', { class: 'hw-note' }, t('helperFoundByItself'));
  return el('div', { class: 'hw-steps' }, el('p', {}, t('helperDownload', { version })), ...items, found);
}
