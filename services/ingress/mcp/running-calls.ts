import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import { getRequestContext } from '../http/request-context.ts';

const sessionHeader = 'mcp-session-id';

/**
 * Lets clients of protocol revisions up to 2025-11-25 cancel a call. These clients send a separate request that names the call by a number,
 * and every client counts from zero, so a session id distinguishes the clients. The router only issues the id, and the client repeats the
 * id. Any node accepts it, and no node stores it. A cancellation that reaches another node than the call has no effect, but the client has
 * stopped waiting anyway. Clients of newer revisions cancel a call by closing its stream.
 */
export class RunningCalls {
  readonly #running = new Map<string, AbortController>();

  /** Issues a session id for an `initialize` request, and aborts the call that a cancellation names. Call it before a request is served. */
  handleSession(request: Request, response: Response, body: unknown): void {
    if (isMessage(body, 'initialize')) response.setHeader(sessionHeader, randomUUID());
    if (!isMessage(body, 'notifications/cancelled')) return;
    const key = this.#createKey(request, response, body.params?.['requestId']);
    if (key !== undefined) this.#running.get(key)?.abort(new Error('the client has cancelled the call'));
  }

  /** Runs a call with a signal that aborts when the client cancels the call. */
  async run<T>(response: Response, id: string | number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const key = this.#createKey(response.req, response, id);
    if (key !== undefined) this.#running.set(key, controller);
    try {
      return await call(controller.signal);
    } finally {
      if (key !== undefined && this.#running.get(key) === controller) this.#running.delete(key);
    }
  }

  #createKey(request: Request, response: Response, id: unknown): string | undefined {
    const session = request.get(sessionHeader);
    return session === undefined ? undefined : JSON.stringify([getRequestContext(response).identity.id, session, id]);
  }
}

/** Returns whether a parsed body is a JSON-RPC message of this method. Does not check the parameters. */
export function isMessage(body: unknown, method: string): body is { params?: Record<string, unknown> } {
  return typeof body === 'object' && body !== null && 'method' in body && body.method === method;
}
