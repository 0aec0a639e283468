import type { InitiatorKind, ResourceType } from '@hopwise/contract';
import { type PlainKey, t } from '../language/translate.ts';

const NAMES: Record<ResourceType | InitiatorKind, PlainKey> = {
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
  navigation: 'typeNavigation',
  parser: 'typeParser',
  preload: 'typePreload',
  redirect: 'typeRedirect',
};

/** A type of resource, or of what made a request, as in a table. */
export const nameType = (type: ResourceType | InitiatorKind): string => t(NAMES[type]);
