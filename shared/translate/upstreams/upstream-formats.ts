import type { IncomingHttpHeaders } from 'node:http';
import type { RouterError } from '#shared/core/errors.ts';
import { upstreamErrorFromChat } from './chat/upstream-error.ts';
import { upstreamErrorFromMessages } from './messages/upstream-error.ts';
import type { FormatName } from '../translations.ts';

/** What must be known of a format to read its upstreams' answers before they are translated. */
export interface Dialect {
  /** The router's error for an answer that is one. */
  error: (status: number, body: string, headers: IncomingHttpHeaders) => RouterError;
  /** Whether an event's data is that of a stream's last event. */
  isLast: (data: string) => boolean;
}

export const dialects: Readonly<Record<FormatName, Dialect>> = {
  chat: { error: upstreamErrorFromChat, isLast: (data) => data === '[DONE]' },
  messages: { error: upstreamErrorFromMessages, isLast: (data) => /^\{\s*"type"\s*:\s*"message_stop"/.test(data) },
};
