import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import { composeAnswer } from './answer/compose-answer.ts';
import { planAnswer, tokensOf } from './answer/plan-answer.ts';
import type { Engine } from './engine.ts';
import type { AnswerFacts } from './engine-state.ts';
import { type Reply, type ReplyEnding, usageOf } from './reply/reply.ts';
import { sendError } from './reply/send-json.ts';
import { sendWholeReply } from './reply/send-whole-reply.ts';
import { streamReply } from './reply/stream-reply.ts';
import type { ChatRequest } from './request/chat-request.ts';
import { countPromptTokens } from './request/count-prompt-tokens.ts';
import { type DemoOptions, resolveDemoOptions } from './request/demo-options.ts';
import { readChatRequest } from './request/read-chat-request.ts';
import { readJsonBody } from './request/read-body.ts';
import { readTurn, type Turn } from './request/read-turn.ts';

/**
 * `POST /v1/chat/completions`: reads and checks the request, waits for a slot, answers.
 * @throws RouterError when the request is refused; the signal's reason when the client disconnects
 */
export async function handleChatCompletion(
  engine: Engine,
  http: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const body = await readJsonBody(http);
  const request = readChatRequest(body);
  if (!engine.models.includes(request.model)) {
    throw new RouterError('model_not_found', `The model \`${request.model}\` does not exist.`, { param: 'model' });
  }
  const turn = readTurn(request.messages);
  const demo = resolveDemoOptions(engine.defaults, request.demo, turn.demoWords);
  const promptTokens = await countPromptTokens(request.messages, request.tools, signal);
  const maxTokens = checkContext(request, promptTokens, engine.contextWindow);

  const releaseSlot = await engine.slots.take(signal);
  const id = `chatcmpl-${randomUUID()}`;
  const facts = engine.state.begin({
    id,
    model: request.model,
    stream: request.stream ?? false,
    messages: request.messages.length,
    tools: request.tools?.length ?? 0,
    fields: Object.keys(body),
    request_id: http.headers['x-request-id']?.toString() ?? null,
    prompt_tokens: promptTokens,
  });
  let ending: ReplyEnding | 'aborted' = 'faulted';
  try {
    const makeReply = (): Reply => prepare(request, turn, demo, { maxTokens, promptTokens, facts });
    ending = await answer(makeReply, request, demo, response, signal);
  } catch (error) {
    if (signal.aborted) ending = 'aborted';
    throw error;
  } finally {
    engine.state.end(facts, ending);
    releaseSlot();
  }
}

async function answer(
  makeReply: () => Reply,
  request: ChatRequest,
  demo: DemoOptions,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<ReplyEnding> {
  const refusal = refusalOf(demo);
  if (refusal) {
    await sleep(demo.first_token_delay_ms, undefined, { signal });
    sendError(response, refusal);
    return 'faulted';
  }
  const send = request.stream ? streamReply : sendWholeReply;
  return send(makeReply(), response, signal);
}

function prepare(
  request: ChatRequest,
  turn: Turn,
  demo: DemoOptions,
  { maxTokens, promptTokens, facts }: { maxTokens: number; promptTokens: number; facts: AnswerFacts },
): Reply {
  const stops = typeof request.stop === 'string' ? [request.stop] : (request.stop ?? []);
  const plan = planAnswer(composeAnswer(request, turn, demo), { maxTokens, stops }, demo);
  return {
    head: { id: facts.id, model: facts.model, created: Math.floor(Date.now() / 1000) },
    plan,
    usage: usageOf(plan, promptTokens),
    demo,
    includeUsage: request.stream_options?.include_usage ?? false,
    onSent(steps) {
      facts.completion_tokens += tokensOf(steps);
    },
  };
}

function refusalOf({ fault, retry_after: retryAfter }: DemoOptions): RouterError | undefined {
  if (fault === '429') return new RouterError('rate_limit_exceeded', 'Too many requests, on demand.', { retryAfter });
  if (fault === '500') return new RouterError('internal', 'The demo engine failed on demand.', { retryAfter });
  if (fault === '503') return new RouterError('overloaded', 'Overloaded, on demand.', { retryAfter });
  return undefined;
}

/**
 * The token limit of an answer: that of the request, else the rest of the context window after the prompt.
 * @throws RouterError `context_length_exceeded` when prompt and answer limit exceed the context window, in vLLM's words
 */
function checkContext(request: ChatRequest, promptTokens: number, contextWindow: number): number {
  const allowed = request.max_completion_tokens ?? request.max_tokens ?? undefined;
  const room = contextWindow - promptTokens;
  if (room >= (allowed ?? 1)) return allowed ?? room;
  throw new RouterError(
    'context_length_exceeded',
    `This model's maximum context length is ${contextWindow} tokens. However, you requested ` +
      `${promptTokens + (allowed ?? 0)} tokens (${promptTokens} in the messages, ${allowed ?? 0} in the completion). ` +
      'Please reduce the length of the messages or completion.',
    { param: 'messages' },
  );
}
