import { audioTranslationsFormat } from '#shared/formats/audio-translations/audio-translations-format.ts';
import { createSoundTranslation } from '../transcriptions-transcriptions/sound-translation.ts';
import { audioTranslationsUpstream } from '../upstreams/audio-translations/audio-translations-upstream.ts';

export const audioTranslationsToAudioTranslations = createSoundTranslation(
  audioTranslationsFormat,
  audioTranslationsUpstream,
);
