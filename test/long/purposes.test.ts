import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { readUsage } from '../helpers/accounts/read-usage.ts';
import { findCli } from '../helpers/clis/install-clis.ts';
import { runAgent } from '../helpers/clis/run-agent.ts';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { withRegistry } from '../helpers/cluster/with-registry.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';
import { useFolder } from '../helpers/files/temporary-folder.ts';

const [claude = '', codex = '', opencode = ''] = [findCli('claude'), findCli('codex'), findCli('opencode')];

/** Every program asks for a name of its own, so that its requests are told apart in the ledger. */
const rules = `
    targets: [{ model: big }]
    purposes:
      auxiliary: { targets: [{ model: small }] }
      compaction: { targets: [{ model: small }] }`;
const registry = `
models:
  by-signs: ${rules}
      subagent: { targets: [{ model: small }] }
      workflow: { targets: [{ model: small }] }
  by-hints: ${rules}
      workflow: { targets: [{ model: small }] }
    agents:
      Explore: { targets: [{ model: small }] }
  codex: ${rules}
      subagent: { targets: [{ model: small }] }
  codex-memory: ${rules}
  chat: ${rules}
  messages: ${rules}
  responses: ${rules}
`;

const folder = useFolder();
const options = { engine: { DEMO_MODELS: 'big,small' }, ingress: withRegistry(registry) };
const cluster = useStarted(() => startCluster(options));

/** For what, and by which model, requests for a name were served, each pair once. */
async function servedFor(name: string, isComplete: (found: readonly UsageRecord[]) => boolean): Promise<string[]> {
  let found: UsageRecord[] = [];
  await until(async () => {
    found = (await readUsage(cluster.prefix)).filter(({ asked }) => asked === name);
    return isComplete(found);
  });
  return [...new Set(found.map(({ purpose, model }) => `${purpose}: ${model}`))].toSorted();
}

const allOf =
  (...purposes: string[]) =>
  (found: readonly UsageRecord[]) =>
    purposes.every((purpose) => found.some((each) => each.purpose === purpose));

