import { createHash } from 'node:crypto';
import { z } from 'zod';
import { contractVersion, ownContract, type ContractRange } from './contract-range.ts';
import { tiers, type Tier } from './lane.ts';

/** What a model can do beyond text in, text out. `continue`: continues a broken answer exactly where it stopped. */
export const capabilities = ['stream', 'tools', 'vision', 'thinking', 'json', 'continue'] as const;
export type Capability = (typeof capabilities)[number];

function isCapability(name: string): name is Capability {
  return capabilities.some((known) => known === name);
}

const model = z.object({
  id: z.string().min(1),
  /** What a later release adds to them is passed over here, and keeps nobody from reading the rest. */
  capabilities: z.array(z.string()).transform((told) => told.filter(isCapability)),
  /** Tokens of input and output together, where the engine tells. */
  contextWindow: z.number().int().positive().optional(),
  /** Tokens of output at most, where the engine tells. */
  maxOutput: z.number().int().positive().optional(),
});

const tool = z.object({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.unknown()) });

/** What a worker tells everyone each second and on change, on its heartbeat subject. Times in milliseconds since 1970. */
export const announcementSchema = z.object({
  /** The newest and the oldest version of the contract that it speaks; a later release may add to all the rest. */
  v: contractVersion,
  oldest: contractVersion.optional(),
  worker: z.string().regex(/^[\w-]{1,64}$/),
  tier: z.enum(tiers),
  pool: z.string().regex(/^[\w-]{1,64}$/),
  models: z.array(model),
  tools: z.array(tool).default([]),
  /** The client formats that it answers in. A job of any other is never given to it. */
  formats: z.array(z.string()),
  slots: z.number().int().nonnegative(),
  busy: z.number().int().nonnegative(),
  /** False while the worker drains, its engine is ill, or it paces itself. */
  accepting: z.boolean(),
  /** True while it takes nothing new because somebody said so: an operator, or whoever stops it. */
  draining: z.boolean().optional(),
  /** Subject in its inbox at which it takes jobs of its pool that an ingress offers it while it waits for tickets. */
  offersAt: z
    .string()
    .regex(/^[\w.-]{1,255}$/)
    .optional()
    .catch(undefined),
  /** The machine's name, for people to find it by. */
  host: z.string().max(255).optional(),
  version: z.string(),
  startedAt: z.number(),
});

/** A heartbeat that says good-bye. Not an empty one: the broker itself sends empty messages to whatever subject it is told to. */
export const goodbye = 'gone';

export type Announcement = z.infer<typeof announcementSchema>;
export type ModelInfo = z.infer<typeof model>;
export type ToolInfo = z.infer<typeof tool>;

/** What workers of one pool have in common. */
export interface PoolFacts {
  tier: Tier;
  /** The kind of thing behind the worker, as `vllm`. */
  kind: string;
  /** Client formats that it answers in. */
  formats: readonly string[];
  models: readonly ModelInfo[];
  tools?: readonly ToolInfo[] | undefined;
  /** Default: the versions of this release. */
  contract?: ContractRange;
}

/**
 * The token of the pool that a worker belongs to, derived from what makes workers interchangeable: one tier and kind, the same
 * formats, models and tools, and the same versions of the contract.
 */
export function poolOf({ tier, kind, formats, models, tools = [], contract = ownContract }: PoolFacts): string {
  const { oldest, newest } = contract;
  const facts = [
    ...models.map(({ id, capabilities, contextWindow, maxOutput }) =>
      JSON.stringify([id, [...capabilities].sort(), contextWindow, maxOutput]),
    ),
    ...tools.map(({ name, description, inputSchema }) => JSON.stringify([name, description, inputSchema])),
  ];
  const digest = createHash('sha256')
    .update([tier, kind, `${oldest}-${newest}`, [...formats].sort().join(), ...facts.sort()].join('\n'))
    .digest('hex')
    .slice(0, 12);
  return `${kind.replaceAll(/[^\w-]/g, '-')}-${digest}`;
}
