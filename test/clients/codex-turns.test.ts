// @module-tag llama-server
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { findLlamaServer, startLlamaServer } from '../helpers/upstreams/start-llama-server.ts';
import { startScriptFront } from '../helpers/upstreams/start-script-front.ts';
import { customProvider } from '../helpers/cluster/worker-settings.ts';
import { codex } from './agents/codex.ts';
import { installClient } from './install-client.ts';
import { runCommand } from './run-command.ts';
import { stopAfterTest } from '../helpers/stop-after-test.ts';
import { useStarted } from '../helpers/use-started.ts';
import { temporaryFolder } from '../helpers/files/temporary-folder.ts';

const patch = ['*** Begin Patch', '*** Update File: note.txt', '@@', '-fridge', '+bathtub', '*** End Patch'].join('\n');
const shell = "printf 'It is in the %s.' $(cat note.txt) | tee found.txt";

/** A model of this name makes Codex offer `apply_patch` as a custom tool with a grammar. */
const model = 'gpt-5.5';

let installed: string;
const llama = useStarted(
  () => startLlamaServer(findLlamaServer() ?? '', { slots: 1, context: 131_072, alias: model }),
  600_000,
);
const front = useStarted(() => startScriptFront(llama.url, { force: true }), 600_000);
beforeAll(async () => {
  installed = await installClient(codex);
}, 600_000);

it('Codex on llama-server edits a file with its grammar tool, then runs a command', async () => {
  const cluster = stopAfterTest(await startCluster({ engineUrl: front.url }));
  await moveUmbrella(cluster, `[demo call apply_patch ${JSON.stringify({ input: patch })}]`);
  const history = front.asked.at(-1)?.['messages'] as JsonObject[];
  const calls = history.flatMap(({ tool_calls: made }) => (Array.isArray(made) ? made.filter(isJsonObject) : []));
  expect(calls.map(({ function: named }) => readCall(named))).toEqual([
    { name: 'apply_patch', arguments: { input: patch } },
    { name: 'exec_command', arguments: { cmd: shell } },
  ]);
  const results = history.filter(({ role }) => role === 'tool');
  expect(results.map(({ tool_call_id: id }) => id)).toEqual(calls.map(({ id }) => id));
  expect(textOf(results[0])).toContain('note.txt');
  expect(textOf(results[1])).toContain('It is in the bathtub.');
});

it('Codex on llama-server edits a file by a patch in a command, then runs another, over its Responses API', async () => {
  const cluster = stopAfterTest(await startCluster({ workers: 0, engineUrl: front.url }));
  await cluster.addCloudWorker(customProvider(front.url, 'responses'));
  const before = front.asked.length;
  const edit = `apply_patch <<'EOF'\n${patch}\nEOF`;
  await moveUmbrella(cluster, `[demo call exec_command ${JSON.stringify({ cmd: edit })}]`);
  const input = (front.asked.at(-1)?.['input'] as Json[] | undefined)?.filter(isJsonObject) ?? [];
  const ids = (type: string): unknown[] => input.filter((item) => item['type'] === type).map((item) => item['call_id']);
  expect(ids('function_call')).toHaveLength(2);
  expect(ids('function_call_output')).toEqual(ids('function_call'));
  expect(front.asked[before]).toMatchObject({ model, store: false, include: ['reasoning.encrypted_content'] });
});

/** Runs Codex in a folder with note.txt, which it edits as a line of the script says, and looks into afterwards. */
async function moveUmbrella({ url, key }: Cluster, edit: string): Promise<void> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'note.txt'), 'fridge\n');
  const look = `[demo call exec_command ${JSON.stringify({ cmd: shell })}]`;
  const prompt = ['Move the umbrella.', edit, look, '[demo say "The umbrella has moved."]'].join('\n');
  const asked = { format: 'responses', model, prompt, url, key, installed, folder };
  const { code, out, err } = await runCommand(codex.start(asked), asked, 120_000);
  expect({ code, err: code === 0 ? '' : err.replaceAll(key, '(the key)') }).toEqual({ code: 0, err: '' });
  expect(out).toContain('The umbrella has moved.');
  expect(readFileSync(join(folder, 'note.txt'), 'utf8')).toBe('bathtub\n');
  expect(readFileSync(join(folder, 'found.txt'), 'utf8')).toBe('It is in the bathtub.');
}

function readCall(named: Json | undefined): JsonObject {
  const { name = null, arguments: json = '' } = isJsonObject(named) ? named : {};
  return { name, arguments: JSON.parse(json as string) as Json };
}

function textOf(message: JsonObject | undefined): string {
  return JSON.stringify(message?.['content']);
}
