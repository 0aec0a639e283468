import type { KnownNetwork, Prediction, Protocol, Recording } from '@hopwise/contract';
import { PROTOCOLS, udpTreatment } from '@hopwise/pageload-emulator';
import { t } from '../language/translate.ts';
import { predictionOf, type StoredLoad } from '../storage/loads.ts';
import { findBestRow, isH3Unoffered } from '../ui/comparison.ts';
import { builder } from '../ui/dom.ts';
import { ConnectionsTab } from './connections/connections-tab.ts';
import { EmulationClient } from './emulation/emulation-client.ts';
import type { GraphTab } from './graph/graph-tab.ts';
import { HistoryTab } from './history/history-tab.ts';
import { LaterView } from './later-view.ts';
import { OriginsTab } from './origins/origins-tab.ts';
import { Waits } from './overview/waits.ts';
import { ServersTab } from './servers/servers-tab.ts';
import { WaterfallTab } from './waterfall/waterfall-tab.ts';
import type { WhatIfTab } from './what-if/what-if-tab.ts';

const el = builder();

/** The tabs that keep what their user has set while a load is shown. */
export class LoadTabs {
  /** Why nothing could be emulated, shown above a tab; empty otherwise. */
  readonly problem = el('p', { class: 'hw-note', role: 'alert' });
  readonly #emulation = new EmulationClient((problem) => {
    this.problem.textContent = t('panelEmulationFailed', { problem });
  });
  readonly #renderProblem: (load: StoredLoad) => HTMLElement;
  #load: StoredLoad | null = null;
  #origins: OriginsTab | null = null;
  #waterfall: WaterfallTab | null = null;
  #connections: ConnectionsTab | null = null;
  #whatIf: LaterView<WhatIfTab> | null = null;
  #history: HistoryTab | null = null;
  #servers: ServersTab | null = null;
  #graph: LaterView<GraphTab> | null = null;
  #waits: Waits | null = null;

  /** @param renderProblem shows why a load has no prediction */
  constructor(renderProblem: (load: StoredLoad) => HTMLElement) {
    this.#renderProblem = renderProblem;
  }

  /**
   * @param renderAction controls that pin an origin; null for none
   * @param footer shown below the table; null for none
   * @param isSettled whether pins leave nothing to be done at an origin
   */
  origins(
    load: StoredLoad,
    renderAction: (origin: string, prediction: Prediction) => HTMLElement | null,
    footer: HTMLElement | null,
    isSettled: boolean,
  ): HTMLElement {
    const prediction = this.#prepare(load);
    if (!prediction) return this.#renderProblem(load);
    const actionOf = (origin: string) => renderAction(origin, prediction);
    this.#origins ??= new OriginsTab(load, prediction, this.#emulation, actionOf, footer);
    this.#origins.draw(isSettled);
    return this.#origins.element;
  }

  /** @param onSelect called when one of the requests is chosen */
  waits(load: StoredLoad, prediction: Prediction, onSelect: () => void): HTMLElement {
    this.#prepare(load);
    if (!this.#waits) {
      this.#waits = new Waits(
        load.recording,
        prediction,
        findShownProtocol(load.recording, prediction),
        onSelect,
      );
      this.#explain(prediction);
    }
    return this.#waits.element;
  }

  waterfall(load: StoredLoad): HTMLElement {
    const prediction = this.#prepare(load);
    if (!this.#waterfall) {
      const tab = new WaterfallTab(load.recording, prediction);
      this.#waterfall = tab;
      if (prediction) this.#explain(prediction);
    }
    return this.#waterfall.element;
  }

  connections(load: StoredLoad): HTMLElement {
    const prediction = this.#prepare(load);
    if (!prediction) return this.#renderProblem(load);
    if (!this.#connections) {
      this.#connections = new ConnectionsTab(load.recording, findShownProtocol(load.recording, prediction));
      this.#explain(prediction);
    }
    return this.#connections.element;
  }

  graph(load: StoredLoad): HTMLElement {
    const prediction = this.#prepare(load);
    if (!prediction) return this.#renderProblem(load);
    this.#graph ??= new LaterView(
      import('./graph/graph-tab.ts'),
      ({ GraphTab }) => {
        const protocol = findShownProtocol(load.recording, prediction);
        return new GraphTab(load.recording, prediction, protocol, this.#emulation);
      },
      () => this.#explain(prediction),
    );
    return this.#graph.element;
  }

  whatIf(load: StoredLoad): HTMLElement {
    const prediction = this.#prepare(load);
    if (!prediction) return this.#renderProblem(load);
    this.#whatIf ??= new LaterView(
      import('./what-if/what-if-tab.ts'),
      ({ WhatIfTab }) => new WhatIfTab(prediction, this.#emulation),
    );
    return this.#whatIf.element;
  }

  servers(load: StoredLoad): HTMLElement {
    const prediction = this.#prepare(load);
    if (!prediction) return this.#renderProblem(load);
    this.#servers ??= new ServersTab(prediction, this.#emulation);
    return this.#servers.element;
  }

  history(load: StoredLoad): HTMLElement {
    this.#prepare(load);
    this.#history ??= new HistoryTab(load, this.#emulation);
    void this.#history.refresh();
    return this.#history.element;
  }

  /** Forgets the tabs of another load. */
  #prepare(load: StoredLoad): Prediction | null {
    const isSame =
      this.#load?.id === load.id && predictionOf(this.#load)?.elapsedMs === predictionOf(load)?.elapsedMs;
    if (!isSame) {
      this.#load = load;
      this.#origins = null;
      this.#waterfall?.close();
      this.#waterfall = null;
      this.#connections = null;
      this.#whatIf?.close();
      this.#whatIf = null;
      this.#servers = null;
      this.#history?.close();
      this.#history = null;
      this.#graph?.close();
      this.#graph = null;
      this.#waits = null;
      this.problem.textContent = '';
      const prediction = predictionOf(load);
      if (prediction) this.#emulation.setPage(load.recording, prediction);
    }
    return predictionOf(load);
  }

  #explain(prediction: Prediction): void {
    this.#emulation.explain(networkOf(prediction), ({ protocols }) => {
      this.#waterfall?.setExplanation(protocols);
      this.#connections?.setExplanation(protocols);
      this.#graph?.view?.setExplanation(protocols);
      this.#waits?.setExplanation(protocols);
    });
  }
}

/** The protocol whose emulated load is shown at first: the fastest where one surely is, else the one that most requests used. */
function findShownProtocol(recording: Recording, prediction: Prediction): Protocol {
  const best = findBestRow({ prediction, isH3Hypothetical: isH3Unoffered(recording, prediction) });
  if (best !== null) return best;
  const usesOf = (each: Protocol) => recording.requests.filter(({ protocol }) => protocol === each).length;
  const usual = PROTOCOLS.reduce((a, b) => (usesOf(b) > usesOf(a) ? b : a));
  return usesOf(usual) > 0 ? usual : prediction.decision.best;
}

/** The network that the prediction rests on, as known: what is explained is then about the same loads. */
function networkOf({ network }: Prediction): KnownNetwork {
  const { rttMs, downMbps, upMbps, loss, lossBurst, queueBytes, udp } = network;
  return {
    rttMs,
    downBps: downMbps * 1e6,
    upBps: upMbps * 1e6,
    loss,
    lossBurst,
    queueBytes,
    ...(udp !== 'lossy' && { udp: udpTreatment(udp) }),
  };
}
