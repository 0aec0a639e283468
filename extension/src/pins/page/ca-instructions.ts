import { helperCommand, usesPowerShell } from '../../helper/helper-command.ts';
import { plural, t } from '../../language/translate.ts';
import { renderButton, renderStatus } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { isPinnable } from '../pinnable-origin.ts';

export const CA_INSTRUCTIONS_ID = 'hw-ca-instructions';

interface CaInstructionsOptions {
  /** `https://host[:port]`, at least one. */
  origins: readonly string[];
  /** Name of the HTTP version. */
  version: string;
  /** Words of the button that pins them. */
  button: string;
  /** Hosts that the existing local CA covers; empty where there is no CA. */
  caHosts: readonly string[];
  /** Absolute path of the helper's launcher; null where the helper could not be asked. */
  launcher: string | null;
  /** Why the helper could not be asked, '' otherwise. */
  problem: string;
  onClose: () => void;
}

/**
 * Explains what a pin to a protocol requires of the user, what it risks, and which commands to run. It changes nothing itself:
 * only the user may create a CA and have it trusted.
 */
export function renderCaInstructions({
  origins: wanted,
  version,
  button,
  caHosts,
  launcher,
  problem,
  onClose,
}: CaInstructionsOptions): HTMLElement {
  const el = builder();
  const names = [...new Set(wanted.map((origin) => new URL(origin).hostname))];
  const subject = names.length === 1 ? names[0]! : plural('hosts', names.length);
  // The new CA replaces the former one, so it has to name the hosts of both.
  const hosts = [...new Set([...caHosts, ...names])].filter((host) => isPinnable(`https://${host}`)).sort();
  const status = renderStatus();
  return el(
    'section',
    { id: CA_INSTRUCTIONS_ID, class: 'hw-steps', 'aria-labelledby': `${CA_INSTRUCTIONS_ID}-title` },
    el('h4', { id: `${CA_INSTRUCTIONS_ID}-title`, tabindex: '-1' }, t('caTitle', { subject, version })),
    problem === '' ? null : el('p', {}, problem),
    el('p', {}, t('caWhy', { subject, version })),
    el('p', {}, el('strong', {}, `${t('caRisk')} `), t('caRiskOf', { hosts: hosts.join(', ') })),
    ...(launcher === null
      ? [el('p', {}, t('caNoCommands'))]
      : renderSteps({ launcher, hosts, button, replaces: caHosts.length > 0, status })),
    status,
    renderButton(t('close'), onClose),
  );
}

interface Steps {
  launcher: string;
  /** That the CA has to cover. */
  hosts: readonly string[];
  button: string;
  /** Whether there is a CA already. */
  replaces: boolean;
  /** Says what became of copying. */
  status: HTMLElement;
}

function renderSteps({ launcher, hosts, button, replaces, status }: Steps): HTMLElement[] {
  const el = builder();
  const command = (words: string, values: readonly string[] = []): HTMLElement =>
    renderCommand(helperCommand(launcher, words, values), status);
  const origins = hosts.map((host) => `https://${host}`);
  const shell = usesPowerShell() ? 'PowerShell' : t('terminal');
  const create = replaces ? t('caCreateAnew', { shell }) : t('caCreate', { shell });
  return [
    el(
      'ol',
      {},
      el('li', {}, create, command('ca create', origins)),
      el('li', {}, t('caTrust'), command('ca trust')),
      el('li', {}, t('caRestart', { button })),
    ),
    el('p', { class: 'hw-note' }, t('caUndo'), command('ca remove')),
  ];
}

function renderCommand(text: string, status: HTMLElement): HTMLElement {
  const el = builder();
  const code = el('code', {}, text);
  const copyText = async () => {
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = t('copied');
    } catch {
      // Pages inside DevTools may not write to the clipboard.
      getSelection()?.selectAllChildren(code);
      status.textContent = t('copySelected');
    }
  };
  const copy = renderButton(t('copy'), copyText, { class: 'hw-link', 'aria-label': t('copyText', { text }) });
  return el('span', { class: 'hw-command' }, code, copy);
}
