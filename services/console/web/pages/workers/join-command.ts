import type { Tier } from '#shared/core/tier.ts';

/** The kinds of command-line agents and the providers that a worker knows, as its settings name them. */
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

/** What is behind a worker, as its settings say it. */
export interface Behind {
  tier: Tier;
  engineUrl: string;
  cli: (typeof cliKinds)[number];
  /** Separated by commas. */
  cliModels: string;
  /** The program with its arguments, of the kind `command`. */
  cliCommand: string;
  provider: (typeof providers)[number];
  /** Of the provider `custom`. */
  providerUrl: string;
  /** A folder with tools, and a file with MCP servers; empty for none. */
  toolsFolder: string;
  mcpFile: string;
}

export const blankBehind: Behind = {
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

/** The variables that a worker is configured with, as its command begins: `ENGINE_URL=http://127.0.0.1:8000`. */
export function variablesOf(behind: Behind): string {
  return Object.entries(settingsOf(behind))
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join(' ');
}

function settingsOf(behind: Behind): Record<string, string> {
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

/** The addresses of NATS in a command that starts a worker. */
export function natsOf(command: string): string {
  return / --nats (\S+)/.exec(command)?.[1] ?? '';
}

/** Starts a worker without a credential, in the folder of a router that `npm start` has started. */
export const folderCommand = 'ENGINE_URL=http://127.0.0.1:8000 npx rtr worker gpu';

export interface Start {
  /** As the API answers it, see `CreatedWorkerCredential`. */
  command: string;
  behind: Behind;
  /** The addresses at which the machine reaches NATS. */
  nats: string;
}

/** The command that starts the worker beside the file of its credential. */
export function startCommand({ command, behind, nats }: Start): string {
  const whole = command.replace(/ --nats \S+/, () => ` --nats ${quoted(nats)}`);
  const variables = variablesOf(behind);
  return variables === '' ? whole : `${variables} ${whole}`;
}

/** One command for a POSIX shell that writes the file of the credential, which only its owner may read, and starts the worker. */
export function joinCommand(start: Start, file: { name: string; text: string }): string {
  const write = `(umask 077; cat > ${quoted(file.name)}) <<'END'\n${file.text.trimEnd()}\nEND`;
  return `${write}\n${startCommand(start)}`;
}

/** Checks whether the machine reaches NATS with the credential. */
export function checkCommand({ command, nats }: Pick<Start, 'command' | 'nats'>, tier: Tier): string {
  const credentials = / --credentials (\S+)/.exec(command)?.[1] ?? '';
  return `npx rtr doctor --nats ${quoted(nats)} --credentials ${credentials} --role ${tier}`;
}

/** Whether an address is that of the machine itself. */
export function isLoopback(nats: string): boolean {
  return nats.split(',').some((address) => /^\w+:\/\/(?:127\.|localhost\b|\[::1\])/.test(address.trim()));
}

/** A text as one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
