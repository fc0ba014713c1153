import { z } from 'zod';
import { agentPrograms } from '#shared/core/agent-turn.ts';
import { tiers } from '#shared/core/tier.ts';

const count = z.number().int().nonnegative();

/** Attempts of one request that are kept. */
export const maxTimelineAttempts = 8;

/**
 * One attempt of a request: a worker that was given it. Times are milliseconds since the request began: from when it waited for this
 * attempt, when it was offered or granted, when the worker showed that it had begun, its first piece of the answer, and its end.
 */
const attemptSchema = z.object({
  worker: z.string(),
  /** Whether it was offered; otherwise the worker had claimed it by a ticket. */
  offered: z.boolean(),
  waitMs: z.number(),
  givenMs: z.number(),
  begunMs: z.number().optional(),
  firstMs: z.number().optional(),
  endMs: z.number(),
  /** `done`, `cancelled`, `refused` for an offer that the worker did not take, or the code of the error. */
  end: z.string(),
});

export type UsageAttempt = z.infer<typeof attemptSchema>;

/** See AgentTurn. */
const turnSchema = z.object({
  /** That of another release is one that names its sessions itself. */
  program: z.enum(agentPrograms).catch('other'),
  session: z.string(),
  agent: z.string().optional(),
  parent: z.string().optional(),
  type: z.string().optional(),
  prompt: z.string().optional(),
  tools: z.object({ ms: count, longest: z.array(z.object({ name: z.string(), ms: count })) }).optional(),
});

/** What is kept of one request that is over. Never anything of its prompt or its answer. */
export const usageRecordSchema = z.object({
  id: z.string(),
  /** When it began, in ms since 1970. */
  at: z.number(),
  key: z.object({ id: z.string(), name: z.string() }),
  owner: z.object({ kind: z.enum(['user', 'team']), id: z.string() }).optional(),
  format: z.string(),
  operation: z.string(),
  /** The name that the client asked for, of a model or a tool. */
  asked: z.string(),
  /** What the client sent it for; absent where unknown, and in records of releases that did not know it. */
  purpose: z.string().optional(),
  /** The session of a coding agent that it was a turn of; absent where it named none. */
  turn: turnSchema.optional().catch(undefined),
  /** That its body and answer were recorded, which may be gone by now. Absent where they were not. */
  recorded: z.literal(true).optional().catch(undefined),
  /** Where in the registry the rule stands that chose the target; absent when none applied. */
  rule: z.string().optional(),
  /** What served it; absent when nothing did. */
  model: z.string().optional(),
  /** Absent as well for a tier of another release. */
  tier: z.enum(tiers).optional().catch(undefined),
  worker: z.string().optional(),
  /** Whatever is neither `done` nor `cancelled` has failed, also in the words of another release. */
  outcome: z.enum(['done', 'failed', 'cancelled']).catch('failed'),
  /** The error's code. */
  code: z.string().optional(),
  attempts: count,
  queueMs: z.number().optional(),
  firstTokenMs: z.number().optional(),
  totalMs: z.number(),
  promptTokens: count,
  cachedTokens: count,
  completionTokens: count,
  reasoningTokens: count,
  /** Absent where none was used, and in records of releases that did not know them. */
  images: count.optional(),
  seconds: count.optional(),
  characters: count.optional(),
  searches: count.optional(),
  /** In nano-dollars. */
  cost: count,
  /** Its attempts, oldest first: of many, the first ones and the last. Absent where no worker was given it, and in records of older releases. */
  timeline: z.array(attemptSchema).max(maxTimelineAttempts).optional().catch(undefined),
});

export type UsageRecord = z.infer<typeof usageRecordSchema>;

/** What a list of requests, or a report, can be narrowed to. */
export interface UsageFilter {
  model?: string | undefined;
  key?: string | undefined;
  team?: string | undefined;
  user?: string | undefined;
  tier?: string | undefined;
  outcome?: string | undefined;
  purpose?: string | undefined;
  /** The error's code. */
  code?: string | undefined;
  /** Whether it was recorded. */
  recorded?: boolean | undefined;
  /** When it began: at `from` or later, and before `to`; in ms since 1970. */
  from?: number | undefined;
  to?: number | undefined;
}

/** Whose use somebody may see: the own, that of the own keys and of the own teams; an admin everything. */
export interface UsageViewer {
  userId: string;
  isAdmin: boolean;
  keyIds: readonly string[];
  teamIds: readonly string[];
}

/** Whether a viewer may see, and a filter lets through, what belongs to a key and its owner. */
export function sees(
  { userId, isAdmin, keyIds, teamIds }: UsageViewer,
  { key, user, team }: { key: string; user: string; team: string },
): boolean {
  return isAdmin || (user !== '' && user === userId) || keyIds.includes(key) || teamIds.includes(team);
}
