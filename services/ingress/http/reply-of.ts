import type { Response } from 'express';
import type { ClientReply } from './client-reply.ts';

/** Stores the reply of a model request, so that `createErrorHandler` can send a failure before dispatch through the same reply. */
export function setReply(response: Response, reply: ClientReply): void {
  response.locals['reply'] = reply;
}

/** Returns the reply of a model request; undefined for other requests, and before the request is read. */
export function replyOf(response: Response): ClientReply | undefined {
  return response.locals['reply'] as ClientReply | undefined;
}
