import { transcriptionsFormat } from '#shared/formats/transcriptions/transcriptions-format.ts';
import { transcriptionsUpstream } from '../upstreams/transcriptions/transcriptions-upstream.ts';
import { soundTranslation } from './sound-translation.ts';

/** Clients that have sound written down, on upstreams that do it. */
export const transcriptionsToTranscriptions = soundTranslation(transcriptionsFormat, transcriptionsUpstream);
