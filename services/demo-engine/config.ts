import { z } from 'zod';
import { logSettings, setting } from '#shared/core/load-config.ts';

/** Settings of the demo engine. `request/demo-options.ts` describes the faults and variants of `DEMO_OPTIONS`. */
export const demoEngineSettings = z.object({
  PORT: setting.integer('Port the demo engine listens on; 0 takes a free port', 0, 0, 65_535),
  HOST: setting.text('Address the demo engine listens on', '127.0.0.1'),
  DEMO_MODELS: setting.text('Model ids the demo engine offers, separated by commas', 'demo'),
  DEMO_OPERATIONS: setting.optionalText(
    'Operations of single models, such as "embedder=embed ranker=rank writer=generate+complete"; all other models do every operation',
  ),
  DEMO_CONTEXT_WINDOW: setting.integer('Tokens of input and output together', 131_072, 16, 100_000_000),
  DEMO_SLOTS: setting.integer(
    'Requests that the demo engine answers at the same time; further requests wait',
    256,
    1,
    100_000,
  ),
  DEMO_OPTIONS: setting.optionalText(
    'Options of every request, such as "rate=50 delay=300 fault=drop": tokens per second (200 by default, 0 is as fast as possible), milliseconds before the first token, and others of `services/demo-engine/request/demo-options.ts`',
  ),
  ...logSettings,
});

export type DemoEngineConfig = z.output<typeof demoEngineSettings>;
