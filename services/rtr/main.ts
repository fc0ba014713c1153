import { dirname, join } from 'node:path';
import { Command, Option } from 'commander';
import { roles, type Role } from '#shared/broker/connection/credential.ts';
import { isInstalledPackage } from '#shared/core/installed-package.mjs';
import { loadConfig } from '#shared/core/load-config.ts';
import { refuseRemovedSettings } from '#shared/core/removed-settings.ts';
import { version } from '#shared/core/version.ts';
import { readRegistry } from '#shared/registry/read-registry.ts';
import { findClis } from '../cli-worker/find-clis.ts';
import { findProviders } from '../cloud-worker/providers/find-providers.ts';
import { dataOption, readDataFolder } from './bootstrap/data-folder.mjs';
import { addBoxCommands } from './box/box-commands.ts';
import { printAdminLink } from './commands/admin-link.ts';
import { addAdminCommands } from './commands/admin/admin-commands.ts';
import type { RunAdminCommand } from './commands/admin/admin-context.ts';
import { withAdmin } from './commands/admin/with-admin.ts';
import { createBatchesCommand } from './commands/batches/batches-command.ts';
import { createCompletionCommand } from './commands/completion/completion-command.ts';
import type { RunClientCommand } from './commands/client/client-context.ts';
import { withClient } from './commands/client/with-client.ts';
import { createCredentialsCommand } from './commands/credentials/credentials-command.ts';
import { runDoctor } from './commands/doctor/run-doctor.ts';
import { exitOnBrokenPipe } from './commands/exit-on-broken-pipe.ts';
import { toExitCode, toFailureObject, formatFailure, reportUsageAsJson } from './commands/failure.ts';
import { createFilesCommand } from './commands/files/files-command.ts';
import { addServiceCommands, applyBrokerOptions, type BrokerOptions } from './commands/service-commands.ts';
import { setup } from './commands/setup.ts';
import { useShortHelp } from './commands/short-help.ts';
import { addSignInCommands } from './commands/sign-in-commands.ts';
import { acceptStore } from './commands/accept-store.ts';
import type { KeyCommandContext } from './commands/key-command.ts';
import { uninstall } from './commands/uninstall/uninstall.ts';
import { withKeyStore } from './commands/with-key-store.ts';
import {
  adminSettings,
  clientSettings,
  clusterSettings,
  linkSettings,
  logsSettings,
  upSettings,
  type LogsConfig,
} from './config.ts';
import { findClusterAddresses, findOwnRouter } from './up/cluster-addresses.ts';
import { credentialsFolder } from './up/cluster-state.ts';
import { chooseLogFormat, createLogsCommand } from './logs/logs-command.ts';
import { createLogRelay, type LogRelay } from './logs/log-relay.ts';
import { printStatus } from './status/status-command.ts';
import { planWorkers, type Findings, type Plan } from './up/workers/plan-workers.ts';
import { exposeHost } from './up/tls/exposure.ts';
import { createStopSignals } from './up/stop-signals.ts';
import { up } from './up/up.ts';

// The bootstrap takes an earlier end for that of a program whose packages are damaged.
process.send?.('loaded');
process.stdout.on('error', exitOnBrokenPipe);

const root = dirname(dirname(import.meta.dirname));
const { folder, words } = readDataFolder(root, process.argv.slice(2), process.env);
const print = (text: string) => {
  process.stdout.write(`${text}\n`);
};
const json = new Option('--json', 'print JSON instead of sentences');

const program = new Command('rtr')
  .description('One address in front of all the language models you can reach.')
  .version(version, '-v, --version')
  .option(dataOption.flags, dataOption.description)
  .addHelpText(
    'after',
    '\nSettings: docs/configuration.md. Keys and limits: docs/accounts.md. Administration: docs/admin-api.md. Production: docs/operations.md.',
  )
  .showHelpAfterError();

