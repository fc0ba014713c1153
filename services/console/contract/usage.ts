import { z } from 'zod';
import { agentPrograms } from '#shared/core/agent-turn.ts';
import { tiers } from '#shared/core/tier.ts';
import { period, time } from './conventions.ts';

/*
 * The contract between the console's pages and its API: usage and prices. The rules of `conventions.ts` apply. A member sees the requests of
 * their own and of their teams. An admin sees all.
 */

const optionalPrice = z.number().exactOptional();

export const totalsSchema = z
  .object({
    requests: z.number(),
    failed: z.number(),
    cancelled: z.number(),
    promptTokens: z.number().describe('Input tokens, including cached tokens.'),
    cachedTokens: z.number(),
    completionTokens: z.number().describe('Output tokens, including thinking.'),
    reasoningTokens: z.number(),
    cost: z.number().describe('US dollars.'),
    images: z.number().describe('Pictures made.'),
    seconds: z.number().describe('Seconds of sound transcribed.'),
    characters: z.number().describe('Characters spoken.'),
    searches: z.number().describe('Web searches that upstreams made.'),
  })
  .meta({ id: 'Totals', description: 'Sums over requests.' });

/** Sums over requests. Costs are in US dollars. */
export type Totals = z.output<typeof totalsSchema>;

export type UsageGroup = 'model' | 'key' | 'team' | 'user' | 'tier' | 'purpose';

export const usageReportSchema = z
  .object({
    ...period,
    step: z.enum(['day', 'month']),
    times: z.array(time).describe('The start of each step, oldest first.'),
    groups: z.array(z.object({ id: z.string(), name: z.string(), totals: totalsSchema, steps: z.array(totalsSchema) })),
    totals: totalsSchema,
  })
  .meta({ id: 'UsageReport' });

/**
 * `GET /usage?from=<ms>&to=<ms>&step=day|month&by=<UsageGroup>`, with the optional filters `model=`, `key=`, `team=`, `user=`, `tier=` and
 * `purpose=`. Days and months are in UTC; `from` and `to` are rounded outwards to them, and the answer contains the rounded times.
 */
export type UsageReport = z.output<typeof usageReportSchema>;

const hourSumsSchema = z
  .object({
    requests: z.number(),
    failed: z.number(),
    promptTokens: z.number(),
    completionTokens: z.number(),
    cost: z.number().describe('US dollars.'),
  })
  .meta({ id: 'UsageHour', description: 'Sums over the requests of an hour.' });

export const usageHoursSchema = z
  .object({
    ...period,
    times: z.array(time).describe('The start of each hour, oldest first.'),
    groups: z
      .array(z.object({ id: z.string(), name: z.string(), totals: hourSumsSchema, steps: z.array(hourSumsSchema) }))
      .describe('The group with the most requests comes first. `other` stands for all that were counted together.'),
  })
  .meta({ id: 'UsageHours' });

/**
 * `GET /usage/hours?from=<ms>&to=<ms>&by=model|key|team|user`: the hours of at most eight days, rounded outwards. With `by` other than
 * `model`, the filters `key=`, `team=` and `user=` are allowed.
 */
export type UsageHours = z.output<typeof usageHoursSchema>;

const attemptSchema = z
  .object({
    worker: z.string(),
    offered: z
      .boolean()
      .describe('Whether the job was offered to the worker. Otherwise the worker claimed it from the queue.'),
    waitMs: z.number().describe('When the job began to wait for this attempt.'),
    givenMs: z.number().describe('When the job was offered or granted to the worker.'),
    begunMs: z.number().optional().describe('When the worker showed that it had begun.'),
    firstMs: z.number().optional().describe('When the first piece of the answer came.'),
    endMs: z.number(),
    end: z
      .string()
      .describe('`done`, `cancelled`, `refused` for an offer that the worker did not take, or the code of the error.'),
  })
  .meta({
    id: 'UsageAttempt',
    description: 'One attempt of a request. Times are milliseconds since the request began.',
  });

export type UsageAttempt = z.output<typeof attemptSchema>;

export const usageRequestSchema = z
  .object({
    id: z.string(),
    at: time,
    key: z.object({ id: z.string(), name: z.string() }),
    owner: z.object({ kind: z.enum(['user', 'team']), id: z.string(), name: z.string() }).exactOptional(),
    format: z.string().describe('The client format.'),
    operation: z.string(),
    asked: z.string().describe('The model name that the client requested. `model` is the model that served.'),
    purpose: z.string().optional().describe('What the request was sent for, if that is known.'),
    turn: z
      .object({
        program: z.enum(agentPrograms),
        session: z.string().describe("The client's name for the session."),
        agent: z.string().optional(),
        parent: z.string().optional(),
        type: z.string().optional(),
        prompt: z.string().optional().describe("The id of the person's prompt."),
        tools: z
          .object({ ms: z.number(), longest: z.array(z.object({ name: z.string(), ms: z.number() })) })
          .optional()
          .describe(
            "Milliseconds that the client's own tools took before the request: in total, and for the slowest tools.",
          ),
      })
      .optional()
      .describe('The session of a coding agent that the request was a turn of. Absent if it named no session.'),
    sessionId: z.string().exactOptional().describe('The id of that session.'),
    recorded: z
      .literal(true)
      .optional()
      .describe(
        'Its prompt and answer were recorded. The recording may be deleted by now. Absent: they were not recorded.',
      ),
    rule: z
      .string()
      .optional()
      .describe('The place in the registry of the rule that chose the model. Absent if no rule chose it.'),
    model: z.string().optional(),
    tier: z.enum(tiers).optional(),
    worker: z.string().optional(),
    outcome: z.enum(['done', 'failed', 'cancelled']),
    code: z.string().optional().describe("The error's code."),
    attempts: z.number(),
    queueMs: z.number().optional(),
    firstTokenMs: z.number().optional(),
    totalMs: z.number(),
    promptTokens: z.number(),
    cachedTokens: z.number(),
    completionTokens: z.number(),
    reasoningTokens: z.number(),
    images: z.number().optional(),
    seconds: z.number().optional(),
    characters: z.number().optional(),
    searches: z.number().optional(),
    cost: z.number().describe('US dollars.'),
    timeline: z
      .array(attemptSchema)
      .optional()
      .describe(
        'Its attempts, oldest first. Contains only the first few and the last of many attempts. Absent if there were none.',
      ),
    cursor: z.string().exactOptional().describe('Send it as `before` for the requests that follow in the list.'),
  })
  .meta({ id: 'UsageRequest' });

