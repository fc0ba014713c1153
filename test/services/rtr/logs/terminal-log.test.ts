import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import type { LogEntry } from '#services/rtr/logs/log-entry.ts';
import { OpenProblems, recoveries } from '#services/rtr/logs/open-problems.ts';
import { TerminalLog } from '#services/rtr/logs/terminal-log.ts';

const time = new Date(2026, 10, 30, 16, 5, 9).getTime();
const served = {
  level: 30,
  time,
  msg: 'request served',
  outcome: 'done',
  model: 'qwen3-8b',
  tier: 'gpu',
  worker: 'gpu.joes-box',
  ms: 2_412.3,
  usage: { promptTokens: 1204, completionTokens: 310 },
};

let output: PassThrough;
let log: TerminalLog;
let nowMs: number;

beforeEach(() => {
  output = new PassThrough();
  nowMs = 1;
  log = new TerminalLog(output, new OpenProblems(() => nowMs));
});

const read = (): string[] =>
  String(output.read() ?? '')
    .split('\n')
    .slice(0, -1);
const warn = (msg: string, others: Partial<LogEntry> = {}): LogEntry => ({ level: 40, time, msg, ...others });
const info = (msg: string): LogEntry => ({ level: 30, time, msg });

describe('a line of a request', () => {
  it('has its time, model, worker, tokens, duration and outcome, within 80 columns', () => {
    log.write('ingress', served);
    const [line = ''] = read();
    expect(line).toBe('16:05:09  qwen3-8b            gpu.joes-box      1204 in   310 out  2412 ms  done');
    expect(line.length).toBeLessThanOrEqual(80);
  });

  it('names the error of a failed one', () => {
    log.write('ingress', {
      ...served,
      level: 40,
      msg: 'request failed',
      outcome: 'failed',
      code: 'no_worker',
    } as LogEntry);
    expect(read()).toEqual([expect.stringMatching(/failed: no_worker$/)]);
  });

  it('has the path of a refused one, without characters that control the terminal', () => {
    const refused = { ...info('request refused'), method: 'POST', path: '/api/\u001b[2J', code: 'invalid_key' };
    log.write('ingress', refused);
    expect(read()).toEqual([expect.stringMatching(/^16:05:09 {2}POST \/api\/\uFFFD\[2J +refused: invalid_key$/)]);
  });

  it('shortens a long name of a model in its middle', () => {
    log.write('ingress', { ...served, model: 'meta-llama/Llama-4-Maverick-17B-128E-Instruct' } as LogEntry);
    expect(read()).toEqual([expect.stringContaining('  meta-llam…Instruct  ')]);
  });
});

describe('a problem', () => {
  const unreachable = warn('the models cannot be read', {
    err: { message: 'fetch failed', cause: { message: 'connect ECONNREFUSED 127.0.0.1:9' } },
  });

  it('is one sentence with its innermost cause, however often it is repeated', () => {
    for (let i = 0; i < 30; i += 1) {
      log.write('cloud-worker openai', unreachable);
      nowMs += 5 * 60_000;
    }
    expect(read()).toEqual([
      '16:05:09  cloud-worker openai: the models cannot be read (connect ECONNREFUSED 127.0.0.1:9)',
    ]);
  });

  it('is said again with another cause, and after a long time without it', () => {
    log.write('ingress', warn('redis is away', { reason: 'a' }));
    log.write('ingress', warn('redis is away', { reason: 'b' }));
    nowMs += 11 * 60_000;
    log.write('ingress', warn('redis is away', { reason: 'b' }));
    expect(read()).toHaveLength(3);
  });

  it('is said once for all parts that have it, and so is its end', () => {
    for (const part of ['ingress', 'batch-runner']) log.write(part, warn('redis is away', { reason: 'x' }));
    for (const part of ['ingress', 'batch-runner']) log.write(part, info('redis is back'));
    log.write('ingress', warn('redis is away', { reason: 'x' }));
    expect(read().map((line) => line.slice(10))).toEqual([
      'ingress: redis is away (x)',
      'ingress: redis is back',
      'ingress: redis is away (x)',
    ]);
  });
});

it('says what a stopping ingress waits for', () => {
  log.write('ingress', { ...info('finishing running answers'), active: 2, drainMs: 10_000 } as LogEntry);
  log.write('ingress', { ...info('finishing running answers'), active: 0, drainMs: 10_000 } as LogEntry);
  expect(read()).toEqual(['16:05:09  2 answers are still running, up to 10 s. Ctrl-C again ends them.']);
});

it('leaves details to the files', () => {
  log.write('gpu-worker', info('job done'));
  log.write('ingress', info('worker joined'));
  expect(read()).toEqual([]);
});

it('knows messages that the services log', () => {
  const sources = ['services', 'shared']
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('open-problems.ts'))
    .map((name) => readFileSync(name, 'utf8'))
    .join('\n');
  expect([...recoveries].flat().filter((message) => !sources.includes(message))).toEqual([]);
});
