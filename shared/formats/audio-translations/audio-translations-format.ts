import { createSoundFormat } from '../transcriptions/transcriptions-format.ts';

/**
 * OpenAI's audio translations: the model writes down the speech of an audio file in English (OpenAI API reference, "Create translation").
 */
export const audioTranslationsFormat = createSoundFormat('audio-translations', {
  path: '/audio/translations',
  operation: 'translate',
});
