import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import type { EventKind, HttpUpstreamFormat } from '../../upstream-format.ts';
import { readChatError } from './upstream-error.ts';

/** Matches a finish reason. Some servers send an empty finish reason until the answer ends. */
const finishReasonPattern = /"finish_reason"\s*:\s*"[^"]/;

export function classifyChatEvent(data: string): EventKind {
  if (data === '[DONE]') return 'last';
  return finishReasonPattern.test(data) ? 'finish' : 'answer';
}

export const chatUpstream: HttpUpstreamFormat = {
  name: 'chat',
  operation: 'generate',
  path: '/chat/completions',
  headers: {},
  estimateInput: (request) => chatFormat.estimateInput(request),
  readError: readChatError,
  classifyEvent: classifyChatEvent,
};
