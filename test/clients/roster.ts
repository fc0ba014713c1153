import { aider } from './agents/aider.ts';
import { claudeCode } from './agents/claude-code.ts';
import { codex } from './agents/codex.ts';
import { opencode } from './agents/opencode.ts';
import { qwenCode } from './agents/qwen-code.ts';
import type { Client, Task } from './client.ts';
import { library } from './library.ts';

/** Packages of clients that other tests use, too. */
export const openaiPython = pypi({ openai: '3.57.0' });
export const langchainJs = npm({
  langchain: '1.5.14',
  '@langchain/openai': '1.6.0',
  '@langchain/core': '1.4.0',
  zod: '4.6.7',
});
export const langchainPython = pypi({
  langchain: '1.4.7',
  'langchain-core': '1.7.2',
  'langchain-openai': '1.7.3',
  'langchain-anthropic': '1.7.7',
});

const both = ['chat', 'responses'];
const responsesFirst = ['responses', 'chat'];
const all = [...both, 'messages'];

/** Every client that is tried, in the order of the documentation's table. */
export const roster: readonly Client[] = [
  library('openai, JavaScript', npm({ openai: '7.59.0' }), 'openai.mjs', both),
  library('openai, Python', openaiPython, 'openai-python.py', both),
  library('@anthropic-ai/sdk', npm({ '@anthropic-ai/sdk': '1.14.0' }), 'anthropic.mjs', ['messages']),
  library('@anthropic-ai/sdk, 0.x', npm({ '@anthropic-ai/sdk': '0.137.0' }), 'anthropic.mjs', ['messages']),
  library('anthropic, Python', pypi({ anthropic: '2.14.0' }), 'anthropic-python.py', ['messages']),
  library('AI SDK', npm({ ai: '7.0.173', '@ai-sdk/openai': '4.0.118', zod: '4.6.7' }), 'ai-sdk.mjs', responsesFirst),
  library('@openai/agents', npm({ '@openai/agents': '0.20.0', zod: '4.6.7' }), 'openai-agents.mjs', responsesFirst),
  library('LangChain, JavaScript', langchainJs, 'langchain.mjs', both),
  library('LangChain, Python', langchainPython, 'langchain-python.py', all),
  library('LiteLLM', pypi({ litellm: '1.110.2', mcp: '2.3.0' }), 'litellm-python.py', all),
  library('instructor', pypi({ instructor: '1.17.0' }), 'instructor-python.py', ['chat'], extractTask),
  library('pydantic-ai', pypi({ 'pydantic-ai-slim[openai,anthropic]': '2.68.0' }), 'pydantic-ai-python.py', all),
  claudeCode,
  codex,
  opencode,
  qwenCode,
  aider,
];

/** An object by the arguments of a call: the library offers a tool that has the wanted type, and runs none. */
function extractTask(): Task {
  return {
    what: 'tool call',
    prompt: 'It rains 7 ducks an hour in Paris.',
    call: { name: 'Forecast', arguments: { city: 'Paris', ducks: 7 } },
    prints: '{"city":"Paris","ducks":7}',
  };
}

function npm(packages: Record<string, string>): Client['from'] {
  return { registry: 'npm', packages };
}

export function pypi(packages: Record<string, string>): Client['from'] {
  return { registry: 'PyPI', packages };
}
