import { createSoundFormat } from './sound-format.ts';

/** OpenAI's transcriptions format: the model writes down the speech in an audio file (OpenAI API reference, "Create transcription"). */
export const transcriptionsFormat = createSoundFormat('transcriptions', {
  path: '/audio/transcriptions',
  operation: 'transcribe',
});
