// @module-tag docker
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, inject, it } from 'vitest';
import { batchClients, chatLine, submit, untilBatch } from '../helpers/batches/batch-clients.ts';
import { openRaw, rawHead } from '../helpers/clients/raw-http.ts';
import { ComposeProject } from '../helpers/compose/compose-project.ts';
import { report } from '../helpers/compose/report.ts';
import { docker } from '../helpers/compose/run-command.ts';
import { Traffic } from '../helpers/compose/traffic.ts';

const options = inject('composeOptions');
// Each of the twenty clients has a slot: none waits for another one.
const compose = new ComposeProject({ ...options, env: { ...options.env, GPU_SLOTS: '32' } });
const { url, key } = inject('composeCluster') ?? { url: '', key: '' };
let attacker: string;

beforeAll(async () => {
  await compose.up();
  const printed = await compose.run('exec', '-T', 'ingress', 'rtr', 'keys', 'create', '--name', 'attacker');
  attacker = /rtr_\w+_\w+/.exec(printed)?.[0] ?? '';
});

/** Status of the answer to a body; 0 where the connection is closed without one. */
async function send(path: string, body: Buffer | string, headers: Record<string, string> = {}): Promise<number> {
  try {
    const answer = await fetch(`${url}/api${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${attacker}`, 'content-type': 'application/json', ...headers },
      body: new Uint8Array(Buffer.from(body)),
      signal: AbortSignal.timeout(60_000),
    });
    await answer.text();
    return answer.status;
  } catch {
    return 0;
  }
}

/** A compressed body whose list has this element so many times. */
const compressed = (begin: string, element: string, times: number): Buffer =>
  gzipSync(`${begin}${element.repeat(times)}${element.replace(/,$/, '')}]}`);

const sendCompressed = (path: string, body: Buffer): Promise<number> =>
  send(path, body, { 'content-encoding': 'gzip' });

/** Several times the same at once. */
const atOnce = <T>(count: number, one: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => one(at)));

/** Opens connections that send this text and nothing more, leaves them for some seconds, and ends them. */
async function holdOpen(count: number, text: string, { isRead }: { isRead: boolean }): Promise<void> {
  const opened = await atOnce(count, () => openRaw(url));
  for (const { socket } of opened) {
    if (!isRead) socket.pause();
    socket.write(text);
  }
  await sleep(3_000);
  for (const { socket } of opened) socket.destroy();
}

const json = 'content-type: application/json';
const rawPost = (path: string, headers: string[], body: string): string =>
  rawHead(attacker, [json, ...headers], `/api${path}`) + body;

const chatPath = '/openai/v1/chat/completions';
const manyLists = compressed('{"model":"demo","messages":[', '[],', 12_000_000);
const manyNumbers = compressed('{"model":"demo","max_tokens":9,"messages":[', '1,', 15_000_000);
const longText = 'x'.repeat(30_000_000);
const item = '{"type":"message","role":"user","content":"x"},';
const manyItems = compressed('{"model":"demo","input":[', item, 1_000_000);

const held = { isRead: true };
const unread = { isRead: false };

