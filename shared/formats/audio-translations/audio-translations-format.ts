import { soundFormat } from '../transcriptions/sound-format.ts';

/**
 * OpenAI's audio translations: the model writes down the speech of an audio file in English (OpenAI API reference, "Create translation").
 */
export const audioTranslationsFormat = soundFormat('audio-translations', {
  path: '/audio/translations',
  operation: 'translate',
});
