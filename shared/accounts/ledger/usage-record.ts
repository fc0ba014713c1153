import { z } from 'zod';
import { agentPrograms } from '#shared/core/agent-turn.ts';
import { tiers } from '#shared/core/tier.ts';

const count = z.number().int().nonnegative();

/** Maximum of attempts of one request that are kept. */
export const maxTimelineAttempts = 8;

/**
 * One attempt of a request: a worker that got it. Times are milliseconds since the request began: when the wait for this attempt began,
 * when the request was offered or granted, when the worker showed that it had begun, the first piece of its answer, and the end.
 */
const attemptSchema = z.object({
  worker: z.string(),
  /** Whether the request was offered; otherwise the worker claimed it by a ticket. */
  offered: z.boolean(),
  waitMs: z.number(),
  givenMs: z.number(),
  begunMs: z.number().optional(),
  firstMs: z.number().optional(),
  endMs: z.number(),
  /** `done`, `cancelled`, `refused` for an offer that the worker did not take, or the error's code. */
  end: z.string(),
});

export type UsageAttempt = z.infer<typeof attemptSchema>;

const turnSchema = z.object({
  /** A program that this release does not define counts as one that names its sessions itself. */
  program: z.enum(agentPrograms).catch('other'),
  session: z.string(),
  agent: z.string().optional(),
  parent: z.string().optional(),
  type: z.string().optional(),
  prompt: z.string().optional(),
  tools: z.object({ ms: count, longest: z.array(z.object({ name: z.string(), ms: count })) }).optional(),
});

/** The stored record of one finished request. It has nothing of the prompt or the answer. */
export const usageRecordSchema = z.object({
  id: z.string(),
  /** When it began, in ms since 1970. */
  at: z.number(),
  key: z.object({ id: z.string(), name: z.string() }),
  owner: z.object({ kind: z.enum(['user', 'team']), id: z.string() }).optional(),
  format: z.string(),
  operation: z.string(),
  /** The requested name of a model or a tool. */
  asked: z.string(),
  /** The purpose of the request; absent where unknown, and in records of releases without purposes. */
  purpose: z.string().optional(),
  /** The turn of an agent session that the request was; absent if it named no session. */
  turn: turnSchema.optional().catch(undefined),
  /** Present if its body and answer were recorded; the recording may be gone by now. */
  recorded: z.literal(true).optional().catch(undefined),
  /** Place in the registry of the rule that chose the target; absent if none applied. */
  rule: z.string().optional(),
  /** The model that served it; absent if none did. */
  model: z.string().optional(),
  /** Absent also for a tier that this release does not define. */
  tier: z.enum(tiers).optional().catch(undefined),
  worker: z.string().optional(),
  /** An outcome that this release does not define counts as `failed`. */
  outcome: z.enum(['done', 'failed', 'cancelled']).catch('failed'),
  code: z.string().optional(),
  attempts: count,
  queueMs: z.number().optional(),
  firstTokenMs: z.number().optional(),
  totalMs: z.number(),
  promptTokens: count,
  cachedTokens: count,
  completionTokens: count,
  reasoningTokens: count,
  /** Absent where none was used, and in records of releases that did not count them. */
  images: count.optional(),
  seconds: count.optional(),
  characters: count.optional(),
  searches: count.optional(),
  /** In nano-dollars. */
  cost: count,
  /** Its attempts, oldest first: of many, the first ones and the last. Absent if no worker got it, and in records of older releases. */
  timeline: z.array(attemptSchema).max(maxTimelineAttempts).optional().catch(undefined),
});

export type UsageRecord = z.infer<typeof usageRecordSchema>;

export interface UsageFilter {
  model?: string | undefined;
  key?: string | undefined;
  team?: string | undefined;
  user?: string | undefined;
  tier?: string | undefined;
  outcome?: string | undefined;
  purpose?: string | undefined;
  code?: string | undefined;
  recorded?: boolean | undefined;
  /** When the request began: at `from` or later, and before `to`; in ms since 1970. */
  from?: number | undefined;
  to?: number | undefined;
}

/** A reader of usage: an administrator sees everything, others their own use and that of their keys and teams. */
export interface UsageViewer {
  userId: string;
  isAdmin: boolean;
  keyIds: readonly string[];
  teamIds: readonly string[];
}

/** Returns whether a viewer may see what belongs to a key and its owner. */
export function maySee(
  { userId, isAdmin, keyIds, teamIds }: UsageViewer,
  { key, user, team }: { key: string; user: string; team: string },
): boolean {
  return isAdmin || (user !== '' && user === userId) || keyIds.includes(key) || teamIds.includes(team);
}
