import { z } from 'zod';
import { formatHostedCapability, type Capability } from '#shared/broker/contract/announcement.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { messagesUpstream } from '#shared/translate/upstreams/messages/messages-upstream.ts';
import { keyHeader, type Provider } from '../provider.ts';
import { allCapabilities, capabilitiesIf, createCardReader, tokens } from '../read-cards.ts';

const supportedFlag = z
  .looseObject({ supported: z.boolean() })
  .transform((capability) => capability.supported)
  .optional()
  .catch(undefined);

const thinkingSupport = z
  .looseObject({
    supported: z.boolean(),
    types: z.looseObject({ adaptive: supportedFlag, enabled: supportedFlag }).optional().catch(undefined),
  })
  .optional()
  .catch(undefined);

/** A card of `GET /v1/models` (Anthropic API reference, "List Models"); older versions of that API return only the name. */
const card = z.looseObject({
  id: z.string().min(1),
  lifecycle: z.string().optional().catch(undefined),
  capabilities: z
    .looseObject({ image_input: supportedFlag, thinking: thinkingSupport, structured_outputs: supportedFlag })
    .nullish()
    .catch(undefined),
  max_input_tokens: tokens,
  max_tokens: tokens,
});

/** Hosted tools that Anthropic runs for all its models. Anthropic also runs the web search of requests in the `responses` format. */
const hostedTools = [
  ...(['web_search', 'web_fetch'] as const).map((kind) => formatHostedCapability(kind, messagesUpstream.name)),
  formatHostedCapability('web_search', responsesFormat.name),
];

/**
 * Returns the model list of a server that lists models as Anthropic does.
 * @param hostedCapabilities additional capabilities of all its models
 */
export function createAnthropicList(hostedCapabilities: readonly Capability[]): NonNullable<Provider['list']> {
  return {
    path: '/models?limit=1000',
    read: createCardReader(card, ({ id, lifecycle, capabilities: abilities, max_input_tokens, max_tokens }) => {
      if (lifecycle === 'retired') return undefined;
      const capabilities = abilities
        ? // A model without `structured_outputs` is asked for JSON in the prompt, so all models can return JSON.
          capabilitiesIf({
            tools: true,
            vision: abilities.image_input,
            thinking: abilities.thinking?.supported,
            json: true,
          })
        : allCapabilities;
      return {
        id,
        capabilities: [...capabilities, ...hostedCapabilities],
        contextWindow: max_input_tokens,
        maxOutput: max_tokens,
        ...(abilities?.thinking?.types && { thinkingTypes: readThinkingTypes(abilities.thinking.types) }),
      };
    }),
  };
}

function readThinkingTypes(types: {
  adaptive?: boolean | undefined;
  enabled?: boolean | undefined;
}): ('adaptive' | 'enabled')[] {
  return (['adaptive', 'enabled'] as const).filter((type) => types[type] === true);
}

/** Anthropic. Requests and the client's API version are sent unchanged. The list has the newest models first. */
export const anthropic: Provider = {
  title: 'Anthropic',
  format: messagesUpstream,
  keyVariables: ['ANTHROPIC_API_KEY'],
  needs: [],
  url: () => 'https://api.anthropic.com/v1',
  authorize: keyHeader('x-api-key'),
  list: createAnthropicList(hostedTools),
  guess: () => [...allCapabilities, ...hostedTools],
  rules: {},
  takesAnyThinking: true,
};
