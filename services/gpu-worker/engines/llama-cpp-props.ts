import { z } from 'zod';
import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { featureKey } from '#shared/formats/request-feature.ts';
import { describeModel } from './describe-model.ts';

const positive = z.number().int().positive().optional().catch(undefined);

/** `GET /props` of llama-server: its description of the model that it serves. */
export const llamaProps = z.looseObject({
  total_slots: positive,
  /** Tokens per slot, not of all slots together. */
  default_generation_settings: z.looseObject({ n_ctx: positive }).optional().catch(undefined),
  modalities: z.looseObject({ vision: z.boolean(), audio: z.boolean().optional() }).optional().catch(undefined),
  chat_template: z.string().optional().catch(undefined),
  chat_template_caps: z
    .looseObject({ supports_tools: z.boolean().optional(), supports_preserve_reasoning: z.boolean().optional() })
    .optional()
    .catch(undefined),
});

export type LlamaProps = z.output<typeof llamaProps>;

/**
 * Describes the model as the worker announces it.
 * @param served operations of the paths that the server answers
 */
export function describeLlama(id: string, served: readonly ModelOperation[], facts: LlamaProps): ModelInfo {
  const operations = onlyPurpose(served, facts);
  const capabilities: Capability[] = ['stream', 'json', 'continue'];
  if (facts.chat_template_caps?.supports_tools !== false) capabilities.push('tools');
  if (facts.modalities?.vision === true) capabilities.push('vision');
  if (thinks(facts)) capabilities.push('thinking');
  const model = describeModel(id, operations, capabilities, facts.default_generation_settings?.n_ctx);
  return operations.includes('generate') ? { ...model, lacks: lackedParts(facts) } : model;
}

/**
 * Returns the parts of chat requests that the server refuses. Every server refuses files, and a server without audio input refuses sounds.
 * Older versions do not report audio input.
 */
function lackedParts({ modalities }: LlamaProps): string[] {
  const parts = ['documents', 'file_ids', ...(modalities && modalities.audio !== true ? ['audio_input'] : [])];
  return parts.map((name) => featureKey(name, chatFormat.name));
}

/**
 * Returns the purpose of a server. A server that was started with `--embeddings` or `--reranking` has no other purpose. It may still answer
 * the other paths, with texts of a model that was not made for them.
 */
function onlyPurpose(served: readonly ModelOperation[], { modalities }: LlamaProps): readonly ModelOperation[] {
  const purpose = (['rank', 'embed'] as const).find((operation) => served.includes(operation));
  if (purpose) return [purpose];
  // The server has the path of transcriptions for any model, so the model's modality decides.
  return modalities?.audio === true ? served : served.filter((operation) => operation !== 'transcribe');
}

/**
 * Whether the model thinks. Newer versions report it. For older ones, the chat template of a thinking model contains one of these words.
 */
function thinks({ chat_template: template = '', chat_template_caps: caps }: LlamaProps): boolean {
  return caps?.supports_preserve_reasoning ?? /enable_thinking|reasoning|<think>/.test(template);
}
