import type { Tier } from '#shared/core/tier.ts';

/** The kinds of command-line agents and the providers that a worker supports, by their names in its settings. */
export const cliKinds = ['claude', 'codex', 'gemini', 'opencode', 'command'] as const;
export const providers = [
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
  provider: (typeof providers)[number];
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
export function variablesOf(behind: WorkerSetup): string {
  return Object.entries(settingsOf(behind))
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join(' ');
}

function settingsOf(behind: WorkerSetup): Record<string, string> {
  switch (behind.tier) {
    case 'gpu':
      return { ENGINE_URL: behind.engineUrl };
    case 'cli':
      return {
        CLI_KIND: behind.cli,
        CLI_MODELS: behind.cliModels,
        CLI_COMMAND: behind.cli === 'command' ? behind.cliCommand : '',
      };
    case 'cloud':
      return { PROVIDER: behind.provider, PROVIDER_URL: behind.provider === 'custom' ? behind.providerUrl : '' };
    case 'tools':
      return { TOOLS_DIR: behind.toolsFolder, MCP_CONFIG: behind.mcpFile };
  }
}

/** Returns the addresses of NATS in a command that starts a worker. */
export function natsOf(command: string): string {
  return / --nats (\S+)/.exec(command)?.[1] ?? '';
}

/** Starts a worker without a credential, in the folder of a router that `npm start` has started. */
export const folderCommand = 'ENGINE_URL=http://127.0.0.1:8000 npx rtr worker gpu';

export interface Start {
  /** As the API answers it, see `CreatedWorkerCredential`. */
  command: string;
  behind: WorkerSetup;
  /** The addresses at which the machine reaches NATS. */
  nats: string;
}

/** Returns the command that starts the worker. It is to be run in the folder with the file of its credential. */
export function startCommand({ command, behind, nats }: Start): string {
  const whole = command.replace(/ --nats \S+/, () => ` --nats ${quoted(nats)}`);
  const variables = variablesOf(behind);
  return variables === '' ? whole : `${variables} ${whole}`;
}

/** Returns one command for a POSIX shell that writes the file of the credential, readable only by its owner, and starts the worker. */
export function joinCommand(start: Start, file: { name: string; text: string }): string {
  const write = `(umask 077; cat > ${quoted(file.name)}) <<'END'\n${file.text.trimEnd()}\nEND`;
  return `${write}\n${startCommand(start)}`;
}

/** Returns the command that checks whether the machine reaches NATS with the credential. */
export function checkCommand({ command, nats }: Pick<Start, 'command' | 'nats'>, tier: Tier): string {
  const credentials = / --credentials (\S+)/.exec(command)?.[1] ?? '';
  return `npx rtr doctor --nats ${quoted(nats)} --credentials ${credentials} --role ${tier}`;
}

export function isLoopback(nats: string): boolean {
  return nats.split(',').some((address) => /^\w+:\/\/(?:127\.|localhost\b|\[::1\])/.test(address.trim()));
}

/** Quotes a text as one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
