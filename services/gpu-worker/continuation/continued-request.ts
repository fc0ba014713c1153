import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { isEmptyField } from '#shared/formats/relayed-answer.ts';
import { cannotContinue } from './cannot-continue.ts';

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
 * Checks that the answer to a request can be continued exactly.
 * @param request request in an upstream format, before it is adapted to the engine
 * @throws CannotContinue `refused` for structured output, log probabilities, several choices, or any other feature that no engine continues
 */
export function assertContinuable(request: JsonObject): void {
  const { n, best_of: bestOf, logprobs, top_logprobs: topLogprobs, prompt_logprobs: promptLogprobs, echo } = request;
  const { response_format: responseFormat, tool_choice: toolChoice } = request;
  if (isAboveOne(n) || isAboveOne(bestOf)) throw cannotContinue('several choices are asked for');
  if (isRequested(logprobs) || (topLogprobs !== 0 && isRequested(topLogprobs)) || isRequested(promptLogprobs))
    throw cannotContinue('log probabilities are asked for');
  if (isJsonObject(responseFormat) && responseFormat['type'] !== 'text')
    throw cannotContinue('structured output is asked for');
  const grammar = grammarFields.find((field) => !isEmptyField(request[field]));
  if (grammar !== undefined) throw cannotContinue(`${grammar} is asked for`);
  if (toolChoice === 'required' || isJsonObject(toolChoice)) throw cannotContinue('a tool call is required');
  if (echo === true || !isEmptyField(request['suffix'])) throw cannotContinue('the prompt is part of the answer');
  if (request['continue_final_message'] === false || request['add_generation_prompt'] === true)
    throw cannotContinue('the request sets how the answer begins');
}

/**
 * Returns the request with `text` as the beginning of its answer. Appends `text` to the last message if that is the assistant's; otherwise
 * adds an assistant message.
 * @throws CannotContinue `refused` if the client itself began the answer in parts
 */
export function appendToLastMessage(request: JsonObject, text: string): JsonObject {
  if (text === '') return request;
  const messages: readonly Json[] = Array.isArray(request['messages']) ? request['messages'] : [];
  const last = messages.at(-1);
  if (!isJsonObject(last) || last['role'] !== 'assistant' || !isEmptyField(last['tool_calls']))
    return { ...request, messages: [...messages, { role: 'assistant', content: text }] };
  if (typeof last['content'] !== 'string') throw cannotContinue('the client has begun the answer in parts');
  return { ...request, messages: [...messages.slice(0, -1), { ...last, content: last['content'] + text }] };
}

/** Removes `text` that `appendToLastMessage` has added, after the request was adapted to the engine. */
export function removeFromLastMessage(request: JsonObject, text: string): JsonObject {
  const messages: readonly Json[] = Array.isArray(request['messages']) ? request['messages'] : [];
  const last = messages.at(-1);
  if (text === '' || !isJsonObject(last) || typeof last['content'] !== 'string') return request;
  const textBefore = last['content'].slice(0, -text.length);
  if (textBefore !== '') return { ...request, messages: [...messages.slice(0, -1), { ...last, content: textBefore }] };
  const { continue_final_message: _, add_generation_prompt: __, ...rest } = request;
  return { ...rest, messages: messages.slice(0, -1) };
}

/**
 * Appends a text to the prompt of a request.
 * @throws CannotContinue `refused` unless the request has exactly one prompt, as text
 */
export function appendToPrompt(request: JsonObject, text: string): JsonObject {
  return { ...request, prompt: readSinglePrompt(request) + text };
}

/**
 * Returns the only prompt of a request.
 * @throws CannotContinue `refused` if the prompt is not text, or if there are several prompts
 */
export function readSinglePrompt({ prompt }: JsonObject): string {
  const singlePrompt = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  if (typeof singlePrompt !== 'string') throw cannotContinue('the prompt is not one text');
  return singlePrompt;
}

/**
 * Lowers a request's limits of output tokens by `tokens`, the number of tokens that the answer already has. Returns undefined if the answer
 * already has all tokens that a limit allows.
 */
export function lowerOutputLimits(request: JsonObject, tokens: number): JsonObject | undefined {
  const loweredRequest = { ...request };
  for (const field of outputLimitFields) {
    const limit = request[field];
    if (typeof limit !== 'number' || limit < 0) continue;
    if (limit <= tokens) return undefined;
    loweredRequest[field] = limit - tokens;
  }
  const { min_tokens: minTokens } = request;
  if (typeof minTokens === 'number') loweredRequest['min_tokens'] = Math.max(0, minTokens - tokens);
  return loweredRequest;
}

export function hasOutputLimit(request: JsonObject): boolean {
  return outputLimitFields.some((field) => typeof request[field] === 'number');
}

function isAboveOne(count: Json | undefined): boolean {
  return typeof count === 'number' && count > 1;
}

function isRequested(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== false;
}
