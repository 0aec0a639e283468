import type { Language } from '@hopwise/contract';
import { english, type Sentences } from './english.ts';
import { german } from './german.ts';

/** The sentences about a prediction, by language. */
export const SENTENCES: Record<Language, Sentences> = { en: english, de: german };
