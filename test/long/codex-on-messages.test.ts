// @module-tag codex
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { findCli } from '../helpers/clis/install-clis.ts';
import { runAgent } from '../helpers/clis/run-agent.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { startMessagesUpstream } from '../helpers/upstreams/start-messages-upstream.ts';
import { withoutFields } from '../shared/translate/without-fields.ts';
import { useStarted } from '../helpers/use-started.ts';
import { useFolder } from '../helpers/files/temporary-folder.ts';

const codex = findCli('codex') ?? '';

/** A name for which Codex offers `apply_patch` as a custom tool with a grammar. */
const model = 'gpt-5.5';
const patch = '*** Begin Patch\n*** Add File: badger.txt\n+umbrella “blue”\n*** End Patch';
const answers: JsonObject[][] = [
  [
    { type: 'thinking', thinking: 'First a command, naïvely.', signature: 'EqkCfirst==' },
    { type: 'tool_use', id: 'toolu_1', name: 'exec_command', input: { cmd: 'echo badger-$((40 + 2))' } },
  ],
  [
    { type: 'thinking', thinking: '', signature: 'EqkChidden==' },
    { type: 'redacted_thinking', data: 'EmwKopaque==' },
    { type: 'text', text: 'Now the file.' },
    { type: 'tool_use', id: 'toolu_2', name: 'apply_patch', input: { input: patch } },
  ],
  [{ type: 'text', text: 'The umbrella is there.' }],
];

const folder = useFolder();
const upstream = useStarted(() => startMessagesUpstream([model], (_, at) => answers[Math.min(at, 2)] ?? []));
const cluster = useCluster({ workers: 0, engineUrl: 'http://127.0.0.1:9' });
beforeAll(async () => {
  const url = `${upstream.url}/v1`;
  await cluster.addCloudWorker({ PROVIDER: 'anthropic', PROVIDER_URL: url, ANTHROPIC_API_KEY: 'sk-ant-secret' });
});

it('Codex on a messages upstream runs a command and edits a file, with its thinking given back as it came', async () => {
  const provider = `{name="Router",base_url="${cluster.url}/api/openai/v1",env_key="RTR_KEY",wire_api="responses"}`;
  const settings = ['model_provider="router"', `model_providers.router=${provider}`, 'analytics.enabled=false'];
  const flags = ['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-m', model];
  const args = ['exec', ...flags, ...settings.flatMap((each) => ['-c', each]), 'Hide the umbrella.'];
  const { stdout, stderr, code } = await runAgent(codex, args, folder, { RTR_KEY: cluster.key });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toContain('The umbrella is there.');
  expect(readFileSync(join(folder, 'badger.txt'), 'utf8')).toBe('umbrella “blue”\n');

  const requests = upstream.calls.map(({ body }) => body);
  expect(requests).toHaveLength(3);
  const histories = requests.map(({ messages }) => withoutFields(messages, ['cache_control']) as JsonObject[]);
  const [first = [], second = [], third = []] = histories;
  // Each request begins as the one before, so that the upstream finds it in its cache.
  expect(second.slice(0, first.length)).toEqual(first);
  expect(third.slice(0, second.length)).toEqual(second);
  const turn = (at: number, result: string) => {
    const content = expect.stringContaining(result) as string;
    const results = [{ type: 'tool_result', tool_use_id: `toolu_${at + 1}`, content }];
    return [
      { role: 'assistant', content: answers[at] },
      { role: 'user', content: results },
    ];
  };
  expect(second.slice(first.length)).toEqual(turn(0, 'badger-42'));
  expect(third.slice(second.length)).toEqual(turn(1, 'badger.txt'));
  for (const { messages, thinking, tools } of requests) {
    expect(JSON.stringify((messages as Json[]).at(-1))).toContain('cache_control');
    expect(thinking).toMatchObject({ type: 'adaptive' });
    expect((tools as JsonObject[]).map(({ name }) => name)).toEqual(
      // Without a sandbox, Codex wants the web searched.
      expect.arrayContaining(['exec_command', 'apply_patch', 'tool_search', 'web_search']),
    );
  }
});
