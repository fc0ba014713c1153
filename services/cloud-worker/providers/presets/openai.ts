import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { bearer, type Guess, type Provider } from '../provider.ts';
import { capabilitiesIf, readNames } from '../read-cards.ts';
import { engineHints } from '../request-rules.ts';

/** Models of other endpoints than chat completions. */
const otherEndpoints =
  /embedding|moderation|whisper|tts|transcribe|audio|realtime|image|dall-e|sora|babbage|davinci|instruct|codex|deep-research|computer-use|-pro(-|$)/;
const thinks = /^(o\d|gpt-([5-9]|\d\d))/;
const seesNothing = /^(gpt-3|gpt-4(-\d{4}|$)|o1-mini|o3-mini)/;

/** Guesses the capabilities of OpenAI's models; unknown ones have all. */
const guess: Guess = (id) => {
  if (otherEndpoints.test(id)) return undefined;
  if (id.endsWith('-chat-latest')) return capabilitiesIf({ tools: true, vision: true, json: true });
  if (/^gpt-[34]|^chatgpt-/.test(id)) return capabilitiesIf({ tools: true, vision: !seesNothing.test(id), json: true });
  return capabilitiesIf({ tools: true, vision: !seesNothing.test(id), thinking: thinks.test(id), json: true });
};

/** OpenAI (API reference, "Chat", "Models"). Its list has names only. */
export const openai: Provider = {
  title: 'OpenAI',
  format: chatUpstream,
  keyVariables: ['OPENAI_API_KEY'],
  needs: [],
  url: () => 'https://api.openai.com/v1',
  authorize: bearer,
  list: {
    path: '/models',
    read: readNames((id) => (id.startsWith('ft:') ? guess(id.slice(3)) : guess(id))),
  },
  guess,
  rules: { maxTokens: 'max_completion_tokens', drop: engineHints, replayedThinking: 'none' },
  adaptation: { description: 'no `reasoning_effort` for models that do not think', apply: withoutUselessEffort },
  takesFiles: true,
};

/** A model that does not think refuses `reasoning_effort`. */
function withoutUselessEffort(request: JsonObject, { capabilities }: ModelInfo): JsonObject {
  if (capabilities.includes('thinking')) return request;
  const { reasoning_effort: _, ...rest } = request;
  return rest;
}
