import { audioTranslationsFormat } from '#shared/formats/audio-translations/audio-translations-format.ts';
import { soundTranslation } from '../transcriptions-transcriptions/sound-translation.ts';
import { audioTranslationsUpstream } from '../upstreams/audio-translations/audio-translations-upstream.ts';

/** Clients that have sound written down in English, on upstreams that do it. */
export const audioTranslationsToAudioTranslations = soundTranslation(
  audioTranslationsFormat,
  audioTranslationsUpstream,
);
