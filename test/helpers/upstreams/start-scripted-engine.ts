import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { serveHttp } from '../servers/serve-http.ts';

/**
 * Starts the engine.
 * @param answer gets the chat request, read to its end, and its response, which it may leave open
 */
export async function startScriptedEngine(answer: (response: ServerResponse, request: IncomingMessage) => void) {
  let abandoned = 0;
  const bodies: string[] = [];
  const { url, stop } = await serveHttp(async (request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) abandoned += 1;
    });
    bodies.push(await text(request));
    answer(response, request);
  });
  return {
    url,
    /** Number of chat requests whose client left before the answer's end. */
    get abandoned() {
      return abandoned;
    },
    /** The bodies of its chat requests, in order. */
    bodies,
    stop,
  };
}

/** An engine that handles chat requests as a test decides. */
export type ScriptedEngine = Awaited<ReturnType<typeof startScriptedEngine>>;

/** Returns a chunk of a stream in the chat format, as its server-sent event. */
export function chunk(delta: object, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`;
}
