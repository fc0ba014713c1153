import { transcriptionsFormat } from '#shared/formats/transcriptions/transcriptions-format.ts';
import { transcriptionsUpstream } from '../upstreams/transcriptions/transcriptions-upstream.ts';
import { createSoundTranslation } from './sound-translation.ts';

export const transcriptionsToTranscriptions = createSoundTranslation(transcriptionsFormat, transcriptionsUpstream);
