import { z } from 'zod';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { operationsOf, type ModelOperation } from '#shared/core/operation.ts';
import { UpstreamAnswerError } from '#shared/upstream/upstream-failure.ts';
import type { EngineHttp } from '../engine-http.ts';
import type { Discovery } from './engine.ts';
import { describeLlama, llamaProps, type LlamaProps } from './llama-cpp-props.ts';
import { probeOperations } from './probe-operations.ts';

/** Query string of the worker's own requests. They must not load a model, because that could evict a model that is in use. */
export const noAutoloadQuery = '?autoload=false';

/** Answer to `GET /v1/models`. All fields but the name exist only in router mode. */
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
 * Describes the models of a llama-server in router mode. Finds out the operations of a loaded model once, and remembers them while the
 * model is not loaded. A model that was never loaded is described by its command line, and is assumed to think and to call tools.
 * @param autoloads whether requests load models; if not, models that are not loaded are not served
 */
export async function discoverRouted(
  http: EngineHttp,
  listed: readonly ListedModel[],
  autoloads: boolean,
  before: readonly ModelInfo[],
): Promise<Discovery> {
  const usable = listed.filter(({ status }) => isLoaded(status?.value) || (autoloads && isLoadable(status?.value)));
  const found = await Promise.all(
    usable.map(async (model) => {
      const known = before.find(({ id }) => id === model.id);
      return (await describeLoaded(http, model, known)) ?? { model: known ?? describeUnloaded(model) };
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
 * Describes a loaded model from its own answers. Returns undefined for a model that is not loaded, or is no longer loaded. Sends a sleeping
 * model no request that would wake it.
 */
async function describeLoaded(
  http: EngineHttp,
  { id, status }: ListedModel,
  known: ModelInfo | undefined,
): Promise<{ model: ModelInfo; slots: number | undefined } | undefined> {
  if (!isLoaded(status?.value)) return undefined;
  const facts = await http.getOptionalJson(`/props${noAutoloadQuery}&model=${encodeURIComponent(id)}`, llamaProps);
  if (!facts) return undefined;
  // The context size of a model is unknown until the model has been loaded once.
  const isKnown = known !== undefined && known.contextWindow === facts.default_generation_settings?.n_ctx;
  if (!isKnown && status?.value === 'sleeping') return undefined;
  try {
    const operations = isKnown ? operationsOf(known) : await probeOperations(http, id, noAutoloadQuery);
    return { model: describeLlama(id, operations, facts), slots: facts.total_slots };
  } catch (error) {
    if (error instanceof UpstreamAnswerError) return undefined;
    throw error;
  }
}

function describeUnloaded({ id, status, architecture }: ListedModel): ModelInfo {
  const takes = (modality: string): boolean => architecture?.input_modalities.includes(modality) === true;
  const facts: LlamaProps = {
    modalities: { vision: takes('image'), audio: takes('audio') },
    chat_template_caps: { supports_preserve_reasoning: true },
  };
  return describeLlama(id, purposeOfCommandLine(status?.args ?? []), facts);
}

function purposeOfCommandLine(args: readonly string[]): ModelOperation[] {
  if (args.some((flag) => /^--rerank(?:ing)?$/.test(flag))) return ['rank'];
  return args.some((flag) => /^--embeddings?$/.test(flag)) ? ['embed'] : ['generate', 'complete'];
}
