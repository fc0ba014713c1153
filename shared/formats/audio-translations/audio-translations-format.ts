import { soundFormat } from '../transcriptions/sound-format.ts';

/** OpenAI's translations: what is said in a file of sound is written down in English (OpenAI API reference, "Create translation"). */
export const audioTranslationsFormat = soundFormat('audio-translations', {
  path: '/audio/translations',
  operation: 'translate',
});