/**
 * `GET /usage/requests?before=<cursor>&limit=50` with the same filters, `outcome=`, `code=`, `recorded=true|false`, `from=` and `to=`:
 * single requests, newest first, as a RequestPage. `after=<newest>` answers the requests that have ended since then.
 * `GET /usage/requests/<id>`: the requests with this id. `GET /usage/export?format=csv|json` with `from`, `to` and the same filters streams
 * all requests.
 */
export type UsageRequest = z.output<typeof usageRequestSchema>;

export const requestPageSchema = z
  .object({
    requests: z.array(usageRequestSchema),
    next: z.string().exactOptional().describe('Send it as `before` for the next page.'),
    newest: z
      .string()
      .exactOptional()
      .describe('Send it as `after` for the requests that end later. Present only on the first page.'),
  })
  .meta({ id: 'UsageRequests' });

export type RequestPage = z.output<typeof requestPageSchema>;

const percentilesSchema = z.object({ p50: z.number(), p95: z.number() }).meta({
  id: 'Percentiles',
  description: 'Percentiles in milliseconds. They are estimated, and are off by at most about a tenth.',
});

const entrySchema = z.object({
  id: z.string(),
  name: z.string(),
  owner: z.string().exactOptional().describe('For a key, the name of the person or team that the key belongs to.'),
  requests: z.number(),
  failed: z.number(),
  tokens: z.number().describe('Input and output tokens together.'),
  cost: z.number().describe('US dollars.'),
});

export type UsageItem = z.output<typeof entrySchema>;

export const usageOverviewSchema = z
  .object({
    span: z.enum(['1h', '24h', '7d']),
    ...period,
    stepMs: z.number(),
    times: z.array(time).describe('The start of each step, oldest first. The last step has not ended yet.'),
    steps: z.array(totalsSchema),
    totals: totalsSchema,
    firstTokenMs: percentilesSchema.exactOptional().describe('Absent if no request had a first token.'),
    totalMs: percentilesSchema.exactOptional(),
    models: z
      .array(entrySchema)
      .describe('The ten models with the most requests. `other` stands for all models that were counted together.'),
    keys: z.array(entrySchema),
    workers: z.array(entrySchema),
  })
  .meta({ id: 'UsageOverview' });

/**
 * `GET /usage/overview?span=1h|24h|7d`: sums of the requests that began in the last hour (in twelve steps of five minutes), 24 hours, or
 * seven days of UTC. The last step has begun but not ended.
 */
export type UsageOverview = z.output<typeof usageOverviewSchema>;

export const limitUseSchema = z
  .object({
    party: z
      .string()
      .describe('`key:<id>`, `user:<id>` or `team:<id>`. For keys that have replaced one another, the newest key.'),
    name: z.string(),
    limits: z.array(
      z.object({ name: z.string(), limit: z.number(), used: z.number(), resetsAt: time.exactOptional() }),
    ),
  })
  .meta({ id: 'LimitUse' });

/** `GET /usage/now`: the use of each limit that applies to the signed-in person's keys. */
export type LimitUse = z.output<typeof limitUseSchema>;

export const priceSchema = z
  .object({
    model: z.string(),
    input: z.number(),
    cachedInput: optionalPrice,
    cacheWrite: optionalPrice,
    hourCacheWrite: optionalPrice.describe('For input that stays in the cache for an hour.'),
    output: z.number(),
    image: optionalPrice,
    second: optionalPrice,
    characters: optionalPrice,
    search: optionalPrice,
    asOf: z
      .string()
      .exactOptional()
      .describe(
        'The day as of which the price is known, for example `2026-11-01`. Absent if the registry file names no day.',
      ),
    source: z.enum(['shipped', 'changed']),
  })
  .meta({
    id: 'Price',
    description:
      'US dollars per million tokens. Some models also have prices per picture, second, million characters or web search.',
  });

/** `GET /prices`; `PUT /prices/<model>` replaces the price of the shipped table, and `DELETE /prices/<model>` undoes that (admins). */
export type Price = z.output<typeof priceSchema>;
