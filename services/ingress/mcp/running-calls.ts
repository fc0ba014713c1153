import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import { identityOf } from '../http/require-key.ts';

const sessionHeader = 'mcp-session-id';

/**
 * Lets clients of the protocol's revisions up to 2025-11-25 cancel a call: they do so with a request of its own, which
 * names the call only by a number that every client counts from zero. A session tells them apart. It is nothing but a name
 * that this router gives and the client repeats: any node serves it, none remembers it. A cancellation that comes to
 * another node than the call does nothing there; the client is not waiting any more all the same. Newer revisions cancel
 * by closing the call's own stream.
 */
export class RunningCalls {
  readonly #running = new Map<string, AbortController>();

  /** Looks at a request before it is served: names a session for one that begins, and ends the call that it cancels. */
  onRequest(request: Request, response: Response, body: unknown): void {
    if (isMessage(body, 'initialize')) response.setHeader(sessionHeader, randomUUID());
    if (!isMessage(body, 'notifications/cancelled')) return;
    const key = this.#keyOf(request, response, body.params?.['requestId']);
    if (key !== undefined) this.#running.get(key)?.abort(new Error('the client has cancelled the call'));
  }

  /** Runs a call with a signal that aborts when it is cancelled. */
  async run<T>(response: Response, id: string | number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const key = this.#keyOf(response.req, response, id);
    if (key !== undefined) this.#running.set(key, controller);
    try {
      return await call(controller.signal);
    } finally {
      if (key !== undefined && this.#running.get(key) === controller) this.#running.delete(key);
    }
  }

  #keyOf(request: Request, response: Response, id: unknown): string | undefined {
    const session = request.get(sessionHeader);
    return session === undefined ? undefined : JSON.stringify([identityOf(response).id, session, id]);
  }
}

/** Whether a parsed body is a JSON-RPC message of one method, as far as its parameters can be looked at. */
export function isMessage(body: unknown, method: string): body is { params?: Record<string, unknown> } {
  return typeof body === 'object' && body !== null && 'method' in body && body.method === method;
}
