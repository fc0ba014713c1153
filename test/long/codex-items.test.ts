// @module-tag codex
import { expect, it } from 'vitest';
import { commandOf } from '../helpers/clis/real-clis.ts';
import { runAgent } from '../helpers/clis/run-agent.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { stopAfterTest } from '../helpers/stop-after-test.ts';
import { startRecordingProxy } from '../helpers/upstreams/start-recording-proxy.ts';
import { temporaryFolder } from '../helpers/files/temporary-folder.ts';

interface Asked {
  input: { type: string; encrypted_content?: string; call_id?: string; output?: string }[];
}

const cluster = useCluster();
const read = (body: string) => JSON.parse(body) as Asked;

/**
 * Runs a turn of Codex with its own provider.
 * @param rewrite changes the body of a request
 * @returns what Codex prints, and the bodies of its requests
 */
async function runTurn(prompt: string, settings: readonly string[], rewrite?: (body: string) => string) {
  const proxy = stopAfterTest(await startRecordingProxy(cluster.url, {}, rewrite));
  const all = [`openai_base_url="${proxy.url}/api/openai/v1"`, 'analytics.enabled=false', ...settings];
  const args = ['exec', '--json', '--skip-git-repo-check', '-m', 'demo', ...all.flatMap((each) => ['-c', each])];
  const run = await runAgent(commandOf('codex'), [...args, prompt], temporaryFolder(), { CODEX_API_KEY: cluster.key });
  expect(run.stdout.slice(-2_000), run.stderr.slice(-2_000)).toContain('"turn.completed"');
  return { stdout: run.stdout, asked: proxy.bodies.map(read) };
}

/** Has the engine end the turn once Codex goes on with a compacted conversation: it would call tools that a summary mentions. */
function ended(body: string): string {
  const request = read(body);
  if (!request.input.some(({ type }) => type === 'compaction')) return body;
  const message = { type: 'message', role: 'user', content: '[demo say "It is done."]' };
  return JSON.stringify({ ...request, input: [...request.input, message] });
}

it('Codex with its own provider compacts a long turn by a trigger, and goes on with the item that it got', async () => {
  const prompt = '[demo call exec_command {"cmd":"echo hi"}]';
  const { stdout, asked } = await runTurn(prompt, ['model_auto_compact_token_limit=1000'], ended);
  expect(stdout).toContain('It is done.');
  const types = asked.map(({ input }) => input.map(({ type }) => type));
  const at = types.findIndex((each) => each.at(-1) === 'compaction_trigger');
  expect(at, JSON.stringify(types)).toBeGreaterThan(0);
  const next = asked[at + 1]?.input.filter(({ type }) => type === 'compaction');
  expect(next).toHaveLength(1);
  expect(next?.[0]?.encrypted_content?.length).toBeGreaterThan(100);
});

it('Codex goes on with a goal, which it tells in an output that no call asked for', async () => {
  const { stdout, asked } = await runTurn('[demo call create_goal {"objective":"Hide."}]', []);
  expect(stdout).toContain('You said “Output of agent.goal_objective:\\nHide.”');
  const told = asked.flatMap(({ input }) => input).filter(({ type, call_id: id }) => type.endsWith('_output') && !id);
  expect(told).toContainEqual(expect.objectContaining({ output: 'Hide.' }));
});
