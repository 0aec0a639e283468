import type { InitiatorKind, ResourceType } from '@hopwise/contract';
import { type PlainKey, t } from '../language/translate.ts';

const TYPES: Record<ResourceType, PlainKey> = {
  document: 'typeDocument',
  iframe: 'typeIframe',
  style: 'typeStyle',
  script: 'typeScript',
  font: 'typeFont',
  image: 'typeImage',
  media: 'typeMedia',
  fetch: 'typeFetch',
  beacon: 'typeBeacon',
  other: 'typeOther',
};

const INITIATORS: Record<InitiatorKind, PlainKey> = {
  navigation: 'initiatorNavigation',
  parser: 'initiatorParser',
  preload: 'initiatorPreload',
  redirect: 'initiatorRedirect',
  script: TYPES.script,
  style: TYPES.style,
  other: TYPES.other,
};

/** A type of resource, as in a table. */
export const nameType = (type: ResourceType): string => t(TYPES[type]);

/** What made a request, as in a table. */
export const nameInitiator = (kind: InitiatorKind): string => t(INITIATORS[kind]);
