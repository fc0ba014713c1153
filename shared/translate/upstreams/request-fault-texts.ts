import type { RejectedCapability } from '#shared/formats/rejected-capability.ts';

/**
 * Messages of upstreams about requests that they cannot serve. Each has the missing capability, if clients can continue without it. The
 * status does not matter, because llama.cpp and Ollama send 500 with some of these messages.
 */
const faultTexts: readonly [RegExp, RejectedCapability | undefined][] = [
  // llama.cpp, Mistral.
  [/image input is not supported/i, 'image_block'],
  [/(?:audio|video) input is not supported/i, undefined],
  // vLLM, newer wording first.
  [/At most 0 image/i, 'image_block'],
  [/At most 0 (?:audio|video)/i, undefined],
  [/is not a multimodal model/i, 'image_block'],
  // Ollama.
  [/is missing data required for image input/i, 'image_block'],
  // OpenRouter, with 404.
  [/No endpoints found that support image/i, 'image_block'],
  // OpenAI, DeepSeek, xAI, and engines that expect a text in place of a list.
  [/image_url\W* is only supported by certain models/i, 'image_block'],
  [/unknown variant \W*image_url/i, 'image_block'],
  [/(?:content|messages\S*) (?:must|should) be a (?:valid )?string/i, 'image_block'],
  // llama.cpp: arguments of an earlier call, tools, messages, a template, a schema.
  [/failed to parse (?:tool call arguments|tools?|messages?|grammar|json schema)/i, undefined],
  [
    /(?:generate parser for|apply|render|parse|execut\w+) (?:this|the|chat|jinja)? ?(?:chat )?template|jinja exception/i,
    undefined,
  ],
  [/JSON schema (?:error|conversion failed)|unrecognized schema/i, undefined],
  // llama.cpp, vLLM, SGLang.
  [
    /(?:failed|unable|cannot|could not) (?:to )?(?:load|decode|identify|open|process|preprocess) (?:the )?(?:image|audio|media|bitmap)/i,
    undefined,
  ],
  // LM Studio, Gemini, and llama.cpp for several kinds of models.
  [/does not support (?:image|vision|multimodal)/i, 'image_block'],
  [/does not support (?:audio|video)/i, undefined],
];

/**
 * Recognizes a message in which the upstream blames the request.
 * @returns the missing capability, if clients can continue without it; undefined for any other message
 */
export function readRequestFault(message: string): { missing: RejectedCapability | undefined } | undefined {
  const found = faultTexts.find(([text]) => text.test(message));
  return found && { missing: found[1] };
}
