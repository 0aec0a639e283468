import { type Language, PREDICTION_SCHEMA, type Prediction } from '@hopwise/contract';
import { collectKnowledge } from '../evidence/knowledge.ts';
import { addKnownOffers } from '../evidence/known-offers.ts';
import { findLanguage } from '../language/find-language.ts';
import { loadLanguage } from '../language/load-language.ts';
import { t } from '../language/translate.ts';
import { getLoad, getSummaries, type StoredLoad, updateLoad } from '../storage/loads.ts';
import { type Extent, predictLoad } from './predict-load.ts';

/** Predictions under way, by the id of their load. */
const predicting = new Map<number, Promise<StoredLoad>>();

/** Returns the load with its predictions as people see them, in the user interface's language, which the first call makes and stores. */
export const ensurePrediction = (load: StoredLoad): Promise<StoredLoad> => ensureExtent(load, 'shown');

/** The same with no more than the decision, which takes less time. */
export const ensureDecision = (load: StoredLoad): Promise<StoredLoad> => ensureExtent(load, 'decision');

async function ensureExtent(load: StoredLoad, extent: Extent): Promise<StoredLoad> {
  if (load.problem !== '') return load;
  const language = await findLanguage();
  if (isPredicted(load, language, extent)) return load;
  const underWay = predicting.get(load.id);
  // It may be of another extent.
  if (underWay) return ensureExtent(await underWay, extent);
  const made = makePredictions(load, language, extent).finally(() => predicting.delete(load.id));
  predicting.set(load.id, made);
  return made;
}

function isPredicted(
  { prediction, verification, verifiedPrediction, language = 'en' }: StoredLoad,
  wanted: Language,
  extent: Extent,
): boolean {
  if (!isOfThisVersion(prediction) || !(verification === null || isOfThisVersion(verifiedPrediction)))
    return false;
  return extent === 'decision' || (language === wanted && Object.keys(prediction!.waterfall).length > 0);
}

/** Predictions of earlier versions have another form. */
function isOfThisVersion(prediction: Prediction | null | undefined): boolean {
  return prediction?.schema === PREDICTION_SCHEMA;
}

async function makePredictions(load: StoredLoad, language: Language, extent: Extent): Promise<StoredLoad> {
  const summaries = await getSummaries();
  const knowledge = await collectKnowledge(load, summaries, getLoad);
  const known = { ...load, recording: addKnownOffers(load, summaries) };
  const verifiedPrediction =
    load.verification && predictLoad(known, knowledge, language, extent, load.verification).prediction;
  const { prediction, problem: reason } = predictLoad(known, knowledge, language, extent);
  if (reason !== '') await loadLanguage();
  return updateLoad(load.id, {
    prediction,
    problem: reason && t('predictFailed', { reason }),
    verifiedPrediction,
    language,
  });
}
