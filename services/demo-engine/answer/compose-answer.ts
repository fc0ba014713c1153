import { type ChatRequest, readText } from '../request/chat-request.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import type { Turn } from '../request/read-turn.ts';
import { chooseToolCalls, type ToolCall } from './choose-tool-calls.ts';
import { describeRequest, quote } from './describe-request.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { fillSchema } from './fill-schema.ts';
import { findHints, HintPool } from './find-hints.ts';
import { countTokensIn } from './split-into-tokens.ts';

/** The content of an answer before it is split into tokens. Fields without content are empty. */
export interface Answer {
  reasoning: string;
  content: string;
  toolCalls: ToolCall[];
  /** Beginning of the content that the client already has; absent if it has none. */
  beginning?: string;
}

/**
 * Composes the answer. The same request gets the same text, so that an interrupted answer can be continued exactly. If the request has
 * `continue_final_message` (vLLM), its last assistant message is the beginning of this answer.
 */
export function composeAnswer(request: ChatRequest, turn: Turn, demo: DemoOptions): Answer {
  const last = request.messages.at(-1);
  const beginning = request.continue_final_message && last?.role === 'assistant' ? readText(last) : undefined;
  return beginning === undefined ? compose(request, turn, demo) : composeContinued(request, turn, demo, beginning);
}

/**
 * Composes the answer that begins with `beginning`. A client that continues an answer lowers its token limit by the tokens of the
 * beginning. An answer mentions its limit, so both the original and the lowered limit are tried.
 */
function composeContinued(continuingRequest: ChatRequest, turn: Turn, demo: DemoOptions, beginning: string): Answer {
  const { max_tokens: maxTokens, max_completion_tokens: maxCompletionTokens } = continuingRequest;
  const beginningTokens = countTokensIn(beginning);
  const request: ChatRequest = { ...continuingRequest, messages: continuingRequest.messages.slice(0, -1) };
  const originalRequest = {
    ...request,
    ...(typeof maxTokens === 'number' && { max_tokens: maxTokens + beginningTokens }),
    ...(typeof maxCompletionTokens === 'number' && { max_completion_tokens: maxCompletionTokens + beginningTokens }),
  };
  for (const variant of [originalRequest, request]) {
    const answer = compose(variant, turn, demo);
    // With `answer_tokens`, the content is filler. `planAnswer` compares its beginning.
    const matchesBeginning = demo.answer_tokens !== undefined || answer.content.startsWith(beginning);
    if (matchesBeginning) return { ...answer, reasoning: '', beginning };
  }
  return { reasoning: '', content: writeContent(request, turn, request.messages), toolCalls: [] };
}

function compose(request: ChatRequest, turn: Turn, demo: DemoOptions): Answer {
  const toolCalls = demo.answer_tokens === undefined ? chooseToolCalls(request, turn) : [];
  const reasoning = asksForThinking(request) ? writeThinking(turn, toolCalls) : '';
  if (toolCalls.length === 0) return { reasoning, content: writeContent(request, turn, request.messages), toolCalls };
  const names = toolCalls.map((call) => call.name).join(', ');
  return { reasoning, content: demo.text_before_tools ? `I call ${names}.` : '', toolCalls };
}

function writeContent(request: ChatRequest, turn: Turn, messages: ChatRequest['messages']): string {
  const { response_format: format } = request;
  const { scriptStep: step } = turn;
  if (step?.kind === 'say') return step.text;
  if (step && request.tools?.length) return `The script calls ${step.name}, which is not on offer.`;
  if (format && format.type !== 'text') return writeJsonContent(format, turn);
  return turn.toolResults.length > 0 ? quoteResults(turn.toolResults) : describeRequest(request, messages, turn);
}

function writeThinking(turn: Turn, toolCalls: readonly ToolCall[]): string {
  const userSentence =
    turn.userText === '' ? 'The user said nothing in words.' : `The user said ${quote(turn.userText, 80)}.`;
  if (turn.toolResults.length > 0) return `${userSentence} The tools have answered, so I report what they found.`;
  if (toolCalls.length === 0) return `${userSentence} I can describe the request.`;
  return `${userSentence} For that I call ${toolCalls.map((call) => call.name).join(', ')}.`;
}

/** Returns JSON that the schema of `response_format` accepts; if there is no schema, any object. */
function writeJsonContent(
  format: Exclude<NonNullable<ChatRequest['response_format']>, { type: 'text' }>,
  turn: Turn,
): string {
  const schema: JsonObject | null | undefined = format.type === 'json_schema' ? format.json_schema.schema : undefined;
  if (schema) return JSON.stringify(fillSchema(schema, new HintPool(findHints(turn.userText)), 'all'));
  return JSON.stringify({ engine: 'demo', you_said: quote(turn.userText, 240), tool_results: turn.toolResults.length });
}

const maxQuotedCharacters = 2000;

function quoteResults(results: Turn['toolResults']): string {
  const maxResultCharacters = Math.ceil(maxQuotedCharacters / results.length);
  return results
    .map(({ name, text }) =>
      text === '' ? `${name} gave nothing.` : `${name} gave: ${quote(text, maxResultCharacters)}`,
    )
    .join('\n');
}

/**
 * Returns whether the request asks for thinking in one of the fields of clients and engines: `reasoning_effort` (OpenAI),
 * `chat_template_kwargs` (vLLM, SGLang), `thinking` (Anthropic). Returns false if any of these fields declines thinking.
 */
function asksForThinking(request: ChatRequest): boolean {
  const { reasoning_effort: effort, thinking, chat_template_kwargs: template } = request;
  const fieldAnswers = [
    effort === null || effort === undefined ? undefined : effort !== 'none',
    thinking ? thinking.type === 'enabled' || thinking.type === 'adaptive' : undefined,
    template?.enable_thinking ?? undefined,
    template?.thinking ?? undefined,
  ].filter((answer) => answer !== undefined);
  return fieldAnswers.length > 0 && fieldAnswers.every(Boolean);
}
