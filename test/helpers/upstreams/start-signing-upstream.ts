import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { serveHttp } from '../servers/serve-http.ts';

/** Signatures of an upstream: Gemini's on calls and text, or OpenRouter's list of reasoning. */
export type Signer = 'gemini' | 'openrouter';

export interface SigningUpstream {
  url: string;
  /** Bodies of its requests for completions, in order. */
  bodies: JsonObject[];
  stop(): Promise<void>;
}

/** The model that an upstream lists. */
export const signingModel = (signer: Signer): string => `signing-${signer}`;

/**
 * Starts a chat upstream whose model makes two parallel calls of the first tool, then a single one, then answers with a text. As Gemini
 * does, it refuses a request in which the first call of a step lacks its signature. Of OpenRouter's list it accepts only the whole list of
 * a step.
 */
export async function startSigningUpstream(signer: Signer): Promise<SigningUpstream> {
  const bodies: JsonObject[] = [];
  const { url, stop } = await serveHttp(async (request, response) => {
    if (request.method === 'GET') {
      send(response, 200, { object: 'list', data: [{ id: signingModel(signer), object: 'model' }] });
      return;
    }
    const body = (await json(request)) as JsonObject;
    bodies.push(body);
    answer(signer, body, response);
  });
  return { url: `${url}/v1`, bodies, stop };
}

function answer(signer: Signer, body: JsonObject, response: ServerResponse): void {
  const messages = (Array.isArray(body['messages']) ? body['messages'] : []).filter(isJsonObject);
  const asked = messages.findLastIndex(({ role, content }) => role === 'user' && content !== '');
  const steps = messages.slice(asked).filter(({ role, tool_calls: calls }) => role === 'assistant' && calls);
  const unsigned = steps.findIndex((step, at) => !isSigned(signer, step, at));
  if (unsigned !== -1) {
    const message = `Function call is missing a thought_signature in functionCall parts, position ${unsigned}.`;
    // Gemini's errors are a list.
    send(response, 400, [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }] as Json as JsonObject);
    return;
  }
  const [tool] = Array.isArray(body['tools']) ? body['tools'] : [];
  const name = isJsonObject(tool) && isJsonObject(tool['function']) ? (tool['function']['name'] ?? '') : '';
  const deltas = stepOf(signer, steps.length, name);
  if (body['stream'] === true) stream(response, deltas);
  else send(response, 200, whole(deltas));
}

export const callSignature = (step: number): string => `c2lnbmF0dXJl${step}+/=`;
export const textSignature = 'dGV4dA==';

/** Returns OpenRouter's streamed reasoning of a step, joined. */
export const detailsOf = (step: number): JsonObject[] => [
  {
    type: 'reasoning.text',
    text: 'Hm, let me think.',
    format: 'anthropic-claude-v1',
    index: 0,
    signature: `sig${step}`,
  },
  { type: 'reasoning.encrypted', data: `data${step}`, id: `call_${step}_0`, format: 'google-gemini-v1', index: 1 },
];

function isSigned(signer: Signer, step: JsonObject, at: number): boolean {
  if (signer === 'openrouter') return JSON.stringify(step['reasoning_details']) === JSON.stringify(detailsOf(at));
  const [first] = Array.isArray(step['tool_calls']) ? step['tool_calls'] : [];
  const wanted = { google: { thought_signature: callSignature(at) } };
  return isJsonObject(first) && JSON.stringify(first['extra_content']) === JSON.stringify(wanted);
}

/** Returns the deltas of a step, as the providers stream them. */
function stepOf(signer: Signer, step: number, name: Json): JsonObject[] {
  const isLast = step === 2;
  const calls = isLast
    ? []
    : Array.from({ length: step === 0 ? 2 : 1 }, (_, index) => callOf(signer, step, index, name));
  if (signer === 'gemini') {
    const text = { content: 'Done.', extra_content: { google: { thought_signature: textSignature } } };
    return isLast ? [{ role: 'assistant', ...text }] : calls.map((call) => ({ role: 'assistant', tool_calls: [call] }));
  }
  const [thought = {}, encrypted = {}] = detailsOf(step);
  const { signature, ...unsigned } = thought;
  const pieces = ['Hm, let ', 'me think.'].map((text) => ({
    reasoning: text,
    reasoning_details: [{ ...unsigned, text }],
  }));
  return [
    ...pieces,
    { reasoning_details: [{ type: 'reasoning.text', text: '', format: null, index: 0, signature: signature ?? null }] },
    ...(isLast ? [{ content: 'Done.' }] : [{ reasoning_details: [encrypted] }]),
    ...calls.map((call) => ({ tool_calls: [call] })),
  ];
}

function callOf(signer: Signer, step: number, index: number, name: Json): JsonObject {
  return {
    index,
    id: `call_${step}_${index}`,
    type: 'function',
    function: { name, arguments: `{"at":${index}}` },
    // Only the first of parallel calls is signed.
    ...(signer === 'gemini' &&
      index === 0 && { extra_content: { google: { thought_signature: callSignature(step) } } }),
  };
}

const usage = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 };

function finishOf(deltas: readonly JsonObject[]): string {
  return deltas.some((delta) => delta['tool_calls']) ? 'tool_calls' : 'stop';
}

function stream(response: ServerResponse, deltas: readonly JsonObject[]): void {
  const chunk = (delta: JsonObject, finish: string | null): string =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'upstream', choices: [{ index: 0, delta, finish_reason: finish }], usage: finish === null ? null : usage })}\n\n`;
  const events = deltas.map((delta) => chunk(delta, null)).join('');
  response
    .writeHead(200, { 'content-type': 'text/event-stream' })
    .end(`${events}${chunk({}, finishOf(deltas))}data: [DONE]\n\n`);
}

function whole(deltas: readonly JsonObject[]): JsonObject {
  const lists = (field: string): Json[] => deltas.flatMap((delta) => (Array.isArray(delta[field]) ? delta[field] : []));
  const [details, calls] = [lists('reasoning_details'), lists('tool_calls')];
  const message: JsonObject = {
    ...Object.assign({}, ...deltas),
    role: 'assistant',
    content: calls.length > 0 ? null : 'Done.',
    ...(details.length > 0 && { reasoning: 'Hm, let me think.', reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const choices = [{ index: 0, message, finish_reason: finishOf(deltas) }];
  return { id: 'x', object: 'chat.completion', created: 1, model: 'upstream', choices, usage };
}

function send(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
