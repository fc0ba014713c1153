import type { Tier } from '#shared/core/tier.ts';
import { quoteForShell } from '../../formats/to-curl-command.ts';

/** The kinds of command-line agents and the providers that a worker supports, by their names in its settings. */
export const cliKinds = ['claude', 'codex', 'gemini', 'opencode', 'command'] as const;
export const providerNames = [
  'openai',
  'anthropic',
  'gemini',
  'mistral',
  'groq',
  'deepseek',
  'xai',
  'openrouter',
  'together',
  'fireworks',
  'cerebras',
  'azure',
  'bedrock',
  'bedrock-claude',
  'vertex',
  'custom',
] as const;

/** The engine, command-line agent, provider or tools behind a worker, in the terms of its settings. */
export interface WorkerSetup {
  tier: Tier;
  engineUrl: string;
  cli: (typeof cliKinds)[number];
  /** Separated by commas. */
  cliModels: string;
  /** The program with its arguments. Used only for the kind `command`. */
  cliCommand: string;
  provider: (typeof providerNames)[number];
  /** The provider's URL. Used only for the provider `custom`. */
  providerUrl: string;
  /** A folder with tools, and a file with MCP servers; empty for none. */
  toolsFolder: string;
  mcpFile: string;
}

export const emptyWorkerSetup: WorkerSetup = {
  tier: 'gpu',
  engineUrl: 'http://127.0.0.1:8000',
  cli: 'claude',
  cliModels: 'sonnet',
  cliCommand: '',
  provider: 'openai',
  providerUrl: '',
  toolsFolder: '',
  mcpFile: '',
};

/** Returns the variables that configure a worker, for the start of its command, for example `ENGINE_URL=http://127.0.0.1:8000`. */
export function formatVariables(setup: WorkerSetup): string {
  return Object.entries(listSettings(setup))
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${quoteForShell(value)}`)
    .join(' ');
}

function listSettings(setup: WorkerSetup): Record<string, string> {
  switch (setup.tier) {
    case 'gpu':
      return { ENGINE_URL: setup.engineUrl };
    case 'cli':
      return {
        CLI_KIND: setup.cli,
        CLI_MODELS: setup.cliModels,
        CLI_COMMAND: setup.cli === 'command' ? setup.cliCommand : '',
      };
    case 'cloud':
      return { PROVIDER: setup.provider, PROVIDER_URL: setup.provider === 'custom' ? setup.providerUrl : '' };
    case 'tools':
      return { TOOLS_DIR: setup.toolsFolder, MCP_CONFIG: setup.mcpFile };
  }
}

/** Returns the addresses of NATS in a command that starts a worker; empty if it names none. */
export function findNats(command: string): string {
  return / --nats (\S+)/.exec(command)?.[1] ?? '';
}

/** Starts a worker without a credential, in the folder of a router that `npm start` has started. */
export const folderCommand = 'ENGINE_URL=http://127.0.0.1:8000 npx rtr worker gpu';

export interface WorkerStart {
  /** The command in the answer of the API, see `CreatedWorkerCredential`. */
  command: string;
  setup: WorkerSetup;
  /** The addresses at which the machine reaches NATS. */
  nats: string;
}

/** Returns the command that starts the worker. The command is to be run in the folder with the credential's file. */
export function createStartCommand({ command, setup, nats }: WorkerStart): string {
  const commandWithNats = command.replace(/ --nats \S+/, () => ` --nats ${quoteForShell(nats)}`);
  const variables = formatVariables(setup);
  return variables === '' ? commandWithNats : `${variables} ${commandWithNats}`;
}

/** Returns a command for a POSIX shell that writes the file of the credential, readable only by its owner, and starts the worker. */
export function createJoinCommand(start: WorkerStart, file: { name: string; text: string }): string {
  const writeFile = `(umask 077; cat > ${quoteForShell(file.name)}) <<'END'\n${file.text.trimEnd()}\nEND`;
  return `${writeFile}\n${createStartCommand(start)}`;
}

/** Returns the command that checks whether the machine reaches NATS with the credential. */
export function createCheckCommand({ command, nats }: Pick<WorkerStart, 'command' | 'nats'>, tier: Tier): string {
  const credentials = / --credentials (\S+)/.exec(command)?.[1] ?? '';
  return `npx rtr doctor --nats ${quoteForShell(nats)} --credentials ${credentials} --role ${tier}`;
}

export function isLoopback(nats: string): boolean {
  return nats.split(',').some((address) => /^\w+:\/\/(?:127\.|localhost\b|\[::1\])/.test(address.trim()));
}
