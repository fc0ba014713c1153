import { transcriptionsFormat } from '#shared/formats/transcriptions/transcriptions-format.ts';
import { soundUpstream } from './sound-upstream.ts';

export const transcriptionsUpstream = soundUpstream(transcriptionsFormat, {
  path: '/audio/transcriptions',
  operation: 'transcribe',
});
