import type { KnownNetwork, Prediction, Recording } from '@hopwise/contract';
import type { AdviseOptions } from '@hopwise/pageload-emulator';
import { addPredictedOffers } from '../../evidence/known-offers.ts';
import type { EmulationAnswer, EmulationRequest } from './emulation-messages.ts';
import type { WhatIfSettings } from './what-if.ts';

/** Kinds of questions, each replaced by the next of its kind. */
type Question = 'what-if' | 'map' | 'econ' | 'network' | 'graph' | 'origins' | 'servers';
type AnswerOf<K extends EmulationAnswer['kind']> = Extract<EmulationAnswer, { kind: K }>;

interface Asked {
  id: number;
  onAnswer: (answer: never) => void;
  /** Shows the problem instead of the client's own handler. */
  onFailure?: ((problem: string) => void) | undefined;
}

/** The panel's side of the worker that emulates loads. The worker starts with the first page. */
export class EmulationClient {
  #worker: Worker | null = null;
  #lastId = 0;
  #onExplained: (answer: AnswerOf<'explain'>) => void = () => {};
  readonly #asked = new Map<Question, Asked>();
  readonly #onProblem: (problem: string) => void;

  constructor(onProblem: (problem: string) => void) {
    this.#onProblem = onProblem;
  }

  /** Has the worker read a recording, with the offers that its prediction rests on; earlier questions stay unanswered. */
  setPage(recording: Recording, prediction: Prediction): void {
    this.#asked.clear();
    this.#send({ kind: 'page', recording: addPredictedOffers(recording, prediction) });
  }

  /** Explains the page's loads on a network. */
  explain(network: KnownNetwork, onAnswer: (answer: AnswerOf<'explain'>) => void): void {
    this.#onExplained = onAnswer;
    this.#send({ kind: 'explain', network });
  }

  /** @param onAnswer is called for the coarse answer and each refined one, until the next question */
  askWhatIf(settings: WhatIfSettings, onAnswer: (answer: AnswerOf<'what-if'>) => void): void {
    this.#send({ kind: 'what-if', id: this.#ask('what-if', onAnswer), settings });
  }

  /** @param onAnswer is called as rows of the map are ready */
  askMap(settings: WhatIfSettings, onAnswer: (answer: AnswerOf<'map'>) => void): void {
    this.#send({ kind: 'map', id: this.#ask('map', onAnswer), settings });
  }

  /**
   * Asks for ECON's load times.
   *
   * @param pcwnd content of a file of loss by window
   * @param onFailure is called instead where it cannot be read
   */
  askEcon(
    settings: WhatIfSettings,
    pcwnd: string,
    onAnswer: (answer: AnswerOf<'econ'>) => void,
    onFailure: (problem: string) => void,
  ): void {
    this.#send({ kind: 'econ', id: this.#ask('econ', onAnswer, onFailure), settings, pcwnd });
  }

  /**
   * @param onAnswer is called as kinds of changes have been tried, at last with the advice
   * @param onFailure is called instead where the page cannot be emulated on one of the networks
   */
  askServers(
    options: AdviseOptions,
    onAnswer: (answer: AnswerOf<'servers'>) => void,
    onFailure: (problem: string) => void,
  ): void {
    this.#send({ kind: 'servers', id: this.#ask('servers', onAnswer, onFailure), options });
  }

  /** Asks what the recording shows of each origin. */
  askOrigins(onAnswer: (answer: AnswerOf<'origins'>) => void): void {
    this.#send({ kind: 'origins', id: this.#ask('origins', onAnswer) });
  }

  /** @param criticalPaths numbers of the requests along critical paths */
  askGraph(
    criticalPaths: number[][],
    groupsAlike: boolean,
    onAnswer: (answer: AnswerOf<'graph'>) => void,
  ): void {
    this.#send({ kind: 'graph', id: this.#ask('graph', onAnswer), criticalPaths, groupsAlike });
  }

  /**
   * @param loads of one page, oldest first
   * @param onAnswer is called for each load
   */
  askNetwork(
    loads: Extract<EmulationRequest, { kind: 'network' }>['loads'],
    onAnswer: (answer: AnswerOf<'network'>) => void,
  ): void {
    this.#send({ kind: 'network', id: this.#ask('network', onAnswer), loads });
  }

  #ask(kind: Question, onAnswer: Asked['onAnswer'], onFailure?: Asked['onFailure']): number {
    const id = ++this.#lastId;
    this.#asked.set(kind, { id, onAnswer, onFailure });
    return id;
  }

  #send(request: EmulationRequest): void {
    if (!this.#worker) {
      this.#worker = new Worker('emulation-worker.js', { type: 'module' });
      this.#worker.addEventListener('message', ({ data }: MessageEvent<EmulationAnswer>) => this.#take(data));
      this.#worker.addEventListener('error', ({ message }) =>
        this.#onProblem(message || 'the worker has failed'),
      );
    }
    this.#worker.postMessage(request);
  }

  #take(answer: EmulationAnswer): void {
    if (answer.kind === 'problem') this.#fail(answer);
    else if (answer.kind === 'explain') this.#onExplained(answer);
    else if (answer.kind !== 'opened') {
      const asked = this.#asked.get(answer.kind);
      if (asked?.id === answer.id) asked.onAnswer(answer as never);
    }
  }

  #fail({ problem, of, id }: AnswerOf<'problem'>): void {
    const asked = id === null ? null : this.#asked.get(of as Question);
    // A newer question of its kind has replaced it.
    if (asked !== null && asked?.id !== id) return;
    const show = asked?.onFailure ?? this.#onProblem;
    show(problem);
  }
}
