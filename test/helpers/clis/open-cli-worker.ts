import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#shared/core/json.ts';
import type { Environment } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import type { AnswerTimeouts } from '#services/cli-worker/answer/run-conversation.ts';
import { selectCli } from '#services/cli-worker/clis/select-cli.ts';
import type { CliKind } from '#services/cli-worker/clis/cli.ts';
import { ProcessGuard } from '#services/cli-worker/process/process-guard.ts';
import { ProcessStarter } from '#services/cli-worker/process/process-starter.ts';
import { collectAnswer, grantedJob, type JobFields } from '../broker/collect-answer.ts';

export interface CliWorkerOptions {
  kind?: CliKind;
  command?: string;
  models?: [string, ...string[]];
  size?: number;
  recycleAfter?: number;
  startMs?: number;
  timeouts?: Partial<AnswerTimeouts>;
  /** The worker's own environment, beside PATH. */
  environment?: Environment;
  further?: string[];
}

/** Starts a worker that drives the given CLI, by default `fake-claude.ts`. */
export async function openCliWorker(options: CliWorkerOptions = {}) {
  const { kind = 'claude', command = join(import.meta.dirname, 'fake-claude.ts'), models = ['m1', 'm2'] } = options;
  const log = createLog({ service: 'test', level: 'silent', format: 'json' });
  const root = mkdtempSync(join(tmpdir(), 'rtr-cli-test-'));
  const guard = new ProcessGuard(root, process.env['PATH']);
  const { cli, program } = selectCli(kind, command);
  const environment = { PATH: process.env['PATH'], ANTHROPIC_API_KEY: 'key', ...options.environment };
  const starter = new ProcessStarter(program, guard, environment, options.further ?? []);
  const reports: boolean[] = [];
  const logins: string[] = [];
  const served = await cli.serve({
    starter,
    models,
    root,
    slots: options.size ?? 1,
    recycleAfter: options.recycleAfter ?? 100,
    recycleBytes: 2 ** 40,
    startMs: options.startMs ?? 20_000,
    timeouts: { firstMs: 20_000, idleMs: 20_000, totalMs: 20_000, ...options.timeouts },
    login: { recordAccepted: () => void logins.push('accepted'), recordRefused: () => void logins.push('refused') },
    log,
    onHealth: (healthy) => reports.push(healthy),
  });
  return {
    /** Returns the number of processes that are ready for a conversation. */
    ready: () => served.countProcesses().ready,
    capabilities: served.capabilities,
    /** Reports of its health, in order. */
    reports,
    /** Reports on the login, in order. */
    logins,
    root,
    /** Folders of its processes. */
    workspaces: () => (existsSync(root) ? readdirSync(root) : []),
    run: async (
      body: JsonObject,
      fields: Omit<JobFields, 'body'> = {},
      signal: AbortSignal = new AbortController().signal,
      onPiece: (piece: string) => void = () => undefined,
    ) => {
      const answer = collectAnswer(onPiece);
      const job = grantedJob(models[0], { ...fields, body });
      const end = await served.handler(job, { addHeaders: () => undefined, write: answer.write }, signal);
      return { end, text: answer.text(), events: answer.events() };
    },
    close: async () => {
      await served.close();
      await guard.close();
    },
  };
}

/** A CLI worker without a broker. */
export type OpenCliWorker = Awaited<ReturnType<typeof openCliWorker>>;
