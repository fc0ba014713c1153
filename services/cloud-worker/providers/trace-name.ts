import type { ProviderName } from './provider.ts';

/** A provider's name in traces: as OpenTelemetry's conventions have it (`gen_ai.provider.name`), its own where they have none. */
export function traceNameOf(name: ProviderName): string {
  switch (name) {
    case 'gemini':
      return 'gcp.gemini';
    case 'vertex':
      return 'gcp.vertex_ai';
    case 'mistral':
      return 'mistral_ai';
    case 'xai':
      return 'x_ai';
    case 'azure':
      return 'azure.ai.openai';
    case 'bedrock':
    case 'bedrock-claude':
      return 'aws.bedrock';
    case 'openai':
    case 'anthropic':
    case 'groq':
    case 'deepseek':
    case 'openrouter':
    case 'together':
    case 'fireworks':
    case 'cerebras':
    case 'custom':
      return name;
  }
}
