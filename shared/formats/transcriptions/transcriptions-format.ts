import { soundFormat } from './sound-format.ts';

/** OpenAI's transcriptions format: the model writes down the speech in an audio file (OpenAI API reference, "Create transcription"). */
export const transcriptionsFormat = soundFormat('transcriptions', {
  path: '/audio/transcriptions',
  operation: 'transcribe',
});
