import type { Response } from 'express';
import type { ClientReply } from './client-reply.ts';

/** Remembers the reply of a request to a model, so that a failure before its dispatch can be written by it too. */
export function setReply(response: Response, reply: ClientReply): void {
  response.locals['reply'] = reply;
}

/** The reply of a request to a model; undefined for other requests, and before the request is read. */
export function replyOf(response: Response): ClientReply | undefined {
  return response.locals['reply'] as ClientReply | undefined;
}
