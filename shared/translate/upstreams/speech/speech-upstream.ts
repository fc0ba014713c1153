import { speechFormat } from '#shared/formats/speech/speech-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { readChatError } from '../chat/upstream-error.ts';

/** OpenAI's speech, as OpenAI and some engines serve it. Errors have the form of chat completions. */
export const speechUpstream: HttpUpstreamFormat = {
  name: 'speech',
  operation: 'speak',
  path: '/audio/speech',
  headers: {},
  estimateInput: (request) => speechFormat.estimateInput(request),
  readError: readChatError,
};
