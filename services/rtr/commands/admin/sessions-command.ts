import { Command } from 'commander';
import { sortAsTree } from '#shared/core/sort-as-tree.ts';
import { createWholeNumberParser } from '../whole-number.ts';
import { buildPath, type AdminClient, type Query } from './admin-client.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { formatMinute, printList } from './print-answers.ts';
import { readFilter, withOwners, type UsageOptions } from './usage-options.ts';

interface Sums {
  requests: number;
  failed: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  cost: number;
  queueMs: number;
  modelMs: number;
  toolMs: number;
}

interface Session {
  id: string;
  name: string;
  program: string;
  owner: { name: string };
  startedAt: number;
  lastAt: number;
  sums: Sums;
  agents: number;
  models: { model: string }[];
  running: object[];
}

interface Agent {
  id?: string;
  parent?: string;
  type?: string;
  sums: Sums;
}

interface Tree extends Session {
  main: Sums;
  tree: Agent[];
}

interface OwnerSums {
  owner: { name: string };
  sessions: number;
  agents: number;
  sums: Sums;
}

interface Turn {
  id: string;
  at: number;
  asked: string;
  model?: string;
  rule?: string;
  turn?: { agent?: string; tools?: { ms: number } };
  outcome: string;
  code?: string;
  queueMs?: number;
  totalMs: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  cost: number;
}

type ListOptions = UsageOptions & { limit: number };

const sumsHead = ['TURNS', 'FAILED', 'INPUT', 'CACHED', 'OUTPUT', 'QUEUE S', 'MODEL S', 'TOOLS S', 'DOLLARS'];

export function createSessionsCommand(run: RunAdminCommand): Command {
  const command = new Command('sessions').description('see sessions of coding agents');
  withOwners(
    addCommand(command, 'list', 'list sessions: running sessions first, then the others; the latest turn first'),
  )
    .option('--limit <count>', 'how many at most', createWholeNumberParser(1, 10_000), 50)
    .action((options: ListOptions) => run(options, (context) => listSessions(context, options)));
  addCommand(command, 'show <session>', 'show a session and the agents that were started in it').action(
    (id: string, options: AdminOptions) => run(options, (context) => showSession(context, id)),
  );
  addCommand(command, 'turns <session>', 'list the requests of a session, newest first')
    .option('--limit <count>', 'how many at most', createWholeNumberParser(1, 10_000), 50)
    .action((id: string, options: ListOptions) => run(options, (context) => listTurns(context, id, options.limit)));
  withOwners(addCommand(command, 'sums', 'sum up the sessions of each team, or of one owner')).action(
    (options: UsageOptions) => run(options, (context) => showSums(context, options)),
  );
  return command;
}

async function readOwnerFilter(client: AdminClient, { key, team, user }: UsageOptions): Promise<Query> {
  const owner: UsageOptions = {};
  if (key !== undefined) owner.key = key;
  if (team !== undefined) owner.team = team;
  if (user !== undefined) owner.user = user;
  return readFilter(client, owner);
}

async function listSessions(context: AdminContext, options: ListOptions): Promise<void> {
  const { client } = context;
  const sessions = client.list<Session>('/agent-sessions', await readOwnerFilter(client, options), options.limit);
  await printList(context, sessions, {
    head: ['ID', 'LAST TURN (UTC)', 'PROGRAM', 'OWNER', 'STATE', 'AGENTS', 'MODELS', ...sumsHead],
    row: ({ id, lastAt, program, owner, running, agents, models, sums }) => {
      const state = running.length === 0 ? 'idle' : `${running.length} running`;
      const names = [...new Set(models.map(({ model }) => model))].join(',') || '-';
      return [id, formatMinute(lastAt), program, owner.name, state, agents, names, ...toSumsRow(sums)];
    },
    none: 'There are no sessions.',
  });
}

async function showSession(context: AdminContext, id: string): Promise<void> {
  const { client, print, json } = context;
  const session = await client.get<Tree>(buildPath`/agent-sessions/${id}`);
  if (json) return print(JSON.stringify(session));
  const rows = [{ name: 'all', sums: session.sums }, ...toTreeRows({ tree: session.tree, main: session.main })];
  await printList(context, rows, {
    head: ['AGENT', ...sumsHead],
    row: ({ name, sums }) => [name, ...toSumsRow(sums)],
    none: '',
  });
}

function toTreeRows({ tree, main }: Pick<Tree, 'tree' | 'main'>): { name: string; sums: Sums }[] {
  const agents = sortAsTree(tree).map(({ item: { id = 'others', type = '', sums }, depth }) => {
    return { name: `${'  '.repeat(depth + 1)}${id} ${type}`.trimEnd(), sums };
  });
  return [{ name: 'main', sums: main }, ...agents];
}

async function listTurns(context: AdminContext, id: string, limit: number): Promise<void> {
  const turns = context.client.list<Turn>(buildPath`/agent-sessions/${id}/turns`, {}, limit);
  await printList(context, turns, {
    head: [
      'AT (UTC)',
      'ID',
      'AGENT',
      'MODEL',
      'RULE',
      'OUTCOME',
      'TOOLS MS',
      'QUEUE MS',
      'MS',
      'INPUT',
      'CACHED',
      'OUTPUT',
      'DOLLARS',
    ],
    row: ({ at: time, id: request, turn, asked, model = asked, rule = '-', outcome, code, ...counts }) => {
      const { queueMs, totalMs, promptTokens, cachedTokens, completionTokens, cost } = counts;
      const outcomeText = code === undefined ? outcome : `${outcome}: ${code}`;
      const times = [turn?.tools?.ms ?? '-', Math.round(queueMs ?? totalMs), Math.round(totalMs)];
      const amounts = [promptTokens, cachedTokens, completionTokens, Number(cost.toFixed(6))];
      return [formatMinute(time), request, turn?.agent ?? 'main', model, rule, outcomeText, ...times, ...amounts];
    },
    none: 'No request of this session is kept.',
  });
}

async function showSums(context: AdminContext, options: UsageOptions): Promise<void> {
  const { client } = context;
  const ownerSums = await client.get<OwnerSums[]>('/agent-sessions/sums', await readOwnerFilter(client, options));
  await printList(context, ownerSums, {
    head: ['OWNER', 'SESSIONS', 'AGENTS', ...sumsHead],
    row: ({ owner, sessions, agents, sums }) => [owner.name, sessions, agents, ...toSumsRow(sums)],
    none: 'There were no sessions.',
  });
}

function toSumsRow(sums: Sums): number[] {
  const { requests, failed, promptTokens, cachedTokens, completionTokens, cost, queueMs, modelMs, toolMs } = sums;
  const seconds = [queueMs, modelMs, toolMs].map((ms) => Number((ms / 1_000).toFixed(1)));
  return [requests, failed, promptTokens, cachedTokens, completionTokens, ...seconds, Number(cost.toFixed(6))];
}
