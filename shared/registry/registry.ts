import { z } from 'zod';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { purposes } from '#shared/core/purpose.ts';
import { modelTiers } from '#shared/core/tier.ts';
import { signInSchema } from './sign-in.ts';
import { tokenIssuersSchema } from './token-issuers.ts';

const tier = z.enum(modelTiers);
const milliseconds = z.number().int().min(0).max(3_600_000);

const target = z.strictObject({
  /** Id of a model, as its worker announces it. */
  model: z.string().min(1),
  /** Restricts the target to workers of this tier. */
  tier: tier.optional(),
  /** Consecutive targets with weights are tried in random order. A target is first with a probability in proportion to its weight. */
  weight: z.number().positive().optional(),
});

function checkNames(entries: object, context: z.RefinementCtx): void {
  for (const name of Object.keys(entries)) {
    if (/^[\w.:/@-]{1,128}$/.test(name)) continue;
    context.addIssue({ code: 'custom', path: [name], message: 'a name is made of letters, digits and . : / @ _ -' });
  }
}

const rule = z.strictObject({
  /** The targets of the requests to which the rule applies, in order. */
  targets: z.array(target).min(1),
});

/** Rules by purpose and agent type. A rule for the agent type takes precedence over a rule for the purpose. */
const rules = {
  purposes: z.partialRecord(z.enum(purposes), rule).default({}),
  /** Rules by type of agent. The type is the name that the agent's program gives it. */
  agents: z.record(z.string(), rule).superRefine(checkNames).default({}),
};

const entry = z.strictObject({
  /** The targets of requests that name this model and match no rule, in the order of tries. Default: the model of this name. */
  targets: z.array(target).min(1).optional(),
  ...rules,
  /** Default fields of requests for this name. */
  defaults: z.record(z.string(), z.json()).default({}),
  /** The classes whose streamed requests for this name are hedged: they also go to a second worker if the first is slow; default: none. */
  hedge: z.array(z.enum(priorityClasses)).default([]),
});

const auto = z.strictObject({
  /** The tiers that `auto` may use, in order. */
  tiers: z
    .array(tier)
    .min(1)
    .default([...modelTiers]),
  /** The models that `auto` may use; default: all. */
  only: z.array(z.string()).optional(),
  /** Models that `auto` must not use. */
  except: z.array(z.string()).default([]),
  /** Milliseconds that a request waits for a busy tier before it may go to the next tier; default: 0. */
  max_wait_ms: z.partialRecord(tier, milliseconds).default({}),
  /** Highest price in US dollars per million output tokens. Models that are known to cost more are not used. */
  max_cost: z.number().nonnegative().optional(),
  ...rules,
});

const fieldName = z.string().min(1);

/** The tool of a tools worker that runs a hosted tool, and the input of its calls. */
const hostedTool = z.strictObject({
  /** The tool's name on the tools tier. */
  tool: z.string().min(1),
  /** The field of the tool's input for the query or the URL; default: a field with a usual name, else the only required text field. */
  field: fieldName.optional(),
  /** Further fields of the tool's input, with the same values in all calls. */
  input: z.record(z.string(), z.json()).default({}),
});

const hostedTools = z.strictObject({
  web_search: hostedTool
    .extend({
      /** Names of the fields in the tool's results; default: the usual names. */
      results: z
        .strictObject({
          list: fieldName.optional(),
          title: fieldName.optional(),
          url: fieldName.optional(),
          text: fieldName.optional(),
          age: fieldName.optional(),
        })
        .default({}),
    })
    .optional(),
  web_fetch: hostedTool.optional(),
  /** Maps labels that clients use to names of MCP servers of tools workers. A label without an entry is taken for the server's name. */
  mcp: z.record(z.string(), z.string().min(1)).default({}),
  /** Maximum calls in one answer. A client may request fewer. */
  max_uses: z.number().int().min(1).max(100).default(10),
  /** An answer begins no further call when it is older than this many milliseconds. */
  max_ms: milliseconds.default(300_000),
  /** Maximum bytes that one call adds to the model's input. */
  max_result_bytes: z.number().int().min(1_000).max(10_000_000).default(65_536),
});

