import { z } from 'zod';
import { modelTiers } from '#shared/core/tier.ts';

const tier = z.enum(modelTiers);
const milliseconds = z.number().int().min(0).max(3_600_000);

const target = z.strictObject({
  /** A model's id, as its worker announces it. */
  model: z.string().min(1),
  /** Only workers of this tier. */
  tier: tier.optional(),
  /** Share among the neighbouring targets that have a weight too: one of them is drawn to be tried first. */
  weight: z.number().positive().optional(),
});

const entry = z.strictObject({
  /** Where requests for this name go, in this order. */
  targets: z.array(target).min(1),
  /** Fields that a request for this name gets when the client does not send them. */
  defaults: z.record(z.string(), z.json()).default({}),
});

const auto = z.strictObject({
  /** The tiers that `auto` may use, in order. */
  tiers: z
    .array(tier)
    .min(1)
    .default([...modelTiers]),
  /** Only these models; without it all of them. */
  only: z.array(z.string()).optional(),
  /** Never these models. */
  except: z.array(z.string()).default([]),
  /** Milliseconds that a request waits for a busy tier before it may go to the next one. Default 0. */
  max_wait_ms: z.partialRecord(tier, milliseconds).default({}),
  /** US dollars per million output tokens: models with a known price above it are not used. */
  max_cost: z.number().nonnegative().optional(),
});

const dollars = z.number().nonnegative();

/** US dollars per million tokens. */
const price = z
  .strictObject({
    input: dollars,
    /** Input read from, and written to, a cache; without them as other input. */
    cached_input: dollars.optional(),
    cache_write: dollars.optional(),
    output: dollars,
    /** Day from which the price is known. */
    as_of: z.iso.date().optional(),
  })
  .transform(({ input, cached_input: cachedInput, cache_write: cacheWrite, output, as_of: asOf }) => ({
    input,
    cachedInput,
    cacheWrite,
    output,
    asOf,
  }));

function checkNames(models: object, context: z.RefinementCtx): void {
  for (const name of Object.keys(models)) {
    if (name === 'auto') context.addIssue({ code: 'custom', path: [name], message: 'this name is taken' });
    if (!/^[\w.:/@-]{1,128}$/.test(name)) {
      context.addIssue({ code: 'custom', path: [name], message: 'a name is made of letters, digits and . : / @ _ -' });
    }
  }
}

/** The file that `ROUTER_CONFIG` names. Everything in it may be left out. */
export const registrySchema = z.strictObject({
  /** Names of your own for models, which clients ask for as if they were models. */
  models: z.record(z.string(), entry).superRefine(checkNames).default({}),
  auto: auto.prefault({}),
  prices: z.record(z.string(), price).default({}),
  /** Addresses of engines that `rtr up` starts workers for, besides those it finds. */
  engines: z.array(z.url({ protocol: /^https?$/ })).default([]),
  /** Environment of the cloud worker for each provider that `rtr up` starts, besides those whose key is set. */
  providers: z.record(z.string(), z.record(z.string(), z.string())).default({}),
  /** Environment of the CLI worker for each command-line agent; `false` keeps `rtr up` from using it. */
  clis: z.record(z.string(), z.union([z.literal(false), z.record(z.string(), z.string())])).default({}),
  /** MCP servers in the usual form; `rtr up` starts a tools worker for them. */
  mcpServers: z.record(z.string(), z.record(z.string(), z.json())).default({}),
});

export type Registry = z.output<typeof registrySchema>;
export type RegistryTarget = z.output<typeof target>;

/** What holds without a file. */
export const emptyRegistry: Registry = registrySchema.parse({});
