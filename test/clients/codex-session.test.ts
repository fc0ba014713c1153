import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { useFolder } from '../helpers/files/temporary-folder.ts';
import { until } from '../helpers/until.ts';
import { startProcess } from '../helpers/processes/start-process.ts';
import { startScriptFront } from '../helpers/upstreams/start-script-front.ts';
import { useStarted } from '../helpers/use-started.ts';
import { codex, codexConfig } from './agents/codex.ts';
import { startCodexAppServer } from './codex-app-server.ts';
import { installClient } from './install-client.ts';

const everything = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
/** One red pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const turns = 20;
const compactedAfter = 10;

const engineSettings = { PORT: '0', DEMO_MODELS: 'gpt-5.5', DEMO_OPTIONS: 'rate=0' };

const folder = useFolder();
const engine = useStarted(async () => startProcess('services/demo-engine/main.ts', engineSettings));
const front = useStarted(async () => {
  const { url } = await engine.line('demo engine is ready');
  return startScriptFront(String(url), { force: false });
});
const cluster = useStarted(() => startCluster({ engineUrl: front.url }));
const server = useStarted(async () => {
  const installed = await installClient(codex);
  mkdirSync(join(folder, 'home/.codex'), { recursive: true });
  writeFileSync(
    join(folder, 'home/.codex/config.toml'),
    `${codexConfig(`${cluster.url}/api/openai/v1`, 'live')}
[mcp_servers.everything]
command = "${process.execPath}"
args = ["${everything}", "stdio"]
`,
  );
  writeFileSync(join(folder, 'pixel.png'), Buffer.from(pixel, 'base64'));
  return startCodexAppServer(join(installed, 'node_modules/.bin/codex'), folder, {
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: join(folder, 'home'),
    OPENAI_API_KEY: cluster.key,
  });
}, 600_000);
let threadId: string;
beforeAll(async () => {
  const clientInfo = { name: 'test', title: null, version: '1' };
  await server.call('initialize', { clientInfo, capabilities: { experimentalApi: true } });
  const { thread } = await server.call('thread/start', { model: 'gpt-5.5', cwd: folder });
  threadId = (thread as { id: string }).id;
}, 600_000);

/** What a turn of this number has: the calls that the engine makes, and whether the user shows an image. */
function plan(turn: number): { calls: { name: string; arguments: JsonObject; result: string }[]; image: boolean } {
  const call = (name: string, given: JsonObject, result: string) => ({ name, arguments: given, result });
  const said = `turn ${turn}`;
  const cmd = `echo ${said} >> log.txt && tail -n 1 log.txt`;
  const input = ['*** Begin Patch', `*** Add File: file-${turn}.txt`, `+${said}`, '*** End Patch'].join('\n');
  const echo = 'mcp__everything__echo';
  const calls = [
    [],
    [call('exec_command', { cmd }, said)],
    [call('apply_patch', { input }, `A file-${turn}.txt`)],
    // The namespaces of MCP servers are deferred for this model: a search that Codex runs finds their tools.
    [call('tool_search', { query: 'echo' }, echo), call(echo, { message: said }, `Echo: ${said}`)],
    [call('view_image', { path: join(folder, 'pixel.png') }, '')],
  ];
  return { calls: calls[turn % 5] ?? [], image: turn % 5 === 4 };
}

async function take(turn: number): Promise<JsonObject> {
  const { calls, image } = plan(turn);
  const lines = calls.map(({ name, arguments: given }) => `[demo call ${name} ${JSON.stringify(given)}]`);
  const prompt = [`Turn ${turn}.`, ...lines, `[demo say "This was turn ${turn}."]`].join('\n');
  const text = { type: 'text', text: prompt, text_elements: [] };
  const picture = { type: 'image', url: `data:image/png;base64,${pixel}` };
  const completed = server.next('turn/completed');
  const input = image ? [text, picture] : [text];
  await server.call('turn/start', { threadId, input, effort: 'medium', summary: 'auto' });
  return completed;
}

