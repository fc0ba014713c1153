import type { Tier } from '#shared/core/tier.ts';
import { quoteForShell } from '../../formats/to-curl-command.ts';

/** The kinds of command-line agents that a worker supports, as `CLI_KIND` names them. */
export const cliKinds = ['claude', 'codex', 'gemini', 'opencode', 'command'] as const;
/** The providers that a worker supports, as `PROVIDER` names them. */
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

/** The upstream or the tools of a worker, as a person enters them. */
export interface WorkerSetup {
  tier: Tier;
  engineUrl: string;
  cli: (typeof cliKinds)[number];
  /** Names of models, separated by commas. */
  cliModels: string;
  /** The program with its arguments. Used only for the kind `command`. */
  cliCommand: string;
  provider: (typeof providerNames)[number];
  /** The provider's URL. Used only for the provider `custom`. */
  providerUrl: string;
  /** Folder with tools; empty for none. */
  toolsFolder: string;
  /** File with MCP servers; empty for none. */
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

/** Formats the variables that configure a worker as the beginning of a command, for example `ENGINE_URL=http://127.0.0.1:8000`. */
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

/** Returns the addresses of NATS in a command that starts a worker; empty if the command contains none. */
export function findNats(command: string): string {
  return / --nats (\S+)/.exec(command)?.[1] ?? '';
}

/** Command that starts a worker without a credential, in the folder of a router that `npm start` has started. */
export const folderCommand = 'ENGINE_URL=http://127.0.0.1:8000 npx rtr worker gpu';

export interface WorkerStart {
  /** The command in the answer of the API, see `CreatedWorkerCredential`. */
  command: string;
  setup: WorkerSetup;
  /** The addresses at which the machine reaches NATS. */
  nats: string;
}

/** Creates the command that starts the worker. The command must run in the folder that contains the credential file. */
export function createStartCommand({ command, setup, nats }: WorkerStart): string {
  const commandWithNats = command.replace(/ --nats \S+/, () => ` --nats ${quoteForShell(nats)}`);
  const variables = formatVariables(setup);
  return variables === '' ? commandWithNats : `${variables} ${commandWithNats}`;
}

/** Creates a command for a POSIX shell that writes the credential file, readable only by its owner, and starts the worker. */
export function createJoinCommand(start: WorkerStart, file: { name: string; text: string }): string {
  const writeCommand = `(umask 077; cat > ${quoteForShell(file.name)}) <<'END'\n${file.text.trimEnd()}\nEND`;
  return `${writeCommand}\n${createStartCommand(start)}`;
}

/** Creates the command that checks whether the machine reaches NATS with the credential. */
export function createCheckCommand({ command, nats }: Pick<WorkerStart, 'command' | 'nats'>, tier: Tier): string {
  const credentials = / --credentials (\S+)/.exec(command)?.[1] ?? '';
  return `npx rtr doctor --nats ${quoteForShell(nats)} --credentials ${credentials} --role ${tier}`;
}

export function isLoopback(nats: string): boolean {
  return nats.split(',').some((address) => /^\w+:\/\/(?:127\.|localhost\b|\[::1\])/.test(address.trim()));
}
