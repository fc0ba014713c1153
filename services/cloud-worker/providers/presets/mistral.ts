import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { mapMessages } from '#shared/upstream/chat-messages.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { guessedEmbeddings } from '../other-formats.ts';
import { bearer, type Provider } from '../provider.ts';
import { capabilitiesIf, createCardReader, tokens } from '../read-cards.ts';
import { engineHints, platformHints } from '../request-rules.ts';

const card = z.looseObject({
  id: z.string().min(1),
  capabilities: z.looseObject({
    completion_chat: z.boolean(),
    function_calling: z.boolean().optional().catch(undefined),
    vision: z.boolean().optional().catch(undefined),
    reasoning: z.boolean().optional().catch(undefined),
  }),
  max_context_length: tokens,
});

/**
 * Mistral (API reference, "Chat completion", "List models"). Mistral refuses unknown fields of requests and messages, and ids of tool
 * calls that are not nine letters or digits. Mistral's streams always include usage.
 */
export const mistral: Provider = {
  title: 'Mistral',
  traceName: 'mistral_ai',
  format: chatUpstream,
  keyVariables: ['MISTRAL_API_KEY'],
  needs: [],
  url: () => 'https://api.mistral.ai/v1',
  authorize: bearer,
  list: {
    path: '/models',
    read: createCardReader(card, ({ id, capabilities: abilities, max_context_length: contextWindow }) => {
      if (guessedEmbeddings.serves(id) === 'only') return { id, capabilities: [], contextWindow };
      if (!abilities.completion_chat) return undefined;
      const thinking = abilities.reasoning ?? id.startsWith('magistral');
      const capabilities = capabilitiesIf({
        tools: abilities.function_calling,
        vision: abilities.vision,
        thinking,
        json: true,
      });
      return { id, capabilities, contextWindow };
    }),
  },
  guess: (id) =>
    /ocr|moderation|voxtral|transcribe/.test(id) ? undefined : capabilitiesIf({ tools: true, json: true }),
  rules: {
    maxTokens: 'max_tokens',
    rename: { seed: 'random_seed' },
    drop: [...platformHints, ...engineHints, 'stream_options', 'reasoning_effort'],
    changeDeveloperToSystem: true,
    replayedThinking: 'none',
  },
  otherFormats: [guessedEmbeddings],
  adaptation: {
    description: 'ids of tool calls have nine characters; no empty fields in messages',
    apply: (request) => shortenToolIds(removeEmptyFields(request)),
  },
};

/** Fields of an assistant message that OpenAI's clients send back even if the fields are empty, such as `refusal: null`. */
const optionalFields: ReadonlySet<string> = new Set(['refusal', 'annotations', 'audio', 'function_call']);

/** Removes empty fields from assistant messages, because Mistral refuses unknown fields even if they are empty. */
function removeEmptyFields(request: JsonObject): JsonObject {
  return mapMessages(request, (message) => {
    if (message.role !== 'assistant') return message;
    const filledFields = Object.entries(message).filter(
      ([name, value]) => !optionalFields.has(name) || !isEmpty(value),
    );
    return Object.fromEntries(filledFields);
  });
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/**
 * Replaces the ids of tool calls by ids of nine letters and digits. Equal ids stay equal, so that results still match their calls. An id
 * that is already nine letters or digits stays.
 */
function shortenToolIds(request: JsonObject): JsonObject {
  return mapMessages(request, (message) => {
    const { tool_call_id: id, tool_calls: calls } = message;
    return {
      ...message,
      ...(typeof id === 'string' && { tool_call_id: toShortId(id) }),
      ...(Array.isArray(calls) && { tool_calls: calls.map(shortenCallId) }),
    };
  });
}

function shortenCallId(call: Json): Json {
  return isJsonObject(call) && typeof call.id === 'string' ? { ...call, id: toShortId(call.id) } : call;
}

/** Returns nine hexadecimal digits of the id's digest. Two calls of a conversation get the same id in less than one of a million cases. */
function toShortId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}
