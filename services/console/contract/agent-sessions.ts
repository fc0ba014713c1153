import { z } from 'zod';
import { agentPrograms } from '#shared/core/agent-turn.ts';
import { ownerSchema } from './batches.ts';

/*
 * The contract between the console's pages and its API: agent sessions. The rules of `account.ts` apply. Whoever may see a request may see
 * its agent session. Members see their own and those of their teams, and admins see all. The answers contain nothing of a prompt or an
 * answer.
 */

const time = z.number().describe('Milliseconds since 1970.');

export const sessionSumsSchema = z
  .object({
    requests: z.number().describe('Turns that are over.'),
    failed: z.number(),
    promptTokens: z.number().describe('Input tokens, cached ones included.'),
    cachedTokens: z.number(),
    completionTokens: z.number().describe('Output tokens, thinking included.'),
    reasoningTokens: z.number(),
    cost: z.number().describe('US dollars.'),
    queueMs: z.number().describe('Milliseconds in the queue.'),
    modelMs: z.number().describe('Milliseconds from when a worker took a turn to its end.'),
    toolMs: z
      .number()
      .describe(
        "Milliseconds of the client's own tools, where it says them. Those that ran at the same time count each.",
      ),
  })
  .meta({ id: 'SessionSums', description: 'Sums over turns.' });

/** Sums over turns. Costs are in US dollars. */
export type SessionSums = z.output<typeof sessionSumsSchema>;

const modelCounts = sessionSumsSchema.pick({
  requests: true,
  promptTokens: true,
  cachedTokens: true,
  completionTokens: true,
  cost: true,
});

const modelSums = z.object({
  model: z
    .string()
    .describe(
      'What served, or what was asked for where nothing did; empty for all those together that came when as many were kept apart as may be.',
    ),
  rule: z.string().exactOptional().describe('Where in the registry the rule stands that chose it, if one did.'),
  tier: z.string().exactOptional(),
  sums: modelCounts,
});

export type SessionModel = z.output<typeof modelSums>;

const named = z.object({ id: z.string(), name: z.string() });

const running = z.object({
  request: z.string().describe('The id of the request.'),
  agent: z
    .string()
    .exactOptional()
    .describe('The agent whose turn it is; absent for the one that talks to the person.'),
  since: time,
  model: z.string().exactOptional().describe('Absent while no worker has it.'),
});

export type RunningTurn = z.output<typeof running>;

export const agentSessionSchema = z
  .object({
    id: z.string(),
    name: z.string().describe('What its client calls it.'),
    program: z.enum(agentPrograms).describe('`other` for any client that names the session in `x-rtr-session`.'),
    owner: ownerSchema.describe('The person or the team that its key belongs to, or a key that belongs to nobody.'),
    key: named.describe('The key of its last turn.'),
    startedAt: time,
    lastAt: time.describe('When its last turn began.'),
    sums: sessionSumsSchema,
    agents: z.number().describe('Agents that were started in it.'),
    models: z.array(modelSums).describe('The dearest first.'),
    running: z.array(running).describe('The turns that run now, oldest first.'),
  })
  .meta({ id: 'AgentSession', description: 'A session of a coding agent.' });

export type AgentSession = z.output<typeof agentSessionSchema>;

const agent = z.object({
  id: z
    .string()
    .exactOptional()
    .describe('Absent for all those together that came when as many were kept apart as may be.'),
  parent: z
    .string()
    .exactOptional()
    .describe('The agent that has started it; absent for the one that talks to the person.'),
  type: z.string().exactOptional().describe('As `Explore`, in the words of its program.'),
  startedAt: time.exactOptional(),
  lastAt: time.exactOptional(),
  sums: sessionSumsSchema,
});

export type SessionAgent = z.output<typeof agent>;

export const agentSessionTreeSchema = agentSessionSchema
  .extend({
    main: sessionSumsSchema.describe('Of the agent that talks to the person.'),
    tree: z.array(agent).describe('The agents that were started in it, in the order of their first turns.'),
  })
  .meta({ id: 'AgentSessionTree', description: 'A session of a coding agent with its agents.' });

/**
 * `GET /agent-sessions?limit=50&cursor=`, with one of the filters `user=`, `team=` and `key=`: agent sessions as
 * `{ data: AgentSession[], next? }`, the latest turn first. On the first page, running agent sessions come before all others.
 * `GET /agent-sessions/<id>`: one of them, with its agents. `GET /agent-sessions/<id>/turns?limit=100&cursor=`: its single requests, newest
 * first, as `{ data: UsageRequest[], next? }`.
 */
export type AgentSessionTree = z.output<typeof agentSessionTreeSchema>;

export const ownerSumsSchema = z
  .object({
    owner: ownerSchema,
    sessions: z.number().describe('Sessions that began.'),
    agents: z.number().describe('Agents that were started in them.'),
    sums: sessionSumsSchema,
    models: z.array(modelSums).describe('The dearest first.'),
    keys: z.array(z.object({ key: named, sums: sessionSumsSchema })).describe('The dearest first.'),
  })
  .meta({ id: 'AgentSessionSums', description: 'What the sessions of a team, or of a person, came to.' });

/**
 * `GET /agent-sessions/sums`: for each team that the person may see, the sums of its agent sessions in the days that are kept
 * (`AGENT_SESSIONS_DAYS`), the highest cost first; with `user=`, `team=` or `key=`, the sums of that owner.
 */
export type AgentSessionSums = z.output<typeof ownerSumsSchema>;
