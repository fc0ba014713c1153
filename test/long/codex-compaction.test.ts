// @module-tag codex
import { expect, it } from 'vitest';
import { commandOf } from '../helpers/clis/real-clis.ts';
import { runAgent } from '../helpers/clis/run-agent.ts';
import { shareCluster } from '../helpers/cluster/share-cluster.ts';
import { stopAfterTest } from '../helpers/stop-after-test.ts';
import { startRecordingProxy } from '../helpers/upstreams/start-recording-proxy.ts';
import { temporaryFolder } from '../helpers/files/temporary-folder.ts';

interface Asked {
  input: { type: string; encrypted_content?: string }[];
}

const read = (body: string) => JSON.parse(body) as Asked;

/** Has the engine end the turn once Codex goes on with a compacted conversation: it would call tools that a summary mentions. */
function ended(body: string): string {
  const request = read(body);
  if (!request.input.some(({ type }) => type === 'compaction')) return body;
  const message = { type: 'message', role: 'user', content: '[demo say "It is done."]' };
  return JSON.stringify({ ...request, input: [...request.input, message] });
}

it('Codex with its own provider compacts a long turn by a trigger, and goes on with the item that it got', async () => {
  const cluster = stopAfterTest(await shareCluster());
  const proxy = stopAfterTest(await startRecordingProxy(cluster.url, {}, ended));
  const folder = temporaryFolder();
  const address = `openai_base_url="${proxy.url}/api/openai/v1"`;
  const settings = ['-c', address, '-c', 'model_auto_compact_token_limit=1000', '-c', 'analytics.enabled=false'];
  const args = ['exec', '--json', '--skip-git-repo-check', '-m', 'demo', ...settings];
  const prompt = '[demo call exec_command {"cmd":"echo hi"}]';
  const run = await runAgent(commandOf('codex'), [...args, prompt], folder, { CODEX_API_KEY: cluster.key });
  expect(run.stdout.slice(-2_000), run.stderr.slice(-2_000)).toContain('"turn.completed"');
  expect(run.stdout).toContain('It is done.');
  const asked = proxy.bodies.map(read);
  const types = asked.map(({ input }) => input.map(({ type }) => type));
  const at = types.findIndex((each) => each.at(-1) === 'compaction_trigger');
  expect(at, JSON.stringify(types)).toBeGreaterThan(0);
  const next = asked[at + 1]?.input.filter(({ type }) => type === 'compaction');
  expect(next).toHaveLength(1);
  expect(next?.[0]?.encrypted_content?.length).toBeGreaterThan(100);
});
