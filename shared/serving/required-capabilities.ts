import { formatHostedCapability, type Capability, type ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { Needs } from '#shared/formats/client-format.ts';
import type { RejectedCapability } from '#shared/formats/rejected-capability.ts';

const noCapabilities: readonly Capability[] = [];

/**
 * Returns the capabilities that a model must have to serve a request. Thinking is not required, because a model that does not think still
 * answers.
 * @param format name of the client format
 */
export function findRequiredCapabilities(
  { tools, vision, json, hosted }: Needs,
  format: string,
): readonly Capability[] {
  if (!tools && !vision && !json && !hosted) return noCapabilities;
  const required: Capability[] = (hosted ?? []).map((kind) => formatHostedCapability(kind, format));
  if (tools) required.push('tools');
  if (vision) required.push('vision');
  if (json) required.push('json');
  return required;
}

export function hasAllCapabilities(
  { capabilities }: Pick<ModelInfo, 'capabilities'>,
  required: readonly Capability[],
): boolean {
  return required.every((each) => capabilities.includes(each));
}

/** Returns the words of an error message for the part of a request that needs a capability. */
export function describeCapability(capability: Capability): string {
  switch (capability) {
    case 'tools':
      return 'tools of the client';
    case 'vision':
      return 'images';
    case 'json':
      return 'a format of the answer';
    default:
      return `the hosted tool ${capability.split('@')[0]}`;
  }
}

/** Returns the code of a missing capability. Clients that receive the code retry without the capability. Undefined if there is no code. */
export function toRejectedCapability(capability: Capability): RejectedCapability | undefined {
  switch (capability) {
    case 'vision':
      return 'image_block';
    case 'json':
      return 'structured_outputs_unsupported';
    default:
      return undefined;
  }
}
