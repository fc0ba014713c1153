import { imagesFormat } from '#shared/formats/images/images-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { readChatError } from '../chat/upstream-error.ts';

/** OpenAI's images, as OpenAI and some engines serve them. Errors have the form of chat completions. */
export const imagesUpstream: HttpUpstreamFormat = {
  name: 'images',
  operation: 'draw',
  path: '/images/generations',
  headers: {},
  estimateInput: (request) => imagesFormat.estimateInput(request),
  readError: readChatError,
};