program
  .command('up')
  .description('run a whole cluster on this machine, including NATS and Redis')
  .option('--expose', 'let other machines reach the router, over HTTPS', false)
  .action(async ({ expose }: { expose: boolean }) => {
    refuseRemovedSettings(process.env);
    const loaded = loadConfig(upSettings, process.env);
    const config = expose ? exposeHost(loaded) : loaded;
    const logs = createLogs(config);
    const findings = await collectFindings(config.ROUTER_CONFIG);
    const plan = planWorkers(findings);
    const withEngines = { ...config, ENGINE_URLS: [...config.ENGINE_URLS, ...findings.registry.engines] };
    const { ensurePages } = await import('../console/build/ensure-pages.ts');
    const buildPages = (signal: AbortSignal) => ensurePages(root, signal);
    await up({
      config: withEngines,
      isExposed: expose,
      environment: process.env,
      root,
      folder,
      plan,
      logs,
      say: print,
      buildPages,
      ...createStopSignals(),
    });
    process.exit(0);
  });

program
  .command('status')
  .description('print addresses, keys, parts, workers, models and problems of the cluster of this folder')
  .addOption(json)
  .action(async ({ json = false }: { json?: boolean }) => {
    const { CHAT_FAMILY: chatFormat } = loadConfig(clientSettings, process.env);
    process.exitCode = await printStatus({ folder, json, chatFormat, print, runOnAdminApi, runOnKeyStore });
  });
program.addCommand(createLogsCommand(folder, () => loadConfig(logsSettings, process.env), print));

if (!isInstalledPackage(root)) {
  program
    .command('build')
    .description("build the programs and the console's pages, each unless it is up to date")
    .option('--package', 'also pack what is built into a package that npm installs')
    .action(async (options: { package?: true }) => {
      const { buildPrograms } = await import('./build/build-programs.ts');
      await buildPrograms(root);
      print('The programs are built.');
      await import('../console/main.ts');
      if (!options.package) return;
      const { packPackage } = await import('./build/pack-package.ts');
      print(await packPackage(root));
    });
}

addSignInCommands(program);

addBoxCommands(program, { data: folder, root, environment: process.env, findPlan, createLogs, print });

program
  .command('doctor')
  .description('check whether this machine has what `rtr up` needs, and show what is missing, and why')
  .option('--nats <url>', 'address of the broker, instead of NATS_URL')
  .option('--credentials <file>', 'credential for the broker to check, instead of NATS_CREDENTIALS')
  .addOption(new Option('--role <role>', 'the role that the credential is meant for').choices(roles))
  .addOption(json)
  .action((options: BrokerOptions & { role?: Role; json?: true }) => {
    applyBrokerOptions(process.env, options);
    return runDoctor(options, { environment: process.env, folder, collectFindings, print });
  });

program
  .command('setup')
  .description('create the first router key and a link for the first administrator, unless they exist, and print them')
  .addOption(json)
  .action((options: { json?: true }) => runOnKeyStore(options, setup));

const admin = program.command('admin').description('recover an administrator; see and cancel what belongs to others');
admin
  .command('link')
  .description('print a one-time link: to become the first administrator, or to set a new password')
  .option('--email <address>', 'the user, by address or id; without it, the only administrator')
  .option('--reset-second-factor', 'remove the second factor of the user, who has lost it')
  .addOption(json)
  .action((options: { email?: string; resetSecondFactor?: true; json?: true }) =>
    runOnKeyStore(options, (context) => printAdminLink(context, options)),
  );

program
  .command('store')
  .description('manage the store of accounts, keys and limits')
  .command('accept')
  .description('confirm a store that was emptied or replaced on purpose, so that the router serves again')
  .addOption(json)
  .action((options: { json?: true }) => runOnKeyStore(options, acceptStore));

