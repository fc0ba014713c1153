import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAgent } from '../helpers/clis/run-agent.ts';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { adminCommandsOf } from '../helpers/rtr/admin-commands.ts';
import { until } from '../helpers/until.ts';
import { claudeCode } from './agents/claude-code.ts';
import { codex, codexConfig } from './agents/codex.ts';
import { opencode } from './agents/opencode.ts';
import { installClient } from './install-client.ts';
import { useStarted } from '../helpers/use-started.ts';
import { useFolder } from '../helpers/files/temporary-folder.ts';

interface Session {
  id: string;
  program: string;
  sums: { requests: number; toolMs: number };
  main: { requests: number; toolMs: number };
  running: { agent?: string }[];
  tree: { id: string; type?: string; parent?: string; sums: { requests: number } }[];
}

const folder = useFolder();
const cluster = useStarted(() => startCluster(), 120_000);
const rtr = adminCommandsOf(cluster);
mkdirSync(join(folder, '.codex'));

/** The sessions of a program, as `rtr sessions` has them. */
async function sessionsOf(program: string): Promise<Session[]> {
  const lines = await rtr('sessions', 'list', '--json');
  const listed = lines.map((line) => JSON.parse(line) as Session).filter((each) => each.program === program);
  return Promise.all(listed.map(({ id }) => rtr.json('sessions', 'show', id) as Promise<Session>));
}

/** The session of a program that has a turn of an agent running. */
async function whileItsAgentRuns(program: string): Promise<Session> {
  let found: Session | undefined;
  await until(async () => {
    found = (await sessionsOf(program)).find(({ running }) => running.some(({ agent }) => agent !== undefined));
    return found !== undefined;
  }, 60_000);
  if (!found) throw new Error('unreachable');
  return found;
}

/** The agent whose turn runs: that of the main agent may run beside it. */
function agentIn({ running }: Session): string | undefined {
  return running.find(({ agent }) => agent !== undefined)?.agent;
}

/** The sessions of a program when none of their turns runs any more, and all are counted. @param turns of the main agent */
async function whenOver(program: string, turns: number): Promise<Session[]> {
  let found: Session[] = [];
  await until(async () => {
    found = await sessionsOf(program);
    return found.every(
      ({ running, main, tree }) =>
        running.length === 0 && main.requests >= turns && tree.every(({ sums }) => sums.requests > 0),
    );
  });
  return found;
}

/**
 * Runs an agent until it has ended, and expects its session with an agent in it, which has one turn.
 * @param type of the agent in it, where the program tells it
 * @param turns of the main agent
 */
async function expectSession(program: string, type: object, turns: number, running: ReturnType<typeof runAgent>) {
  const live = await whileItsAgentRuns(program);
  expect(live.tree).toMatchObject([{ ...type, sums: { requests: 0 } }]);
  const { code, stderr } = await running;
  expect(code, stderr).toBe(0);
  const [session, ...others] = await whenOver(program, turns);
  expect(others).toEqual([]);
  const tree = [{ id: live.tree[0]?.id, ...type, sums: { requests: 1 } }];
  expect(session).toMatchObject({ id: live.id, main: { requests: turns }, tree });
  return { live, session };
}

/** A prompt of an agent, whose answer waits so that it is seen. */
const promptFor = (delayMs: number): string => `Say hello.\n[demo delay=${delayMs}]`;

describe('a session is seen while the agent that it has started runs, and has its turns', () => {
  it('of the real Claude Code, and the times of its tools', async () => {
    const installed = await installClient(claudeCode);
    const agent = { description: 'look', prompt: promptFor(8_000), subagent_type: 'Explore' };
    const prompt = [
      'Look.',
      '[demo call Bash {"command":"sleep 0.3"}]',
      `[demo call Agent ${JSON.stringify(agent)}]`,
      '[demo say "Done."]',
    ].join('\n');
    const environment = {
      ANTHROPIC_BASE_URL: `${cluster.url}/api/anthropic`,
      ANTHROPIC_AUTH_TOKEN: cluster.key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
      ENABLE_TOOL_SEARCH: 'false',
    };
    const args = ['-p', prompt, '--model', 'demo', '--allowedTools', 'Bash,Agent'];
    const running = runAgent(join(installed, 'node_modules/.bin/claude'), args, folder, environment);
    // The agent works beside it, and what it says at its end is one more turn.
    const { live, session } = await expectSession('claude-code', { type: 'Explore' }, 4, running);
    expect(agentIn(live)).toBe(live.tree[0]?.id);
    // The command, and not the agent, which took eight seconds.
    expect(session?.main.toolMs).toBeGreaterThanOrEqual(300);
    expect(session?.main.toolMs).toBeLessThan(7_000);
    const turns = await rtr('sessions', 'turns', live.id);
    expect(turns.join('\n')).toMatch(/demo +- +done +- +\d{3,4} /);
  });

  it('of the real Codex', async () => {
    const installed = await installClient(codex);
    writeFileSync(join(folder, '.codex/config.toml'), codexConfig(`${cluster.url}/api/openai/v1`));
    const prompt = [
      'Look.',
      `[demo call multi_agent_v1__spawn_agent ${JSON.stringify({ message: promptFor(30_000) })}]`,
      // What an agent says at its end would be a prompt without a script: at its own end, Codex leaves it.
      '[demo call exec_command {"cmd":"sleep 8"}]',
      '[demo say "Done."]',
    ].join('\n');
    const args = ['exec', '--skip-git-repo-check', '-m', 'demo', prompt];
    const command = join(installed, 'node_modules/.bin/codex');
    const running = runAgent(command, args, folder, { OPENAI_API_KEY: cluster.key });
    await expectSession('codex', { type: 'collab_spawn' }, 3, running);
  });

  it('of the real opencode, with the title of the session', async () => {
    const installed = await installClient(opencode);
    const agent = { description: 'look', prompt: promptFor(8_000), subagent_type: 'general' };
    const prompt = ['Look.', `[demo call task ${JSON.stringify(agent)}]`, '[demo say "Done."]'].join('\n');
    const options = { baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key };
    const models = { demo: { name: 'demo' } };
    const provider = { npm: '@ai-sdk/openai-compatible', name: 'Router', options, models };
    const config = { autoupdate: false, share: 'disabled', provider: { router: provider } };
    const environment = { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) };
    const command = join(installed, 'node_modules/.bin/opencode');
    // Of an argument it would quote the quotation marks.
    const running = runAgent(command, ['run', '-m', 'router/demo'], folder, environment, prompt);
    const { live } = await expectSession('opencode', {}, 3, running);
    expect(agentIn(live)).toBe(live.tree[0]?.id);
  });
});
