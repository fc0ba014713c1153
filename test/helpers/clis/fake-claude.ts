#!/usr/bin/env node
/**
 * Behaves like Claude Code with streamed input, without an upstream. It answers with all input that this process has received, and follows
 * a word in brackets in the last text: `[status]` answers with its arguments, environment and folder, `[die]` ends by SIGKILL after the
 * first piece, `[silent]` is silent until it is interrupted, `[hang]` is silent after the first piece and ignores interrupts, `[slow]`
 * answers for long, `[obey]` too, but stops when interrupted, `[rubbish]` prints a line that is not JSON, `[flood]` a line without end,
 * `[replay NAME]` prints a recorded answer.
 * `FAKE_START` in its environment: `die` or `hang` before it is ready, `slow` becomes ready a second later.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

interface Message {
  type: string;
  request_id?: string;
  request?: {
    subtype: string;
    systemPrompt?: string;
    sdkMcpServers?: string[];
    settings?: { model?: string; env?: Record<string, string> };
  };
  message?: { content: { type: string; text?: string }[] };
  shouldQuery?: boolean;
}

const history: string[] = [];
let system = '';
let model = process.argv[process.argv.indexOf('--model') + 1] ?? '';
let interrupted = false;
let fields: unknown;

if (process.env['FAKE_START'] === 'die') {
  process.stderr.write('this CLI is broken\n');
  process.exit(3);
}
if (process.env['FAKE_START'] === 'hang') await new Promise(() => setInterval(() => undefined, 1000));
if (process.env['FAKE_START'] === 'slow') await sleep(1_000);
process.on('SIGTERM', () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  // Not awaited: it reads while it answers.
  void take(JSON.parse(line) as Message);
}
process.exit(0);

async function take(message: Message): Promise<void> {
  if (message.type === 'control_request') control(message);
  else if (message.type === 'control_response') return;
  else if (message.type === 'assistant') history.push(`assistant: ${textOf(message)}`);
  else if (message.shouldQuery === false) {
    if (message.message?.content.length !== 0) history.push(`user: ${textOf(message)}`);
    print({ type: 'result', subtype: 'success', is_error: false, result: '' });
  } else await answer(textOf(message));
}

function control({ request_id: id, request }: Message): void {
  if (request?.subtype === 'initialize') system = request.systemPrompt ?? '';
  for (const server of request?.sdkMcpServers ?? []) {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    print({
      type: 'control_request',
      request_id: 't',
      request: { subtype: 'mcp_message', server_name: server, message },
    });
  }
  if (request?.settings?.model !== undefined) model = request.settings.model;
  if (request?.settings?.env) fields = JSON.parse(request.settings.env['CLAUDE_CODE_EXTRA_BODY'] ?? 'null');
  if (request?.subtype === 'interrupt') interrupted = true;
  print({ type: 'control_response', response: { subtype: 'success', request_id: id } });
}

async function answer(asked: string): Promise<void> {
  const replay = /\[replay ([\w-]+)\]/.exec(asked)?.[1];
  if (replay !== undefined) {
    for (const line of recorded(replay)) process.stdout.write(`${line}\n`);
    return;
  }
  if (asked.includes('[silent]')) {
    while (!isInterrupted()) await sleep(10);
    print({ type: 'result', subtype: 'error_during_execution', is_error: true });
    return;
  }
  const usage = { input_tokens: 5, output_tokens: 1, cache_read_input_tokens: 2, cache_creation_input_tokens: 1 };
  const opening = { id: 'msg', type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage };
  event({ type: 'message_start', message: opening });
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
  if (asked.includes('[rubbish]')) process.stdout.write('Segmentation fault, or was it?\n');
  if (asked.includes('[flood]')) for (;;) await write('x'.repeat(1024 * 1024));
  say(
    asked.includes('[status]')
      ? status()
      : `Received ${JSON.stringify({ system, model, history })}. You said: ${asked}`,
  );
  if (asked.includes('[die]')) process.kill(process.pid, 'SIGKILL');
  if (asked.includes('[hang]')) return;
  const pieces = asked.includes('[slow]') || asked.includes('[obey]') ? 1000 : 0;
  for (let at = 0; at < pieces; at += 1) {
    if (isInterrupted() && asked.includes('[obey]')) break;
    await sleep(10);
    say(' more');
  }
  event({ type: 'content_block_stop', index: 0 });
  if (interrupted) {
    print({ type: 'result', subtype: 'error_during_execution', is_error: true });
    return;
  }
  event({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 7 },
  });
  event({ type: 'message_stop' });
}

function isInterrupted(): boolean {
  return interrupted;
}

function status(): string {
  return JSON.stringify({
    pid: process.pid,
    args: process.argv.slice(2),
    environment: process.env,
    cwd: process.cwd(),
    files: readdirSync('.'),
    fields,
  });
}

function recorded(name: string): string[] {
  const file = new URL(`../../fixtures/clis/claude/${name}.jsonl`, import.meta.url);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.slice(lines.findIndex((line) => line.includes('"subtype":"init"')));
}

function say(text: string): void {
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
}

function event(data: object): void {
  print({ type: 'stream_event', event: data });
}

function print(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function write(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(text, () => resolve());
  });
}

function textOf({ message }: Message): string {
  return (message?.content ?? []).map(({ type, text }) => text ?? `(${type})`).join('|');
}
