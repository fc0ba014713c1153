import { completionsFormat } from '#shared/formats/completions/completions-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { classifyChatEvent } from '../chat/chat-upstream.ts';
import { readChatError } from '../chat/upstream-error.ts';

/** OpenAI's older completions, as engines and some providers serve them. Errors have the form of chat completions. */
export const completionsUpstream: HttpUpstreamFormat = {
  name: 'completions',
  operation: 'complete',
  path: '/completions',
  headers: {},
  estimateInput: (request) => completionsFormat.estimateInput(request),
  readError: readChatError,
  classifyEvent: classifyChatEvent,
};
