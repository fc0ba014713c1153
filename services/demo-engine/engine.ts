import { ConfigError } from '#shared/core/load-config.ts';
import type { DemoEngineConfig } from './config.ts';
import { EngineState } from './engine-state.ts';
import { parseDemoWords, type DemoOptions } from './request/demo-options.ts';
import { Slots } from './slots.ts';

/** The state that all requests of one demo engine share. */
export interface Engine {
  models: readonly string[];
  contextWindow: number;
  defaults: DemoOptions;
  slots: Slots;
  state: EngineState;
  /** Seconds since 1970; the `created` of its models. */
  startedAt: number;
}

/** The demo engine's name: `owned_by` of its models and `engine` of `/version`. */
export const engineName = 'rtr-demo';

/**
 * Creates a demo engine from its settings.
 * @throws ConfigError when `DEMO_OPTIONS` or `DEMO_MODELS` is invalid
 */
export function createEngine(config: DemoEngineConfig): Engine {
  const models = config.DEMO_MODELS.split(',').flatMap((id) => (id.trim() === '' ? [] : [id.trim()]));
  if (models.length === 0) throw new ConfigError(`DEMO_MODELS="${config.DEMO_MODELS}" is not valid: it names no model`);
  const options = parseDemoWords(config.DEMO_OPTIONS ?? '');
  if (!options.ok) throw new ConfigError(`DEMO_OPTIONS="${config.DEMO_OPTIONS}" is not valid: ${options.sentence}`);
  return {
    models,
    contextWindow: config.DEMO_CONTEXT_WINDOW,
    defaults: {
      first_token_delay_ms: config.DEMO_FIRST_TOKEN_DELAY_MS,
      tokens_per_second: config.DEMO_TOKENS_PER_SECOND,
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
