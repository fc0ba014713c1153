import { soundFormat } from './sound-format.ts';

/** OpenAI's transcriptions: what is said in a file of sound is written down (OpenAI API reference, "Create transcription"). */
export const transcriptionsFormat = soundFormat('transcriptions', {
  path: '/audio/transcriptions',
  operation: 'transcribe',
});
