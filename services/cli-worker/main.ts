import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { runWorker } from '#shared/worker/run-worker.ts';
import { selectCli } from './clis/select-cli.ts';
import { findLoginFile, logins } from './clis/logins.ts';
import { cliWorkerConfig, type CliWorkerConfig } from './config.ts';
import { LoginState } from './login-state.ts';
import { addProcessMetrics } from './process-set/process-set.ts';
import { ProcessGuard } from './process/process-guard.ts';
import { ProcessStarter } from './process/process-starter.ts';
import type { ServedCli } from './serve-cli.ts';

/** Number of conversations, and bytes of memory, after which a process is replaced. */
const recycle = { recycleAfter: 100, recycleBytes: 1024 ** 3 };

/** Maximum milliseconds until a process becomes ready. */
const startMs = 60_000;

await runWorker('cli', cliWorkerConfig, async ({ config, environment, log, releases, admin, breaker, announce }) => {
  const { cli, program } = selectCli(config.CLI_KIND, config.CLI_COMMAND);
  const root = await mkdtemp(join(tmpdir(), 'rtr-cli-'));
  const guard = new ProcessGuard(root, environment['PATH']);
  releases.add('process guard', () => guard.close());
  const starter = new ProcessStarter(program, guard, environment, config.CLI_ENV);
  const loginFile = cli.kind === 'command' ? undefined : findLoginFile(logins[cli.kind], starter.readVariable);
  const login = new LoginState(loginFile, log, announce);
  releases.add('login state', () => login.close());
  const servedCli = await cli.serve({
    starter,
    models: config.CLI_MODELS,
    root,
    slots: config.SLOTS,
    ...recycle,
    startMs,
    timeouts: {
      firstMs: config.FIRST_TOKEN_TIMEOUT_MS,
      idleMs: config.IDLE_TIMEOUT_MS,
      totalMs: config.ANSWER_TIMEOUT_MS,
    },
    login,
    log,
    onHealth: (healthy) => breaker.setHealthy(healthy),
  });
  releases.add('CLI processes', () => servedCli.close());
  addProcessMetrics(admin.registry, servedCli.countProcesses);

  return {
    kind: cli.kind,
    formats: servedCli.formats,
    handler: servedCli.handler,
    facts: () =>
      login.restrictFacts({ models: describeModels(config, servedCli), slots: config.SLOTS, accepting: true }),
  };
});

function describeModels(
  { CLI_MODELS, CLI_CONTEXT_WINDOW }: CliWorkerConfig,
  { capabilities, lacks }: Pick<ServedCli, 'capabilities' | 'lacks'>,
): ModelInfo[] {
  return CLI_MODELS.map((model) => ({
    id: model,
    capabilities: [...capabilities],
    lacks,
    ...(CLI_CONTEXT_WINDOW > 0 && { contextWindow: CLI_CONTEXT_WINDOW }),
  }));
}
