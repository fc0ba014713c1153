import { ConfigError } from '#shared/core/load-config.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** The agent that every conversation is held with: it has a model and nothing else. */
export const bareAgent = 'router';

/** A model that answers at once and costs nothing, with which opencode is made to load what it needs. */
export const warmUpModel = { providerID: 'router-warm-up', modelID: 'none' };

/**
 * The settings that leave opencode nothing but its models, on top of the operator's, from which the providers come.
 * @param operators the operator's own settings, as JSON
 * @param warmUpUrl where the model for the warm-up is
 * @throws ConfigError when the operator's settings are none
 */
export function opencodeConfig(operators: string | undefined, warmUpUrl: string): JsonObject {
  const given = parse(operators ?? '{}');
  const { provider } = given;
  return {
    ...given,
    provider: {
      ...(isJsonObject(provider) ? provider : {}),
      [warmUpModel.providerID]: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Warm-up',
        options: { baseURL: warmUpUrl, apiKey: 'none' },
        models: { [warmUpModel.modelID]: { name: 'None' } },
      },
    },
    // Its own prompts are replaced by the shortest one that is taken for one.
    agent: { [bareAgent]: { mode: 'primary', prompt: ' ', tools: { '*': false }, permission: { '*': 'deny' } } },
    permission: { '*': 'deny' },
    tools: { '*': false },
    mcp: {},
    plugin: [],
    instructions: [],
    share: 'disabled',
    autoupdate: false,
    snapshot: false,
    lsp: false,
    formatter: false,
    compaction: { auto: false, prune: false },
  };
}

function parse(text: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isJsonObject(parsed)) return parsed;
  } catch (error) {
    throw new ConfigError(`OPENCODE_CONFIG_CONTENT is not JSON: ${String(error)}`);
  }
  throw new ConfigError('OPENCODE_CONFIG_CONTENT must be a JSON object.');
}
