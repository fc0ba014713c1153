import type { ChatMessage, ChatRequest } from '../request/chat-request.ts';
import { imagesOf } from '../request/images-of.ts';
import type { Turn } from '../request/read-turn.ts';
import { textOf } from '../request/text-of.ts';
import { describeImage } from './describe-image.ts';
import { quote } from './quote.ts';

const settings = ['temperature', 'top_p', 'top_k', 'max_tokens', 'max_completion_tokens', 'seed', 'stop'] as const;
const maxListed = 12;

/** An answer in words that shows that the shape of the request was understood. The same request gives the same words. */
export function describeRequest(request: ChatRequest, messages: readonly ChatMessage[], turn: Turn): string {
  const said = turn.userText === '' ? 'nothing in words' : quote(turn.userText, 240);
  return [
    `You said ${said}. This is the demo engine: it has no weights, and tells what it was given.`,
    describeConversation(messages),
    list('Images', messages.flatMap(imagesOf).map(describeImage)),
    list(
      'Tools on offer',
      (request.tools ?? []).map((tool) => tool.function.name),
    ),
    list('Settings', describeSettings(request)),
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function describeConversation(messages: readonly ChatMessage[]): string {
  const roles = Map.groupBy(messages, ({ role }) => role);
  const counts = [...roles].map(([role, { length }]) => `${length} ${role}`).join(', ');
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer');
  const systemCharacters = sum(system.map((message) => textOf(message).length));
  const thought = sum(
    messages.map(({ reasoning_content, reasoning }) => (reasoning_content ?? reasoning ?? '').length),
  );
  return [
    `Messages: ${messages.length} (${counts}).`,
    systemCharacters > 0 ? ` System prompt: ${systemCharacters} characters.` : '',
    thought > 0 ? ` Earlier thinking: ${thought} characters.` : '',
  ].join('');
}

function describeSettings(request: ChatRequest): string[] {
  return settings.flatMap((name) => {
    const value = request[name];
    return value === undefined || value === null ? [] : [`${name} ${JSON.stringify(value)}`];
  });
}

function list(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const more = items.length > maxListed ? ` and ${items.length - maxListed} more` : '';
  return `${title}: ${items.slice(0, maxListed).join(', ')}${more}.`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
