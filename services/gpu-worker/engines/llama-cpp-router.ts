import { z } from 'zod';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { operationsOf, type ModelOperation } from '#shared/core/operation.ts';
import { UpstreamAnswerError } from '#shared/upstream/upstream-failure.ts';
import type { EngineHttp } from '../engine-http.ts';
import type { Discovery } from './engine.ts';
import { describeLlama, llamaProps, type LlamaProps } from './llama-cpp-props.ts';
import { probeOperations } from './probe-operations.ts';

/** Behind the path of what the worker asks for itself: it loads no model, which could evict one that is in use. */
export const neverLoads = '?autoload=false';

/** `GET /v1/models`; all but the name only in router mode. */
export const llamaModels = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string().min(1),
      status: z
        .looseObject({
          /** `unloaded`, `loading`, `loaded`, `sleeping` or `downloading`. */
          value: z.string(),
          /** The command line of its process. */
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
 * The models of a llama-server in router mode. One that is loaded is asked what it does, once; what was found out is remembered while it
 * is not loaded. One that never was is described by its command line, and is taken to think and to call tools.
 * @param autoloads whether requests load models; without that, those that are not loaded are not served
 */
export async function discoverRouted(
  http: EngineHttp,
  listed: readonly ListedModel[],
  autoloads: boolean,
  before: readonly ModelInfo[],
): Promise<Discovery> {
  const served = listed.filter(({ status }) => isLoaded(status?.value) || (autoloads && isLoadable(status?.value)));
  const found = await Promise.all(
    served.map(async (model) => {
      const known = before.find(({ id }) => id === model.id);
      return (await askLoaded(http, model, known)) ?? { model: known ?? describeUnloaded(model) };
    }),
  );
  const slots = found.flatMap((each) => ('slots' in each && each.slots !== undefined ? [each.slots] : []));
  return {
    models: found.map(({ model }) => model),
    slots: slots.length > 0 ? Math.max(...slots) : undefined,
  };
}

/** A model that sleeps is asked as one that is loaded: a request wakes it. */
function isLoaded(state: string | undefined): boolean {
  return state === 'loaded' || state === 'sleeping';
}

function isLoadable(state: string | undefined): boolean {
  return state === 'unloaded' || state === 'loading';
}

/** Undefined for a model that is not loaded, or is not any more. A model that sleeps is not asked what would wake it. */
async function askLoaded(
  http: EngineHttp,
  { id, status }: ListedModel,
  known: ModelInfo | undefined,
): Promise<{ model: ModelInfo; slots: number | undefined } | undefined> {
  if (!isLoaded(status?.value)) return undefined;
  const facts = await http.askOptional(`/props${neverLoads}&model=${encodeURIComponent(id)}`, llamaProps);
  if (!facts) return undefined;
  // Until it was loaded once, its context was not known.
  const isKnown = known !== undefined && known.contextWindow === facts.default_generation_settings?.n_ctx;
  if (!isKnown && status?.value === 'sleeping') return undefined;
  try {
    const operations = isKnown ? operationsOf(known) : await probeOperations(http, id, neverLoads);
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
  return describeLlama(id, purposeOf(status?.args ?? []), facts);
}

/** What a process with this command line is for. */
function purposeOf(args: readonly string[]): ModelOperation[] {
  if (args.some((flag) => /^--rerank(?:ing)?$/.test(flag))) return ['rank'];
  return args.some((flag) => /^--embeddings?$/.test(flag)) ? ['embed'] : ['generate', 'complete'];
}
