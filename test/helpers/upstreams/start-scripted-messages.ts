import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { JsonObject } from '#shared/core/json.ts';

/** A messages upstream that answers with given blocks, whatever it is asked. */
export interface ScriptedMessages {
  /** Base URL for `PROVIDER_URL`. */
  url: string;
  /** The requests for messages that came, in order. */
  requests: JsonObject[];
  stop(): Promise<void>;
}

/**
 * Starts the upstream.
 * @param model the only model of its list
 * @param answers the blocks of each answer; after the last one, it answers with that again
 */
export async function startScriptedMessages(
  model: string,
  answers: readonly (readonly JsonObject[])[],
): Promise<ScriptedMessages> {
  const requests: JsonObject[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: [{ type: 'model', id: model, display_name: model }], has_more: false }));
      return;
    }
    const body = (await json(request)) as JsonObject;
    const blocks = answers[Math.min(requests.length, answers.length - 1)] ?? [];
    requests.push(body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of messageEvents(model, blocks)) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Event = JsonObject & { type: string };

function* messageEvents(model: string, blocks: readonly JsonObject[]): Generator<Event> {
  const usage = { input_tokens: 20, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const message = { id: 'msg_scripted', type: 'message', role: 'assistant', model, content: [], usage };
  yield { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } };
  for (const [index, block] of blocks.entries()) {
    const { begun, deltas } = inPieces(block);
    yield { type: 'content_block_start', index, content_block: begun };
    for (const delta of deltas) yield { type: 'content_block_delta', index, delta };
    yield { type: 'content_block_stop', index };
  }
  const calls = blocks.some(({ type }) => type === 'tool_use');
  const delta = { stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null };
  yield { type: 'message_delta', delta, usage: { output_tokens: 9 } };
  yield { type: 'message_stop' };
}

/** A block as it begins, and what is added to it. */
function inPieces(block: JsonObject): { begun: JsonObject; deltas: JsonObject[] } {
  const { type, thinking, signature, text, input } = block;
  switch (type) {
    case 'thinking':
      return {
        begun: { type, thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking },
          { type: 'signature_delta', signature },
        ],
      };
    case 'text':
      return { begun: { type, text: '' }, deltas: [{ type: 'text_delta', text }] };
    case 'tool_use':
      return {
        begun: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }],
      };
    default:
      return { begun: block, deltas: [] };
  }
}
