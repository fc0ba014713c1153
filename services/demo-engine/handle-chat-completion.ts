import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerWithSlot } from './answer-with-slot.ts';
import { computeMaxTokens, countPromptTokens } from './request/count-prompt-tokens.ts';
import { composeAnswer } from './answer/compose-answer.ts';
import { planAnswer, countTokensOfSteps } from './answer/plan-answer.ts';
import { requireModel, type Engine } from './engine.ts';
import type { AnswerFacts } from './engine-state.ts';
import { ChunkFormat } from './reply/chunk-format.ts';
import { computeUsage, type Reply } from './reply/reply.ts';
import { sendWholeReply } from './reply/send-whole-reply.ts';
import { streamReply } from './reply/stream-reply.ts';
import { type ChatRequest, readChatRequest } from './request/chat-request.ts';
import { resolveDemoOptions, type DemoOptions } from './request/demo-options.ts';
import { readJsonBody } from './request/read-body.ts';
import { readTurn, type Turn } from './request/read-turn.ts';

/**
 * Handles `POST /v1/chat/completions`: reads and checks the request, waits for a slot, and answers.
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
  requireModel(engine, request.model, 'generate');
  const turn = readTurn(request.messages);
  const demo = resolveDemoOptions(engine.defaults, request.demo, turn.demoWords);
  const promptTokens = await countPromptTokens(request.messages, request.tools, signal);
  const limit = request.max_completion_tokens ?? request.max_tokens ?? undefined;
  const maxTokens = computeMaxTokens(limit, promptTokens, engine.contextWindow);

  const id = `chatcmpl-${randomUUID()}`;
  const facts = {
    id,
    model: request.model,
    stream: request.stream ?? false,
    messages: request.messages.length,
    tools: request.tools?.length ?? 0,
    fields: Object.keys(body),
    request_id: http.headers['x-request-id']?.toString() ?? null,
    prompt_tokens: promptTokens,
  };
  const send = request.stream ? streamReply : sendWholeReply;
  await answerWithSlot(engine, { facts, demo, response, signal }, (countedFacts) =>
    send(prepareReply(request, turn, demo, { maxTokens, promptTokens, facts: countedFacts }), response, signal),
  );
}

function prepareReply(
  request: ChatRequest,
  turn: Turn,
  demo: DemoOptions,
  { maxTokens, promptTokens, facts }: { maxTokens: number; promptTokens: number; facts: AnswerFacts },
): Reply {
  const stops = typeof request.stop === 'string' ? [request.stop] : (request.stop ?? []);
  const plan = planAnswer(composeAnswer(request, turn, demo), { maxTokens, stops }, demo);
  return {
    format: new ChunkFormat({ id: facts.id, model: facts.model, created: Math.floor(Date.now() / 1000) }, demo),
    plan,
    usage: computeUsage(plan, promptTokens),
    demo,
    includeUsage: request.stream_options?.include_usage ?? false,
    onStepsSent(steps) {
      facts.completion_tokens += countTokensOfSteps(steps);
    },
  };
}
