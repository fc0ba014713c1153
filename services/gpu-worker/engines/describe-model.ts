import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import { toAnnouncedOperations, type ModelOperation } from '#shared/core/operation.ts';

/** Describes a model as the worker announces it. Capabilities concern only conversations, so a model that does not generate has none. */
export function describeModel(
  id: string,
  operations: readonly ModelOperation[],
  capabilities: readonly Capability[],
  contextWindow: number | undefined,
): ModelInfo {
  const generates = operations.includes('generate');
  return {
    id,
    ...toAnnouncedOperations(operations),
    capabilities: generates ? [...capabilities] : [],
    contextWindow,
  };
}
