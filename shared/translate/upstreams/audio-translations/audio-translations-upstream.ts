import { audioTranslationsFormat } from '#shared/formats/audio-translations/audio-translations-format.ts';
import { createSoundUpstream } from '../transcriptions/sound-upstream.ts';

export const audioTranslationsUpstream = createSoundUpstream(audioTranslationsFormat, {
  path: '/audio/translations',
  operation: 'translate',
});
