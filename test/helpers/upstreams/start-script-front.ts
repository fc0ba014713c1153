import type { JsonObject } from '#shared/core/json.ts';
import { chatRequestSchema } from '#services/demo-engine/request/chat-request.ts';
import { readTurn } from '#services/demo-engine/request/read-turn.ts';
import { forceStep, type ForcingTokens } from './force-step.ts';
import { messagesOfInput } from './responses-messages.ts';
import { relay } from '../servers/relay.ts';
import { serveHttp } from '../servers/serve-http.ts';
import { buffer } from 'node:stream/consumers';

/** A proxy in front of an engine that records the chat and Responses requests. */
export interface ScriptFront {
  url: string;
  /** Bodies of these requests so far, as the worker sent them. */
  asked: JsonObject[];
  stop(): Promise<void>;
}

/**
 * Starts a proxy in front of an engine. The demo engine follows the script in a prompt by itself; with `force`, a llama-server of any
 * weights is made to follow it.
 */
export async function startScriptFront(engineUrl: string, { force }: { force: boolean }): Promise<ScriptFront> {
  const asked: JsonObject[] = [];
  const tokens = force ? await findTokens(engineUrl) : undefined;
  const { url, stop } = await serveHttp(async (request, response) => {
    if (request.method !== 'POST' || !/\/(?:chat\/completions|responses)$/.test(request.url ?? '')) {
      relay(engineUrl, request, response);
      return;
    }
    try {
      const bytes = await buffer(request);
      const body = JSON.parse(bytes.toString()) as JsonObject;
      asked.push(body);
      const onward = tokens ? Buffer.from(JSON.stringify(forced(body, tokens))) : bytes;
      relay(engineUrl, request, response, { body: onward });
    } catch (error) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: String(error), type: 'invalid_request_error' } }));
    }
  });
  return { url, asked, stop };
}

function forced(body: JsonObject, tokens: ForcingTokens): JsonObject {
  const messages = 'messages' in body ? chatRequestSchema.parse(body).messages : messagesOfInput(body);
  return forceStep(body, readTurn(messages).scriptStep, tokens);
}

/** Reads the ids of the tokens of the test model's template from llama-server. */
async function findTokens(engineUrl: string): Promise<ForcingTokens> {
  const body = JSON.stringify({ content: '<tool_call><|im_end|>', parse_special: true, add_special: false });
  const answer = await fetch(`${engineUrl}/tokenize`, { method: 'POST', body });
  const { tokens } = (await answer.json()) as { tokens: number[] };
  const [call, end] = tokens;
  if (call === undefined || end === undefined || tokens.length > 2)
    throw new Error(`unexpected tokens: ${tokens.join()}`);
  return { call, end };
}
