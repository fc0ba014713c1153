import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** The texts with which a request begins its answer, by the field of the message. */
export type BegunAnswer = Readonly<Record<'content' | 'reasoning_content', readonly string[]>>;

/** Returns the beginning of the answer in a chat request: its last message, if that is the assistant's. */
export function readBegunAnswer({ messages }: JsonObject): BegunAnswer | undefined {
  const last = Array.isArray(messages) ? messages.at(-1) : undefined;
  if (!isJsonObject(last) || last['role'] !== 'assistant') return undefined;
  return { content: textsOf(last['content']), reasoning_content: textsOf(last['reasoning_content']) };
}

/** Removes the beginning in the request from an answer that is not streamed, for engines that repeat this beginning. */
export function withoutBegun(answer: JsonObject, begun: BegunAnswer): JsonObject {
  const { choices } = answer;
  if (!Array.isArray(choices)) return answer;
  return { ...answer, choices: choices.map((choice) => continuation(choice, begun)) };
}

function continuation(choice: Json, begun: BegunAnswer): Json {
  if (!isJsonObject(choice) || !isJsonObject(choice['message'])) return choice;
  const message = { ...choice['message'] };
  for (const field of ['content', 'reasoning_content'] as const) {
    const text = message[field];
    if (typeof text === 'string') message[field] = textAfter(text, begun[field]);
  }
  return { ...choice, message };
}

/** Returns the rest of `text` after `texts`, or all of it if it does not begin with them. llama.cpp puts line breaks between them. */
function textAfter(text: string, texts: readonly string[]): string {
  let rest = text;
  for (const [position, each] of texts.entries()) {
    if (position > 0 && !rest.startsWith(each)) rest = rest.replace(/^\n+/, '');
    if (!rest.startsWith(each)) return text;
    rest = rest.slice(each.length);
  }
  return rest;
}

function textsOf(content: Json | undefined): string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? [part['text']] : []));
}
