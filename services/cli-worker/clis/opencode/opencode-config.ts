import { ConfigError } from '#shared/core/load-config.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { serverName } from './opencode-request.ts';

/** Name of the agent that holds every conversation. It has a model, and only the client's tools. */
export const bareAgent = 'router';

export interface OpencodeModel extends JsonObject {
  providerID: string;
  modelID: string;
}

/** A local model with which opencode is warmed up. Conversations with it make opencode load everything that a conversation needs. */
export const warmUpModel: OpencodeModel = { providerID: 'router-warm-up', modelID: 'none' };

/** opencode's tool for answers with a schema. The model gives such an answer by calling this tool. */
export const schemaTool = 'StructuredOutput';

/** Calls of the client's tools (`ask`) wait for a permission that is never granted. Of the rules that match, the last one applies. */
const permission = { '*': 'deny', [`${serverName}_*`]: 'ask', [schemaTool]: 'allow', doom_loop: 'allow' };

/**
 * Returns the settings that leave opencode only its models. They include the operator's settings, which name the providers.
 * @param operatorJson the operator's settings, as JSON
 * @param warmUpUrl base URL of the warm-up model
 * @param plugin address of the worker's plugin, the only one
 * @throws ConfigError if the operator's settings are not a JSON object
 */
export function createOpencodeConfig(operatorJson: string | undefined, warmUpUrl: string, plugin: string): JsonObject {
  const operatorConfig = parseOperatorConfig(operatorJson ?? '{}');
  const { provider } = operatorConfig;
  return {
    ...operatorConfig,
    provider: {
      ...(isJsonObject(provider) ? provider : {}),
      [warmUpModel.providerID]: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Warm-up',
        options: { baseURL: warmUpUrl, apiKey: 'none' },
        models: { [warmUpModel.modelID]: { name: 'None' } },
      },
    },
    // The blank replaces opencode's own prompt. An empty prompt would be ignored.
    agent: { [bareAgent]: { mode: 'primary', prompt: ' ', permission } },
    permission: { '*': 'deny' },
    mcp: {},
    plugin: [plugin],
    instructions: [],
    share: 'disabled',
    autoupdate: false,
    snapshot: false,
    lsp: false,
    formatter: false,
    compaction: { auto: false, prune: false },
  };
}

function parseOperatorConfig(text: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isJsonObject(parsed)) return parsed;
  } catch (error) {
    throw new ConfigError(`OPENCODE_CONFIG_CONTENT is not JSON: ${String(error)}`);
  }
  throw new ConfigError('OPENCODE_CONFIG_CONTENT must be a JSON object.');
}
