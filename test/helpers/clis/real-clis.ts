import type { CliName } from './install-clis.ts';

/** A real command-line agent, and how it is made to ask a server of fake model APIs. */
export interface RealCli {
  name: CliName;
  model: string;
  environment: (url: string) => Record<string, string>;
  /** Whether a process holds several conversations. */
  keeps: boolean;
}

const key = 'upstream-key';

export const realClis: readonly RealCli[] = [
  {
    name: 'claude',
    model: 'claude-sonnet-5',
    environment: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key }),
    keeps: false,
  },
  {
    name: 'codex',
    model: 'gpt-one',
    environment: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key }),
    keeps: true,
  },
  {
    name: 'gemini',
    model: 'gemini-2.5-flash',
    environment: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key }),
    keeps: true,
  },
  {
    name: 'opencode',
    model: 'up/one',
    environment: (url) => {
      const options = { baseURL: `${url}/v1`, apiKey: key };
      const up = { npm: '@ai-sdk/openai-compatible', name: 'Up', options, models: { one: { name: 'One' } } };
      return { OPENCODE_CONFIG_CONTENT: JSON.stringify({ provider: { up } }) };
    },
    keeps: true,
  },
];
