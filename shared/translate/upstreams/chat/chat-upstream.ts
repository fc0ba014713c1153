import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { kindOfChatEvent } from './kind-of-chat-event.ts';
import { upstreamErrorFromChat } from './upstream-error.ts';

/** Chat completions, as engines and most providers serve them. */
export const chatUpstream: HttpUpstreamFormat = {
  name: 'chat',
  operation: 'generate',
  path: '/chat/completions',
  headers: {},
  estimateInput: (request) => chatFormat.estimateInput(request),
  readError: upstreamErrorFromChat,
  kindOfEvent: kindOfChatEvent,
};
