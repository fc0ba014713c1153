import { z } from 'zod';
import { agentPrograms } from '#shared/core/agent-turn.ts';
import { tiers } from '#shared/core/tier.ts';

/*
 * The contract between the console's pages and its API: usage and prices. The rules of `account.ts` apply. A member sees their own requests
 * and those of their teams. An admin sees all.
 */

export const time = z.number().describe('Milliseconds since 1970.');
const count = z.number().exactOptional();
/** The period of sums. Requests belong to the period in which they began. */
export const period = {
  from: time.describe('The beginning of the period, in milliseconds since 1970.'),
  to: time.describe('Its end, which is not in it.'),
};

export const totalsSchema = z
  .object({
    requests: z.number(),
    failed: z.number(),
    cancelled: z.number(),
    promptTokens: z.number().describe('Input tokens, cached ones included.'),
    cachedTokens: z.number(),
    completionTokens: z.number().describe('Output tokens, thinking included.'),
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
 * `purpose=`. Days and months are those of UTC; `from` and `to` are rounded outwards to them, and the answer contains the rounded times.
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
  .meta({ id: 'UsageHour', description: 'What requests of an hour came to.' });

export const usageHoursSchema = z
  .object({
    ...period,
    times: z.array(time).describe('The start of each hour, oldest first.'),
    groups: z
      .array(z.object({ id: z.string(), name: z.string(), totals: hourSumsSchema, steps: z.array(hourSumsSchema) }))
      .describe('Those with the most requests first. `other` stands for those that were counted together.'),
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
      .describe('Whether it was offered to the worker; otherwise the worker claimed it from the queue.'),
    waitMs: z.number().describe('Since when it waited for this attempt.'),
    givenMs: z.number().describe('When the worker was offered or granted it.'),
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
    asked: z.string().describe('The name that the client asked for; `model` is the one that served.'),
    purpose: z.string().optional().describe('What it was sent for, where known.'),
    turn: z
      .object({
        program: z.enum(agentPrograms),
        session: z.string().describe('What its client calls the session.'),
        agent: z.string().optional(),
        parent: z.string().optional(),
        type: z.string().optional(),
        prompt: z.string().optional().describe("The id of the person's prompt."),
        tools: z
          .object({ ms: z.number(), longest: z.array(z.object({ name: z.string(), ms: z.number() })) })
          .optional()
          .describe("The client's own tools before it, in milliseconds: all of them, and those that took longest."),
      })
      .optional()
      .describe('The session of a coding agent that it was a turn of, where it named one.'),
    sessionId: z.string().exactOptional().describe('The id of that session.'),
    recorded: z
      .literal(true)
      .optional()
      .describe('That its prompt and answer were recorded; the recording may be gone by now. Absent: they were not.'),
    rule: z.string().optional().describe('Where in the registry the rule stands that chose the model, if one did.'),
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
      .describe('Its attempts, oldest first: of many, the first ones and the last. Absent if there were none.'),
    cursor: z.string().exactOptional().describe('`before` of the requests behind it.'),
  })
  .meta({ id: 'UsageRequest' });

/**
 * `GET /usage/requests?before=<cursor>&limit=50` with the same filters, `outcome=`, `code=`, `recorded=true|false`, `from=` and `to=`:
 * single requests, newest first, as a RequestPage. `after=<newest>` answers those that have ended since. `GET /usage/requests/<id>`: the
 * requests with this id. `GET /usage/export?format=csv|json` with `from`, `to` and the same filters streams all of them.
 */
export type UsageRequest = z.output<typeof usageRequestSchema>;

export const requestPageSchema = z
  .object({
    requests: z.array(usageRequestSchema),
    next: z.string().exactOptional().describe('`before` of the next page.'),
    newest: z.string().exactOptional().describe('`after` of what comes later; on the first page.'),
  })
  .meta({ id: 'UsageRequests' });

export type RequestPage = z.output<typeof requestPageSchema>;

const percentilesSchema = z
  .object({ p50: z.number(), p95: z.number() })
  .meta({ id: 'Percentiles', description: 'Milliseconds, from counts by class: within about a tenth of the value.' });

const thingSchema = z.object({
  id: z.string(),
  name: z.string(),
  owner: z.string().exactOptional().describe('Of a key: the name of the person or team that it belongs to.'),
  requests: z.number(),
  failed: z.number(),
  tokens: z.number().describe('Of input and output.'),
  cost: z.number().describe('US dollars.'),
});

export type UsageThing = z.output<typeof thingSchema>;

export const usageOverviewSchema = z
  .object({
    span: z.enum(['1h', '24h', '7d']),
    ...period,
    stepMs: z.number(),
    times: z.array(time).describe('The start of each step, oldest first; the last one has begun.'),
    steps: z.array(totalsSchema),
    totals: totalsSchema,
    firstTokenMs: percentilesSchema.exactOptional().describe('Absent where no request had a first token.'),
    totalMs: percentilesSchema.exactOptional(),
    models: z
      .array(thingSchema)
      .describe('The ten with the most requests. `other` stands for those that were counted together.'),
    keys: z.array(thingSchema),
    workers: z.array(thingSchema),
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
      .describe('As `key:<id>`, `user:<id>`, `team:<id>`. Of keys that were made in place of each other, the newest.'),
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
    cachedInput: count,
    cacheWrite: count,
    hourCacheWrite: count.describe('For input that stays in the cache for an hour.'),
    output: z.number(),
    image: count,
    second: count,
    characters: count,
    search: count,
    asOf: z
      .string()
      .exactOptional()
      .describe('The day as of which the price is known, as `2026-11-01`. Absent where the registry file has none.'),
    source: z.enum(['shipped', 'changed']),
  })
  .meta({
    id: 'Price',
    description:
      'US dollars per million tokens, and where there are such, per picture, second, million characters or web search.',
  });

/** `GET /prices`; `PUT /prices/<model>` overrides the price of the shipped table, and `DELETE` undoes that (admins). */
export type Price = z.output<typeof priceSchema>;
