import { z } from 'zod';
import { tiers } from '#shared/core/tier.ts';

const count = z.number().int().nonnegative();

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
