import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { bearer, type Guess, type Provider } from '../provider.ts';
import { capabilitiesIf, createNameReader } from '../read-cards.ts';
import { engineHints, platformHints } from '../request-rules.ts';

const guess: Guess = () => capabilitiesIf({ tools: true, thinking: true, json: true });

/**
 * DeepSeek (DeepSeek API Docs, "Create Chat Completion", "JSON Output", "Thinking Mode"). DeepSeek supports JSON only without a schema.
 * Thinking can only be switched on or off. The thinking of earlier turns with tool calls must be sent back.
 */
export const deepseek: Provider = {
  title: 'DeepSeek',
  format: chatUpstream,
  keyVariables: ['DEEPSEEK_API_KEY'],
  needs: [],
  url: () => 'https://api.deepseek.com',
  authorize: bearer,
  list: { path: '/models', read: createNameReader(guess) },
  guess,
  rules: {
    maxTokens: 'max_tokens',
    drop: [...platformHints, ...engineHints],
    changeDeveloperToSystem: true,
    replayedThinking: 'reasoning_content',
  },
  adaptation: {
    description: 'a JSON schema becomes a system message; `reasoning_effort` switches thinking on or off',
    apply(request) {
      const { reasoning_effort: effort, ...rest } = moveSchemaToMessage(request);
      if (effort === undefined || effort === null) return rest;
      return { thinking: { type: effort === 'none' ? 'disabled' : 'enabled' }, ...rest };
    },
  },
};

/** Moves the JSON schema of a request into a system message after its last message. The response format becomes `json_object`. */
function moveSchemaToMessage(request: JsonObject): JsonObject {
  const { response_format: format, messages } = request;
  if (!isJsonObject(format) || format.type !== 'json_schema' || !Array.isArray(messages)) return request;
  const schema = isJsonObject(format.json_schema) ? format.json_schema.schema : undefined;
  const content = `Answer with one JSON object that this JSON Schema describes:\n${JSON.stringify(schema ?? { type: 'object' })}`;
  return { ...request, response_format: { type: 'json_object' }, messages: [...messages, { role: 'system', content }] };
}
