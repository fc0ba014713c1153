import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { runWorker } from '#shared/worker/run-worker.ts';
import { conversationUpstream } from '#shared/translate/conversation/conversation.ts';
import { lackedFeatures } from '#shared/translate/lacked-features.ts';
import { clientFormatsOn } from '#shared/translate/translation.ts';
import { conversationTranslations } from '#shared/translate/translations.ts';
import { cliOf } from './clis/cli-of.ts';
import type { Cli } from './clis/cli.ts';
import { loginFile, logins } from './clis/logins.ts';
import { cliWorkerConfig, type CliWorkerConfig } from './config.ts';
import { createHandleJob } from './handle-job.ts';
import { LoginState } from './login-state.ts';
import { startSession } from './process-set/live-session.ts';
import { ProcessSet, watchProcesses } from './process-set/process-set.ts';
import { ProcessGuard } from './process/process-guard.ts';
import { ProcessStarter } from './process/process-starter.ts';

const mebibyte = 1024 * 1024;

await runWorker('cli', cliWorkerConfig, async ({ config, environment, log, releases, admin, pace, announce }) => {
  const { cli, program } = cliOf(config.CLI_KIND, config.CLI_COMMAND);
  const root = await mkdtemp(join(tmpdir(), 'rtr-cli-'));
  const guard = new ProcessGuard(root, environment['PATH']);
  releases.add('process guard', () => guard.close());
  const starter = new ProcessStarter({ command: program, guard, environment, further: config.CLI_ENV });

  const file = cli.kind === 'command' ? undefined : loginFile(logins[cli.kind], starter.variable);
  const login = new LoginState({ file, log, onChange: announce });
  releases.add('login state', () => login.close());
  const sessions = { cli, starter, models: config.CLI_MODELS, root, startMs: config.START_TIMEOUT_MS, log };
  const processes = new ProcessSet({
    start: (signal) => startSession(sessions, signal),
    size: config.SLOTS,
    singleUse: cli.singleUse,
    recycleAfter: config.RECYCLE_AFTER,
    recycleBytes: config.RECYCLE_MB * mebibyte,
    log,
    onHealth: (healthy) => pace.healthy(healthy),
  });
  watchProcesses(admin.registry, () => processes.counts);
  releases.add('CLI processes', () => processes.close());

  const takes = { takesImages: cli.capabilities.includes('vision'), takesThinking: cli.takesThinking ?? false };
  const lacks = lackedFeatures(conversationTranslations, { model: 'any', ...takes });

  return {
    kind: cli.kind,
    formats: clientFormatsOn(conversationTranslations, conversationUpstream),
    coalesceMs: config.COALESCE_MS,
    handler: createHandleJob({
      take: (signal) => processes.take(signal),
      models: config.CLI_MODELS,
      traceName: cli.traceName,
      ...takes,
      usageChunk: config.USAGE_CHUNK,
      timeouts: {
        firstMs: config.FIRST_TOKEN_TIMEOUT_MS,
        idleMs: config.IDLE_TIMEOUT_MS,
        totalMs: config.ANSWER_TIMEOUT_MS,
      },
      login,
      log,
    }),
    facts: () => login.restrict({ models: modelsOf(config, cli, lacks), slots: config.SLOTS, accepting: true }),
  };
});

function modelsOf(
  { CLI_MODELS, CLI_CONTEXT_WINDOW }: CliWorkerConfig,
  { capabilities }: Cli,
  lacks: readonly string[],
): ModelInfo[] {
  return CLI_MODELS.map((model) => ({
    id: model,
    capabilities: [...capabilities],
    lacks,
    ...(CLI_CONTEXT_WINDOW > 0 && { contextWindow: CLI_CONTEXT_WINDOW }),
  }));
}
