import { z } from 'zod';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { listOperations, type ModelOperation } from '#shared/core/operation.ts';
import { UpstreamAnswerError } from '#shared/upstream/upstream-failure.ts';
import type { EngineHttp } from '../engine-http.ts';
import type { Discovery } from './engine.ts';
import { describeLlama, llamaProps, type LlamaProps } from './llama-cpp-props.ts';
import { probeOperations } from './probe-operations.ts';

/** Query string of the worker's own requests. They must not load a model, because that could evict a model that is in use. */
export const noAutoloadQuery = '?autoload=false';

/** Answer to `GET /v1/models`. All fields but `id` exist only in router mode. */
export const llamaModels = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string().min(1),
      status: z
        .looseObject({
          /** `unloaded`, `loading`, `loaded`, `sleeping` or `downloading`. */
          value: z.string(),
          /** The command line of the model's process. */
          args: z.array(z.string()).catch([]),
        })
        .optional()
        .catch(undefined),
      architecture: z
        .looseObject({ input_modalities: z.array(z.string()) })
        .optional()
        .catch(undefined),
    }),
  ),
});

type ListedModel = z.output<typeof llamaModels>['data'][number];

/**
 * Describes the models of a llama-server in router mode. A loaded model is queried for its operations once, and keeps its description while
 * it is not loaded. A model that was never loaded is described from its command line, and is assumed to think and to call tools.
 * @param autoloads whether a request loads its model; if not, only loaded models are described
 * @param previousModels the models of the previous query
 */
export async function discoverRouterModels(
  http: EngineHttp,
  listedModels: readonly ListedModel[],
  autoloads: boolean,
  previousModels: readonly ModelInfo[],
): Promise<Discovery> {
  const usableModels = listedModels.filter(
    ({ status }) => isLoaded(status?.value) || (autoloads && isLoadable(status?.value)),
  );
  const found = await Promise.all(
    usableModels.map(async (model) => {
      const knownModel = previousModels.find(({ id }) => id === model.id);
      return (await describeLoaded(http, model, knownModel)) ?? { model: knownModel ?? describeUnloaded(model) };
    }),
  );
  const slots = found.flatMap((each) => ('slots' in each && each.slots !== undefined ? [each.slots] : []));
  return {
    models: found.map(({ model }) => model),
    slots: slots.length > 0 ? Math.max(...slots) : undefined,
  };
}

/** Whether the model is loaded. A sleeping model counts as loaded, because a request wakes it. */
function isLoaded(state: string | undefined): boolean {
  return state === 'loaded' || state === 'sleeping';
}

function isLoadable(state: string | undefined): boolean {
  return state === 'unloaded' || state === 'loading';
}

/**
 * Describes a loaded model by querying it. Returns undefined for a model that is not loaded, or is unloaded meanwhile. Also returns
 * undefined for a sleeping model whose operations are unknown, because a request for them would wake it.
 */
async function describeLoaded(
  http: EngineHttp,
  { id, status }: ListedModel,
  knownModel: ModelInfo | undefined,
): Promise<{ model: ModelInfo; slots: number | undefined } | undefined> {
  if (!isLoaded(status?.value)) return undefined;
  const facts = await http.getOptionalJson(`/props${noAutoloadQuery}&model=${encodeURIComponent(id)}`, llamaProps);
  if (!facts) return undefined;
  // The context size of a model is unknown until the model has been loaded once.
  const isUpToDate = knownModel !== undefined && knownModel.contextWindow === facts.default_generation_settings?.n_ctx;
  if (!isUpToDate && status?.value === 'sleeping') return undefined;
  try {
    const operations = isUpToDate ? listOperations(knownModel) : await probeOperations(http, id, noAutoloadQuery);
    return { model: describeLlama(id, operations, facts), slots: facts.total_slots };
  } catch (error) {
    if (error instanceof UpstreamAnswerError) return undefined;
    throw error;
  }
}

function describeUnloaded({ id, status, architecture }: ListedModel): ModelInfo {
  const acceptsInput = (modality: string): boolean => architecture?.input_modalities.includes(modality) === true;
  const facts: LlamaProps = {
    modalities: { vision: acceptsInput('image'), audio: acceptsInput('audio') },
    chat_template_caps: { supports_preserve_reasoning: true },
  };
  return describeLlama(id, readOperations(status?.args ?? []), facts);
}

function readOperations(args: readonly string[]): ModelOperation[] {
  if (args.some((flag) => /^--rerank(?:ing)?$/.test(flag))) return ['rank'];
  return args.some((flag) => /^--embeddings?$/.test(flag)) ? ['embed'] : ['generate', 'complete'];
}
