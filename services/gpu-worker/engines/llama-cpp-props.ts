import { z } from 'zod';
import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { createFeatureKey } from '#shared/formats/request-feature.ts';
import { describeModel } from './engine.ts';

const positiveInteger = z.number().int().positive().optional().catch(undefined);

/** `GET /props` of llama-server: the description of the model that the server serves. */
export const llamaProps = z.looseObject({
  total_slots: positiveInteger,
  /** Tokens per slot, not of all slots together. */
  default_generation_settings: z.looseObject({ n_ctx: positiveInteger }).optional().catch(undefined),
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
 * @param servedOperations operations whose paths the server answers
 */
export function describeLlama(id: string, servedOperations: readonly ModelOperation[], facts: LlamaProps): ModelInfo {
  const modelOperations = findModelOperations(servedOperations, facts);
  const capabilities: Capability[] = ['stream', 'json', 'continue'];
  if (facts.chat_template_caps?.supports_tools !== false) capabilities.push('tools');
  if (facts.modalities?.vision === true) capabilities.push('vision');
  if (isThinkingModel(facts)) capabilities.push('thinking');
  const model = describeModel(id, modelOperations, capabilities, facts.default_generation_settings?.n_ctx);
  return modelOperations.includes('generate') ? { ...model, lacks: findRefusedParts(facts) } : model;
}

/**
 * Returns the parts of chat requests that the server refuses. Every server refuses files. A server without audio input refuses sounds.
 * Older versions do not report audio input.
 */
function findRefusedParts({ modalities }: LlamaProps): string[] {
  const parts = ['documents', 'file_ids', ...(modalities && modalities.audio !== true ? ['audio_input'] : [])];
  return parts.map((name) => createFeatureKey(name, chatFormat.name));
}

/**
 * Returns the operations that the model was made for. A server with `--embeddings` or `--reranking` has only that one operation. It may
 * still answer at the other paths, but its model writes no useful text.
 */
function findModelOperations(
  servedOperations: readonly ModelOperation[],
  { modalities }: LlamaProps,
): readonly ModelOperation[] {
  const onlyOperation = (['rank', 'embed'] as const).find((operation) => servedOperations.includes(operation));
  if (onlyOperation) return [onlyOperation];
  // The server has the path of transcriptions for any model, so the modality of the model decides.
  return modalities?.audio === true
    ? servedOperations
    : servedOperations.filter((operation) => operation !== 'transcribe');
}

/** Whether the model thinks. Newer versions of the server report this. For older versions, certain words in the chat template show it. */
function isThinkingModel({ chat_template: template = '', chat_template_caps: caps }: LlamaProps): boolean {
  return caps?.supports_preserve_reasoning ?? /enable_thinking|reasoning|<think>/.test(template);
}
