import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/openai-format.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import type { AnswerFormat } from '../client-format.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { z } from 'zod';
import type { JsonObject } from '#shared/core/json.ts';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';

/** The answers of the tools API. Errors have the shape of the chat format. */
export const toolsFormat: AnswerFormat = {
  name: 'tools',
  errorAnswer: createOpenaiErrorAnswer,
  limitHeaders: createOpenaiLimitHeaders,
  openStream: ({ requestId }) => new StatelessStream(chatStreamAdditions, requestId),
};

const toolCall = z.looseObject({
  tool: z.string().min(1),
  input: z.looseObject({}).default({}),
});

/** A request to run a tool. `input` follows the tool's own schema. */
export interface ToolCall {
  tool: string;
  input: JsonObject;
}

/**
 * Reads a tool call from a parsed body.
 * @throws RouterError with status 400 that names the field
 */
export function parseToolCall(body: unknown): ToolCall {
  const parsed = toolCall.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  // A parsed body consists of JSON values only.
  return parsed.data as ToolCall;
}
