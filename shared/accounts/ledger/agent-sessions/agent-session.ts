import { z } from 'zod';
import { agentPrograms, type AgentProgram } from '#shared/core/agent-turn.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import type { SessionOwner } from './session-names.ts';
import {
  decodeSumsRow,
  encodeSumsRow,
  otherAgentsId,
  createZeroSums,
  readSums,
  sumNames,
  type SessionSums,
} from './session-sums.ts';

/**
 * Sums of the turns with the same model, rule and tier. `rule` is empty for turns without a rule, `tier` for turns without a tier. An empty
 * `model` stands for the models beyond the maximum.
 */
export interface ModelSums {
  model: string;
  rule: string;
  tier: string;
  sums: SessionSums;
}

/** An agent of a session. Times in ms since 1970. */
export interface SessionAgent {
  /** Undefined for the entry that has the sums of all agents beyond the maximum. */
  id: string | undefined;
  /** Id of the agent that started this agent; undefined if the main agent started it. */
  parent?: string | undefined;
  type?: string | undefined;
  startedAt?: number | undefined;
  lastAt?: number | undefined;
  sums: SessionSums;
}

/** A session of a coding agent with the sums of its turns, without any prompt or answer. Times in ms since 1970. */
export interface AgentSession {
  id: string;
  owner: SessionOwner;
  /** The name that the client gives the session. */
  name: string;
  program: AgentProgram;
  /** Id of the key of the session's last turn. */
  key: string;
  startedAt: number;
  /** When the latest turn began. Turns that have not ended do not count. */
  lastAt: number;
  /** The sums of the turns, and the number of agents that were started in the session. */
  sums: SessionSums;
  /** Ordered by cost, the most expensive first. */
  models: ModelSums[];
}

export interface AgentSessionTree extends AgentSession {
  /** Sums of the turns of the main agent, which talks to the person. */
  main: SessionSums;
  /** The agents that were started in the session, in the order of their first turns. */
  agents: SessionAgent[];
}

const factsSchema = z.object({
  owner: z.custom<SessionOwner>((value) => typeof value === 'string' && /^(?:user|team|key):./.test(value)),
  name: z.string(),
  program: z.enum(agentPrograms).catch('other'),
  key: z.string().default(''),
  startedAt: z.coerce.number(),
  lastAt: z.coerce.number(),
});

const agentSchema = createStoredSchema(
  z.object({ parent: z.string().optional(), type: z.string().optional(), at: z.number().optional() }),
);

/** Reads a session from the fields of its hash. Returns undefined if this release cannot read them. */
export function readSession(id: string, fields: Readonly<Record<string, string>>): AgentSession | undefined {
  const { data: facts } = factsSchema.safeParse(fields);
  if (!facts) return undefined;
  const rows = readSums(fields);
  return { id, ...facts, sums: rows.get(encodeSumsRow({ kind: 'all' })) ?? createZeroSums(), models: readModels(rows) };
}

/** Reads the agents of a session from the fields of the hash `sessions:agents:<id>`. */
export function readTree(fields: Readonly<Record<string, string>>): Pick<AgentSessionTree, 'main' | 'agents'> {
  const ids = Object.keys(fields).flatMap((field) => (field.startsWith('=') ? [field.slice(1)] : []));
  const agents = ids.filter((id) => id !== '').map((id) => readAgent(id, fields));
  return {
    main: parseCounts(fields['=']).sums,
    agents: agents.sort((a, b) => (a.startedAt ?? Infinity) - (b.startedAt ?? Infinity)),
  };
}

/** Picks the sums by model from all rows, the most expensive first. */
export function readModels(rows: ReadonlyMap<string, SessionSums>): ModelSums[] {
  const models = [...rows].flatMap(([text, sums]): ModelSums[] => {
    const row = decodeSumsRow(text);
    return row?.kind === 'model' ? [{ model: row.model, rule: row.rule, tier: row.tier, sums }] : [];
  });
  return models.sort((a, b) => b.sums.cost - a.sums.cost || b.sums.requests - a.sums.requests);
}

function readAgent(id: string, fields: Readonly<Record<string, string>>): SessionAgent {
  const { last, sums } = parseCounts(fields[`=${id}`]);
  if (id === otherAgentsId) return { id: undefined, sums };
  const { parent, type, at } = agentSchema.safeParse(fields[`@${id}`]).data ?? {};
  return { id, parent, type, startedAt: at, lastAt: last, sums };
}

/** Parses a field `=<agent>`: the time of the agent's last turn, in ms since 1970, and its sums. */
function parseCounts(text = ''): { last: number; sums: SessionSums } {
  const [last = 0, ...counts] = text.split(' ').map(Number);
  const sums = createZeroSums();
  for (const [index, name] of sumNames.entries()) sums[name] = counts[index] || 0;
  return { last, sums };
}