/** What somebody with a key can send, and the statuses that may answer it. */
const attacks: Record<string, () => Promise<unknown>> = {
  'small bodies with millions of values': async () => {
    const paths = [chatPath, '/anthropic/v1/messages', '/openai/v1/responses'];
    const sent = [manyLists, manyNumbers].flatMap((body) => paths.map((path) => sendCompressed(path, body)));
    expect(new Set(await Promise.all(sent))).toEqual(new Set([413]));
  },
  'a conversation of a million items': async () =>
    expect(await sendCompressed('/openai/v1/responses', manyItems)).toBe(413),
  'arguments of 30 MB for a tool': async () => {
    const input = { expression: longText };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'calculator', arguments: input } };
    const statuses = await Promise.all([
      send('/tools/v1/execute', JSON.stringify({ tool: 'calculator', input })),
      send('/tools/mcp', JSON.stringify(call), { accept: 'application/json, text/event-stream' }),
    ]);
    for (const status of statuses) expect(status).toBeGreaterThanOrEqual(200);
  },
  'batches with lines of 30 MB': async () => {
    const { openai } = batchClients({ url, key: attacker });
    const lines = Array.from({ length: 4 }, (_, at) => chatLine(`long${at}`, longText));
    for (const { id } of await atOnce(2, () => submit(openai, lines))) {
      const { request_counts: counts } = await untilBatch(openai, id, ['completed', 'failed'], 120_000);
      expect(counts).toEqual({ total: 4, completed: 0, failed: 4 });
    }
  },
  '310 bodies that never end': () => holdOpen(310, rawPost(chatPath, ['content-length: 100000'], '{"model":'), held),
  '120 clients that read nothing': () => {
    const messages = [{ role: 'user', content: 'Go on.\n[demo tokens=2000000 rate=0]' }];
    const body = JSON.stringify({ model: 'demo', stream: true, messages });
    return holdOpen(120, rawPost(chatPath, [`content-length: ${body.length}`], body), unread);
  },
  'PUT requests to MCP whose bodies never end': () => {
    const head = rawHead(attacker, [json, 'content-length: 4190000'], '/api/tools/mcp', 'PUT');
    return holdOpen(120, head + 'x'.repeat(4_000_000), held);
  },
  'forms whose fields never end': () => {
    const field = `--a\r\ncontent-disposition: form-data; name="x"\r\n\r\n${'x'.repeat(131_000)}\r\n`;
    const headers = ['content-length: 90000000', 'content-type: multipart/form-data; boundary=a'];
    return holdOpen(30, rawHead(attacker, headers, '/api/openai/v1/images/edits') + field.repeat(20), held);
  },
  'bodies of strangers for the console that never end': () => {
    const head = `POST /console/api/session HTTP/1.1\r\nhost: x\r\norigin: http://x\r\n${json}`;
    return holdOpen(500, `${head}\r\ncontent-length: 65000\r\n\r\n{"a":"${'x'.repeat(64_000)}`, held);
  },
  'pipelined requests of strangers who read nothing': () =>
    holdOpen(20, 'GET /api/admin/v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(1_000), unread),
  'a body in chunks of a byte': () =>
    holdOpen(4, rawPost(chatPath, ['transfer-encoding: chunked'], '1\r\n \r\n'.repeat(300_000)), held),
  'thousands of keys that do not exist': () =>
    atOnce(20, async () => {
      for (let at = 0; at < 300; at += 1) {
        const headers = { authorization: `Bearer rtr_${randomBytes(6).toString('hex')}_${'a'.repeat(32)}` };
        const answer = await fetch(`${url}/api/openai/v1/models`, { headers });
        await answer.text();
        expect([401, 429]).toContain(answer.status);
      }
    }),
};

/** How often each container was started again or ended for its memory. */
async function deaths(): Promise<Record<string, string>> {
  const ids = (await compose.run('ps', '--all', '--quiet')).split('\n').filter(Boolean);
  const format = '{{.Name}} {{.RestartCount}} {{.State.StartedAt}} {{.State.OOMKilled}}';
  const lines = (await docker('inspect', '--format', format, ...ids)).split('\n').filter(Boolean);
  return Object.fromEntries(lines.map((line) => [line.split(' ')[0] ?? '', line.split(' ').slice(1).join(' ')]));
}

it.each(Object.entries(attacks))(
  'twenty clients of a cluster with the limits of the Compose file are served beside %s',
  async (name, attack) => {
    const before = await deaths();
    const traffic = new Traffic({ url, key, clients: 20 });
    try {
      await traffic.untilWhole(100, 60_000);
      const began = performance.now();
      await attack();
      const outcomes = (await traffic.stop()).filter(({ ended }) => ended >= began);
      const first = outcomes.map(({ firstMs = Infinity }) => firstMs).toSorted((a, b) => a - b);
      const at = (share: number): string => (first[Math.floor((first.length - 1) * share)] ?? NaN).toFixed(0);
      report(
        `${name}: ${outcomes.length} requests, first text after ${at(0.5)} ms, 95 %: ${at(0.95)} ms, all: ${at(1)} ms`,
      );
      expect(outcomes.filter(({ ending }) => ending !== 'whole')).toEqual([]);
      // Other suites may keep the machine busy: the report has the slowest ones.
      expect(Number(at(0.5))).toBeLessThan(1_000);
      expect(await deaths()).toEqual(before);
    } finally {
      await traffic.stop();
    }
  },
);
