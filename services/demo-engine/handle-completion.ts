import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';
import { quote } from './answer/describe-request.ts';
import { planAnswer, countTokensOfSteps } from './answer/plan-answer.ts';
import { answerWithSlot } from './answer-with-slot.ts';
import { requireModel, type Engine } from './engine.ts';
import { computeUsage, type Reply } from './reply/reply.ts';
import { sendWholeReply } from './reply/send-whole-reply.ts';
import { streamReply } from './reply/stream-reply.ts';
import { TextFormat } from './reply/text-format.ts';
import { computeMaxTokens } from './request/count-prompt-tokens.ts';
import { makeFiller } from './answer/split-into-tokens.ts';
import { resolveDemoOptions, findDemoWords, removeDemoLine, type DemoOptions } from './request/demo-options.ts';
import { parseBody, readJsonBody } from './request/read-body.ts';
import { z } from 'zod';

/** Number of characters that an answer quotes from the end of the prompt, and from the start of the suffix. */
const quotedCharacters = 60;

/**
 * Handles `POST /v1/completions`: continues one text, up to a suffix if there is one.
 * @throws RouterError when the request is refused; the signal's reason when the client disconnects
 */
export async function handleCompletion(
  engine: Engine,
  http: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const body = await readJsonBody(http);
  const request = parseBody(completionRequestSchema, body);
  const { model, suffix, stream } = request;
  requireModel(engine, model, 'complete');
  const prompt = readOnlyPrompt(request.prompt);
  if ((request.n ?? 1) > 1)
    throw new RouterError('unsupported_parameter', 'This engine gives one choice: n has to be 1.', { param: 'n' });
  const demo = resolveDemoOptions(engine.defaults, request.demo, findDemoWords(prompt));
  const promptTokens = (await countTokens(prompt, signal)) + (await countTokens(suffix ?? '', signal));
  const maxTokens = computeMaxTokens(request.max_tokens ?? undefined, promptTokens, engine.contextWindow);
  const facts = {
    id: `cmpl-${randomUUID()}`,
    model,
    stream: stream ?? false,
    messages: 1,
    tools: 0,
    fields: Object.keys(body),
    request_id: http.headers['x-request-id']?.toString() ?? null,
    prompt_tokens: promptTokens,
  };
  const send = stream ? streamReply : sendWholeReply;
  await answerWithSlot(engine, { facts, demo, response, signal }, (countedFacts) => {
    const stops = typeof request.stop === 'string' ? [request.stop] : (request.stop ?? []);
    const { content, beginning } = composeContent(prompt, suffix ?? '', demo);
    const plan = planAnswer({ reasoning: '', content, toolCalls: [], beginning }, { maxTokens, stops }, demo);
    const reply: Reply = {
      format: new TextFormat({ id: countedFacts.id, model, created: Math.floor(Date.now() / 1000) }),
      plan,
      usage: computeUsage(plan, promptTokens),
      demo,
      includeUsage: request.stream_options?.include_usage ?? false,
      onStepsSent(steps) {
        countedFacts.completion_tokens += countTokensOfSteps(steps);
      },
    };
    return send(reply, response, signal);
  });
}

/** @throws RouterError if there are no or several prompts, or if the prompt is not a text */
function readOnlyPrompt(prompt: string | string[] | number[] | number[][]): string {
  if (typeof prompt === 'string') return prompt;
  const [first, ...others] = prompt;
  if (first === undefined) throw new RouterError('invalid_request', 'The prompt is empty.', { param: 'prompt' });
  if (typeof first === 'string' && others.length === 0) return first;
  throw new RouterError('unsupported_parameter', 'This engine continues one text.', { param: 'prompt' });
}

/** First token of every answer without `answer_tokens`. */
const firstToken = ' This';

/** Maximum tokens of filler that are compared with the end of a prompt. */
const maxComparedTokens = 20_000;

/**
 * Returns the text for a prompt. `beginning` is the part of the text with which the prompt already ends, or empty. An interrupted text can
 * therefore continue unchanged.
 */
function composeContent(prompt: string, suffix: string, demo: DemoOptions): { content: string; beginning: string } {
  const { answer_tokens: tokens } = demo;
  const filler = tokens === undefined ? undefined : makeFillerText(Math.min(tokens, maxComparedTokens));
  const startText = filler === undefined ? firstToken : makeFillerText(1);
  for (let at = prompt.indexOf(startText); at >= 0; at = prompt.indexOf(startText, at + 1)) {
    const beginning = prompt.slice(at);
    const content = filler ?? composeText(removeDemoLine(prompt.slice(0, at)), suffix);
    if (content.startsWith(beginning)) return { content, beginning };
  }
  return { content: composeText(removeDemoLine(prompt), suffix), beginning: '' };
}

function makeFillerText(tokens: number): string {
  return makeFiller(tokens)
    .map(({ text }) => text)
    .join('');
}

/** Returns the text for a prompt. The same prompt gets the same text. */
function composeText(prompt: string, suffix: string): string {
  const before = quote(prompt.slice(-quotedCharacters), quotedCharacters);
  if (suffix === '') return ` This continues ${before}. The demo engine has no weights.`;
  return ` This stands between ${before} and ${quote(suffix, quotedCharacters)}. `;
}

const tokens = z.array(z.int().min(0));

/** The fields of a text completion request that the demo engine reads. It ignores other fields. */
export const completionRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.union([z.string(), z.array(z.string()), tokens, z.array(tokens)]),
  suffix: z.string().nullish(),
  max_tokens: z.int().min(1).nullish(),
  n: z.int().min(1).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  /** Checked by `resolveDemoOptions`. */
  demo: z.unknown().optional(),
});
