import { moderationsFormat } from '#shared/formats/moderations/moderations-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { readChatError } from '../chat/upstream-error.ts';

/** OpenAI's moderations, as OpenAI and Mistral serve them. Errors have the form of chat completions. */
export const moderationsUpstream: HttpUpstreamFormat = {
  name: 'moderations',
  operation: 'moderate',
  path: '/moderations',
  headers: {},
  estimateInput: (request) => moderationsFormat.estimateInput(request),
  readError: readChatError,
};