describe('a session of Codex with twenty turns', () => {
  it('runs commands, patches, tools of an MCP server and images, and compacts, without a refusal', async () => {
    for (let turn = 1; turn <= turns; turn += 1) {
      expect(await take(turn), `turn ${turn}`).toMatchObject({ turn: { status: 'completed', error: null } });
      if (turn !== compactedAfter) continue;
      const compacted = server.next('turn/completed');
      await server.call('thread/compact/start', { threadId });
      expect(await compacted).toMatchObject({ turn: { status: 'completed', error: null } });
    }
    const done = server.notifications.filter(({ method }) => method === 'item/completed');
    const items = done.map(({ params }) => params['item']).filter(isJsonObject);
    const counts = new Map([...Map.groupBy(items, ({ type }) => type)].map(([type, list]) => [type, list.length]));
    for (const type of ['commandExecution', 'fileChange', 'mcpToolCall', 'imageView']) {
      expect(counts.get(type), type).toBe(turns / 5);
    }
    expect(counts.get('agentMessage')).toBe(turns);
    expect(counts.get('contextCompaction')).toBe(1);
    const outcomes = () => cluster.ingress.lines.flatMap(({ outcome }) => (outcome === undefined ? [] : [outcome]));
    // One request for each call, one for each turn's words, and the compaction.
    await until(() => outcomes().length > turns * 2);
    expect(outcomes()).toEqual(Array.from({ length: turns * 2 + 1 }, () => 'done'));
  });

  it('leaves files that the calls have made', () => {
    expect(readFileSync(join(folder, 'log.txt'), 'utf8').trim().split('\n')).toHaveLength(turns / 5);
    expect(readFileSync(join(folder, `file-${turns - 3}.txt`), 'utf8')).toBe(`turn ${turns - 3}\n`);
  });

  it('brings every turn since the compaction to the engine, with thinking, calls, results and images', () => {
    const history = (front.asked.at(-1)?.['messages'] ?? []) as JsonObject[];
    const start = history.findIndex((message) => textOf(message).includes(`Turn ${compactedAfter + 1}.`));
    const rest = history.slice(start);
    for (let turn = compactedAfter + 1; turn <= turns; turn += 1) {
      const { calls, image } = plan(turn);
      const prompt = rest.shift() ?? {};
      expect(textOf(prompt)).toContain(`Turn ${turn}.`);
      expect(imagesOf(prompt), `turn ${turn}`).toHaveLength(image ? 1 : 0);
      for (const { name, arguments: given, result } of calls) {
        const [made = {}, answer = {}] = rest.splice(0, 2);
        expect(made).toMatchObject({ role: 'assistant', reasoning_content: expect.stringContaining(`Turn ${turn}.`) });
        const [call] = made['tool_calls'] as [{ id: string; function: { name: string; arguments: string } }];
        expect([call.function.name, JSON.parse(call.function.arguments)]).toEqual([name, given]);
        expect(answer).toMatchObject({ role: 'tool', tool_call_id: call.id });
        expect(textOf(answer)).toContain(result);
        if (name === 'view_image') expect(imagesOf(rest.shift() ?? {})).toHaveLength(1);
      }
      if (turn === turns) continue;
      expect(rest.shift()).toMatchObject({
        role: 'assistant',
        content: `This was turn ${turn}.`,
        reasoning_content: expect.stringContaining(`Turn ${turn}.`),
      });
    }
    expect(rest).toEqual([]);
  });
});

function textOf({ content }: JsonObject): string {
  return typeof content === 'string' ? content : JSON.stringify(partsOf(content).map(({ text }) => text));
}

function imagesOf({ content }: JsonObject): JsonObject[] {
  return partsOf(content).filter(({ type }) => type === 'image_url');
}

function partsOf(content: Json | undefined): JsonObject[] {
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}
