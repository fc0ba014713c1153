import { RouterError } from '#shared/core/errors.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import { modelOperations, type ModelOperation } from '#shared/core/operation.ts';
import type { DemoEngineConfig } from './config.ts';
import { EngineState } from './engine-state.ts';
import { parseDemoWords, type DemoOptions } from './request/demo-options.ts';
import { Slots } from './slots.ts';

export interface Engine {
  models: readonly string[];
  /** Operations of single models. Models that are not listed do every operation. */
  operations: ReadonlyMap<string, readonly string[]>;
  contextWindow: number;
  defaults: DemoOptions;
  slots: Slots;
  state: EngineState;
  /** Time of the start, in seconds since 1970. Shown as `created` of the models. */
  startedAt: number;
}

/** The demo engine's name. Shown as `owned_by` of its models, and as `engine` of `/version`. */
export const engineName = 'rtr-demo';

/**
 * Creates a demo engine from its settings.
 * @throws ConfigError when `DEMO_OPTIONS`, `DEMO_OPERATIONS` or `DEMO_MODELS` is invalid
 */
export function createEngine(config: DemoEngineConfig): Engine {
  const models = config.DEMO_MODELS.split(',').flatMap((id) => (id.trim() === '' ? [] : [id.trim()]));
  if (models.length === 0) throw new ConfigError(`DEMO_MODELS="${config.DEMO_MODELS}" is not valid: it names no model`);
  const options = parseDemoWords(config.DEMO_OPTIONS ?? '');
  if (!options.ok) throw new ConfigError(`DEMO_OPTIONS="${config.DEMO_OPTIONS}" is not valid: ${options.sentence}`);
  return {
    models,
    operations: readOperations(config.DEMO_OPERATIONS ?? '', models),
    contextWindow: config.DEMO_CONTEXT_WINDOW,
    defaults: {
      first_token_delay_ms: 0,
      tokens_per_second: 200,
      fault: 'none',
      fault_after_tokens: 5,
      reasoning_field: 'reasoning_content',
      ...options.fields,
    },
    slots: new Slots(config.DEMO_SLOTS),
    state: new EngineState(),
    startedAt: Math.floor(Date.now() / 1000),
  };
}

/** Parses the operations of single models, such as `embedder=embed all=generate+complete`. */
function readOperations(operationsSetting: string, models: readonly string[]): Map<string, readonly string[]> {
  const assignments = operationsSetting.split(/[\s,]+/).filter((word) => word !== '');
  return new Map(
    assignments.map((word) => {
      const [model = '', names = ''] = word.split('=', 2);
      const operations = names.split('+');
      const isValid =
        models.includes(model) && operations.every((name) => modelOperations.some((known) => known === name));
      if (!isValid) throw new ConfigError(`DEMO_OPERATIONS="${operationsSetting}" is not valid: ${word}`);
      return [model, operations];
    }),
  );
}

/** Names of the endpoints in vLLM's errors. */
const endpoints: Record<ModelOperation, string> = {
  generate: 'Chat Completions API',
  complete: 'Completions API',
  embed: 'Embeddings API',
  rank: 'Rerank (Score) API',
  moderate: 'Moderations API',
  draw: 'Images API',
  redraw: 'Image Edits API',
  speak: 'Speech API',
  transcribe: 'Transcriptions API',
  translate: 'Translations API',
};

/**
 * Checks that a model exists and serves an endpoint.
 * @throws RouterError `model_not_found`; `invalid_request` with vLLM's wording if the model does not serve the endpoint
 */
export function requireModel(
  { models, operations }: Pick<Engine, 'models' | 'operations'>,
  model: string,
  operation: ModelOperation,
): void {
  if (!models.includes(model))
    throw new RouterError('model_not_found', `The model \`${model}\` does not exist.`, { param: 'model' });
  if (operations.get(model)?.includes(operation) === false)
    throw new RouterError('invalid_request', `The model does not support ${endpoints[operation]}`);
}
