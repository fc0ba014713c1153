import { anthropic } from './presets/anthropic.ts';
import { azure } from './presets/azure.ts';
import { bedrock, bedrockClaude } from './presets/bedrock.ts';
import { cerebras } from './presets/cerebras.ts';
import { findCustomProvider } from './custom.ts';
import { deepseek } from './presets/deepseek.ts';
import { fireworks } from './presets/fireworks.ts';
import { gemini } from './presets/gemini.ts';
import { groq } from './presets/groq.ts';
import { mistral } from './presets/mistral.ts';
import { openai } from './presets/openai.ts';
import { openrouter } from './presets/openrouter.ts';
import type { Provider, ProviderName } from './provider.ts';
import { together } from './presets/together.ts';
import { vertex } from './presets/vertex.ts';
import { xai } from './presets/xai.ts';

/** Providers with a known URL. */
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
 * Returns a provider by name. To add a provider, add its name to `providerNames`, a file to `presets/`, and a line to `presets`.
 * @param format upstream format of a custom provider
 */
export function findProvider(name: ProviderName, format: string): Provider {
  return name === 'custom' ? findCustomProvider(format) : presets[name];
}
