import { audioTranslationsFormat } from '#shared/formats/audio-translations/audio-translations-format.ts';
import { soundUpstream } from '../transcriptions/sound-upstream.ts';

export const audioTranslationsUpstream = soundUpstream(audioTranslationsFormat, {
  path: '/audio/translations',
  operation: 'translate',
});
