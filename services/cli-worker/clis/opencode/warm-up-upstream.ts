import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** An upstream inside the worker. It calls the first tool that a request offers; without tools, it answers `Hello`. */
export interface WarmUpUpstream {
  /** Base URL of its chat completions. */
  url: string;
  /** Returns the body of the last request. */
  lastRequest(): JsonObject;
  close(): void;
}

function writeAnswer({ tools }: JsonObject): string {
  const [tool] = Array.isArray(tools) ? tools : [];
  const name: Json = isJsonObject(tool) && isJsonObject(tool['function']) ? (tool['function']['name'] ?? '') : '';
  const call = { index: 0, id: 'call_warm_up', type: 'function', function: { name, arguments: '{}' } };
  const delta: JsonObject = tool === undefined ? { content: 'Hello' } : { tool_calls: [call] };
  const chunk = (piece: JsonObject, finish: string | null): string =>
    JSON.stringify({
      id: 'chatcmpl-warm-up',
      object: 'chat.completion.chunk',
      created: 0,
      model: 'none',
      choices: [{ index: 0, delta: piece, finish_reason: finish }],
    });
  const finish = tool === undefined ? 'stop' : 'tool_calls';
  return [chunk({ role: 'assistant', ...delta }, null), chunk({}, finish), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');
}

/** Starts a warm-up upstream on a free port of the loopback interface. */
export async function startWarmUpUpstream(): Promise<WarmUpUpstream> {
  let lastRequest: JsonObject = {};
  const server = createServer((request, response) => {
    void json(request)
      .catch(() => undefined)
      .then((body) => {
        lastRequest = isJsonObject(body) ? body : {};
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(writeAnswer(lastRequest));
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    lastRequest: () => lastRequest,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