describe.concurrent('Claude Code', { tags: ['claude'] }, () => {
  const start = (model: string, args: readonly string[], input?: string, lastOutput?: string) => {
    const environment = {
      ANTHROPIC_BASE_URL: `${cluster.url}/api/anthropic`,
      ANTHROPIC_AUTH_TOKEN: cluster.key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
      // Every tool is on offer from the start.
      ENABLE_TOOL_SEARCH: 'false',
      ...(model === 'by-hints' && { CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1' }),
    };
    // Each has a home of its own: both run at the same time.
    const home = join(folder, model);
    mkdirSync(home, { recursive: true });
    return runAgent(claude, ['-p', '--model', model, ...args], home, environment, input, lastOutput);
  };
  const ask = (model: string, prompt: string, ...args: string[]) =>
    start(model, [prompt, '--output-format', 'json', ...args]);
  const askForTitle = (model: string) => {
    const request = { subtype: 'generate_session_title', description: 'Find the badgers.', persist: false };
    const line = JSON.stringify({ type: 'control_request', request_id: 'r', request });
    const flags = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
    // At the end of its input it would quit, without the title that it has begun to ask for.
    return start(model, flags, `${line}\n`, '"control_response"');
  };
  const explore = '[demo call Agent {"description":"look","prompt":"Say hello.","subagent_type":"Explore"}]';
  const script = "export const meta = { name: 'greet', description: 'Greets.' }\nreturn await agent('Say hello.')";
  const workflow = `Use a workflow.\n[demo call Workflow ${JSON.stringify({ script })}]`;
  const search = '[demo call WebSearch {"query":"what is a badger"}]';

  it.for([
    ['by-signs', 'its signs', 'models.by-signs.purposes.subagent'],
    ['by-hints', 'its hint headers', 'models.by-hints.agents.Explore'],
  ])(
    'asking for %s has its titles, agents, workflows, searches and compactions run on the model of the rules, by %s',
    async ([name = '', , rule], { expect }) => {
      const title = await askForTitle(name);
      expect(title.stdout, title.stderr).toContain('control_response');
      expect(await servedFor(name, allOf('auxiliary')), title.stderr).toEqual(['auxiliary: small']);

      const agent = await ask(name, explore, '--allowedTools', 'Agent');
      expect(JSON.parse(agent.stdout), agent.stderr).toMatchObject({ is_error: false });
      const early = await servedFor(name, allOf('main', 'subagent'));
      expect(early).toEqual(['auxiliary: small', 'main: big', 'subagent: small']);
      const own = (await readUsage(cluster.prefix)).filter(({ asked }) => asked === name);
      expect(own.find(({ purpose }) => purpose === 'subagent')).toMatchObject({ rule });

      const flow = await ask(name, workflow, '--allowedTools', 'Workflow');
      expect(JSON.parse(flow.stdout), flow.stderr).toMatchObject({ is_error: false });
      expect(await servedFor(name, allOf('workflow'))).toContain('workflow: small');

      await ask(name, search, '--allowedTools', 'WebSearch');
      const { session_id: session } = JSON.parse(agent.stdout) as { session_id: string };
      await ask(name, '/compact', '--resume', session);
      const isWhole = (found: readonly UsageRecord[]) =>
        found.filter(({ purpose }) => purpose === 'auxiliary').length > 1 && allOf('compaction')(found);
      const served = await servedFor(name, isWhole);
      expect(served).toEqual([...early, 'compaction: small', 'workflow: small'].toSorted());
    },
  );
});

describe('Codex', { tags: ['codex'] }, () => {
  const ask = (prompt: string, ...settings: string[]) => {
    const provider = `{name="Router",base_url="${cluster.url}/api/openai/v1",env_key="RTR_KEY",wire_api="responses"}`;
    const own = ['model_provider="router"', `model_providers.router=${provider}`, 'analytics.enabled=false'];
    const all = [...own, ...settings];
    const args = ['exec', '--json', '--skip-git-repo-check', '-m', 'codex', ...all.flatMap((each) => ['-c', each])];
    return runAgent(codex, [...args, prompt], folder, { RTR_KEY: cluster.key });
  };

  it('has its agents and compactions run on the model of the rules', async () => {
    // The agent names no tools: its answer may become a message of the user, for which the engine would call them.
    const message = '[demo say "Hello."]';
    const agent = await ask(`[demo call multi_agent_v1__spawn_agent ${JSON.stringify({ message })}]`);
    expect(agent.stdout, agent.stderr).toContain('"turn.completed"');
    expect(await servedFor('codex', allOf('main', 'subagent'))).toEqual(['main: big', 'subagent: small']);

    const long = await ask('[demo call exec_command {"cmd":"echo hi"}]', 'model_auto_compact_token_limit=1000');
    expect(long.stdout, long.stderr).toContain('"turn.completed"');
    const served = await servedFor('codex', allOf('main', 'compaction'));
    expect(served).toEqual(['compaction: small', 'main: big', 'subagent: small']);
  });

  it('has its memories written, and approvals reviewed, by the model of the rule', async () => {
    const memories = ['features.memories=true', 'memories.min_rollout_idle_hours=0'];
    const byModel = ['memories.extract_model="codex-memory"', 'memories.consolidation_model="codex-memory"'];
    // The memories of earlier sessions are written while a turn runs.
    const remembered = await ask('[demo call exec_command {"cmd":"sleep 4"}]', ...memories, ...byModel);
    expect(remembered.stdout, remembered.stderr).toContain('"turn.completed"');
    expect(await servedFor('codex-memory', allOf('auxiliary'))).toEqual(['auxiliary: small']);

    const escalated = { cmd: 'echo hi', sandbox_permissions: 'require_escalated', justification: 'It is needed.' };
    const call = `[demo call exec_command ${JSON.stringify(escalated)}]`;
    const reviewed = await ask(call, 'approval_policy="on-request"', 'approvals_reviewer="auto_review"');
    expect(reviewed.stdout, reviewed.stderr).toContain('"turn.completed"');
    expect(await servedFor('codex', allOf('auxiliary'))).toContain('auxiliary: small');
  });
});

describe('opencode', { tags: ['opencode'] }, () => {
  it.each([
    { format: 'chat', npm: '@ai-sdk/openai-compatible', path: '/api/openai/v1' },
    { format: 'messages', npm: '@ai-sdk/anthropic', path: '/api/anthropic/v1' },
    { format: 'responses', npm: '@ai-sdk/openai', path: '/api/openai/v1' },
  ])('has its titles written by the model of the rule in the $format format', async ({ format, npm, path }) => {
    const options = { baseURL: cluster.url + path, apiKey: cluster.key };
    const provider = { npm, name: 'Router', options, models: { [format]: { name: format } } };
    const config = { autoupdate: false, share: 'disabled', provider: { router: provider } };
    const args = ['run', '--format', 'json', '-m', `router/${format}`, 'Say hello to the badger.'];
    const environment = { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) };
    const { stdout, stderr } = await runAgent(opencode, args, folder, environment);
    expect(stdout, stderr).toContain('Say hello to the badger.');
    expect(await servedFor(format, allOf('main', 'auxiliary'))).toEqual(['auxiliary: small', 'main: big']);
  });
});
