import { PROTOCOL_NAME, type Protocol, type Recording } from '@hopwise/contract';
import { type CriticalStep, type Explanation, PROTOCOLS } from '@hopwise/pageload-emulator';
import { plural, t } from '../../language/translate.ts';
import { renderButton, renderSignButton } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { formatUrl } from '../../ui/format.ts';
import { recordedWaterfall } from '../../ui/waterfall.ts';
import type { EmulationClient } from '../emulation/emulation-client.ts';
import type { GraphLayout } from '../emulation/graph-layout.ts';
import { nameOf, renderDetails } from '../waterfall/row-details.ts';
import { joinRows } from '../waterfall/rows.ts';
import { GraphView } from './graph-view.ts';

const el = builder();

/** Zoom of one press of a button. */
const ZOOM = 1.4;
/** Pages with more requests show alike ones as one node at first. */
const MAX_APART = 24;

/** What each request waits for, and the critical path of the emulated loads through it. */
export class GraphTab {
  readonly element: HTMLElement;
  readonly #recording: Recording;
  readonly #emulation: EmulationClient;
  readonly #frame = el('div', {}, el('p', { class: 'hw-muted', role: 'status' }, t('graphLayout')));
  readonly #details = el('div', {});
  readonly #note = el('p', { class: 'hw-note' });
  readonly #choice = el('select');
  readonly #resize = new ResizeObserver(() => this.#view?.resize());
  #explained: Explanation['protocols'] | null = null;
  #protocol: Protocol;
  #groupsAlike: boolean;
  #view: GraphView | null = null;

  /** @param protocol whose critical path is shown at first */
  constructor(recording: Recording, protocol: Protocol, emulation: EmulationClient) {
    this.#recording = recording;
    this.#protocol = protocol;
    this.#emulation = emulation;
    this.#groupsAlike = recording.requests.length > MAX_APART;
    this.#choice.addEventListener('change', () => {
      this.#protocol = this.#choice.value as Protocol;
      this.#mark();
    });
    const grouping = el('input', { type: 'checkbox' });
    grouping.checked = this.#groupsAlike;
    grouping.addEventListener('change', () => {
      this.#groupsAlike = grouping.checked;
      this.#ask();
    });
    this.element = el(
      'section',
      { class: 'hw-card' },
      el(
        'div',
        { class: 'hw-tools' },
        el('label', { class: 'hw-check' }, t('criticalPath'), this.#choice),
        el('label', { class: 'hw-check' }, grouping, t('graphGroup')),
        el(
          'span',
          { class: 'hw-zoom', role: 'group', 'aria-label': t('zoom') },
          renderSignButton('−', t('zoomOut'), () => this.#view?.zoomBy(1 / ZOOM)),
          renderSignButton('+', t('zoomIn'), () => this.#view?.zoomBy(ZOOM)),
          renderSignButton(t('zoomAll'), t('graphAll'), () => this.#view?.fit()),
        ),
      ),
      this.#frame,
      this.#note,
      this.#details,
    );
  }

  /** Draws the graph with the critical paths of the emulated loads. */
  setExplanation(explained: Explanation['protocols']): void {
    this.#explained = explained;
    const loading = PROTOCOLS.filter((protocol) => 'criticalPath' in explained[protocol]);
    if (!loading.includes(this.#protocol)) this.#protocol = loading[0] ?? 'h2';
    this.#choice.replaceChildren(
      ...loading.map((each) => el('option', { value: each }, PROTOCOL_NAME[each])),
    );
    this.#choice.value = this.#protocol;
    this.#ask();
  }

  close(): void {
    this.#resize.disconnect();
  }

  #pathOver(protocol: Protocol): CriticalStep[] {
    const own = this.#explained?.[protocol];
    return own && 'criticalPath' in own ? own.criticalPath : [];
  }

  #ask(): void {
    const paths = PROTOCOLS.map((protocol) => requestsOf(this.#pathOver(protocol)));
    this.#emulation.askGraph(paths, this.#groupsAlike, ({ layout }) => this.#draw(layout));
  }

  #draw(layout: GraphLayout): void {
    const view = new GraphView(this.#recording, layout, (node) =>
      this.#select(layout.nodes[node]!.requestIds),
    );
    this.#resize.disconnect();
    this.#view = view;
    this.#frame.replaceChildren(view.element);
    this.#resize.observe(view.element);
    view.fit();
    this.#mark();
  }

  #mark(): void {
    const path = requestsOf(this.#pathOver(this.#protocol));
    this.#view?.mark(path);
    this.#note.textContent = t('graphNote', {
      requests: plural('requests', this.#recording.requests.length),
      protocol: PROTOCOL_NAME[this.#protocol],
      steps: path.length,
    });
  }

  #select(requestIds: readonly number[]): void {
    const [first] = requestIds;
    if (requestIds.length === 1) this.#showRequest(first!);
    else this.#details.replaceChildren(this.#renderGroup(requestIds));
  }

  #showRequest(requestId: number): void {
    const rows = joinRows(
      this.#recording,
      recordedWaterfall(this.#recording).rows,
      null,
      this.#pathOver(this.#protocol),
    );
    const row = rows.find(({ request }) => request.id === requestId);
    if (!row) return;
    this.#details.replaceChildren(
      renderDetails(this.#recording, row, {
        mainName: nameOf('recorded'),
        comparedName: '',
        onSelect: (id) => {
          this.#showRequest(id);
          this.#view?.focusNode(this.#view.findNode(id));
        },
        onClose: () => {
          this.#details.replaceChildren();
          this.#view?.focusNode(this.#view.findNode(requestId));
        },
      }),
    );
  }

  #renderGroup(requestIds: readonly number[]): HTMLElement {
    const items = requestIds.map((id) => {
      const { url } = this.#recording.requests[id]!;
      const name = formatUrl(url, this.#recording.url, 60);
      const link = renderButton(name, () => this.#showRequest(id), { class: 'hw-link', title: url });
      return el('li', {}, link);
    });
    return el(
      'aside',
      { class: 'hw-details', 'aria-label': t('graphGroupLabel') },
      el('h3', {}, t('graphAlike', { count: requestIds.length })),
      el('ol', { class: 'hw-chain' }, ...items),
    );
  }
}

/** Numbers of the requests along a path, each once: a response may be received, then worked on. */
function requestsOf(path: readonly CriticalStep[]): number[] {
  return [...new Set(path.map(({ requestId }) => requestId))];
}
