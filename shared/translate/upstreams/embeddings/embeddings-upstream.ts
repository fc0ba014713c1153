import { embeddingsFormat } from '#shared/formats/embeddings/embeddings-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { readChatError } from '../chat/upstream-error.ts';

/** OpenAI's embeddings, as engines and providers serve them. Errors have the form of chat completions. */
export const embeddingsUpstream: HttpUpstreamFormat = {
  name: 'embeddings',
  operation: 'embed',
  path: '/embeddings',
  headers: {},
  estimateInput: (request) => embeddingsFormat.estimateInput(request),
  readError: readChatError,
};
