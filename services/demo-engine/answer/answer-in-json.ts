import type { JsonObject } from '#shared/core/json.ts';
import type { ChatRequest } from '../request/chat-request.ts';
import type { Turn } from '../request/read-turn.ts';
import { fillSchema } from './fill-schema.ts';
import { findHints } from './find-hints.ts';
import { HintTaker } from './hint-taker.ts';
import { quote } from './quote.ts';

/** An answer for `response_format`: JSON that the given schema accepts, or an object where there is no schema. */
export function answerInJson(
  format: Exclude<NonNullable<ChatRequest['response_format']>, { type: 'text' }>,
  turn: Turn,
): string {
  const schema: JsonObject | null | undefined = format.type === 'json_schema' ? format.json_schema.schema : undefined;
  if (schema) return JSON.stringify(fillSchema(schema, new HintTaker(findHints(turn.userText)), 'all'));
  return JSON.stringify({ engine: 'demo', you_said: quote(turn.userText, 240), tool_results: turn.toolResults.length });
}
