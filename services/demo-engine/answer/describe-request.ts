import { type ChatMessage, type ChatRequest, findImages, readText } from '../request/chat-request.ts';
import type { Turn } from '../request/read-turn.ts';

const settingFields = ['temperature', 'top_p', 'top_k', 'max_tokens', 'max_completion_tokens', 'seed', 'stop'] as const;
const maxListedItems = 12;

/** Returns an answer that describes the request. The same request gets the same text. */
export function describeRequest(request: ChatRequest, messages: readonly ChatMessage[], turn: Turn): string {
  const userWords = turn.userText === '' ? 'nothing in words' : quote(turn.userText, 240);
  return [
    `You said ${userWords}. This is the demo engine: it has no weights, and describes the request.`,
    describeConversation(messages),
    formatList('Images', messages.flatMap(findImages).map(describeImage)),
    formatList(
      'Tools on offer',
      (request.tools ?? []).map((tool) => tool.function.name),
    ),
    formatList('Settings', describeSettings(request)),
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function describeConversation(messages: readonly ChatMessage[]): string {
  const roles = Map.groupBy(messages, ({ role }) => role);
  const counts = [...roles].map(([role, { length }]) => `${length} ${role}`).join(', ');
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer');
  const systemCharacters = sum(system.map((message) => readText(message).length));
  const thinkingCharacters = sum(
    messages.map(({ reasoning_content, reasoning }) => (reasoning_content ?? reasoning ?? '').length),
  );
  return [
    `Messages: ${messages.length} (${counts}).`,
    systemCharacters > 0 ? ` System prompt: ${systemCharacters} characters.` : '',
    thinkingCharacters > 0 ? ` Earlier thinking: ${thinkingCharacters} characters.` : '',
  ].join('');
}

function describeSettings(request: ChatRequest): string[] {
  return settingFields.flatMap((name) => {
    const value = request[name];
    return value === undefined || value === null ? [] : [`${name} ${JSON.stringify(value)}`];
  });
}

function formatList(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const more = items.length > maxListedItems ? ` and ${items.length - maxListedItems} more` : '';
  return `${title}: ${items.slice(0, maxListedItems).join(', ')}${more}.`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Returns a text in quotation marks, cut to a length in UTF-16 code units. Does not cut within a surrogate pair. */
export function quote(text: string, maxLength: number): string {
  const trimmed = text.trim();
  if (trimmed.length <= maxLength) return `“${trimmed}”`;
  return `“${trimmed.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')}…”`;
}

/** Describes an inline image by its type and size, and a linked image by its host. */
function describeImage(url: string): string {
  const data = /^data:([^;]+);base64,/.exec(url);
  if (!data) return `a linked image from ${URL.canParse(url) ? new URL(url).host : 'an unknown host'}`;
  const bytes = Math.floor(((url.length - data[0].length) * 3) / 4) - (/=*$/.exec(url.slice(-2))?.[0].length ?? 0);
  return `${data[1]} of ${bytes} bytes`;
}