addServiceCommands(program, {
  folder,
  environment: process.env,
  run: {
    gpu: () => import('../gpu-worker/main.ts'),
    cli: () => import('../cli-worker/main.ts'),
    cloud: () => import('../cloud-worker/main.ts'),
    tools: () => import('../tools-worker/main.ts'),
    batch: () => import('../batch-runner/main.ts'),
    ingress: () => import('../ingress/main.ts'),
    'demo-engine': () => import('../demo-engine/main.ts'),
  },
});
program.addCommand(createBatchesCommand(runAsClient));
program.addCommand(createFilesCommand(runAsClient));
program.addCommand(
  createCredentialsCommand({
    prefix: () => loadConfig(clusterSettings, process.env).RTR_PREFIX,
    clusterFolder: credentialsFolder(folder),
    print,
  }),
);
program
  .command('version')
  .description('print the version')
  .action(() => print(version));

program
  .command('uninstall')
  .description('remove what this program has stored on this machine, its sign-ins, and its settings in other programs')
  .option('--keep-data', 'keep accounts, keys, usage and files')
  .option('--yes', 'ask nothing')
  .action(({ keepData, yes }: { keepData?: true; yes?: true }) => {
    const { stdin: input, stdout: output } = process;
    return uninstall({ folder, keepsData: keepData ?? false, isConfirmed: yes ?? false, input, output, print });
  });

const completion = createCompletionCommand(program, print);
program.addCommand(completion);

// The other commands above need nothing of the console, which takes a while to load.
if (!program.commands.some((command) => ![admin, completion].includes(command) && command.name() === words[0])) {
  const { describeOperations } = await import('../console/api/create-operations.ts');
  addAdminCommands(program, describeOperations(), runOnAdminApi);
}
useShortHelp(program);

const isJson = words.includes('--json');
if (isJson) reportUsageAsJson(program);
try {
  await program.parseAsync(words, { from: 'user' });
} catch (error) {
  process.stderr.write(`${isJson ? JSON.stringify(toFailureObject(error)) : formatFailure(error)}\n`);
  process.exit(toExitCode(error));
}

function runOnKeyStore(
  options: { json?: true },
  command: (context: KeyCommandContext) => Promise<unknown>,
): Promise<void> {
  const config = loadConfig(linkSettings, process.env);
  const addresses = findClusterAddresses(config, folder, ['NATS_URL', 'REDIS_URL'], 'ingress');
  const { RTR_PREFIX: prefix } = config;
  const { publicUrl: consoleUrl } = findOwnRouter(config, folder);
  const { NATS_CA, REDIS_CA } = config;
  return withKeyStore(
    { NATS_CA, REDIS_CA, ...addresses, prefix, consoleUrl, json: options.json ?? false, print },
    command,
  );
}

function runOnAdminApi(...[options, command]: Parameters<RunAdminCommand>): Promise<void> {
  const config = loadConfig(adminSettings, process.env);
  const { stdin: input, stdout: output } = process;
  const setExitCode = (code: number) => {
    process.exitCode = code;
  };
  const hint = (text: string) => {
    process.stderr.write(`${text}\n`);
  };
  return withAdmin({ config, options, folder, print, hint, input, output, setExitCode }, command);
}

function runAsClient(...[options, command]: Parameters<RunClientCommand>): Promise<void> {
  const config = loadConfig(clientSettings, process.env);
  const { stdin: input, stdout: output, stderr: barOutput } = process;
  return withClient({ config, folder, json: options.json ?? false, print, input, output, barOutput }, command);
}

async function findPlan(registryFile: string | undefined): Promise<Plan> {
  return planWorkers(await collectFindings(registryFile));
}

/** Opens the output for the lines of all programs that this process starts. */
function createLogs(config: LogsConfig): LogRelay {
  return createLogRelay(process.stderr, chooseLogFormat(config, process.stderr), join(folder, 'logs'));
}

/** Finds the providers and command-line agents of this machine, and reads the registry file. */
async function collectFindings(registryFile: string | undefined): Promise<Findings> {
  const registry = readRegistry(registryFile);
  return { providers: findProviders(process.env), clis: await findClis(process.env), registry };
}
