import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Translation } from '#shared/translate/translation.ts';

/** The texts with which a client's request begins the answer, by the message field that contains them. */
export type AnswerBeginning = Readonly<Record<'content' | 'reasoning_content', readonly string[]>>;

/** Returns the beginning of the answer that a chat request contains, which is its last message if that is the assistant's. */
export function readAnswerBeginning({ messages }: JsonObject): AnswerBeginning | undefined {
  const last = Array.isArray(messages) ? messages.at(-1) : undefined;
  if (!isJsonObject(last) || last['role'] !== 'assistant') return undefined;
  return { content: readTexts(last['content']), reasoning_content: readTexts(last['reasoning_content']) };
}

/** Wraps a translation to remove the beginning from unstreamed answers, for engines that repeat the beginning. */
export function removeBeginningFromReplies(translation: Translation, beginning: AnswerBeginning): Translation {
  return {
    ...translation,
    translateReply: (answer, answerContext) =>
      translation.translateReply(removeBeginning(answer, beginning), answerContext),
  };
}

/** Removes the beginning from an unstreamed answer. */
export function removeBeginning(answer: JsonObject, beginning: AnswerBeginning): JsonObject {
  const { choices } = answer;
  if (!Array.isArray(choices)) return answer;
  return { ...answer, choices: choices.map((choice) => removeFromChoice(choice, beginning)) };
}

function removeFromChoice(choice: Json, beginning: AnswerBeginning): Json {
  if (!isJsonObject(choice) || !isJsonObject(choice['message'])) return choice;
  const message = { ...choice['message'] };
  for (const field of ['content', 'reasoning_content'] as const) {
    const text = message[field];
    if (typeof text === 'string') message[field] = removeTexts(text, beginning[field]);
  }
  return { ...choice, message };
}

/**
 * Returns the rest of `text` after `texts`, or the whole `text` if it does not begin with `texts`. llama.cpp separates `texts` by line
 * breaks.
 */
function removeTexts(text: string, texts: readonly string[]): string {
  let rest = text;
  for (const [position, beginning] of texts.entries()) {
    if (position > 0 && !rest.startsWith(beginning)) rest = rest.replace(/^\n+/, '');
    if (!rest.startsWith(beginning)) return text;
    rest = rest.slice(beginning.length);
  }
  return rest;
}

function readTexts(content: Json | undefined): string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? [part['text']] : []));
}
