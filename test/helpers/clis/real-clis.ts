import { cliNames, findCli, type CliName } from './install-clis.ts';

export interface RealCli {
  name: CliName;
  models: readonly [string, string];
  environment: (url: string) => Record<string, string>;
  /** Whether a process holds several conversations. */
  keeps: boolean;
  /** Names of tools that cannot be switched off. */
  tools: readonly string[];
}

const key = 'upstream-key';

export const realClis: Readonly<Record<CliName, RealCli>> = {
  claude: {
    name: 'claude',
    models: ['claude-sonnet-5', 'claude-opus-5'],
    environment: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key }),
    keeps: false,
    tools: [],
  },
  codex: {
    name: 'codex',
    models: ['gpt-one', 'gpt-two'],
    environment: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key }),
    keeps: true,
    // It answers that this tool is not available.
    tools: ['request_user_input'],
  },
  gemini: {
    name: 'gemini',
    models: ['gemini-2.5-flash', 'gemini-2.5-pro'],
    environment: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key }),
    keeps: true,
    tools: [],
  },
  opencode: {
    name: 'opencode',
    models: ['up/one', 'up/two'],
    environment: (url) => {
      const modalities = { input: ['text', 'image', 'pdf'], output: ['text'] };
      const one = { name: 'One', reasoning: true, temperature: true, attachment: true, modalities };
      const options = { baseURL: `${url}/v1`, apiKey: key };
      const models = { one, two: { ...one, name: 'Two' } };
      const up = { npm: '@ai-sdk/openai-compatible', name: 'Up', options, models };
      return { OPENCODE_CONFIG_CONTENT: JSON.stringify({ provider: { up } }) };
    },
    keeps: true,
    tools: [],
  },
};

/** Rows for `describe.for`: each agent under its name, which is the tag of its tests. */
export const allClis = cliNames.map((name) => realClis[name]);

/** Returns the command of an agent whose tests run, and which is therefore installed. */
export function commandOf(name: CliName): string {
  const command = findCli(name);
  if (command === undefined) throw new Error(`${name} is not installed`);
  return command;
}
