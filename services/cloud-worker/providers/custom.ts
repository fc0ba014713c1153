import { z } from 'zod';
import { ConfigError, type Environment } from '#shared/core/load-config.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { responsesUpstream } from '#shared/translate/upstreams/responses/responses-upstream.ts';
import { anthropic, createAnthropicList } from './presets/anthropic.ts';
import { guessedEmbeddings, guessedRanking } from './other-formats.ts';
import { bearer, type Provider } from './provider.ts';
import { allCapabilities, createCardReader, tokens } from './read-cards.ts';

const card = z.looseObject({ id: z.string().min(1), max_model_len: tokens, context_length: tokens });

const commonFields = {
  title: 'custom',
  // It is unknown which thinking the provider at a custom URL accepts.
  takesAnyThinking: false,
  keyVariables: [],
  needs: ['PROVIDER_URL'],
  url: ({ PROVIDER_URL: url = '' }: Environment) => url,
  guess: () => allCapabilities,
  rules: {},
};

/** A provider that lists its models as OpenAI does. */
const openaiLikeProvider = {
  ...commonFields,
  authorize: bearer,
  list: {
    path: '/models',
    read: createCardReader(card, ({ id, max_model_len: length, context_length: contextWindow = length }) => {
      return { id, capabilities: [...allCapabilities], contextWindow };
    }),
  },
  takesFiles: true,
  // Only a model's name shows whether it embeds or ranks.
  otherFormats: [guessedEmbeddings, guessedRanking],
};

/**
 * Providers at any other URL, one entry per upstream format. Only the shape of the model list is known, so requests are sent unchanged, and
 * models are assumed to have all capabilities except hosted tools.
 */
export const customProviders: readonly [Provider, ...Provider[]] = [
  { ...openaiLikeProvider, format: chatUpstream },
  { ...anthropic, ...commonFields, list: createAnthropicList([]) },
  { ...openaiLikeProvider, format: responsesUpstream },
];

/** Upstream formats of custom providers; the first is the default. */
export const customFormats: [string, ...string[]] = [
  customProviders[0].format.name,
  ...customProviders.slice(1).map(({ format }) => format.name),
];

/**
 * Returns the custom provider of a format.
 * @throws ConfigError if the format is not one of `customFormats`
 */
export function findCustomProvider(format: string): Provider {
  const provider = customProviders.find((each) => each.format.name === format);
  if (!provider) throw new ConfigError(`PROVIDER_FORMAT=${format} is not one of ${customFormats.join(', ')}`);
  return provider;
}
