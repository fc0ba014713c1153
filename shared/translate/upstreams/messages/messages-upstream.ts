import { z } from 'zod';
import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import type { EventKind, HttpUpstreamFormat } from '../../upstream-format.ts';
import { readMessagesError } from './upstream-error.ts';

/** The API version for clients that send none. */
const version = '2023-06-01';

const framingEventPattern = /^\{\s*"type"\s*:\s*"(ping|message_delta|message_stop)"/;

function classifyMessagesEvent(data: string): EventKind {
  switch (framingEventPattern.exec(data)?.[1]) {
    case 'ping':
      return 'ping';
    case 'message_delta':
      return /"stop_reason"\s*:\s*"/.test(data) ? 'finish' : 'answer';
    case 'message_stop':
      return 'last';
    default:
      return 'answer';
  }
}

const countAnswer = z.looseObject({ input_tokens: z.number().int().nonnegative() });

/** Anthropic's messages, as Anthropic and some other providers serve them. */
export const messagesUpstream: HttpUpstreamFormat = {
  name: 'messages',
  operation: 'generate',
  path: '/messages',
  headers: { 'anthropic-version': version },
  estimateInput: (request) => messagesFormat.estimateInput(request),
  readError: readMessagesError,
  classifyEvent: classifyMessagesEvent,
  count: { path: '/messages/count_tokens', read: (body) => countAnswer.safeParse(body).data?.input_tokens },
};
