import type { RejectedCapability } from '#shared/formats/rejected-capability.ts';

/** What upstreams say of input that the model cannot take, whatever the status: llama.cpp and Ollama have 500 for some of it. */
const texts: readonly [RegExp, RejectedCapability | undefined][] = [
  // llama.cpp, Mistral.
  [/image input is not supported/i, 'image_block'],
  [/(?:audio|video) input is not supported/i, undefined],
  // vLLM, a newer one first.
  [/At most 0 image/i, 'image_block'],
  [/At most 0 (?:audio|video)/i, undefined],
  [/is not a multimodal model/i, 'image_block'],
  // Ollama.
  [/is missing data required for image input/i, 'image_block'],
  // OpenRouter, with 404.
  [/No endpoints found that support image/i, 'image_block'],
  // LM Studio, Gemini, and llama.cpp for models of several kinds.
  [/does not support (?:image|vision|multimodal)/i, 'image_block'],
  [/does not support (?:audio|video)/i, undefined],
];

/**
 * Reads from an upstream's message that the model cannot take a kind of input: the request is wrong, not the upstream.
 * @returns undefined for any other message; else the capability that is missing, where clients go on without it
 */
export function readUnsupportedInput(sentence: string): { missing: RejectedCapability | undefined } | undefined {
  const found = texts.find(([text]) => text.test(sentence));
  return found && { missing: found[1] };
}
