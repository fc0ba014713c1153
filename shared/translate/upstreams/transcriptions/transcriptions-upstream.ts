import { transcriptionsFormat } from '#shared/formats/transcriptions/transcriptions-format.ts';
import { createSoundUpstream } from './sound-upstream.ts';

export const transcriptionsUpstream = createSoundUpstream(transcriptionsFormat, {
  path: '/audio/transcriptions',
  operation: 'transcribe',
});
