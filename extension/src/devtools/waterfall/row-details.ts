import { PROTOCOL_NAME, type RecordedRequest, type Recording } from '@hopwise/contract';
import { CAUSE_WORDS, CAUSES } from '@hopwise/pageload-emulator';
import { builder } from '../../ui/dom.ts';
import { formatBytes, formatMs, formatUrl } from '../../ui/format.ts';
import { PHASE_LABEL, type WaterfallRow } from '../../ui/waterfall.ts';
import { dependentsOf, initiatorChain, type LoadName, type Row } from './rows.ts';

const el = builder();

export const LOAD_NAME: Record<LoadName, string> = { recorded: 'the recording', ...PROTOCOL_NAME };

/** More requests that one led to are counted, not listed. */
const MAX_DEPENDENTS = 12;

export interface DetailsOptions {
  /** Names of the two loads, as in "Times in …". */
  mainName: string;
  comparedName: string;
  onSelect: (requestId: number) => void;
  onClose: () => void;
}

/** Everything known about one request: phases in both loads, sizes, what led to it, what it waited for. */
export function renderDetails(recording: Recording, row: Row, options: DetailsOptions): HTMLElement {
  const { request, main, compared, critical } = row;
  const close = el(
    'button',
    { type: 'button', class: 'hw-button', 'aria-label': 'Close the details' },
    'Close',
  );
  close.addEventListener('click', options.onClose);
  const chain = initiatorChain(recording, request);
  const dependents = dependentsOf(recording, request);
  const link = (one: RecordedRequest) => renderLink(recording, one, options.onSelect);
  return el(
    'aside',
    { class: 'hw-details', 'aria-label': 'Details of the request' },
    el(
      'div',
      { class: 'hw-details-head' },
      el('h3', { title: request.url }, formatUrl(request.url, recording.url, 60)),
      close,
    ),
    el('p', { class: 'hw-details-url' }, request.url),
    el(
      'div',
      { class: 'hw-details-columns' },
      renderFacts(request),
      renderPhases(main, options.mainName),
      compared ? renderPhases(compared, options.comparedName) : null,
      critical
        ? renderList(
            'On the critical path',
            CAUSES.flatMap((cause) => {
              const ms = critical.causes[cause] ?? 0;
              return ms >= 0.5 ? [[CAUSE_WORDS[cause], formatMs(ms)] as [string, string]] : [];
            }),
          )
        : null,
      el(
        'div',
        {},
        el('h4', {}, 'What led to it'),
        el(
          'ol',
          { class: 'hw-chain' },
          ...chain.map((one) =>
            el('li', {}, one === request ? formatUrl(one.url, recording.url) : link(one)),
          ),
        ),
        dependents.length > 0 ? el('h4', {}, `It led to ${dependents.length}`) : null,
        dependents.length > 0
          ? el(
              'ul',
              { class: 'hw-chain' },
              ...dependents.slice(0, MAX_DEPENDENTS).map((one) => el('li', {}, link(one))),
            )
          : null,
      ),
    ),
  );
}

/** A load's name within a sentence. */
export const nameOf = (load: LoadName) =>
  load === 'recorded' ? LOAD_NAME[load] : `the load over ${LOAD_NAME[load]}`;

function renderLink(
  recording: Recording,
  request: RecordedRequest,
  onSelect: (id: number) => void,
): HTMLElement {
  const button = el(
    'button',
    { type: 'button', class: 'hw-link', title: request.url },
    formatUrl(request.url, recording.url),
  );
  button.addEventListener('click', () => onSelect(request.id));
  return button;
}

const withheld = 'withheld by the browser';
const bytesOrWithheld = (bytes: number | null) => (bytes === null ? withheld : formatBytes(bytes));

function renderFacts(request: RecordedRequest): HTMLElement {
  const { kind, source } = request.initiator;
  return renderList('Request', [
    ['Method and status', `${request.method} ${request.status === 0 ? 'failed' : request.status}`],
    ['Type', request.type],
    ['Protocol', request.protocol ? PROTOCOL_NAME[request.protocol] : withheld],
    ['On the wire', request.fromCache ? 'nothing: from the cache' : bytesOrWithheld(request.transferBytes)],
    ['Body, unpacked', bytesOrWithheld(request.decodedBytes)],
    ['Urgency', request.urgency == null ? 'unknown' : `${request.urgency} of 0 to 7`],
    ['Blocks rendering', request.renderBlocking === null ? 'unknown' : request.renderBlocking ? 'yes' : 'no'],
    ['Requested by', source === 'recorded' ? kind : `${kind} (inferred)`],
    ...(request.connectionId === null ? [] : [['Connection', request.connectionId] as [string, string]]),
    ...(request.remoteIp === null ? [] : [['Server', request.remoteIp] as [string, string]]),
  ]);
}

function renderPhases({ startMs, endMs, bars }: WaterfallRow, name: string): HTMLElement {
  return renderList(`Times in ${name}`, [
    ['From', formatMs(startMs)],
    ...bars.map((bar): [string, string] => [PHASE_LABEL[bar.phase], formatMs(bar.endMs - bar.startMs)]),
    ['To', formatMs(endMs)],
  ]);
}

function renderList(title: string, facts: readonly [string, string][]): HTMLElement {
  return el(
    'div',
    {},
    el('h4', {}, title),
    el(
      'dl',
      { class: 'hw-facts' },
      ...facts.flatMap(([term, value]) => [el('dt', {}, term), el('dd', {}, value)]),
    ),
  );
}
