import { z } from 'zod';
import { agentPrograms } from '#shared/core/agent-turn.ts';
import { tiers } from '#shared/core/tier.ts';

const count = z.number().int().nonnegative();

/** Maximum number of attempts in the record of one request. */
export const maxTimelineAttempts = 8;

/**
 * One attempt of a request, by a worker to which the request was offered or granted. All times are in milliseconds since the request began.
 */
const attemptSchema = z.object({
  worker: z.string(),
  /** Whether the request was offered to the worker. If not, the worker claimed it by a ticket. */
  offered: z.boolean(),
  /** When the wait for this attempt began. */
  waitMs: z.number(),
  /** When the request was offered or granted. */
  givenMs: z.number(),
  /** When the worker showed that it had begun. */
  begunMs: z.number().optional(),
  /** When the first piece of the answer arrived. */
  firstMs: z.number().optional(),
  /** When the attempt ended. */
  endMs: z.number(),
  /** `done`, `cancelled`, `refused` for an offer that the worker refused, or the code of the error. */
  end: z.string(),
});

export type UsageAttempt = z.infer<typeof attemptSchema>;

const turnSchema = z.object({
  /** A program that this release does not define counts as `other`: a program that names its sessions itself. */
  program: z.enum(agentPrograms).catch('other'),
  session: z.string(),
  agent: z.string().optional(),
  parent: z.string().optional(),
  type: z.string().optional(),
  prompt: z.string().optional(),
  tools: z.object({ ms: count, longest: z.array(z.object({ name: z.string(), ms: count })) }).optional(),
});

/** The stored record of one finished request. It contains no part of the prompt or the answer. */
export const usageRecordSchema = z.object({
  id: z.string(),
  /** When the request began, in ms since 1970. */
  at: z.number(),
  key: z.object({ id: z.string(), name: z.string() }),
  owner: z.object({ kind: z.enum(['user', 'team']), id: z.string() }).optional(),
  format: z.string(),
  operation: z.string(),
  /** The requested name of a model or a tool. */
  asked: z.string(),
  /** The purpose of the request; absent if unknown. */
  purpose: z.string().optional(),
  /** What the client said about the agent session that the request belongs to; absent if the client named no session. */
  turn: turnSchema.optional().catch(undefined),
  /** Present if the request's body and answer were recorded. The recording may have been removed since. */
  recorded: z.literal(true).optional().catch(undefined),
  /** The path in the registry of the rule that chose the target, such as `models.coder.purposes.main`; absent if no rule applied. */
  rule: z.string().optional(),
  /** The model that served the request; absent if no model did. */
  model: z.string().optional(),
  /** The tier that served the request; absent if no tier did, or this release does not define the tier. */
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
  /** `images`, `seconds`, `characters` and `searches` are absent if they are 0. */
  images: count.optional(),
  seconds: count.optional(),
  characters: count.optional(),
  searches: count.optional(),
  /** In nano-dollars. */
  cost: count,
  /**
   * The attempts of the request, oldest first. If there were too many, only the first attempts and the last attempt. Absent if there were
   * none.
   */
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
  /** Only requests that began at this time or later, in ms since 1970. */
  from?: number | undefined;
  /** Only requests that began before this time, in ms since 1970. */
  to?: number | undefined;
}

/** Somebody who reads usage. An administrator sees all use. Everybody else sees their own use and the use of their keys and teams. */
export interface UsageViewer {
  userId: string;
  isAdmin: boolean;
  keyIds: readonly string[];
  teamIds: readonly string[];
}

/** Returns whether a viewer may see the use of a key and its owner. */
export function maySee(
  { userId, isAdmin, keyIds, teamIds }: UsageViewer,
  { key, user, team }: { key: string; user: string; team: string },
): boolean {
  return isAdmin || (user !== '' && user === userId) || keyIds.includes(key) || teamIds.includes(team);
}
