import { z } from 'zod';
import type { Environment } from '#shared/core/load-config.ts';
import type { FormatName } from '#shared/translate/translations.ts';
import { anthropic } from './anthropic.ts';
import { bearer } from './authorize.ts';
import type { Provider } from './provider.ts';
import { allCapabilities, readCards, tokens } from './read-cards.ts';

const card = z.looseObject({ id: z.string().min(1), max_model_len: tokens, context_length: tokens });

/**
 * Anything else that speaks one of the formats. Nothing is known of it but its list of models, so requests go to it as
 * they came, and its models are taken to do everything.
 */
export function custom(format: FormatName): Provider {
  const common = {
    title: 'custom',
    keyVariables: [],
    needs: ['PROVIDER_URL'],
    url: ({ PROVIDER_URL: url = '' }: Environment) => url,
    guess: () => allCapabilities,
    rules: {},
  };
  if (format === 'messages') return { ...anthropic, ...common };
  return {
    ...common,
    format,
    authorize: bearer,
    list: {
      path: '/models',
      read: readCards(card, ({ id, max_model_len: length, context_length: contextWindow = length }) => {
        return { id, capabilities: [...allCapabilities], contextWindow };
      }),
    },
    takesFiles: true,
  };
}
