import { chatFormat } from './chat/chat-format.ts';
import type { ClientFormat } from './client-format.ts';
import { messagesFormat } from './messages/messages-format.ts';

/**
 * Every client format that the router serves. A new one is one folder beside the others and one entry here.
 * Errors of requests that belong to no format are written as the first one writes them.
 * See docs/decisions/0001-formats-and-translations.md.
 */
export const clientFormats: readonly [ClientFormat, ...ClientFormat[]] = [chatFormat, messagesFormat];
