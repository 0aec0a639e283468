import { PROTOCOL_NAME, type RecordedRequest, type Recording } from '@hopwise/contract';
import { CAUSES } from '@hopwise/pageload-emulator';
import { plural, t } from '../../language/translate.ts';
import { renderButton, renderFigures } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { formatBytes, formatMs, formatUrl } from '../../ui/format.ts';
import { namePhase, type WaterfallRow } from '../../ui/waterfall.ts';
import { nameCause } from '../name-cause.ts';
import { nameType } from '../name-type.ts';
import { dependentsOf, initiatorChain, type LoadName, type RequestRow } from './rows.ts';

const el = builder();

/** More requests that one led to are counted, not listed. */
const MAX_DEPENDENTS = 12;

interface DetailsOptions {
  /** Names of the two loads, as in "Times in …". */
  mainName: string;
  comparedName: string;
  onSelect: (requestId: number) => void;
  onClose: () => void;
}

/** Everything known about one request: phases in both loads, sizes, what led to it, what it waited for. */
export function renderDetails(recording: Recording, row: RequestRow, options: DetailsOptions): HTMLElement {
  const { request, main, compared, critical } = row;
  const close = renderButton(t('close'), options.onClose, { 'aria-label': t('detailsClose') });
  const chain = initiatorChain(recording, request);
  const dependents = dependentsOf(recording, request);
  const link = (one: RecordedRequest) => renderLink(recording, one, options.onSelect);
  return el(
    'aside',
    { class: 'hw-details', 'aria-label': t('detailsLabel') },
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
            t('detailsOnPath'),
            CAUSES.flatMap((cause) => {
              const ms = critical.causes[cause] ?? 0;
              return ms >= 0.5 ? [[nameCause(cause), formatMs(ms)] as [string, string]] : [];
            }),
          )
        : null,
      el(
        'div',
        {},
        el('h4', {}, t('detailsLedHere')),
        el(
          'ol',
          { class: 'hw-chain' },
          ...chain.map((one) =>
            el('li', {}, one === request ? formatUrl(one.url, recording.url) : link(one)),
          ),
        ),
        dependents.length > 0
          ? el('h4', {}, t('detailsLedTo', { requests: plural('requests', dependents.length) }))
          : null,
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

/** A load's name after a preposition: "Times in …", "with …". */
export const nameOf = (load: LoadName) =>
  load === 'recorded' ? t('nameRecording') : t('nameOver', { protocol: PROTOCOL_NAME[load] });

function renderLink(
  recording: Recording,
  request: RecordedRequest,
  onSelect: (id: number) => void,
): HTMLElement {
  const name = formatUrl(request.url, recording.url);
  return renderButton(name, () => onSelect(request.id), { class: 'hw-link', title: request.url });
}

const bytesOrWithheld = (bytes: number | null) => (bytes === null ? t('factWithheld') : formatBytes(bytes));

function renderFacts(request: RecordedRequest): HTMLElement {
  const { source } = request.initiator;
  const kind = nameType(request.initiator.kind);
  const { urgency, renderBlocking } = request;
  const isKnown = renderBlocking !== null;
  return renderList(t('columnRequest'), [
    [t('factMethod'), `${request.method} ${request.status === 0 ? t('factFailed') : request.status}`],
    [t('toolType'), nameType(request.type)],
    [t('columnProtocol'), request.protocol ? PROTOCOL_NAME[request.protocol] : t('factWithheld')],
    [t('diffWire'), request.fromCache ? t('factCached') : bytesOrWithheld(request.transferBytes)],
    [t('factBody'), bytesOrWithheld(request.decodedBytes)],
    [t('factUrgency'), urgency == null ? t('unknown') : t('factUrgencyOf', { urgency })],
    [t('factBlocks'), isKnown ? t(renderBlocking ? 'yes' : 'no') : t('unknown')],
    [t('factRequestedBy'), source === 'recorded' ? kind : t('factInferred', { kind })],
    ...(request.connectionId === null
      ? []
      : [[t('factConnection'), request.connectionId] as [string, string]]),
    ...(request.remoteIp === null ? [] : [[t('factServer'), request.remoteIp] as [string, string]]),
  ]);
}

function renderPhases({ startMs, endMs, bars }: WaterfallRow, name: string): HTMLElement {
  return renderList(t('detailsTimes', { name }), [
    [t('detailsFrom'), formatMs(startMs)],
    ...bars.map((bar): [string, string] => [namePhase(bar.phase), formatMs(bar.endMs - bar.startMs)]),
    [t('detailsTo'), formatMs(endMs)],
  ]);
}

function renderList(title: string, facts: readonly [string, string][]): HTMLElement {
  return el('div', {}, el('h4', {}, title), el('dl', { class: 'hw-facts' }, ...renderFigures(facts)));
}
