import { z } from 'zod';
import { ConfigError, type Environment } from '#shared/core/load-config.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { anthropic } from './anthropic.ts';
import { bearer } from './authorize.ts';
import type { Provider } from './provider.ts';
import { allCapabilities, readCards, tokens } from './read-cards.ts';

const card = z.looseObject({ id: z.string().min(1), max_model_len: tokens, context_length: tokens });

const common = {
  title: 'custom',
  keyVariables: [],
  needs: ['PROVIDER_URL'],
  url: ({ PROVIDER_URL: url = '' }: Environment) => url,
  guess: () => allCapabilities,
  rules: {},
};

/**
 * Anything else that speaks an upstream format, one entry for each. Nothing is known of it but its list of models, so
 * requests go to it as they came, and its models count as capable of everything.
 */
export const customProviders: readonly [Provider, Provider] = [
  {
    ...common,
    format: chatUpstream,
    authorize: bearer,
    list: {
      path: '/models',
      read: readCards(card, ({ id, max_model_len: length, context_length: contextWindow = length }) => {
        return { id, capabilities: [...allCapabilities], contextWindow };
      }),
    },
    takesFiles: true,
  },
  { ...anthropic, ...common },
];

/** The names of the formats that a custom provider may speak; the first is the default. */
export const customFormats: [string, ...string[]] = [customProviders[0].format.name, customProviders[1].format.name];

/** @param format one of `customFormats` */
export function custom(format: string): Provider {
  const provider = customProviders.find((each) => each.format.name === format);
  if (!provider) throw new ConfigError(`PROVIDER_FORMAT=${format} is not one of ${customFormats.join(', ')}`);
  return provider;
}
