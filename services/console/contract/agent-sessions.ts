import { z } from 'zod';
import { agentPrograms } from '#shared/core/agent-turn.ts';
import { ownerSchema } from './batches.ts';
import { time } from './conventions.ts';

/*
 * The contract between the console's pages and its API: agent sessions. The rules of `conventions.ts` apply. Whoever may see a request may see
 * its agent session: members see their own sessions and the sessions of their teams, and admins see all. The API returns no prompts and no
 * answers to prompts.
 */

export const sessionSumsSchema = z
  .object({
    requests: z.number().describe('Turns that have ended.'),
    failed: z.number(),
    promptTokens: z.number().describe('Input tokens, including cached tokens.'),
    cachedTokens: z.number(),
    completionTokens: z.number().describe('Output tokens, including thinking.'),
    reasoningTokens: z.number(),
    cost: z.number().describe('US dollars.'),
    queueMs: z.number().describe('Milliseconds in the queue.'),
    modelMs: z.number().describe('Milliseconds from when a worker took a turn until the turn ended.'),
    toolMs: z
      .number()
      .describe(
        "Milliseconds that the client's own tools took, if the client says so. Tools that ran at the same time are each counted.",
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
      'The model that served the turns, or the requested model if none served. Empty for the sum over all models beyond the maximum number that is counted separately.',
    ),
  rule: z
    .string()
    .exactOptional()
    .describe('The place in the registry of the rule that chose the model. Absent if no rule chose it.'),
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
    .describe('The agent whose turn it is. Absent for the agent that talks to the person.'),
  since: time,
  model: z.string().exactOptional().describe('Absent while no worker has the turn.'),
});

export type RunningTurn = z.output<typeof running>;

export const agentSessionSchema = z
  .object({
    id: z.string(),
    name: z.string().describe("The client's name for the session."),
    program: z.enum(agentPrograms).describe('`other` for any client that names the session in `x-rtr-session`.'),
    owner: ownerSchema.describe(
      'The person or team that the key of its turns belongs to, or a key that belongs to nobody.',
    ),
    key: named.describe('The key of its last turn.'),
    startedAt: time,
    lastAt: time.describe('The time at which its last turn began.'),
    sums: sessionSumsSchema,
    agents: z.number().describe('The number of agents that were started in the session.'),
    models: z.array(modelSums).describe('The model with the highest cost comes first.'),
    running: z.array(running).describe('The turns that run now, oldest first.'),
  })
  .meta({ id: 'AgentSession', description: 'A session of a coding agent.' });

export type AgentSession = z.output<typeof agentSessionSchema>;

const agent = z.object({
  id: z
    .string()
    .exactOptional()
    .describe('Absent for the sum over all agents beyond the maximum number that is counted separately.'),
  parent: z
    .string()
    .exactOptional()
    .describe('The agent that started this agent. Absent if the agent that talks to the person started it.'),
  type: z.string().exactOptional().describe("The program's name for this type of agent, for example `Explore`."),
  startedAt: time.exactOptional(),
  lastAt: time.exactOptional(),
  sums: sessionSumsSchema,
});

export type SessionAgent = z.output<typeof agent>;

export const agentSessionTreeSchema = agentSessionSchema
  .extend({
    main: sessionSumsSchema.describe('The sums of the agent that talks to the person.'),
    tree: z.array(agent).describe('The agents that were started in the session, in the order of their first turns.'),
  })
  .meta({ id: 'AgentSessionTree', description: 'A session of a coding agent with its agents.' });

/**
 * `GET /agent-sessions?limit=50&cursor=`, with one of the filters `user=`, `team=` and `key=`: agent sessions as
 * `{ data: AgentSession[], next? }`, the latest turn first. On the first page, running agent sessions come before all others.
 * `GET /agent-sessions/<id>`: one agent session, with its agents. `GET /agent-sessions/<id>/turns?limit=100&cursor=`: its single requests,
 * newest first, as `{ data: UsageRequest[], next? }`.
 */
export type AgentSessionTree = z.output<typeof agentSessionTreeSchema>;

export const ownerSumsSchema = z
  .object({
    owner: ownerSchema,
    sessions: z.number().describe('The number of sessions that began.'),
    agents: z.number().describe('The number of agents that were started in these sessions.'),
    sums: sessionSumsSchema,
    models: z.array(modelSums).describe('The model with the highest cost comes first.'),
    keys: z
      .array(z.object({ key: named, sums: sessionSumsSchema }))
      .describe('The key with the highest cost comes first.'),
  })
  .meta({ id: 'AgentSessionSums', description: 'Sums over the sessions of a team, a person or a key.' });

/**
 * `GET /agent-sessions/sums`: for each team that the person may see, the sums of its agent sessions in the seven days that are
 * kept, the highest cost first; with `user=`, `team=` or `key=`, the sums of that owner.
 */
export type AgentSessionSums = z.output<typeof ownerSumsSchema>;