const dollars = z.number().nonnegative();

/** The price of a model in US dollars: for a million tokens, an image, a second of sound, a million characters, or a web search. */
const price = z
  .strictObject({
    input: dollars,
    /** Price of input that is read from a cache; default: the price of other input. */
    cached_input: dollars.optional(),
    /** Price of input that is written to a cache; default: the price of other input. */
    cache_write: dollars.optional(),
    /** Price of input that is written to a cache for an hour; default: `cache_write`. */
    hour_cache_write: dollars.optional(),
    output: dollars,
    image: dollars.optional(),
    second: dollars.optional(),
    characters: dollars.optional(),
    /** Price of a web search by the upstream. */
    search: dollars.optional(),
    /** The date at which the price was valid. */
    as_of: z.iso.date().optional(),
  })
  .transform(({ cached_input: cachedInput, cache_write: cacheWrite, hour_cache_write: hourCacheWrite, ...rest }) => {
    const { as_of: asOf, ...others } = rest;
    return { ...others, cachedInput, cacheWrite, hourCacheWrite, asOf };
  });

/** Refuses the name `auto`, because it is reserved. */
function checkReserved(models: object, context: z.RefinementCtx): void {
  if (Object.hasOwn(models, 'auto')) {
    context.addIssue({ code: 'custom', path: ['auto'], message: 'this name is reserved' });
  }
}

/** Gives each name without targets one target: the model of the same name. */
function addTargets(models: Record<string, z.output<typeof entry>>) {
  return Object.fromEntries(
    Object.entries(models).map(([name, { targets = [{ model: name }], ...rest }]) => [name, { ...rest, targets }]),
  );
}

const announcedNames = z.array(z.string().min(1).max(256)).max(1_000);

/** The schema of the file that `ROUTER_CONFIG` names. All of its fields are optional. */
export const registrySchema = z.strictObject({
  /** The operator's own names, which clients request like models. */
  models: z
    .record(z.string(), entry)
    .superRefine(checkReserved)
    .superRefine(checkNames)
    .transform(addTargets)
    .default({}),
  auto: auto.prefault({}),
  prices: z.record(z.string(), price).default({}),
  /** How people sign in to the console. */
  sign_in: signInSchema.prefault({}),
  /** The tools that run hosted tools of requests, such as web search, for models whose upstream does not run hosted tools. */
  hosted_tools: hostedTools.prefault({}),
  /** The models and tools that workers with a credential may announce, by the credential's name: names, or prefixes followed by `*`. */
  credentials: z
    .record(
      z.string().regex(/^[\w-]{1,64}$/),
      z.strictObject({ models: announcedNames.optional(), tools: announcedNames.optional() }),
    )
    .default({}),
  /** URLs of engines for which `rtr up` starts workers, in addition to the engines that it finds. */
  engines: z.array(z.url({ protocol: /^https?$/ })).default([]),
  /**
   * Environment variables of cloud workers, by provider. `rtr up` starts a worker for each entry, and for each provider whose key is in its
   * own environment.
   */
  providers: z.record(z.string(), z.record(z.string(), z.string())).default({}),
  /** Environments of the CLI workers, by command-line agent; `false` keeps `rtr up` from starting one. */
  clis: z.record(z.string(), z.union([z.literal(false), z.record(z.string(), z.string())])).default({}),
  /** MCP servers, as MCP clients configure them, for which `rtr up` starts a tools worker. */
  mcpServers: z.record(z.string(), z.record(z.string(), z.json())).default({}),
  token_issuers: tokenIssuersSchema.default([]),
});

export type Registry = z.output<typeof registrySchema>;
export type RegistryTarget = z.output<typeof target>;
export type RegistryRules = z.output<z.ZodObject<typeof rules>>;

/** The registry that is used if there is no file. */
export const emptyRegistry: Registry = registrySchema.parse({});
