import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { startProcess } from '../helpers/processes/start-process.ts';
import { findLlamaServer, startLlamaServer } from '../helpers/upstreams/start-llama-server.ts';
import { startScriptFront, type ScriptFront } from '../helpers/upstreams/start-script-front.ts';
import { codex } from './agents/codex.ts';
import { installClient } from './install-client.ts';
import { runCommand } from './run-command.ts';

const program = findLlamaServer();
const patch = ['*** Begin Patch', '*** Update File: note.txt', '@@', '-fridge', '+bathtub', '*** End Patch'].join('\n');
const shell = "printf 'It is in the %s.' $(cat note.txt) | tee found.txt";

let installed: string;
beforeAll(async () => {
  installed = await installClient(codex);
}, 600_000);

/** One engine behind the router: its front, the cluster, and how to end both. */
interface Place {
  front: ScriptFront;
  cluster: Cluster;
  stop(): Promise<void>;
}

/** A model of this name makes Codex offer `apply_patch` as a custom tool with a grammar. */
const model = 'gpt-5.5';

async function onDemoEngine(): Promise<Place> {
  const engine = startProcess('services/demo-engine/main.ts', {
    PORT: '0',
    DEMO_MODELS: model,
    DEMO_TOKENS_PER_SECOND: '0',
  });
  const { url } = await engine.line('demo engine is ready');
  return behindGpuWorker(String(url), false, async () => void (await engine.stop()));
}

async function onLlamaServer(): Promise<Place> {
  const llama = await startLlamaServer(program ?? '', { slots: 1, context: 131_072, alias: model });
  return behindGpuWorker(llama.url, true, () => llama.stop());
}

async function onItsResponses(): Promise<Place> {
  const llama = await startLlamaServer(program ?? '', { slots: 1, context: 131_072, alias: model });
  const front = await startScriptFront(llama.url, { force: true });
  const cluster = await startCluster({ workers: 0, engineUrl: front.url });
  await cluster.addCloudWorker({
    PROVIDER: 'custom',
    PROVIDER_URL: `${front.url}/v1`,
    PROVIDER_FORMAT: 'responses',
    PROVIDER_KEY: 'none',
  });
  return placeOf(front, cluster, () => llama.stop());
}

async function behindGpuWorker(engineUrl: string, force: boolean, stopEngine: () => Promise<void>): Promise<Place> {
  const front = await startScriptFront(engineUrl, { force });
  return placeOf(front, await startCluster({ engineUrl: front.url }), stopEngine);
}

function placeOf(front: ScriptFront, cluster: Cluster, stopEngine: () => Promise<void>): Place {
  const stop = async (): Promise<void> => {
    await cluster.stop();
    await front.stop();
    await stopEngine();
  };
  return { front, cluster, stop };
}

describe.each([
  { name: 'the demo engine', start: onDemoEngine, skip: false },
  { name: 'llama-server', start: onLlamaServer, skip: program === undefined },
])('Codex on $name', ({ start, skip }) => {
  let place: Place;
  beforeAll(async () => {
    if (!skip) place = await start();
  });
  afterAll(() => place?.stop());

  it.skipIf(skip)('edits a file with its grammar tool, then runs a command', async () => {
    const { front, folder, out } = await turn(place, [
      `[demo call apply_patch ${JSON.stringify({ input: patch })}]`,
      `[demo call exec_command ${JSON.stringify({ cmd: shell })}]`,
      '[demo say "The umbrella has moved."]',
    ]);
    expect(out).toContain('The umbrella has moved.');
    expect(readFileSync(join(folder, 'note.txt'), 'utf8')).toBe('bathtub\n');
    expect(readFileSync(join(folder, 'found.txt'), 'utf8')).toBe('It is in the bathtub.');
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
});

describe.skipIf(program === undefined)('Codex on the Responses API of llama-server', () => {
  let place: Place;
  beforeAll(async () => {
    place = await onItsResponses();
  });
  afterAll(() => place?.stop());

  it('edits a file by a patch in a command, then runs another', async () => {
    const edit = `apply_patch <<'EOF'\n${patch}\nEOF`;
    const { front, folder, out } = await turn(place, [
      `[demo call exec_command ${JSON.stringify({ cmd: edit })}]`,
      `[demo call exec_command ${JSON.stringify({ cmd: shell })}]`,
      '[demo say "The umbrella has moved."]',
    ]);
    expect(out).toContain('The umbrella has moved.');
    expect(readFileSync(join(folder, 'note.txt'), 'utf8')).toBe('bathtub\n');
    expect(readFileSync(join(folder, 'found.txt'), 'utf8')).toBe('It is in the bathtub.');
    const input = (front.asked.at(-1)?.['input'] as Json[] | undefined)?.filter(isJsonObject) ?? [];
    const ids = (type: string): unknown[] =>
      input.filter((item) => item['type'] === type).map((item) => item['call_id']);
    expect(ids('function_call')).toHaveLength(2);
    expect(ids('function_call_output')).toEqual(ids('function_call'));
    expect(front.asked[0]).toMatchObject({ model, store: false, include: ['reasoning.encrypted_content'] });
  });
});

/** Runs Codex in a folder with note.txt, and expects that it ends well. */
async function turn(
  { front, cluster }: Place,
  script: string[],
): Promise<{ front: ScriptFront; folder: string; out: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-codex-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'note.txt'), 'fridge\n');
  const prompt = ['Move the umbrella.', ...script].join('\n');
  const { url, key } = cluster;
  const asked = { format: 'responses', model, prompt, url, key, installed, folder };
  const { code, out, err } = await runCommand(codex.start(asked), asked, 120_000);
  expect({ code, err: code === 0 ? '' : err.replaceAll(key, '(the key)') }).toEqual({ code: 0, err: '' });
  return { front, folder, out };
}

function readCall(named: Json | undefined): JsonObject {
  const { name = null, arguments: json = '' } = isJsonObject(named) ? named : {};
  return { name, arguments: JSON.parse(json as string) as Json };
}

function textOf(message: JsonObject | undefined): string {
  return JSON.stringify(message?.['content']);
}
