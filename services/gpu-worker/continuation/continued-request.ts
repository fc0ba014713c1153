import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { isEmptyField } from '#shared/formats/relayed-answer.ts';
import { cannotContinue } from './refused.ts';

/** Fields with which engines restrict an answer to a grammar. */
const grammarFields = [
  'grammar',
  'json_schema',
  'structured_outputs',
  'guided_json',
  'guided_regex',
  'guided_choice',
  'guided_grammar',
  'guided_decoding_backend',
  'regex',
  'ebnf',
  'structural_tag',
] as const;

/** Fields that limit output tokens. */
const outputLimitFields = ['max_tokens', 'max_completion_tokens', 'n_predict'] as const;

/**
 * Checks that an answer to a request can be continued exactly.
 * @param request request in an upstream format, before it is adapted to the engine
 * @throws CannotContinue `refused` for structured output, log probabilities, several choices, and everything else that no engine continues
 */
export function assertContinuable(request: JsonObject): void {
  const { n, best_of: tried, logprobs, top_logprobs: top, prompt_logprobs: ofPrompt, echo } = request;
  const { response_format: format, tool_choice: choice } = request;
  if (isMany(n) || isMany(tried)) throw cannotContinue('several choices are asked for');
  if (isAsked(logprobs) || (top !== 0 && isAsked(top)) || isAsked(ofPrompt))
    throw cannotContinue('log probabilities are asked for');
  if (isJsonObject(format) && format['type'] !== 'text') throw cannotContinue('structured output is asked for');
  const grammar = grammarFields.find((field) => !isEmptyField(request[field]));
  if (grammar !== undefined) throw cannotContinue(`${grammar} is asked for`);
  if (choice === 'required' || isJsonObject(choice)) throw cannotContinue('a tool call is required');
  if (echo === true || !isEmptyField(request['suffix'])) throw cannotContinue('the prompt is part of the answer');
  if (request['continue_final_message'] === false || request['add_generation_prompt'] === true)
    throw cannotContinue('the request sets how the answer begins');
}

/**
 * Returns the request with a last message that begins the answer with a text.
 * @throws CannotContinue `refused` if the client itself began the answer in parts
 */
export function withBegunMessage(request: JsonObject, text: string): JsonObject {
  if (text === '') return request;
  const messages: readonly Json[] = Array.isArray(request['messages']) ? request['messages'] : [];
  const last = messages.at(-1);
  if (!isJsonObject(last) || last['role'] !== 'assistant' || !isEmptyField(last['tool_calls']))
    return { ...request, messages: [...messages, { role: 'assistant', content: text }] };
  if (typeof last['content'] !== 'string') throw cannotContinue('the client has begun the answer in parts');
  return { ...request, messages: [...messages.slice(0, -1), { ...last, content: last['content'] + text }] };
}

/** Removes the text that begins the answer from a request to an engine. */
export function withoutBegunMessage(request: JsonObject, text: string): JsonObject {
  const messages: readonly Json[] = Array.isArray(request['messages']) ? request['messages'] : [];
  const last = messages.at(-1);
  if (text === '' || !isJsonObject(last) || typeof last['content'] !== 'string') return request;
  const own = last['content'].slice(0, -text.length);
  if (own !== '') return { ...request, messages: [...messages.slice(0, -1), { ...last, content: own }] };
  const { continue_final_message: _, add_generation_prompt: __, ...rest } = request;
  return { ...rest, messages: messages.slice(0, -1) };
}

/**
 * Returns the request with a text appended to its prompt.
 * @throws CannotContinue `refused` for a prompt that is not one text
 */
export function withBegunPrompt(request: JsonObject, text: string): JsonObject {
  return { ...request, prompt: promptOf(request) + text };
}

/**
 * Returns the only prompt of a request.
 * @throws CannotContinue `refused` if it is not text, or if there are several
 */
export function promptOf({ prompt }: JsonObject): string {
  const only = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  if (typeof only !== 'string') throw cannotContinue('the prompt is not one text');
  return only;
}

/**
 * Lowers the limits of an engine's request by the tokens that the answer already has.
 * @returns the request; undefined if the answer already has all the tokens that a limit allows
 */
export function withLowerLimits(request: JsonObject, tokens: number): JsonObject | undefined {
  const lowered = { ...request };
  for (const field of outputLimitFields) {
    const limit = request[field];
    if (typeof limit !== 'number' || limit < 0) continue;
    if (limit <= tokens) return undefined;
    lowered[field] = limit - tokens;
  }
  const { min_tokens: least } = request;
  if (typeof least === 'number') lowered['min_tokens'] = Math.max(0, least - tokens);
  return lowered;
}

export function isLimited(request: JsonObject): boolean {
  return outputLimitFields.some((field) => typeof request[field] === 'number');
}

function isMany(count: Json | undefined): boolean {
  return typeof count === 'number' && count > 1;
}

function isAsked(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== false;
}
