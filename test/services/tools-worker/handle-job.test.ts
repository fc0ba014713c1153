import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { createHandleJob } from '#services/tools-worker/handle-job.ts';
import type { Tool, ToolContext, ToolOutput } from '#services/tools-worker/tool.ts';
import { collectAnswer, grantedJob } from '../../helpers/broker/collect-answer.ts';

type Run = (input: object, context: ToolContext) => Promise<ToolOutput>;
const textOutput = (text: string): ToolOutput => ({ content: [{ type: 'text', text }], isError: false });

interface Settings {
  timeoutMs?: number;
  stream?: boolean;
  signal?: AbortSignal;
  check?: (bytes: number, owner: string | undefined) => Promise<void> | void;
  input?: JsonObject;
}

async function runJob(run: Run, settings: Settings = {}): Promise<string> {
  const {
    timeoutMs = 20_000,
    stream = false,
    signal = new AbortController().signal,
    check,
    input = { a: 1 },
  } = settings;
  const tool: Tool = { name: 'tool', description: '', inputSchema: {}, run };
  const handle = createHandleJob({
    tools: { get: () => tool, findCheck: () => async (_, bytes, owner) => check?.(bytes, owner) },
    linkedServers: { findRun: () => run },
    timeoutMs,
    maxCallBytes: 300_000,
    maxOutputBytes: 200,
  });
  const body = { tool: 'tool', input };
  const job = grantedJob('tool', { operation: 'execute_tool', format: 'tools', ownerMark: 'an owner', stream, body });
  const { write, text } = collectAnswer();
  await handle(job, { addHeaders: () => undefined, write }, signal);
  return text();
}

describe('running a tool', () => {
  it('answers with the output of the tool', async () => {
    const run: Run = (input) =>
      Promise.resolve({ ...textOutput(JSON.stringify(input)), structuredContent: { b: 2 }, isError: true });
    expect(JSON.parse(await runJob(run))).toEqual({
      tool: 'tool',
      is_error: true,
      content: [{ type: 'text', text: '{"a":1}' }],
      structured_content: { b: 2 },
    });
  });

  it.each([
    ['one character outside of Latin-1', 'Ā', 2_800, false],
    ['that character, and fewer texts', 'Ā', 1_000, true],
    ['no such character', 'ÿ', 2_800, true],
  ])('refuses an input whose texts take too much memory: %s', async (_, text, count, isRun) => {
    const run = vi.fn<Run>(() => Promise.resolve(textOutput('')));
    const answer = runJob(run, { input: { text, texts: Array(count).fill('x'.repeat(97)) } });
    if (isRun) await answer;
    else await expect(answer).rejects.toMatchObject({ code: 'body_too_large' });
    expect(run).toHaveBeenCalledTimes(isRun ? 1 : 0);
  });

  it('checks the input with the bytes of the call, and input and output in the turn of its owner', async () => {
    const checked: unknown[] = [];
    const check: Settings['check'] = (...args) => void checked.push(...args);
    const run: Run = async (_, { owner }) => textOutput(String(owner));
    expect(JSON.parse(await runJob(run, { check }))).toMatchObject({ content: [{ text: 'an owner' }] });
    expect(checked).toEqual([31, 'an owner']);
  });

  it('reports progress to clients that stream only', async () => {
    const run: Run = (_, { progress }) => {
      progress({ progress: 1, total: 2 });
      return Promise.resolve(textOutput('done'));
    };
    const lines = (await runJob(run, { stream: true })).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      { progress: { progress: 1, total: 2 } },
      { result: { tool: 'tool', is_error: false, content: [{ type: 'text', text: 'done' }] } },
    ]);
    expect(JSON.parse(await runJob(run))).toMatchObject({ is_error: false });
  });

  it('does not run a tool whose input is refused', async () => {
    const refused = new Error('refused');
    const run: Run = () => Promise.reject(new Error('must not run'));
    const check = () => Promise.reject(refused);
    await expect(runJob(run, { check })).rejects.toBe(refused);
  });

  it('ends at the timeout, even when the tool ignores its signal', async () => {
    let given: AbortSignal | undefined;
    const run: Run = (_, { signal }) => {
      given = signal;
      return new Promise(() => undefined);
    };
    await expect(runJob(run, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(given?.aborted).toBe(true);
  });

  it('ends with the job, even when the tool ignores its signal', async () => {
    const job = new AbortController();
    const running = runJob(() => new Promise(() => undefined), { signal: job.signal });
    job.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
  });

  it('does not start for a cancelled job', async () => {
    const run = vi.fn<Run>();
    await expect(runJob(run, { signal: AbortSignal.abort(new Error('cancelled')) })).rejects.toThrow('cancelled');
    expect(run).not.toHaveBeenCalled();
  });
});
