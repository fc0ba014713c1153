import { z } from 'zod';
import type { JsonObject } from '#shared/core/json.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { readChatError } from '../chat/upstream-error.ts';
import { endsStream, readEventType } from './event-type.ts';

const countAnswer = z.looseObject({ input_tokens: z.number().int().nonnegative() });

/** The `include` value that asks for encrypted thinking, which a later request can return. */
export const encryptedThinking = 'reasoning.encrypted_content';

/** The fields of a token count request (OpenAI API reference, "Get input token counts"). */
const countedFields = [
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'truncation',
] as const;

/** OpenAI's responses, as OpenAI, some other providers and some engines serve them. Errors have the form of chat completions. */
export const responsesUpstream: HttpUpstreamFormat = {
  name: 'responses',
  operation: 'generate',
  path: '/responses',
  headers: {},
  estimateInput: (request) => responsesFormat.estimateInput(request),
  readError: readChatError,
  classifyEvent: (data) => (endsStream(readEventType(data)) ? 'last' : 'answer'),
  count: {
    path: '/responses/input_tokens',
    request: toCountRequest,
    read: (body) => countAnswer.safeParse(body).data?.input_tokens,
  },
};

function toCountRequest(request: JsonObject): JsonObject {
  return Object.fromEntries(
    countedFields.flatMap((field) => (request[field] === undefined ? [] : [[field, request[field]]])),
  );
}
