import type { ChatRequest } from '../request/chat-request.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import type { Turn } from '../request/read-turn.ts';
import { textOf } from '../request/text-of.ts';
import { wantsThinking } from '../request/wants-thinking.ts';
import { answerInJson } from './answer-in-json.ts';
import { chooseToolCalls, type ToolCall } from './choose-tool-calls.ts';
import { describeRequest } from './describe-request.ts';
import { quoteResults } from './quote-results.ts';
import { quote } from './quote.ts';

/** All that an answer says, before it is cut into tokens. Empty where there is nothing of a kind. */
export interface Answer {
  reasoning: string;
  content: string;
  toolCalls: ToolCall[];
}

/**
 * Decides what to answer. The same request gets the same text, so that an answer that broke off can be continued exactly:
 * with `continue_final_message` (vLLM) the last assistant message is taken as the beginning of this one.
 */
export function composeAnswer(request: ChatRequest, turn: Turn, demo: DemoOptions): Answer {
  const last = request.messages.at(-1);
  const begun = request.continue_final_message && last?.role === 'assistant' ? textOf(last) : undefined;
  if (begun !== undefined) {
    const content = say(request, turn, request.messages.slice(0, -1));
    return { reasoning: '', content: content.startsWith(begun) ? content.slice(begun.length) : content, toolCalls: [] };
  }
  const toolCalls = demo.answer_tokens === undefined ? chooseToolCalls(request, turn) : [];
  const reasoning = wantsThinking(request) ? think(turn, toolCalls) : '';
  if (toolCalls.length === 0) return { reasoning, content: say(request, turn, request.messages), toolCalls };
  const names = toolCalls.map((call) => call.name).join(', ');
  return { reasoning, content: demo.text_before_tools ? `I call ${names}.` : '', toolCalls };
}

function say(request: ChatRequest, turn: Turn, messages: ChatRequest['messages']): string {
  const { response_format: format } = request;
  if (format && format.type !== 'text') return answerInJson(format, turn);
  return turn.toolResults.length > 0 ? quoteResults(turn.toolResults) : describeRequest(request, messages, turn);
}

function think(turn: Turn, toolCalls: readonly ToolCall[]): string {
  const wanted =
    turn.userText === '' ? 'The user said nothing in words.' : `The user said ${quote(turn.userText, 80)}.`;
  if (turn.toolResults.length > 0) return `${wanted} The tools have answered, so I tell what they found.`;
  if (toolCalls.length === 0) return `${wanted} I can tell what I was given.`;
  return `${wanted} For that I call ${toolCalls.map((call) => call.name).join(', ')}.`;
}
