import { anthropic } from './anthropic.ts';
import { azure } from './azure.ts';
import { bedrock, bedrockClaude } from './bedrock.ts';
import { cerebras } from './cerebras.ts';
import { custom } from './custom.ts';
import { deepseek } from './deepseek.ts';
import { fireworks } from './fireworks.ts';
import { gemini } from './gemini.ts';
import { groq } from './groq.ts';
import { mistral } from './mistral.ts';
import { openai } from './openai.ts';
import { openrouter } from './openrouter.ts';
import type { Provider, ProviderName } from './provider.ts';
import { together } from './together.ts';
import { vertex } from './vertex.ts';
import { xai } from './xai.ts';

/** The providers that have an address of their own. */
export const presets: Readonly<Record<Exclude<ProviderName, 'custom'>, Provider>> = {
  openai,
  anthropic,
  gemini,
  mistral,
  groq,
  deepseek,
  xai,
  openrouter,
  together,
  fireworks,
  cerebras,
  azure,
  bedrock,
  'bedrock-claude': bedrockClaude,
  vertex,
};

/**
 * What there is to know of a provider. To add one: its name in `providerNames`, its file, a line in `presets`.
 * @param format name of the upstream format that a custom one speaks
 */
export function providerOf(name: ProviderName, format: string): Provider {
  return name === 'custom' ? custom(format) : presets[name];
}
