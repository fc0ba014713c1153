import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** An engine that handles chat requests as a test decides. */
export interface ScriptedEngine {
  url: string;
  /** Chat requests whose client went away before the answer's end. */
  readonly abandoned: number;
  /** The bodies of its chat requests, in order. */
  readonly bodies: readonly string[];
  stop(): Promise<void>;
}

/** @param answer gets the chat request, read to its end, and what to answer with; it may leave the answer open */
export async function startScriptedEngine(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<ScriptedEngine> {
  let abandoned = 0;
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) abandoned += 1;
    });
    buffer(request).then(
      (body) => {
        bodies.push(body.toString());
        answer(response, request);
      },
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get abandoned() {
      return abandoned;
    },
    bodies,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A chunk of a stream in the chat format, as its server-sent event. */
export function chunk(delta: object, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`;
}
