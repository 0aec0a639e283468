import { t } from '../language/translate.ts';
import { type DetailAccess, readDetailAccess, requestDetail } from '../storage/detail-permission.ts';
import type { StoredLoad } from '../storage/loads.ts';
import { renderButton, renderStatus } from './controls.ts';
import { builder } from './dom.ts';

/** Says that a load was not recorded in detail, with what a person can do for it. */
export class DetailControl {
  readonly element = builder()('section', { class: 'hw-detail', hidden: '' });
  readonly #status = renderStatus();
  readonly #reload: () => Promise<unknown>;
  #shown: DetailAccess | null = null;

  /** @param reload loads the page again */
  constructor(reload: () => Promise<unknown>) {
    this.#reload = reload;
  }

  /** @param load null where none of the browser's is shown */
  async show(load: StoredLoad | null): Promise<void> {
    this.element.hidden = load?.isDetailed !== false;
    if (!this.element.hidden) this.#draw(await readDetailAccess());
  }

  #draw(access: DetailAccess): void {
    if (access === this.#shown) return;
    this.#shown = access;
    const words = { missing: t('detailMissing'), waiting: t('detailWaiting'), given: t('detailLight') };
    this.#status.textContent = words[access];
    const action =
      access === 'missing'
        ? renderButton(t('detailAllow'), async () => this.#draw(await requestDetail()))
        : renderButton(t('detailRecord'), this.#reload);
    this.element.replaceChildren(this.#status, action);
  }
}
