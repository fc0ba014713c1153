import { describe, expect, it } from 'vitest';
import type { GrantedJob } from '#shared/broker/contract/job-contract.ts';
import { createHandleJob } from '#services/tools-worker/handle-job.ts';
import type { Tool, ToolContext, ToolOutput } from '#services/tools-worker/tool.ts';

type Run = (input: object, context: ToolContext) => Promise<ToolOutput>;
const text = (said: string): ToolOutput => ({ content: [{ type: 'text', text: said }], isError: false });

interface Settings {
  timeoutMs?: number;
  stream?: boolean;
  signal?: AbortSignal;
  check?: () => void;
}

async function runJob(run: Run, settings: Settings = {}): Promise<string> {
  const { timeoutMs = 1_000, stream = false, signal = new AbortController().signal, check } = settings;
  const tool: Tool = { name: 'tool', description: '', inputSchema: {}, run };
  const handle = createHandleJob({
    tools: { get: () => tool, checkOf: () => check ?? (() => undefined) },
    timeoutMs,
    maxOutputBytes: 200,
  });
  const job: GrantedJob = {
    id: 'job',
    requestId: 'request',
    operation: 'execute_tool',
    format: 'tools',
    stream,
    model: 'tool',
    body: Buffer.from(JSON.stringify({ tool: 'tool', input: { a: 1 } })),
  };
  let written = '';
  await handle(job, { write: (piece) => void (written += String(piece)) }, signal);
  return written;
}

describe('running a tool', () => {
  it('answers with what the tool says', async () => {
    const run: Run = (input) =>
      Promise.resolve({ ...text(JSON.stringify(input)), structuredContent: { b: 2 }, isError: true });
    expect(JSON.parse(await runJob(run))).toEqual({
      tool: 'tool',
      is_error: true,
      content: [{ type: 'text', text: '{"a":1}' }],
      structured_content: { b: 2 },
    });
  });

  it('tells progress only to those who stream', async () => {
    const run: Run = (_, { progress }) => {
      progress({ progress: 1, total: 2 });
      return Promise.resolve(text('done'));
    };
    const lines = (await runJob(run, { stream: true })).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      { progress: { progress: 1, total: 2 } },
      { result: { tool: 'tool', is_error: false, content: [{ type: 'text', text: 'done' }] } },
    ]);
    expect(JSON.parse(await runJob(run))).toMatchObject({ is_error: false });
  });

  it('does not run with an input that is refused', async () => {
    const refused = new Error('refused');
    const run: Run = () => Promise.reject(new Error('must not run'));
    const check = (): never => {
      throw refused;
    };
    await expect(runJob(run, { check })).rejects.toBe(refused);
  });

  it('waits no longer than it may, even for a tool that does not listen', async () => {
    let told: AbortSignal | undefined;
    const run: Run = (_, { signal }) => {
      told = signal;
      return new Promise(() => undefined);
    };
    await expect(runJob(run, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(told?.aborted).toBe(true);
  });

  it('ends with the job, even for a tool that does not listen', async () => {
    const job = new AbortController();
    const running = runJob(() => new Promise(() => undefined), { signal: job.signal });
    job.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
  });

  it('is not begun for a job that is over', async () => {
    let ran = false;
    const run: Run = () => {
      ran = true;
      return Promise.resolve(text(''));
    };
    await expect(runJob(run, { signal: AbortSignal.abort(new Error('cancelled')) })).rejects.toThrow('cancelled');
    expect(ran).toBe(false);
  });

  it('bounds what a tool says', async () => {
    expect(JSON.parse(await runJob(() => Promise.resolve(text('x'.repeat(300)))))).toMatchObject({
      is_error: true,
      content: [{ text: "The tool's output is larger than 200 bytes." }],
    });
  });
});
