import { PROTOCOL_NAME, type Prediction, type Protocol, type Recording } from '@hopwise/contract';
import { type CriticalStep, type Explanation, PROTOCOLS } from '@hopwise/pageload-emulator';
import { t } from '../../language/translate.ts';
import { renderButton, renderSignButton } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { formatUrl } from '../../ui/format.ts';
import { recordedWaterfall, renderLegend } from '../../ui/waterfall.ts';
import { countRequests } from '../count-requests.ts';
import type { EmulationClient } from '../emulation/emulation-client.ts';
import type { GraphLayout } from '../emulation/graph-layout.ts';
import { nameOf, renderDetails } from '../waterfall/row-details.ts';
import { joinRows } from '../waterfall/rows.ts';
import { renderCriticalChain } from './critical-chain.ts';
import { GraphView } from './graph-view.ts';

const el = builder();

type ShownView = 'path' | 'all';

/** Zoom of one press of a button. */
const ZOOM = 1.4;
/** Pages with more requests show alike ones as one node at first. */
const MAX_APART = 24;

/** What the load event waited for, step by step; on demand what each request waits for, as a graph. */
export class GraphTab {
  readonly element: HTMLElement;
  readonly #recording: Recording;
  readonly #prediction: Prediction;
  readonly #emulation: EmulationClient;
  readonly #frame = el(
    'div',
    { class: 'hw-graph-frame' },
    el('p', { class: 'hw-empty' }, t('panelEmulating')),
  );
  readonly #details = el('div', { class: 'hw-drawer' });
  readonly #note = el('p', { class: 'hw-note', role: 'status' });
  readonly #found = el('span', { class: 'hw-muted', role: 'status' });
  readonly #choice = el('select');
  readonly #search = el('input', {
    type: 'search',
    placeholder: t('toolSearch'),
    'aria-label': t('toolSearch'),
  });
  readonly #views = {
    path: renderButton(t('graphViewPath'), () => this.#show('path')),
    all: renderButton(t('graphViewAll'), () => this.#show('all')),
  };
  /** For the graph alone. */
  readonly #tools: HTMLElement;
  readonly #resize = new ResizeObserver(() => this.#view?.resize());
  #shown: ShownView = 'path';
  #explained: Explanation['protocols'] | null = null;
  #protocol: Protocol;
  #groupsAlike: boolean;
  #view: GraphView | null = null;
  #layout: GraphLayout | null = null;

  /** @param protocol whose critical path is shown at first */
  constructor(recording: Recording, prediction: Prediction, protocol: Protocol, emulation: EmulationClient) {
    this.#recording = recording;
    this.#prediction = prediction;
    this.#protocol = protocol;
    this.#emulation = emulation;
    this.#groupsAlike = recording.requests.length > MAX_APART;
    this.#choice.addEventListener('change', () => {
      this.#protocol = this.#choice.value as Protocol;
      if (this.#shown === 'path') this.#showPath();
      this.#mark();
    });
    const grouping = el('input', { type: 'checkbox' });
    grouping.checked = this.#groupsAlike;
    grouping.addEventListener('change', () => {
      this.#groupsAlike = grouping.checked;
      this.#ask();
    });
    this.#search.addEventListener('input', () => this.#markFound());
    this.#search.addEventListener('keydown', ({ key }) => {
      const [first] = this.#findNodes();
      if (key === 'Enter' && first !== undefined) this.#view?.focusNode(first);
    });
    this.#tools = el(
      'span',
      { class: 'hw-graph-tools' },
      this.#search,
      this.#found,
      el('label', { class: 'hw-check' }, grouping, t('graphGroup')),
      el(
        'span',
        { class: 'hw-zoom', role: 'group', 'aria-label': t('zoom') },
        renderSignButton('−', t('zoomOut'), () => this.#view?.zoomBy(1 / ZOOM)),
        renderSignButton('+', t('zoomIn'), () => this.#view?.zoomBy(ZOOM)),
        renderSignButton(t('zoomAll'), t('graphAll'), () => this.#view?.fit()),
      ),
    );
    this.element = el(
      'section',
      { class: 'hw-fill' },
      el(
        'div',
        { class: 'hw-tools' },
        el(
          'span',
          { class: 'hw-zoom', role: 'group', 'aria-label': t('graphViews') },
          this.#views.path,
          this.#views.all,
        ),
        el('label', { class: 'hw-check' }, t('graphPathOver'), this.#choice),
        this.#tools,
      ),
      el('div', { class: 'hw-split' }, this.#frame, this.#details),
      el('div', { class: 'hw-status-bar' }, this.#note, renderGraphLegend()),
    );
    this.#markShown();
  }

  /** Draws the critical paths of the emulated loads. */
  setExplanation(explained: Explanation['protocols']): void {
    this.#explained = explained;
    const loading = PROTOCOLS.filter((protocol) => 'criticalPath' in explained[protocol]);
    if (!loading.includes(this.#protocol)) this.#protocol = loading[0] ?? 'h2';
    this.#choice.replaceChildren(
      ...loading.map((each) => el('option', { value: each }, PROTOCOL_NAME[each])),
    );
    this.#choice.value = this.#protocol;
    this.#show(this.#shown);
  }

  close(): void {
    this.#resize.disconnect();
  }

  #show(view: ShownView): void {
    this.#shown = view;
    this.#markShown();
    if (!this.#explained) return;
    if (view === 'path') this.#showPath();
    else this.#ask();
    this.#mark();
  }

  #markShown(): void {
    for (const [view, button] of Object.entries(this.#views)) {
      button.setAttribute('aria-pressed', String(view === this.#shown));
    }
    this.#tools.hidden = this.#shown === 'path';
  }

  #showPath(): void {
    this.#view = null;
    this.#resize.disconnect();
    const own = this.#explained?.[this.#protocol];
    if (!own || !('criticalPath' in own)) return;
    this.#frame.replaceChildren(
      renderCriticalChain(this.#recording, this.#prediction, own, this.#protocol, (id) =>
        this.#showRequest(id),
      ),
    );
  }

  #pathOver(protocol: Protocol): CriticalStep[] {
    const own = this.#explained?.[protocol];
    return own && 'criticalPath' in own ? own.criticalPath : [];
  }

  #ask(): void {
    this.#frame.replaceChildren(el('p', { class: 'hw-empty', role: 'status' }, t('graphLayout')));
    const paths = PROTOCOLS.map((protocol) => requestsOf(this.#pathOver(protocol)));
    this.#emulation.askGraph(paths, this.#groupsAlike, ({ layout }) => {
      if (this.#shown === 'all') this.#draw(layout);
    });
  }

  #draw(layout: GraphLayout): void {
    const view = new GraphView(this.#recording, layout, (node) =>
      this.#select(layout.nodes[node]!.requestIds),
    );
    this.#resize.disconnect();
    this.#view = view;
    this.#layout = layout;
    this.#frame.replaceChildren(view.element);
    this.#resize.observe(view.element);
    view.resize();
    this.#mark();
    this.#markFound();
  }

  /** Indexes of the nodes with a request whose URL has the searched text. */
  #findNodes(): number[] {
    const text = this.#search.value.trim().toLowerCase();
    if (text === '' || !this.#layout) return [];
    const { requests } = this.#recording;
    const isFound = (id: number) => requests[id]!.url.toLowerCase().includes(text);
    return this.#layout.nodes.flatMap(({ requestIds }, index) => (requestIds.some(isFound) ? [index] : []));
  }

  #markFound(): void {
    const isSearching = this.#search.value.trim() !== '';
    const found = this.#findNodes();
    this.#view?.markFound(isSearching ? found : null);
    this.#found.textContent = isSearching ? t('graphFound', { count: found.length }) : '';
  }

  #mark(): void {
    const path = requestsOf(this.#pathOver(this.#protocol));
    this.#view?.mark(path);
    this.#note.textContent = t('graphNote', {
      requests: countRequests(this.#recording, this.#prediction),
      protocol: PROTOCOL_NAME[this.#protocol],
      steps: path.length,
    });
    this.#note.title = this.#note.textContent;
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
          this.#focus(id);
        },
        onClose: () => {
          this.#details.replaceChildren();
          this.#focus(requestId);
        },
      }),
    );
  }

  #focus(requestId: number): void {
    if (this.#view) this.#view.focusNode(this.#view.findNode(requestId));
    else this.#frame.querySelector<HTMLElement>(`[data-request="${requestId}"]`)?.focus();
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

/** The protocols' colours, the critical path, and edges that are guesses. */
function renderGraphLegend(): HTMLElement {
  return renderLegend([
    ...PROTOCOLS.map((protocol): [string, string] => [protocol, PROTOCOL_NAME[protocol]]),
    ['critical', t('legendCritical')],
    ['inferred', t('graphInferred')],
  ]);
}
