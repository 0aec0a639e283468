/** Erases what loads on networks have shown. */
import {
  type Experience,
  forgetExperience,
  listExperiences,
  readExperience,
  saveExperience,
} from './explorer-store.ts';
import { forgetLearnedPages, forgetPlace, type Learned } from './learned.ts';

/** Forgets what a place's pages have shown on a network. */
export async function forgetLearned({ key, place }: Pick<Learned, 'key' | 'place'>): Promise<void> {
  const experience = await readExperience(key);
  forgetPlace(experience, place);
  await saveOrForget(key, experience);
}

/** Forgets what pages have shown, on all networks. */
export async function forgetPagesEverywhere(isForgotten: (url: string) => boolean): Promise<void> {
  for (const { key, ...experience } of await listExperiences())
    if (forgetLearnedPages(experience, isForgotten)) await saveOrForget(key, experience);
}

export async function forgetAllLearned(): Promise<void> {
  for (const { key } of await listExperiences()) await forgetExperience(key);
}

async function saveOrForget(key: string | null, experience: Experience): Promise<void> {
  if (experience.scalesMs.size === 0) await forgetExperience(key);
  else await saveExperience(key, experience);
}
